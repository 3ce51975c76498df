//! Instruments accesses to memory for the run-time race checks of parallel loops (`LANCEHEAD_RACE=1`,
//! `parallel={"race": True}`) and of kernels on the CPU device (`LANCEHEAD_RACE=1`, `debug=True`).
//!
//! ```text
//! v3 = load v2: float64          runtime lh_race_array("a", v5, 8)
//!                          ->    runtime lh_race_extent(v6, v7)
//!                                runtime lh_race_access("f.py", 12, v2, 8, 0)
//!                                v3 = load v2: float64
//! ```
//!
//! `outline_parallel` has already announced loops and iterations. Run-time functions are only instrumented where they
//! move bytes, sort or change the items of objects. Threads of kernels also report where they wait and where they end.
//!
//! Requires arrays lowered to loads and stores. The inserted calls may raise.

use crate::analysis::counted::Defs;
use crate::analysis::effects::{Effects, Root};
use crate::edit::row;
use hashbrown::HashSet;
use lh_ir::func::{Device, Inst, InstData, Term, parallel};
use lh_ir::runtime::{Memory, Race, Rmw, Role, RuntimeFn, Warp};
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::{Const, Function, Span, Ty, Value};
use lh_ops::runtime as rt;
use lh_ops::runtime::access;

pub(crate) fn run(func: &mut Function) -> bool {
    if func.options.parallel & parallel::RACE == 0 {
        return false;
    }
    let (arrays, same) = (array_data(func), invariant_stores(func));
    let mut changed = false;
    for b in 0..func.blocks.len() {
        let old = func.blocks[b].insts.clone();
        let mut out = Vec::with_capacity(old.len());
        for d in old {
            let mut plan = accesses_of(func, &d);
            for (what, target) in plan.split_off(plan.len().min(1)) {
                let mut e = Emit { func, out: &mut out, span: d.span };
                e.describe(target);
                e.access(&what);
            }
            if let Some((mut what, target)) = plan.pop() {
                let stores_same = matches!(d.inst, Inst::Store(_, v) if same.contains(&v));
                if stores_same {
                    what.kind = access::BEFORE;
                }
                let mut e = Emit { func, out: &mut out, span: d.span };
                e.describe(target);
                e.access(&what);
                changed = true;
                if stores_same {
                    what.kind = access::SAME;
                    e.out.push(d);
                    e.access(&what);
                    continue;
                }
            } else if matches!(d.inst, Inst::Call(..) | Inst::Foreign(..)) || is_barrier(&d.inst) {
                Emit { func, out: &mut out, span: d.span }.report_place();
                changed = true;
            } else if let Some(array) = escaping_array(func, &d.inst) {
                let mut e = Emit { func, out: &mut out, span: d.span };
                e.describe(Some(array));
                e.call(&rt::lh_race_handed, Vec::new());
                changed = true;
            }
            let memory = thread_memory(&d).map(|(at, bytes)| (at, bytes, arrays.contains(&at), d.span));
            out.push(d);
            if let Some((at, bytes, is_array, span)) = memory {
                let mut e = Emit { func, out: &mut out, span };
                let is_array = e.int(is_array.into());
                e.call(&rt::lh_race_memory, vec![at, bytes, is_array]);
                changed = true;
            }
        }
        let (is_kernel, span) = (func.options.device == Device::Kernel, func.blocks[b].term_span);
        if is_kernel && matches!(func.blocks[b].term, Some(Term::Return(_))) {
            Emit { func, out: &mut out, span }.report_place();
            changed = true;
        }
        func.blocks[b].insts = out;
    }
    changed
}

/// Stored values that are the same in all iterations: constants and, in the body of a loop, captured values.
fn invariant_stores(func: &Function) -> HashSet<Value> {
    let (defs, insts) = (Defs::new(func), || func.blocks.iter().flat_map(|b| &b.insts));
    let is_body = insts().any(|d| matches!(&d.inst, Inst::Runtime(f, _) if f.role == Role::Race(Race::Iteration)));
    let is_same = |stored: &Value| {
        let mut all = vec![*stored];
        while let Some(v) = all.pop() {
            match defs.inst(func, v) {
                Some(Inst::Const(_) | Inst::Zero) => {}
                Some(Inst::Cast(x) | Inst::Field(x, _)) => all.push(*x),
                Some(Inst::Pack(parts)) => all.extend(parts),
                None if func.params().contains(&v) && is_body => {}
                _ => return false,
            }
        }
        true
    };
    if func.options.device != Device::Host {
        return HashSet::new();
    }
    insts().filter_map(|d| if let Inst::Store(_, v) = d.inst { Some(v) } else { None }).filter(is_same).collect()
}

