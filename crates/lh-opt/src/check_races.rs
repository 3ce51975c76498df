//! Says of each access to memory where it is and what it goes to, for the check of parallel loops at run time
//! (`LANCEHEAD_RACE=1`, `parallel={"race": True}`).
//!
//! ```text
//! v3 = load v2: float64          runtime lh_race_array("a", v5, 8)
//!                          ->    runtime lh_race_extent(v6, v7)
//!                                runtime lh_race_access("f.py", 12, v2, 8, 0)
//!                                v3 = load v2: float64
//! ```
//!
//! `outline_parallel` has said where loops and iterations begin. What run-time functions do is seen as far as they move
//! bytes or change lists.
//!
//! Requires arrays lowered to loads and stores; what comes after sees calls that raise.

use crate::counted::Defs;
use crate::edit::runtime;
use crate::effects::{Effects, Root};
use lh_ir::func::{Inst, InstData, parallel};
use lh_ir::types::TyKind;
use lh_ir::{Const, Function, Span, Ty, Value};

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    if func.options.parallel & parallel::RACE == 0 {
        return false;
    }
    let mut changed = false;
    for b in 0..func.blocks.len() {
        let old = func.blocks[b].insts.clone();
        let mut out = Vec::with_capacity(old.len());
        for d in old {
            let plan = plan(func, &d);
            if let Some((what, target)) = plan {
                let mut e = Emit { func, out: &mut out, span: d.span };
                e.target(target);
                e.access(what);
                changed = true;
            } else if matches!(d.inst, Inst::Call(..) | Inst::Foreign(..)) && !func.is_library {
                let mut e = Emit { func, out: &mut out, span: d.span };
                let place = e.place();
                e.call("lh_race_place", place);
                changed = true;
            }
            out.push(d);
        }
        func.blocks[b].insts = out;
    }
    changed
}

/// An access.
struct Access {
    address: Address,
    bytes: Bytes,
    writes: bool,
}

enum Address {
    Of(Value),
    /// The header of a list.
    List(Value),
}

enum Bytes {
    Constant(i64),
    Value(Value),
}

/// The access that an instruction makes, and the array or list that it goes to.
fn plan(func: &Function, d: &InstData) -> Option<(Access, Option<Value>)> {
    let size = |ty: Ty| Bytes::Constant(ty.mem_layout().1 as i64);
    let (address, bytes, writes) = match &d.inst {
        Inst::Load(p) | Inst::Take(p) => (Address::Of(*p), size(func.ty(d.result?)), false),
        Inst::Store(p, v) => (Address::Of(*p), size(func.ty(*v)), true),
        Inst::Runtime(f, args) if f.name == "lh_memmove" => (Address::Of(args[0]), Bytes::Value(args[2]), true),
        Inst::Runtime(f, args) if matches!(f.name, "lh_list_reserve" | "lh_list_set_len") => {
            (Address::List(args[0]), Bytes::Constant(1), true)
        }
        Inst::ListLen(l) => (Address::List(*l), Bytes::Constant(1), false),
        _ => return None,
    };
    let target = match address {
        Address::Of(p) => root(func, p),
        Address::List(l) => Some(l),
    };
    Some((Access { address, bytes, writes }, target))
}

/// The array or list that an address lies in, if that is one.
fn root(func: &Function, p: Value) -> Option<Value> {
    let defs = Defs::new(func);
    match Effects::new(func, &defs, &|_| None).of_address(p)[..] {
        [ref place] => match place.root {
            Root::Value(v) if func.ty(v).is_array() || matches!(func.ty(v).kind(), TyKind::List(_)) => Some(v),
            _ => None,
        },
        _ => None,
    }
}

/// Appends instructions.
struct Emit<'a> {
    func: &'a mut Function,
    out: &'a mut Vec<InstData>,
    span: Span,
}

impl Emit<'_> {
    fn inst(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.func.new_value(ty);
        self.out.push(InstData { result: Some(v), inst, span: self.span });
        v
    }

    fn int(&mut self, i: i64) -> Value {
        self.inst(Inst::Const(Const::Int(i.into(), Ty::int())), Ty::int())
    }

    fn text(&mut self, s: &str) -> Value {
        self.inst(Inst::Const(Const::Str(s.to_owned())), Ty::str())
    }

    fn call(&mut self, name: &str, args: Vec<Value>) {
        let inst = Inst::Runtime(runtime(name), args);
        self.out.push(InstData { result: None, inst, span: self.span });
    }

    /// File and line; in the library, line 0 stands for the caller's.
    fn place(&mut self) -> Vec<Value> {
        let file = if self.func.is_library { String::new() } else { self.func.file.clone() };
        let line = if self.func.is_library { 0 } else { self.span.line.into() };
        vec![self.text(&file), self.int(line)]
    }

    /// What messages need of the array; the library's own variables mean nothing to the user.
    fn target(&mut self, target: Option<Value>) {
        let target = target.filter(|_| !self.func.is_library);
        let array = target.map(|v| (v, self.func.ty(v)));
        let name = target.and_then(|t| self.func.names.iter().find(|(v, _)| *v == t)).map(|(_, n)| n.clone());
        let name = self.text(&name.unwrap_or_default());
        let mut dims = Vec::new();
        let (data, item) = match array {
            Some((v, ty)) if ty.is_array() => {
                let (dtype, rank, ..) = ty.as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
                for d in 0..rank as u32 {
                    let n = self.inst(Inst::ArrayShape(v, d), Ty::int());
                    dims.push((n, self.inst(Inst::ArrayStride(v, d), Ty::int())));
                }
                (self.inst(Inst::ArrayData(v), Ty::ptr()), dtype.itemsize() as i64)
            }
            Some((v, ty)) => {
                let size = match ty.kind() {
                    TyKind::List(t) => t.mem_layout().1.max(1) as i64,
                    _ => 1,
                };
                let n = self.inst(Inst::ListLen(v), Ty::int());
                dims.push((n, self.int(size)));
                (self.inst(Inst::ListData(v), Ty::ptr()), size)
            }
            None => (self.inst(Inst::Zero, Ty::ptr()), 0),
        };
        let item = self.int(item);
        self.call("lh_race_array", vec![name, data, item]);
        for (n, stride) in dims {
            self.call("lh_race_extent", vec![n, stride]);
        }
    }

    fn access(&mut self, what: Access) {
        let mut args = self.place();
        let bytes = match what.bytes {
            Bytes::Constant(n) => self.int(n),
            Bytes::Value(v) => v,
        };
        let writes = self.int(what.writes.into());
        match what.address {
            Address::Of(p) => {
                args.extend([p, bytes, writes]);
                self.call("lh_race_access", args);
            }
            Address::List(l) => {
                args.extend([l, bytes, writes]);
                self.call("lh_race_list", args);
            }
        }
    }
}
