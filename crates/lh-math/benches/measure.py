"""Time and error of every function as compiled code has them: a loop over the bitcode, optimised by LLVM for this
machine.

    python measure.py [--variant plain] [--cpu haswell] [--all | --some] [--keep FOLDER] [FUNCTION ...]

Prints nanoseconds per element beside the C library's vector functions (of 512 bits where the processor has them), and
the largest error: against long doubles, or with --all over all floats (--some: a part), against our own functions of
doubles. Needs rustc, gcc and, on the path or in $LLVM_BIN, the tools of the same LLVM (opt, llc, llvm-link). --keep
leaves the assembly, `vector.s`, in a folder.
"""

import argparse
import glob
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LLVM = os.environ.get("LLVM_BIN", "/usr/lib/llvm-22/bin")
TARGET = 'target triple = "x86_64-unknown-linux-gnu"\n'
LOOP = """
declare {ty} @{name}({types})
define void @loop_{name}(i64 %n, ptr noalias %x, ptr noalias %y, ptr noalias %out) {{
entry:
  br label %body
body:
  %i = phi i64 [0, %entry], [%next, %body]
  %px = getelementptr {ty}, ptr %x, i64 %i
  %py = getelementptr {ty}, ptr %y, i64 %i
  %po = getelementptr {ty}, ptr %out, i64 %i
  %a = load {ty}, ptr %px
  %b = load {ty}, ptr %py
  %r = call {ty} @{name}({args})
  store {ty} %r, ptr %po
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}}
"""
RANGES = {
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atanh": (-1, 1),
    "acosh": (1, 4),
    "log": (0.1, 4),
    "log2": (0.1, 4),
    "log10": (0.1, 4),
    "log1p": (-0.9, 4),
    "pow": (0.1, 4),
}


def run(command):
    """Runs a program, whose arguments have no spaces, and gives what it prints."""
    return subprocess.run(command.split(), check=True, stdout=subprocess.PIPE, text=True).stdout


def functions():
    texts = (open(path).read() for path in sorted(glob.glob(f"{HERE}/../math/*.rs")))
    text = "".join(re.findall(r"^exports! \{$(.*?)^\}$", "".join(texts), re.MULTILINE | re.DOTALL))
    return [
        (name, args.count(":"), "float" if "f32" in args else "double")
        for name, args in re.findall(r"(lh_\w+)\(([^)]*)\)", text)
    ]


def mapped(name, kinds):
    maps = ",".join(f"_ZGV_LLVM_M{n}{kinds}_{name}({name}.v{n})" for n in (2, 4, 8, 16))
    return f' "vector-function-abi-variant"="{maps}" '


def library(variant, cpu, wanted, out):
    """The loops as a shared library, built the way compiled modules are."""
    fma = "--cfg=lh_fma" if variant == "fma" else ""
    run(
        f"rustc {HERE}/../math/lib.rs --crate-type=lib --edition=2024 --emit=llvm-bc --cfg=lh_bitcode --cap-lints=allow"
        f" -o {out}/math.bc -Copt-level=3 -Cpanic=abort -Ccodegen-units=1 -Cno-vectorize-loops -Cno-vectorize-slp {fma}"
    )
    variants = run("cargo run -q -p lh-math --example variants")
    loops = "".join(
        LOOP.format(name=name, ty=ty, types=", ".join([ty] * arity), args=", ".join([f"{ty} %a", f"{ty} %b"][:arity]))
        for name, arity, ty in functions()
        if name in wanted
    )
    open(f"{out}/loops.ll", "w").write(TARGET + variants + loops)
    run(f"{LLVM}/llvm-link -S {out}/math.bc {out}/loops.ll -o {out}/linked.ll")
    text = open(f"{out}/linked.ll").read()
    text = re.sub(
        r"(define[^\n]*@(lh_\w+_(?:large|rare))\(([^)]*)\)[^\n#]*)(#\d+)",
        lambda m: m[1] + m[4] + mapped(m[2], "v" * (m[3].count(",") + 1)),
        text,
    )
    open(f"{out}/linked.ll", "w").write(text)
    target = f"-mcpu={cpu} -mattr=-prefer-256-bit"
    run(f"{LLVM}/opt {target} -passes=default<O3> -S {out}/linked.ll -o {out}/vector.ll")
    text = re.sub(r"@llvm.compiler.used = [^\n]*\n", "", open(f"{out}/vector.ll").read())
    open(f"{out}/vector.ll", "w").write(text)
    late = "-passes=always-inline,simplifycfg,globaldce"
    run(f"{LLVM}/opt {target} {late} {out}/vector.ll -o {out}/vector.bc")
    run(f"{LLVM}/llc -O3 {target} -relocation-model=pic {out}/vector.bc -o {out}/vector.s")
    run(f"gcc -shared {out}/vector.s -o {out}/ours.so -lm")