/// Whether an instruction is a barrier.
fn is_barrier(inst: &Inst) -> bool {
    let is_wait = |f: &RuntimeFn| f.is_barrier() || f.role == Role::Warp(Warp::Exchange);
    matches!(inst, Inst::Runtime(f, _) if is_wait(f))
}

/// Local memory of the thread that an instruction allocates, and its size.
fn thread_memory(d: &InstData) -> Option<(Value, Value)> {
    match &d.inst {
        Inst::Runtime(f, args) if f.role == Role::Memory(Memory::Local) => Some((d.result?, args[0])),
        _ => None,
    }
}

/// Addresses of which arrays are made.
fn array_data(func: &Function) -> Vec<Value> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    insts.filter_map(|d| if let Inst::ArrayMake { data, .. } = &d.inst { Some(*data) } else { None }).collect()
}

/// The array whose address an instruction stores as an argument for foreign code.
fn escaping_array(func: &Function, inst: &Inst) -> Option<Value> {
    let Inst::Store(_, address) = inst else { return None };
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let made = insts.into_iter().find(|d| d.result == Some(*address) && func.ty(*address) == Ty::ptr())?;
    if let Inst::ArrayData(of) = &made.inst { Some(*of) } else { None }
}

struct RaceAccess {
    address: Address,
    bytes: Bytes,
    kind: i64,
}

enum Address {
    At(Value),
    /// The head of an object with items.
    Items(Value),
}

enum Bytes {
    Constant(i64),
    Value(Value),
    /// So many items of a size.
    Items(Value, i64),
}

/// The accesses of an instruction, each with the array or container that it addresses.
fn accesses_of(func: &Function, d: &InstData) -> Vec<(RaceAccess, Option<Value>)> {
    let first = access_of(func, d);
    // The source of a move is read.
    let second = match &d.inst {
        Inst::Runtime(f, args) if f.role == Role::Memory(Memory::Move) => {
            Some(RaceAccess { address: Address::At(args[1]), bytes: Bytes::Value(args[2]), kind: access::READ })
        }
        _ => None,
    };
    let target = |address: &Address| match address {
        Address::At(p) => accessed_object(func, *p),
        Address::Items(l) => Some(*l),
    };
    first.into_iter().chain(second).map(|a| (target(&a.address), a)).map(|(of, a)| (a, of)).collect()
}

/// The access of an instruction.
fn access_of(func: &Function, d: &InstData) -> Option<RaceAccess> {
    let size = |ty: Ty| Bytes::Constant(ty.mem_layout().1 as i64);
    let (address, bytes, kind) = match &d.inst {
        Inst::Load(p) | Inst::Take(p) => (Address::At(*p), size(func.ty(d.result?)), access::READ),
        Inst::Store(p, v) => (Address::At(*p), size(func.ty(*v)), access::WRITE),
        Inst::Runtime(f, args) => match f.role {
            Role::Memory(Memory::Move) => (Address::At(args[0]), Bytes::Value(args[2]), access::WRITE),
            Role::Memory(Memory::Line { item, number }) => {
                let kind = if f.writes_operand(0) { access::WRITE } else { access::READ };
                (Address::At(args[0]), Bytes::Items(args[usize::from(number)], item.into()), kind)
            }
            Role::Items(_) => (Address::Items(args[0]), Bytes::Constant(1), access::WRITE),
            Role::Atomic(Rmw::Exchange, _) => (Address::At(args[0]), size(func.ty(d.result?)), access::EXCHANGE),
            Role::Atomic(..) => (Address::At(args[0]), size(func.ty(d.result?)), access::UPDATE),
            Role::Plain
            | Role::Geometry(..)
            | Role::Launch(_)
            | Role::Barrier(_)
            | Role::Warp(_)
            | Role::Lanes(_)
            | Role::Memory(
                Memory::Allocate
                | Memory::AllocateZeroed
                | Memory::Temporary
                | Memory::Shared
                | Memory::Dynamic
                | Memory::DynamicBytes
                | Memory::Local
                | Memory::Moved
                | Memory::CopyRow
                | Memory::Prefetch
                | Memory::Fence
                | Memory::LoadCached
                | Memory::StoreCached,
            )
            | Role::Address(_)
            | Role::IsSame
            | Role::Text(_)
            | Role::Print(_)
            | Role::Random(_)
            | Role::Exception(_)
            | Role::CheckIndex
            | Role::Shapes(_)
            | Role::Parts(_)
            | Role::Poll(_)
            | Role::Race(_)
            | Role::Threads(_)
            | Role::LoopHint => return None,
        },
        Inst::ItemsLen(l) => (Address::Items(*l), Bytes::Constant(1), access::READ),
        _ => return None,
    };
    Some(RaceAccess { address, bytes, kind })
}

