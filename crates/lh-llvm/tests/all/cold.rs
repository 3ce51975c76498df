//! Parts that hardly ever run become functions of their own, and do what they did.

use crate::common::{array_1d, build};
use lh_runtime::{ExcArg, take_pending};

/// With a negative `v1`, the cold loop adds up items from `-v1` on, counting in a slot. It is left to a block that both
/// ways share, by a return, by an exception that a shared handler catches, and by one that leaves the function.
const LOOP: &str = "function %f(v0: array(float64, 1, C), v1: int) -> tuple(float64, int) {
    source \"f\", \"/x/a.py\", 1
    slot0: int
block0(v0: array(float64, 1, C), v1: int):
    v2 = const 0: int
    v3 = const 0.0: float64
    v4 = lt v1, v2: bool
    slot_set slot0, v2
    branch v4, block1(), block6(v3, v2)
block1() cold:
    v5 = sub v2, v1: int
    jump block2(v5, v3)
block2(v6: int, v7: float64) cold:
    v8 = const 6: int
    v9 = lt v6, v8: bool
    branch v9, block3(), block5()
block3() cold unwind block7(v6):
    v10 = elem_ptr check wrap v0[v6]: ptr @ 4:0-4:9
    v11 = load v10: float64
    v12 = add v7, v11: float64
    v13 = const 1: int
    v14 = add v6, v13: int
    v15 = slot_get slot0: int
    v16 = add v15, v13: int
    slot_set slot0, v16
    v17 = const 100.0: float64
    v18 = lt v17, v12: bool
    branch v18, block4(), block2(v14, v12)
block4() cold:
    v19 = pack(v12, v16): tuple(float64, int)
    return v19
block5() cold:
    v20 = slot_get slot0: int
    v21 = const 2: int
    v22 = lt v20, v21: bool
    branch v22, block8(), block6(v7, v20)
block6(v23: float64, v24: int):
    v25 = pack(v23, v24): tuple(float64, int)
    return v25
block7(v26: int):
    v27 = runtime lh_exc_take(): exception
    jump block6(v3, v26)
block8() cold:
    v28 = elem_ptr check wrap v0[v8]: ptr @ 9:0-9:9
    v29 = load v28: float64
    jump block6(v29, v21)
}";

#[test]
fn parts_are_left_by_every_way() {
    let c = build(LOOP);
    let ir = c.output.llvm_ir.as_deref().expect("wanted");
    assert!(ir.contains("@f.0.cold1("), "{ir}");
    let call = |items: &[f64], from: i64| {
        let mut args = array_1d(items);
        args.push(from as u64);
        c.call::<2>(&args).map(|[sum, n]| (f64::from_bits(sum), n))
    };
    let items = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(call(&items, 5), Some((0.0, 0)), "not entered");
    assert_eq!(call(&items, -2), Some((18.0, 4)), "on to the shared block");
    assert_eq!(call(&[1.0, 60.0, 70.0], -1), Some((130.0, 2)), "the return inside");
    assert_eq!(call(&[1.0, 2.0, 3.0], -1), Some((0.0, 3)), "the handler");
    assert_eq!(call(&items, -5), None, "an exception leaves");
    let e = take_pending().expect("an exception");
    assert_eq!(e.class, lh_runtime::classes::INDEX_ERROR);
    assert!(matches!(&e.args[..], [ExcArg::Str(_)]));
    assert_eq!(e.frames.iter().map(|f| f.line).collect::<Vec<_>>(), [9], "noted once");
}

#[test]
fn a_part_may_begin_with_a_loop_and_return_much() {
    let results = ["int"; 9].join(", ");
    let parts = ["v4"; 9].join(", ");
    let c = build(&format!(
        "function %f(v0: int, v1: int) -> tuple({results}) {{
block0(v0: int, v1: int):
    v2 = const 0: int
    v3 = lt v0, v2: bool
    branch v3, block1(v0), block3()
block1(v4: int) cold:
    v5 = add v4, v1: int
    v6 = mul v5, v5: int
    v7 = add v6, v5: int
    v8 = sub v7, v6: int
    v9 = mul v8, v8: int
    v10 = add v9, v8: int
    v11 = sub v10, v9: int
    v12 = mul v11, v11: int
    v13 = add v12, v11: int
    v14 = sub v13, v12: int
    v15 = mul v14, v14: int
    v16 = add v15, v14: int
    v17 = sub v16, v15: int
    v18 = mul v17, v17: int
    v19 = add v18, v17: int
    v20 = sub v19, v18: int
    v21 = mul v20, v20: int
    v22 = add v21, v20: int
    v23 = sub v22, v21: int
    v27 = sub v20, v19: int
    v28 = add v27, v19: int
    v24 = lt v23, v2: bool
    branch v24, block1(v23), block2()
block2() cold:
    v25 = pack({parts}): tuple({results})
    return v25
block3():
    v26 = pack({zeros}): tuple({results})
    return v26
}}",
        zeros = ["v2"; 9].join(", "),
    ));
    assert!(c.output.llvm_ir.as_deref().expect("wanted").contains("@f.0.cold1("));
    assert_eq!(c.call::<9>(&[-7i64 as u64, 3]), Some([-1i64 as u64; 9]));
    assert_eq!(c.call::<9>(&[7, 3]), Some([0; 9]));
}

#[test]
fn little_stays_where_it_is() {
    let c = build(
        "function %f(v0: int) -> int {
block0(v0: int):
    v1 = const 0: int
    v2 = lt v0, v1: bool
    branch v2, block1(), block2(v0)
block1() cold:
    v3 = sub v1, v0: int
    jump block2(v3)
block2(v4: int):
    return v4
}",
    );
    assert!(!c.output.llvm_ir.as_deref().expect("wanted").contains("cold1"));
    assert_eq!(c.call::<1>(&[-4i64 as u64]), Some([4]));
}

#[test]
fn a_call_that_always_raises_is_outlined() {
    let c = build(
        "function %f(v0: int) -> int {
    source \"f\", \"/x/a.py\", 1
block0(v0: int):
    v1 = const 0: int
    v2 = lt v0, v1: bool
    branch v2, block1(), block2()
block1():
    v3 = call spec1(v0): none @ 2:0-2:9
    jump block2()
block2():
    return v0
}
function %refuse(v0: int) -> none {
    source \"refuse\", \"/x/a.py\", 5
block0(v0: int):
    raise exc10(v0) @ 6:0-6:9
}",
    );
    let ir = c.output.llvm_ir.as_deref().expect("wanted");
    assert!(ir.contains("@f.0.cold1("), "{ir}");
    assert_eq!(c.call::<1>(&[4]), Some([4]));
    assert_eq!(c.call::<1>(&[-4i64 as u64]), None);
    let e = take_pending().expect("an exception");
    assert_eq!(e.args, [ExcArg::Int(-4)]);
    assert_eq!(e.frames.iter().map(|f| f.line).collect::<Vec<_>>(), [6, 2]);
}