def peer(cpu, out):
    """The same loops over the vector functions of the C library; without those that it lacks."""
    wide = cpu == "native" and " avx512f " in open("/proc/cpuinfo").read()
    size, letter = (64, "e") if wide else (32, "d")
    have = run("nm -D " + run("gcc -print-file-name=libmvec.so.1"))
    text = ""
    for name, arity, ty in functions():
        lanes = size // (4 if ty == "float" else 8)
        symbol = f"_ZGV{letter}N{lanes}{'v' * arity}_{name[3:]}"
        if f"{symbol}@" not in have:
            continue
        text += (
            f"typedef {ty} {name} __attribute__((vector_size({size})));\n{name} "
            f"{symbol}({', '.join([name] * arity)});\n"
        )
        arguments = ", ".join(["x[i]", "y[i]"][:arity])
        text += f"void loop_{name[3:]}(long n, const {name} *x, const {name} *y, {name} *o) {{\n"
        text += f"    for (long i = 0; i < n / {lanes}; i++) o[i] = {symbol}({arguments});\n}}\n"
    open(f"{out}/peer.c", "w").write(text)
    width = "-mavx512f" if wide else "-mavx2"
    run(f"gcc -O3 {width} -shared -fPIC {out}/peer.c -o {out}/peer.so -lmvec -lm")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", choices=["fma", "plain"], default="fma")
    parser.add_argument("--cpu", default="native")
    parser.add_argument("--all", action="store_const", const="all")
    parser.add_argument("--some", action="store_const", const="some", dest="all")
    parser.add_argument("--keep")
    parser.add_argument("function", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        out = options.keep or out
        os.makedirs(out, exist_ok=True)
        # `--all` compares `f32` functions with their `f64` variants, which are built, too.
        names = [name[3:] for name, _, _ in functions()]
        wanted = [
            name
            for name in names
            if not options.function or name in options.function or options.all and f"{name}f" in options.function
        ]
        library(options.variant, options.cpu, [f"lh_{name}" for name in wanted], out)
        peer(options.cpu, out)
        run(f"gcc -O3 -march=native -fno-trapping-math -rdynamic {HERE}/measure.c -o {out}/measure -ldl -lm")
        print(f"{'':11} ours  libmvec  ratio  error, ulp")
        for name, arity, ty in functions():
            word = name[3:]
            if options.function and word not in options.function:
                continue
            stem, fast = (word[:-5], "_fast") if word.endswith("_fast") else (word, "")
            stem = stem[:-1] if ty == "float" else stem
            low, high = RANGES.get(stem, (-4, 4))
            files, what = f"{out}/measure {out}/ours.so {out}/peer.so", f"{stem}{fast} {ty} {low} {high}"
            ours, theirs = map(float, run(f"{files} time {what}").split())
            mode = options.all if options.all and ty == "float" and arity == 1 else "error"
            error, where = map(float, run(f"{files} {mode} {what}").split())
            ratio = f"{ours / theirs:5.2f}" if theirs else "     "
            print(f"{word:11} {ours:5.3f}  {theirs:6.3f}  {ratio}  {error:8.4f} at {where!r}", flush=True)


main()
