//! Typed functions compiled and run.

mod common;

use common::{array_1d, build};
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

const SAXPY: &str = "function %saxpy(v0: float, v1: array(float64, 1, C), v2: array(float64, 1, C), v3: array(float64, 1, C)) -> none {
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
fn an_index_out_of_range_raises_with_its_line() {
    let c = build(SAXPY);
    let (x, y, z) = (vec![1.0; 10], vec![2.0; 7], vec![0.0; 10]);
    let mut args = vec![3.0f64.to_bits()];
    args.extend([&x, &y, &z].into_iter().flat_map(|a| array_1d(a)));
    assert_eq!(c.call::<0>(&args), None);
    let e = take_pending().expect("an exception");
    assert!(matches!(&e.args[..], [ExcArg::Str(s)] if s == "index 7 is out of bounds for axis 0 with size 7"), "{:?}", e.args);
    assert!(z[..7].iter().all(|v| *v == 5.0) && z[7] == 0.0);
}