/// The array or container that contains an address, preferably one with a name in the program.
fn accessed_object(func: &Function, p: Value) -> Option<Value> {
    let named = |v: Value| func.names.iter().any(|(n, _)| *n == v);
    if let Some(array) = array_of(func, p).filter(|v| named(*v)) {
        return Some(array);
    }
    let defs = Defs::new(func);
    match Effects::new(func, &defs, &|_| None).of_address(p)[..] {
        [ref place] => match place.root {
            Root::Value(v) if func.ty(v).is_array() || func.ty(v).items().is_some() => Some(v),
            _ => array_of(func, p),
        },
        _ => array_of(func, p),
    }
}

/// The array of an element's address.
fn array_of(func: &Function, p: Value) -> Option<Value> {
    let made = func.blocks.iter().flat_map(|b| &b.insts).find(|d| d.result == Some(p))?;
    match &made.inst {
        Inst::ElemPtr { array, .. } => Some(*array),
        Inst::PtrAdd(p, _) => array_of(func, *p),
        _ => None,
    }
}

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

    fn call(&mut self, f: &'static RuntimeFn, args: Vec<Value>) {
        let inst = Inst::Runtime(f, args);
        self.out.push(InstData { result: None, inst, span: self.span });
    }

    /// Reports the current place in the program; library code has none.
    fn report_place(&mut self) {
        if !self.func.is_library {
            let place = self.place();
            self.call(&rt::lh_race_place, place);
        }
    }

    /// File and place; in the library, 0 means the caller's place.
    fn place(&mut self) -> Vec<Value> {
        let file = if self.func.is_library { String::new() } else { self.func.file.clone() };
        let line = if self.func.is_library { 0 } else { self.span.packed() };
        vec![self.text(&file), self.int(line)]
    }

    /// Describes the accessed array for messages; variables of the library have no name for users.
    fn describe(&mut self, target: Option<Value>) {
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
                    TyKind::Class(ClassTy { items: Some(t), .. }) => t.mem_layout().1.max(1) as i64,
                    _ => 1,
                };
                let n = self.inst(Inst::ItemsLen(v), Ty::int());
                dims.push((n, self.int(size)));
                (self.inst(Inst::ItemsData(v), Ty::ptr()), size)
            }
            None => (self.inst(Inst::Zero, Ty::ptr()), 0),
        };
        let item = self.int(item);
        self.call(&rt::lh_race_array, vec![name, data, item]);
        for (n, stride) in dims {
            self.call(&rt::lh_race_extent, vec![n, stride]);
        }
    }

    fn access(&mut self, what: &RaceAccess) {
        let mut args = self.place();
        let bytes = match what.bytes {
            Bytes::Constant(n) => self.int(n),
            Bytes::Value(v) => v,
            Bytes::Items(n, size) => {
                let size = self.int(size);
                self.inst(Inst::Op(row("mul"), vec![n, size]), Ty::int())
            }
        };
        let kind = self.int(what.kind);
        match what.address {
            Address::At(p) => {
                args.extend([p, bytes, kind]);
                self.call(&rt::lh_race_access, args);
            }
            Address::Items(l) => {
                args.extend([l, bytes, kind]);
                self.call(&rt::lh_race_header, args);
            }
        }
    }
}
