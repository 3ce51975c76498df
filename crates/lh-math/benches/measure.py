"""Time and error of every function as compiled code has them: a loop over the bitcode, optimised by LLVM for this machine.

    python measure.py [fma|plain] [cpu] [function ...]

Needs rustc, the tools of the same LLVM (opt, llc, llvm-link, llvm-dis) on the path or in $LLVM_BIN, and gcc. Prints
nanoseconds per element beside the vector library of the C library, and the largest error against its long doubles.
"""

import os
import re
import subprocess
import sys
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
RANGES = {"asin": (-1, 1), "acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 4), "log": (0.1, 4), "log2": (0.1, 4),
          "log10": (0.1, 4), "log1p": (-0.9, 4), "pow": (0.1, 4)}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def functions():
    text = open(f"{HERE}/../math/exports.inc").read()
    return [(name, args.count(":"), "float" if "f32" in args else "double") for name, args in re.findall(r"(lh_\w+)\(([^)]*)\)", text)]


def mapped(name):
    maps = ",".join(f"_ZGV_LLVM_M{n}v_{name}({name}.v{n})" for n in (2, 4, 8, 16))
    return f' "vector-function-abi-variant"="{maps}" '


def library(variant, cpu, out):
    """The loops as a shared library, built the way compiled modules are."""
    fma = ["--cfg=lh_fma"] if variant == "fma" else []
    run("rustc", f"{HERE}/../math/lib.rs", "--crate-type=lib", "--edition=2024", "--emit=llvm-bc", "--cfg=lh_bitcode",
        "--cap-lints=allow", "-o", f"{out}/math.bc", "-Copt-level=3", "-Cpanic=abort", "-Ccodegen-units=1",
        "-Cno-vectorize-loops", "-Cno-vectorize-slp", *fma)
    variants = run("cargo", "run", "-q", "-p", "lh-math", "--example", "variants")
    loops = "".join(
        LOOP.format(name=name, ty=ty, types=", ".join([ty] * arity), args=", ".join([f"{ty} %a", f"{ty} %b"][:arity]))
        for name, arity, ty in functions()
    )
    open(f"{out}/loops.ll", "w").write(TARGET + variants + loops)
    run(f"{LLVM}/llvm-link", "-S", f"{out}/math.bc", f"{out}/loops.ll", "-o", f"{out}/linked.ll")
    text = open(f"{out}/linked.ll").read()
    text = re.sub(r"(define[^\n]*@(lh_\w+_large)\([^)]*\)[^\n#]*)(#\d+)", lambda m: m[1] + m[3] + mapped(m[2]), text)
    open(f"{out}/linked.ll", "w").write(text)
    run(f"{LLVM}/opt", f"-mcpu={cpu}", "-passes=default<O3>", "-S", f"{out}/linked.ll", "-o", f"{out}/vector.ll")
    text = re.sub(r"@llvm.compiler.used = [^\n]*\n", "", open(f"{out}/vector.ll").read())
    open(f"{out}/vector.ll", "w").write(text)
    run(f"{LLVM}/opt", f"-mcpu={cpu}", "-passes=always-inline,simplifycfg,globaldce", f"{out}/vector.ll", "-o", f"{out}/vector.bc")
    run(f"{LLVM}/llc", "-O3", f"-mcpu={cpu}", "-relocation-model=pic", f"{out}/vector.bc", "-o", f"{out}/vector.s")
    run("gcc", "-shared", f"{out}/vector.s", "-o", f"{out}/ours.so", "-lm")


def peer(out):
    """The same loops in C, with the vector library of the C library."""
    text = "#include <math.h>\n"
    for name, arity, ty in functions():
        call = f"{name[3:]}({', '.join(['x[i]', 'y[i]'][:arity])})"
        text += f"void loop_{name}(long n, const {ty} *restrict x, const {ty} *restrict y, {ty} *restrict o) {{ for (long i = 0; i < n; i++) o[i] = {call}; }}\n"
    open(f"{out}/peer.c", "w").write(text)
    run("gcc", "-O3", "-ffast-math", "-march=native", "-mprefer-vector-width=512", "-shared", "-fPIC", f"{out}/peer.c",
        "-o", f"{out}/peer.so", "-lmvec", "-lm")


def main():
    variant, cpu, *wanted = sys.argv[1:] if len(sys.argv) > 2 else ["fma", "native"]
    with tempfile.TemporaryDirectory() as out:
        library(variant, cpu, out)
        peer(out)
        run("gcc", "-O2", "-rdynamic", f"{HERE}/measure.c", "-o", f"{out}/measure", "-ldl", "-lm")
        print(f"{'':8}  ours  libmvec  ratio  error, ulp")
        for name, arity, ty in functions():
            base = name[3:]
            if wanted and base not in wanted:
                continue
            low, high = map(str, RANGES.get(base if ty == "double" else base[:-1], (-4, 4)))
            arguments = [base if ty == "double" else base[:-1], ty, low, high]
            ours, theirs = (float(run(f"{out}/measure", f"{out}/{lib}.so", "time", *arguments)) for lib in ("ours", "peer"))
            error = float(run(f"{out}/measure", f"{out}/ours.so", "error", *arguments))
            print(f"{base:8} {ours:5.2f}  {theirs:7.2f}  {ours / theirs:5.2f}  {error:10.2f}", flush=True)


main()
