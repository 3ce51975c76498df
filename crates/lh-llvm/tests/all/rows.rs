//! Every row's examples, compiled for this computer and, by way of PTX, for GPUs, against the row's `eval`.

use crate::common::build_unit;
use lh_ir::func::{BlockData, Function, Inst, InstData, Term};
use lh_ir::op::{Lower, Op};
use lh_ir::types::Prim;
use lh_ir::{Const, SpecId, Ty, half};
use lh_llvm::{Abi, Gpu, Unit, compile_ptx};
use std::borrow::Cow;

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
        Const::Float(x, t) if t.bits() == 16 => u64::from(half::bits(*x, *t)),
        Const::Float(x, _) => x.to_bits(),
        Const::None | Const::Complex(..) | Const::Str(_) => panic!("no example has {c:?}"),
    }
}

fn value(slot: u64, ty: Ty) -> Const {
    let int = |v: i128| Const::Int(v, ty);
    match (ty.flatten()[0], ty.is_signed()) {
        (Prim::I1, _) => Const::Bool(slot as u8 != 0),
        (Prim::I16, _) if ty.is_half() => Const::Float(half::number(slot as u16, ty), ty),
        (Prim::F16, _) => Const::Float(half::to_f64(slot as u16), ty),
        (Prim::F32, _) => Const::Float(f64::from(f32::from_bits(slot as u32)), ty),
        (Prim::F64, _) => Const::Float(f64::from_bits(slot), ty),
        (p, signed) => {
            let shift = 64 - 8 * p.size() as u32;
            let up = slot << shift;
            int(if signed { i128::from(up as i64 >> shift) } else { i128::from(up >> shift) })
        }
    }
}

fn unit_of(functions: Vec<Function>, abi: Abi) -> Unit<'static> {
    let spec_names = functions.iter().enumerate().map(|(i, f)| (SpecId::new(i), f.name.clone())).collect();
    let functions = functions.into_iter().map(Cow::Owned).collect();
    Unit { functions, spec_names, entry: 0, entry_symbol: "entry".into(), abi, ..Unit::default() }
}

/// The examples of which `run` gives something else than they say; functions of the math library may be off by an ulp.
fn wrong(run: impl Fn(&'static Op, &'static [Const], Ty) -> Option<Const>) -> Vec<String> {
    let mut wrong = Vec::new();
    for op in lh_ops::all() {
        for (args, want) in op.examples {
            let Some(got) = run(op, args, want.ty()) else { continue };
            let near = matches!(op.host, Lower::Math(..)) && lh_ops::ulps(&got, want).is_some_and(|u| u <= 1);
            if !near && !lh_ops::agree(&got, want) {
                wrong.push(format!("{}{args:?}: {got:?}, not {want:?}", op.name));
            }
        }
    }
    wrong
}

#[test]
fn examples_hold_on_this_computer() {
    let wrong = wrong(|op, args, ret| {
        let types: Vec<Ty> = args.iter().map(Const::ty).collect();
        let slots: Vec<u64> = args.iter().map(slot).collect();
        let compiled = build_unit(&unit_of(vec![applying(op, &types, ret)], Abi::Host));
        let [out] = compiled.call::<1>(&slots).expect("rows do not raise");
        Some(value(out, ret))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn examples_hold_in_ptx() {
    let gpu = Gpu::new(8, 0).expect("known");
    let wrong = wrong(|op, args, ret| {
        // Symbols are functions of NVIDIA's libdevice, which is found where it is installed.
        if matches!(op.nvptx, Lower::No | Lower::Symbol(..)) {
            return None;
        }
        let types: Vec<Ty> = args.iter().map(Const::ty).collect();
        let text =
            compile_ptx(&unit_of(vec![applying(op, &types, ret)], Abi::CFunction), gpu).expect("it has a column").text;
        let mut lifted = lh_ptx::lift(&text, lh_ptx::Lifting::default())
            .unwrap_or_else(|e| panic!("{}: {}\n{text}", op.name, e.headline));
        lifted.functions[0].name = "f".into();
        // Lifted functions take the addresses of their result and of their parameters.
        let mut memory: Vec<u64> = args.iter().map(slot).collect();
        memory.insert(0, 0);
        let slots: Vec<u64> = memory.iter_mut().map(|m| std::ptr::from_mut(m).addr() as u64).collect();
        let compiled = build_unit(&unit_of(lifted.functions, Abi::Host));
        compiled.call::<0>(&slots).expect("rows do not raise");
        Some(value(memory[0], ret))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
