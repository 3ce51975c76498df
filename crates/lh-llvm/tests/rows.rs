//! Every row's examples, compiled for this computer, against the row's `eval`.

mod common;

use common::build_unit;
use lh_ir::func::{BlockData, Function, Inst, InstData, Term};
use lh_ir::op::{Lower, Op};
use lh_ir::types::Prim;
use lh_ir::{Const, SpecId, Ty};
use lh_llvm::{Unit, Wanted};

/// A function that applies a row to its parameters.
fn applying(op: &'static Op, args: &[Ty], ret: Ty) -> Function {
    let mut f = Function { name: "f".into(), ret: Some(ret), ..Function::default() };
    let params: Vec<_> = args.iter().map(|t| f.new_value(*t)).collect();
    let result = f.new_value(ret);
    let inst = InstData { result: Some(result), inst: Inst::Op(op, params.clone()), span: Default::default() };
    f.blocks.push(BlockData { params, insts: vec![inst], term: Some(Term::Return(result)), ..BlockData::default() });
    f
}

fn slot(c: &Const) -> u64 {
    match c {
        Const::Bool(b) => u64::from(*b),
        Const::Int(i, _) => *i as u64,
        Const::Float(x, t) if t.bits() == 32 => u64::from((*x as f32).to_bits()),
        Const::Float(x, _) => x.to_bits(),
        Const::None | Const::Complex(..) | Const::Str(_) => panic!("no example has {c:?}"),
    }
}

fn value(slot: u64, ty: Ty) -> Const {
    let int = |v: i128| Const::Int(v, ty);
    match (ty.flatten()[0], ty.is_signed()) {
        (Prim::I1, _) => Const::Bool(slot as u8 != 0),
        (Prim::F32, _) => Const::Float(f64::from(f32::from_bits(slot as u32)), ty),
        (Prim::F64, _) => Const::Float(f64::from_bits(slot), ty),
        (p, signed) => {
            let shift = 64 - 8 * p.size() as u32;
            let up = slot << shift;
            int(if signed { i128::from(up as i64 >> shift) } else { i128::from(up >> shift) })
        }
    }
}

#[test]
fn examples_hold_on_this_computer() {
    let mut wrong = Vec::new();
    for op in lh_ops::all() {
        for (args, want) in op.examples {
            let types: Vec<Ty> = args.iter().map(Const::ty).collect();
            let unit = Unit {
                functions: vec![applying(op, &types, want.ty())],
                spec_names: [(SpecId(0), "f".to_owned())].into(),
                entry: 0,
                entry_symbol: "entry".into(),
                abi: lh_llvm::Abi::Host,
                arrays: Default::default(),
                wanted: Wanted::default(),
            };
            let slots: Vec<u64> = args.iter().map(slot).collect();
            let [out] = build_unit(&unit).call::<1>(&slots).expect("rows do not raise");
            let got = value(out, want.ty());
            let near = matches!(op.host, Lower::Math(..)) && lh_ops::ulps(&got, want).is_some_and(|u| u <= 1);
            if !near && !lh_ops::agree(&got, want) {
                wrong.push(format!("{}{args:?}: {got:?}, not {want:?}", op.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
