//! Typed functions compiled and run.

use crate::common::{array_1d, build, unit};
use lh_llvm::compile;
use lh_runtime::{ExcArg, take_pending};

#[test]
fn scalars_in_and_out() {
    let c = build(
        "function %f(v0: int, v1: float32, v2: bool) -> tuple(float, bool, uint8) {
block0(v0: int, v1: float32, v2: bool):
    v3 = cast v0: float
    v4 = cast v1: float
    v5 = add v3, v4: float
    v6 = not v2: bool
    v7 = cast v0: uint8
    v8 = pack(v5, v6, v7): tuple(float, bool, uint8)
    return v8
}",
    );
    let [a, b, d] = c.call::<3>(&[300, u64::from(1.5f32.to_bits()), 1]).expect("no exception");
    assert_eq!((f64::from_bits(a), b as u8, d as u8), (301.5, 0, 44));
}

const SAXPY: &str =
    "function %saxpy(v0: float, v1: array(float64, 1, C), v2: array(float64, 1, C), v3: array(float64, 1, C)) -> none {
    source \"saxpy\", \"/x/saxpy.py\", 1
block0(v0: float, v1: array(float64, 1, C), v2: array(float64, 1, C), v3: array(float64, 1, C)):
    v4 = array_shape v1, 0: int
    v5 = const 0: int
    jump block1(v5)
block1(v6: int):
    v7 = lt v6, v4: bool
    branch v7, block2(), block3()
block2():
    v8 = elem_ptr check wrap v1[v6]: ptr @ 3:0-3:9
    v9 = load v8: float64
    v10 = mul v9, v0: float64
    v11 = elem_ptr check wrap v2[v6]: ptr @ 4:0-4:9
    v12 = load v11: float64
    v13 = add v10, v12: float64
    v14 = elem_ptr check wrap v3[v6]: ptr @ 5:0-5:9
    store v14, v13
    v15 = const 1: int
    v16 = add v6, v15: int
    jump block1(v16)
block3():
    v17 = const none: none
    return v17
}";

#[test]
fn saxpy_with_checks_is_vectorised() {
    let c = build(SAXPY);
    let (x, y, z) = (vec![1.0; 1000], vec![2.0; 1000], vec![0.0; 1000]);
    let mut args = vec![3.0f64.to_bits()];
    args.extend([&x, &y, &z].into_iter().flat_map(|a| array_1d(a)));
    c.call::<0>(&args).expect("no exception");
    assert!(z.iter().all(|v| *v == 5.0));
    assert!(c.optimised().contains("x double>"), "{}", c.optimised());
}

#[test]
fn objects_do_not_depend_on_what_was_compiled_before() {
    const ADD: &str = "function %f(v0: int) -> int {
    source \"f\", \"/x/f.py\", 1
block0(v0: int):
    v1 = add v0, v0: int
    return v1
}";
    for debug in ["", " debug"] {
        let object = move |text: &str| compile(&unit(&text.replace(" {\n", &format!("{debug} {{\n")))).object;
        // A new thread has machines of its own.
        let alone = std::thread::spawn(move || object(SAXPY)).join().expect("it compiles");
        assert_eq!([object(SAXPY), object(ADD), object(SAXPY)].map(|o| o == alone), [true, false, true]);
    }
}

#[test]
fn an_index_out_of_range_raises_with_its_line() {
    let c = build(SAXPY);
    let (x, y, z) = (vec![1.0; 10], vec![2.0; 7], vec![0.0; 10]);
    let mut args = vec![3.0f64.to_bits()];
    args.extend([&x, &y, &z].into_iter().flat_map(|a| array_1d(a)));
    assert_eq!(c.call::<0>(&args), None);
    let e = take_pending().expect("an exception");
    assert!(
        matches!(&e.args[..], [ExcArg::Str(s)] if s == "index 7 is out of bounds for axis 0 with size 7"),
        "{:?}",
        e.args
    );
    assert!(z[..7].iter().all(|v| *v == 5.0) && z[7] == 0.0);
}

#[test]
fn errors_of_callees_reach_the_caller_and_handlers() {
    let c = build(
        "function %outer(v0: int) -> int {
    source \"outer\", \"/x/a.py\", 1
block0(v0: int):
    v1 = const 10: int
    jump block1()
block1() unwind block2():
    v2 = call spec1(v0): int @ 2:4-2:9
    return v2
block2():
    v3 = runtime lh_exc_take(): exception
    v4 = lt v0, v1: bool
    branch v4, block3(), block4()
block3():
    return v1
block4():
    v5 = call spec1(v0): int @ 7:4-7:9
    return v5
}
function %inner(v0: int) -> int {
    source \"inner\", \"/x/a.py\", 10
block0(v0: int):
    v1 = const 0: int
    v2 = lt v0, v1: bool
    branch v2, block1(), block2()
block1():
    return v0
block2():
    v3 = const \"too large\": str
    v4 = const 1.5: float
    v5 = pack(v0, v4): tuple(int, float)
    raise exc10(v3, v5) @ 12:8-12:20
}",
    );
    assert_eq!(c.call(&[-5i64 as u64]), Some([-5i64 as u64]));
    assert_eq!(c.call(&[5]), Some([10]));
    assert_eq!(c.call::<1>(&[50]), None);
    let e = take_pending().expect("an exception");
    assert_eq!(e.class.0, 10);
    let pair = ExcArg::Tuple(vec![ExcArg::Int(50), ExcArg::Float(1.5)]);
    assert_eq!(e.args, [ExcArg::Str("too large".into()), pair]);
    assert_eq!(e.frames.iter().map(|f| f.line).collect::<Vec<_>>(), [12, 7]);
}

