//! Every row against its own examples and its typing rule.

use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::op::{Lower, Sig};
use lh_ir::{Const, Ty};
use std::collections::HashSet;

#[test]
fn examples_hold() {
    for op in lh_ops::all() {
        for (args, want) in op.examples {
            let got = (op.eval)(args).unwrap_or_else(|| panic!("{}{args:?}: undefined", op.name));
            let close = matches!(op.host, Lower::Math(..)) && lh_ops::ulps(&got, want).is_some_and(|u| u <= 1);
            assert!(close || lh_ops::agree(&got, want), "{}{args:?}: {got:?}, not {want:?}", op.name);
        }
    }
}

#[test]
fn examples_have_the_types_of_the_signature() {
    for op in lh_ops::all() {
        assert!(op.examples.len() >= 2, "{}: at least two examples", op.name);
        for (args, want) in op.examples {
            let types: Vec<Ty> = args.iter().map(Const::ty).collect();
            assert_eq!(op.sig.result(&types, Some(want.ty())), Some(want.ty()), "{}{args:?}", op.name);
            assert_eq!(op.sig.arity(), args.len(), "{}", op.name);
        }
    }
}

#[test]
fn names_and_paths_are_unique() {
    let (mut names, mut paths) = (HashSet::new(), HashSet::new());
    for op in lh_ops::all() {
        assert!(names.insert(op.name), "{} twice", op.name);
        assert_eq!(lh_ops::row(op.name), Some(op));
        for p in op.python {
            assert!(paths.insert(*p), "{p} twice");
            assert_eq!(lh_ops::for_python(p), Some(op));
        }
    }
    assert!(lh_ops::row("no such row").is_none());
    assert!(lh_ops::for_python("numpy.no_such_function").is_none());
}

#[test]
fn undefined_operands_have_no_value() {
    let int = |v| Const::Int(v, Ty::i64());
    let eval = |name: &str, args: &[Const]| (lh_ops::row(name).expect(name).eval)(args);
    assert_eq!(eval("sdiv", &[int(1), int(0)]), None);
    assert_eq!(eval("sdiv", &[int(i128::from(i64::MIN)), int(-1)]), None);
    assert_eq!(eval("srem", &[int(i128::from(i64::MIN)), int(-1)]), None);
    assert_eq!(eval("shl", &[int(1), int(64)]), None);
    assert_eq!(eval("shr", &[int(1), int(-1)]), None);
}

#[test]
fn results_keep_the_weakness_of_operands() {
    let add = lh_ops::row("add").expect("a row");
    assert_eq!((add.eval)(&[Const::Int(1, Ty::int()), Const::Int(2, Ty::int())]), Some(Const::Int(3, Ty::int())));
    assert!(matches!(add.sig, Sig::Same(2, _)));
}

#[test]
fn facts_agree_with_the_reference_semantics() {
    for op in lh_ops::all() {
        for (args, result) in op.examples {
            let (Some(Const::Int(a, _)), Some(Const::Int(b, _))) = (args.first(), args.get(1)) else { continue };
            let holds = |cmp| match cmp {
                Cmp::Eq => a == b,
                Cmp::Ne => a != b,
                Cmp::Lt => a < b,
                Cmp::Le => a <= b,
                Cmp::Gt => a > b,
                Cmp::Ge => a >= b,
            };
            if let Some(cmp) = op.comparison() {
                assert_eq!(*result, Const::Bool(holds(cmp)), "{op:?}");
                assert_eq!(holds(cmp.negated()), !holds(cmp), "{op:?}");
                let swapped = (op.eval)(&[args[1].clone(), args[0].clone()]);
                assert_eq!(swapped, Some(Const::Bool(holds(cmp.mirrored()))), "{op:?}");
            }
        }
    }
}

#[test]
fn functions_keep_to_their_bounds_and_approximations_are_of_functions() {
    for op in lh_ops::all() {
        if let Algebra::Function { least } = op.algebra {
            let below = |c: &Const| matches!(c, Const::Float(x, _) if *x < least);
            assert!(!op.examples.iter().any(|(_, result)| below(result)), "{op:?}");
        }
        assert!(op.approx.is_none() || matches!(op.nvptx, Lower::Math(..)), "{op:?}");
        assert!(op.cost > 0, "{op:?}");
    }
}
