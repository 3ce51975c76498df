//! Compiles textual IR from standard input and prints what is asked for: `lir ll|opt|asm|remarks|time|obj`.

use lh_ir::SpecId;
use lh_ir::parse::{Tables, parse};
use lh_llvm::{Unit, Wanted, compile};
use std::borrow::Cow;
use std::io::{Read, Write};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_else(|| "opt".into());
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("text");
    llvm_options();
    let tables = Tables { row: lh_ops::row, runtime: lh_ops::runtime::find };
    let functions = parse(&text, tables).unwrap_or_else(|e| panic!("{e}"));
    let spec_names = functions.iter().enumerate().map(|(i, f)| (SpecId::new(i), f.name.clone())).collect();
    let wanted = Wanted {
        llvm_ir: what == "ll",
        llvm_ir_opt: what == "opt",
        asm: what == "asm",
        remarks: what == "remarks",
        lines: false,
    };
    let unit = Unit {
        functions: functions.into_iter().map(Cow::Owned).collect(),
        spec_names,
        entry: 0,
        entry_symbol: "entry".into(),
        abi: lh_llvm::Abi::Host,
        wanted,
        ..Unit::default()
    };
    let mut out = compile(&unit);
    if what == "time" {
        let mut best = f64::INFINITY;
        for _ in 0..30 {
            let start = cpu_ms();
            out = compile(&unit);
            best = best.min(cpu_ms() - start);
        }
        println!("{best:.2} ms, {:?}, object {} bytes", out.timings, out.object.len());
    }
    if what == "obj" {
        std::io::stdout().write_all(&out.object).expect("a pipe");
    }
    for t in [out.llvm_ir, out.llvm_ir_opt, out.asm].into_iter().flatten() {
        println!("{t}");
    }
    for r in out.remarks {
        println!("{}:{}: {}", r.file, r.line, r.text);
    }
}

/// CPU time of this thread.
fn cpu_ms() -> f64 {
    // SAFETY: the call fills the structure.
    let t = unsafe {
        let mut t = std::mem::zeroed::<libc::timespec>();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t);
        t
    };
    t.tv_sec as f64 * 1e3 + t.tv_nsec as f64 / 1e6
}

/// Passes further arguments on to LLVM.
fn llvm_options() {
    let args: Vec<_> = std::env::args().skip(2).map(|a| std::ffi::CString::new(a).expect("no zero byte")).collect();
    let pointers: Vec<_> = std::iter::once(c"lir".as_ptr()).chain(args.iter().map(|a| a.as_ptr())).collect();
    // SAFETY: the texts live through the call.
    unsafe {
        llvm_sys::support::LLVMParseCommandLineOptions(pointers.len() as i32, pointers.as_ptr(), std::ptr::null());
    }
}