#[test]
fn recursion_runs_and_ends_in_an_exception_when_too_deep() {
    let text = "function %fib(v0: int) -> int {
    source \"fib\", \"/x/fib.py\", 1
block0(v0: int):
    v1 = const 2: int
    v2 = lt v0, v1: bool
    branch v2, block1(), block2()
block1():
    return v0
block2():
    v3 = const 1: int
    v4 = sub v0, v3: int
    v5 = call spec0(v4): int @ 3:4-3:9
    v6 = sub v0, v1: int
    v7 = call spec0(v6): int @ 3:4-3:9
    v8 = add v5, v7: int
    return v8
}";
    assert_eq!(build(text).call(&[20]), Some([6765]));
    let endless = build(&text.replace("lt v0, v1", "gt v0, v0"));
    assert_eq!(endless.call::<1>(&[1]), None);
    assert_eq!(take_pending().expect("an exception").class, lh_runtime::classes::RECURSION_ERROR);
}

#[test]
fn large_results_go_through_memory() {
    let c = build(
        "function %f(v0: array(float32, 3, C), v1: complex, v2: optional(bool)) -> tuple(array(float32, 3, C), complex, optional(bool), int8) {
block0(v0: array(float32, 3, C), v1: complex, v2: optional(bool)):
    v3 = call spec1(v0, v1, v2): tuple(array(float32, 3, C), complex, optional(bool), int8)
    return v3
}
function %g(v0: array(float32, 3, C), v1: complex, v2: optional(bool)) -> tuple(array(float32, 3, C), complex, optional(bool), int8) {
block0(v0: array(float32, 3, C), v1: complex, v2: optional(bool)):
    v3 = const -3: int8
    v4 = pack(v0, v1, v2, v3): tuple(array(float32, 3, C), complex, optional(bool), int8)
    return v4
}",
    );
    let mut args: Vec<u64> = (0..8).collect();
    args.extend([1.5f64.to_bits(), 2.5f64.to_bits(), 1, 1]);
    let out = c.call::<13>(&args).expect("no exception");
    assert_eq!(out[..10], args[..10]);
    assert_eq!(out[10..].iter().map(|v| *v as i8).collect::<Vec<_>>(), [1, 1, -3]);
}

#[test]
fn conversions_are_as_in_c() {
    let cast = |from: &str, to: &str| {
        build(&format!(
            "function %f(v0: {from}) -> {to} {{\nblock0(v0: {from}):\n    v1 = cast v0: {to}\n    return v1\n}}"
        ))
    };
    let f = |x: f64| x.to_bits();
    assert_eq!(cast("float", "int").call(&[f(-3.9)]), Some([-3i64 as u64]));
    assert_eq!(cast("float", "uint64").call(&[f(1.8e19)]), Some([18_000_000_000_000_000_000]));
    assert_eq!(cast("float", "uint64").call(&[f(-2.0)]), Some([-2i64 as u64]));
    assert_eq!(cast("float", "uint8").call(&[f(300.7)]).map(|[v]| v as u8), Some(44));
    assert_eq!(cast("float", "bool").call(&[f(f64::NAN)]).map(|[v]| v as u8), Some(1));
    assert_eq!(cast("uint64", "float").call(&[u64::MAX]), Some([f(1.844_674_407_370_955_2e19)]));
    assert_eq!(cast("int8", "uint32").call(&[0xff]).map(|[v]| v as u32), Some(u32::MAX));
    assert_eq!(cast("int", "bool").call(&[256]).map(|[v]| v as u8), Some(1));
    assert_eq!(cast("float32", "complex").call(&[u64::from(2.5f32.to_bits())]), Some([f(2.5), f(0.0)]));
    assert_eq!(cast("complex", "bool").call(&[f(0.0), f(0.1)]).map(|[v]| v as u8), Some(1));
}

#[test]
fn slots_and_both_edges_to_one_block() {
    let c = build(
        "function %f(v0: bool, v1: int) -> int {
    slot0: tuple(int, bool)
block0(v0: bool, v1: int):
    v2 = const 5: int
    v3 = pack(v1, v0): tuple(int, bool)
    slot_set slot0, v3
    branch v0, block1(v1), block1(v2)
block1(v4: int):
    v5 = slot_get slot0: tuple(int, bool)
    v6 = field v5, 0: int
    v7 = add v4, v6: int
    return v7
}",
    );
    assert_eq!(c.call(&[1, 10]), Some([20]));
    assert_eq!(c.call(&[0, 10]), Some([15]));
}

#[test]
fn debug_code_has_line_tables_and_runs() {
    let c = build(&SAXPY.replace("-> none {", "-> none debug {"));
    let (x, y, z) = (vec![1.0; 10], vec![2.0; 10], vec![0.0; 10]);
    let mut args = vec![3.0f64.to_bits()];
    args.extend([&x, &y, &z].into_iter().flat_map(|a| array_1d(a)));
    c.call::<0>(&args).expect("no exception");
    assert!(z.iter().all(|v| *v == 5.0));
    let object = String::from_utf8_lossy(&c.output.object).into_owned();
    assert!(object.contains(".debug_line") && object.contains("/x/saxpy.py"));
}
