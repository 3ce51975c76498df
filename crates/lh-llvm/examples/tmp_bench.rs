use lh_ir::SpecId;
use lh_ir::parse::{Tables, parse};
use lh_llvm::{Unit, Wanted, compile, load};
use std::time::Instant;
fn build(text: &str) -> lh_llvm::Loaded {
    let tables = Tables { row: lh_ops::row, runtime: lh_ops::runtime::find };
    let functions = parse(text, tables).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let spec_names = functions.iter().enumerate().map(|(i, f)| (SpecId::new(i), f.name.clone())).collect();
    let unit = Unit { functions, spec_names, entry: 0, entry_symbol: "entry".into(), wanted: Wanted { llvm_ir_opt: true, ..Default::default() } };
    let out = compile(&unit);
    if std::env::var("SHOW").is_ok() { println!("{}", out.llvm_ir_opt.unwrap()); }
    load(&out.object, &lh_runtime::address)
}
fn time(l: &lh_llvm::Loaded, args: &[u64], reps: usize) -> f64 {
    let f: unsafe extern "C" fn(*const u64, *mut u64) -> i32 = unsafe { std::mem::transmute(l.address("entry").unwrap()) };
    let mut out = [0u64; 8];
    let mut best = f64::INFINITY;
    for _ in 0..40 {
        let t = Instant::now();
        for _ in 0..reps { let s = unsafe { f(args.as_ptr(), out.as_mut_ptr()) }; assert_eq!(s, 0); }
        best = best.min(t.elapsed().as_secs_f64() * 1e6 / reps as f64);
    }
    best
}
fn main() {
    llvm_options();
    let strip = include_str!("/tmp/w/llvmx/strip.lir");
    let saxpy = include_str!("/tmp/w/llvmx/saxpy.lir");
    let sum2d = include_str!("/tmp/w/llvmx/sum2d.lir");
    let n = 20000;
    let (x, y, z) = (vec![1.0f64; n], vec![2.0f64; n], vec![0.0f64; n]);
    let a1 = |v: &Vec<f64>| vec![0u64, v.as_ptr() as u64, v.len() as u64, 8];
    let mut args = vec![3.0f64.to_bits()];
    for v in [&x, &y, &z] { args.extend(a1(v)); }
    for (name, flags) in [("check wrap ", "cw"), ("check ", "c"), ("", "none")] {
        let t = saxpy.replace("elem_ptr check wrap ", &format!("elem_ptr {name}"));
        println!("saxpy {flags}: {:.2} us", time(&build(&t), &args, 100));
    }
    println!("strip: {:.2} us", time(&build(&strip), &args, 100));
    let m = vec![1.5f64; 1000 * 1000];
    let args = vec![0u64, m.as_ptr() as u64, 1000, 1000, 8000, 8];
    for (name, flags) in [("check wrap ", "cw"), ("check ", "c"), ("", "none")] {
        for fm in ["", " fastmath=127"] {
            let t = sum2d.replace("elem_ptr check wrap ", &format!("elem_ptr {name}")).replace("-> float64 {", &format!("-> float64{fm} {{"));
            println!("sum2d {flags}{fm}: {:.2} us", time(&build(&t), &args, 3));
        }
    }
}
fn llvm_options() {
    let args: Vec<_> = std::env::args().skip(1).map(|a| std::ffi::CString::new(a).unwrap()).collect();
    let pointers: Vec<_> = std::iter::once(c"lir".as_ptr()).chain(args.iter().map(|a| a.as_ptr())).collect();
    unsafe { llvm_sys::support::LLVMParseCommandLineOptions(pointers.len() as i32, pointers.as_ptr(), std::ptr::null()); }
}
