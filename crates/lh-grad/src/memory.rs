//! Classes of memory: values that may address the same memory are in one class (Steensgaard's points-to analysis, not
//! sensitive to fields). On them rest the activity of memory and the question whether a load can be repeated.

use crate::program::Program;
use hashbrown::{HashMap, HashSet};
use lh_ir::algebra::Grad;
use lh_ir::cfg::{Cfg, DomTree, Loops, targets};
use lh_ir::func::{Function, Inst, InstData};
use lh_ir::runtime::{Effect, Items, Memory as Mem, Role};
use lh_ir::types::{ClassTy, Prim, TyKind};
use lh_ir::verify::parts;
use lh_ir::{Block, Ty, Value, bug};
use lh_ops::runtime as rt;

/// Whether values of a type address memory that may hold floats.
pub(crate) fn has_memory(ty: Ty) -> bool {
    memory_parts(ty) > 0
}

/// The number of parts of a value that address memory, each of which has a class.
fn memory_parts(ty: Ty) -> usize {
    match ty.kind() {
        TyKind::Array { .. } | TyKind::Record(_) | TyKind::Ptr | TyKind::MemInfo | TyKind::Generator(_) => 1,
        TyKind::Class(ClassTy { parts: None, .. }) => 1,
        TyKind::Optional(t) | TyKind::MaybeUnbound(t) => memory_parts(*t),
        TyKind::Str | TyKind::PyObject | TyKind::Exc => 0,
        _ => parts(ty).map(memory_parts).sum(),
    }
}

/// The floats that a value consists of, in order: what has an adjoint.
pub(crate) fn leaves(ty: Ty) -> Vec<Ty> {
    match ty.kind() {
        TyKind::Float { .. } | TyKind::Bfloat16 => vec![ty],
        TyKind::Optional(t) | TyKind::MaybeUnbound(t) => leaves(*t),
        TyKind::Str | TyKind::PyObject | TyKind::Exc | TyKind::Record(_) => Vec::new(),
        _ => parts(ty).flat_map(leaves).collect(),
    }
}

/// Whether a value is a text, or has one in it.
fn has_text(ty: Ty) -> bool {
    *ty.kind() == TyKind::Str || parts(ty).any(has_text)
}

/// Whether a value consists of floats, beside what it has in memory.
pub(crate) fn has_floats(ty: Ty) -> bool {
    !leaves(ty).is_empty()
}

/// The arguments of a call that derivatives flow through.
pub(crate) fn wanted(memory: &Memory, args: &[Value]) -> Vec<bool> {
    args.iter().map(|a| memory.is_active(*a) || memory.has_shadow(*a)).collect()
}

#[derive(Default)]
struct Classes {
    parent: Vec<u32>,
    pointee: Vec<Option<u32>>,
}

impl Classes {
    fn new_class(&mut self) -> u32 {
        self.parent.push(self.parent.len() as u32);
        self.pointee.push(None);
        self.parent.len() as u32 - 1
    }
    fn find(&mut self, mut c: u32) -> u32 {
        while self.parent[c as usize] != c {
            self.parent[c as usize] = self.parent[self.parent[c as usize] as usize];
            c = self.parent[c as usize];
        }
        c
    }
    fn pointee(&mut self, c: u32) -> u32 {
        let c = self.find(c) as usize;
        match self.pointee[c] {
            Some(p) => p,
            None => {
                let p = self.new_class();
                self.pointee[c] = Some(p);
                p
            }
        }
    }
    fn unify(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        self.parent[b as usize] = a;
        match (self.pointee[a as usize], self.pointee[b as usize]) {
            (Some(x), Some(y)) => self.unify(x, y),
            (None, y) => self.pointee[a as usize] = y,
            (Some(_), None) => {}
        }
    }
}

/// The classes of a function's values, and what is active.
pub(crate) struct Memory {
    /// Of each value, the classes of its parts.
    class: Vec<Vec<u32>>,
    active: Vec<bool>,
    /// Texts of active floats: constants, as long as no float is read from them.
    texts: Vec<bool>,
    active_classes: HashSet<u32>,
    /// Blocks that write memory of a class, with the place of the instruction.
    stores: HashMap<u32, Vec<(Block, usize)>>,
    /// Where memory of a class is made.
    made: HashMap<u32, Vec<(Block, usize)>>,
    /// Classes of which a value may address memory that was made before the last time: parameters, what is read from
    /// memory, what loops carry.
    mixed: HashSet<u32>,
    /// The values whose instructions make memory.
    makers: HashSet<Value>,
    /// Classes of the memory of objects.
    objects: HashSet<u32>,
    /// The floats that memory of a class consists of, where all arrays of it agree.
    floats: HashMap<u32, Option<Ty>>,
    /// Classes of memory in which floats are read or written.
    with_floats: HashSet<u32>,
    /// Those in which addresses are.
    with_addresses: HashSet<u32>,
}

impl Memory {
    /// Analyses a function whose parameters are active where `params` says so.
    pub(crate) fn new(func: &Function, params: &[bool], program: &dyn Program) -> Memory {
        let mut c = Classes::default();
        let class: Vec<Vec<u32>> =
            func.values.iter().map(|t| (0..memory_parts(*t)).map(|_| c.new_class()).collect()).collect();
        let null: HashSet<Value> = nulls(func);
        for (i, data) in func.blocks.iter().enumerate() {
            data.insts.iter().for_each(|d| unify_inst(func, &mut c, &class, &null, program, d));
            for (_, t) in targets(func, Block::new(i)) {
                for (a, p) in t.args.iter().zip(&func.blocks[t.block.index()].params) {
                    join(&mut c, &class, &null, *a, *p);
                }
            }
        }
        let class: Vec<Vec<u32>> = class.into_iter().map(|of| of.into_iter().map(|k| c.find(k)).collect()).collect();
        let mut m = Memory {
            active: vec![false; func.values.len()],
            texts: vec![false; func.values.len()],
            active_classes: HashSet::new(),
            stores: HashMap::new(),
            made: HashMap::new(),
            mixed: HashSet::new(),
            makers: HashSet::new(),
            objects: HashSet::new(),
            floats: HashMap::new(),
            with_floats: HashSet::new(),
            with_addresses: HashSet::new(),
            class,
        };
        for (p, is_active) in func.params().iter().zip(params) {
            if *is_active {
                m.active[p.index()] = true;
                m.activate(*p, &mut c);
            }
        }
        while m.sweep(func, &mut c, program) {}
        m.note_accesses(func, program);
        m.note_mixed(func);
        m
    }

    /// The class of a value's memory, or of the first part of one with several.
    pub(crate) fn class(&self, v: Value) -> Option<u32> {
        self.of(v).first().copied()
    }
    /// The classes of a value's parts.
    pub(crate) fn of(&self, v: Value) -> &[u32] {
        self.class.get(v.index()).map_or(&[], |of| of)
    }
    /// Whether a value's floats depend on the active parameters.
    pub(crate) fn is_active(&self, v: Value) -> bool {
        self.active.get(v.index()).is_some_and(|a| *a)
    }
    fn is_text(&self, v: Value) -> bool {
        self.texts.get(v.index()).is_some_and(|t| *t)
    }
    /// Whether an instruction whose result would be active has no derivative since it is no arithmetic: it counts by a
    /// float, as random numbers do, or reads a float from a text that was made of one.
    pub(crate) fn is_lost(&self, func: &Function, d: &InstData) -> bool {
        let Some(r) = d.result.filter(|r| *func.ty(*r).kind() != TyKind::Str) else { return false };
        let (mut floats, mut texts) = (false, false);
        d.inst.for_each_operand(|v| {
            floats |= self.is_active(v);
            texts |= self.is_text(v);
        });
        match &d.inst {
            Inst::Runtime(..) => floats || texts && has_floats(func.ty(r)),
            Inst::Call(..) => texts && has_floats(func.ty(r)),
            _ => false,
        }
    }
    /// Whether the memory of a value has a shadow.
    pub(crate) fn has_shadow(&self, v: Value) -> bool {
        self.of(v).iter().any(|k| self.active_classes.contains(k))
    }
    /// Whether an instruction may write active memory.
    pub(crate) fn is_written_by(&self, func: &Function, program: &dyn Program, inst: &Inst) -> bool {
        written(func, program, inst).iter().any(|v| self.has_shadow(*v))
    }
    /// The type of the floats in a value's memory, if that is known and there are no addresses beside them.
    pub(crate) fn floats(&self, v: Value) -> Option<Ty> {
        let k = self.class(v).filter(|k| !self.with_addresses.contains(k))?;
        self.floats.get(&k).copied().flatten()
    }
    /// Whether there are no floats in a value's memory: an adjoint finds nothing there.
    pub(crate) fn has_no_floats(&self, v: Value) -> bool {
        self.class(v).is_some_and(|k| !self.with_floats.contains(&k))
    }
    /// Whether the memory of a value is that of an object, which has fields and items of several types.
    pub(crate) fn is_object(&self, v: Value) -> bool {
        self.class(v).is_some_and(|k| self.objects.contains(&k))
    }
    /// Whether the memory of a value is that of one thread.
    pub(crate) fn is_local(&self, func: &Function, v: Value) -> bool {
        let local = |(b, i): &(Block, usize)| {
            let inst = &func.blocks[b.index()].insts[*i].inst;
            matches!(inst, Inst::Runtime(f, _) if f.role == Role::Memory(Mem::Local))
        };
        let made = self.class(v).map_or(&[][..], |k| self.made(k));
        !made.is_empty() && made.iter().all(local) && !self.class(v).is_some_and(|k| self.mixed.contains(&k))
    }
    /// The blocks that make memory of a value's class.
    pub(crate) fn made(&self, class: u32) -> &[(Block, usize)] {
        self.made.get(&class).map_or(&[], |v| v)
    }
    /// Whether memory of a value is written.
    pub(crate) fn is_written(&self, v: Value) -> bool {
        self.of(v).iter().any(|k| self.stores.contains_key(k))
    }
    /// The instructions that write memory of a class.
    pub(crate) fn stores(&self, class: u32) -> &[(Block, usize)] {
        self.stores.get(&class).map_or(&[], |v| v)
    }

    fn activate(&mut self, v: Value, c: &mut Classes) -> bool {
        let mut changed = false;
        for k in self.of(v).to_vec() {
            changed |= self.active_classes.insert(k);
            // Memory to which it refers is active with it.
            let mut at = k;
            while let Some(p) = c.pointee[at as usize] {
                at = c.find(p);
                if !self.active_classes.insert(at) {
                    break;
                }
                changed = true;
            }
        }
        changed
    }

    /// Memory that refers to active memory is active, too: its shadow has the addresses of shadows.
    fn activate_owners(&mut self, c: &mut Classes) -> bool {
        let mut changed = false;
        for k in 0..c.pointee.len() {
            if let Some(p) = c.pointee[k]
                && self.active_classes.contains(&c.find(p))
            {
                changed |= self.active_classes.insert(c.find(k as u32));
            }
        }
        changed
    }

    fn sweep(&mut self, func: &Function, c: &mut Classes, program: &dyn Program) -> bool {
        let mut changed = self.activate_owners(c);
        for (i, data) in func.blocks.iter().enumerate() {
            for d in &data.insts {
                changed |= self.inst(func, c, program, d);
            }
            for (_, t) in targets(func, Block::new(i)) {
                for (a, p) in t.args.iter().zip(&func.blocks[t.block.index()].params) {
                    if self.is_active(*a) && !self.is_active(*p) && !leaves(func.ty(*p)).is_empty() {
                        self.active[p.index()] = true;
                        changed = true;
                    }
                    changed |= self.is_text(*a) && !std::mem::replace(&mut self.texts[p.index()], true);
                }
            }
        }
        changed
    }

    fn inst(&mut self, func: &Function, c: &mut Classes, program: &dyn Program, d: &InstData) -> bool {
        let mut active_operand = false;
        d.inst.for_each_operand(|v| active_operand |= self.is_active(v));
        let mut shadowed = false;
        d.inst.for_each_operand(|v| shadowed |= self.has_shadow(v));
        if let Inst::Store(p, v) = &d.inst {
            // A list of owners also has those of shadows.
            let owns = func.ty(*v) == Ty::meminfo() && self.has_shadow(*v);
            return (self.is_active(*v) || owns) && self.activate(*p, c);
        }
        let mut changed = false;
        if active_operand || shadowed {
            for v in written(func, program, &d.inst) {
                changed |= self.activate(v, c);
            }
        }
        let Some(r) = d.result else { return changed };
        if has_text(func.ty(r)) {
            let mut is_made = active_operand;
            d.inst.for_each_operand(|v| is_made |= self.is_text(v));
            changed |= is_made && !std::mem::replace(&mut self.texts[r.index()], true);
        }
        let has_leaves = !leaves(func.ty(r)).is_empty();
        let becomes = has_leaves
            && match &d.inst {
                Inst::Op(op, _) => active_operand && op.grad != Grad::Zero,
                Inst::Load(_) | Inst::Take(_) => shadowed,
                Inst::Call(..) | Inst::Runtime(..) | Inst::Foreign(..) => active_operand || shadowed,
                _ => active_operand,
            };
        changed |= becomes && !std::mem::replace(&mut self.active[r.index()], true);
        let is_rule = matches!(&d.inst, Inst::Call(s, _) if program.derivatives().is_ruled(*s));
        if is_rule && (active_operand || shadowed) {
            changed |= self.activate(r, c);
        }
        changed
    }

    fn note_mixed(&mut self, func: &Function) {
        let cfg = Cfg::new(func);
        let dom = DomTree::new(&cfg);
        let loops = Loops::new(func, &cfg, &dom);
        let carried = loops.loops.iter().flat_map(|l| &func.blocks[l.header.index()].params);
        let loaded = func.insts().filter(|d| matches!(d.inst, Inst::Load(_) | Inst::Take(_) | Inst::Extern(_)));
        let values = func.params().iter().chain(carried).copied().chain(loaded.filter_map(|d| d.result));
        let mixed: HashSet<u32> = values.flat_map(|v| self.of(v).to_vec()).collect();
        self.mixed = mixed;
        for (i, t) in func.values.iter().enumerate() {
            // Bytes are those of any type.
            if let (Some((dtype, ..)), Some(k)) = (t.as_array(), self.class(Value::new(i)))
                && dtype.strong() != Ty::u8()
            {
                let own = leaves(dtype.strong());
                self.with_floats.extend(Some(k).filter(|_| !own.is_empty()));
                let own = own.first().copied().filter(|f| own.iter().all(|o| o == f));
                self.floats.entry(k).and_modify(|f| *f = f.filter(|f| Some(*f) == own)).or_insert(own);
            }
        }
        for d in func.insts() {
            let access = match (&d.inst, d.result) {
                (Inst::Load(p), Some(r)) => Some((*p, func.ty(r))),
                (Inst::Store(p, v), _) => Some((*p, func.ty(*v))),
                _ => None,
            };
            let Some((k, ty)) = access.and_then(|(p, t)| Some((self.class(p)?, t.strong()))) else { continue };
            self.with_addresses.extend(Some(k).filter(|_| has_memory(ty)));
            let Some(own) = leaves(ty).first().copied() else { continue };
            self.with_floats.insert(k);
            self.floats.entry(k).and_modify(|f| *f = f.filter(|f| *f == own)).or_insert(Some(own));
        }
        let is_object = |t: &Ty| t.flatten().contains(&Prim::Object);
        let all = func.values.iter().enumerate().filter(|(_, t)| memory_parts(**t) == 1 && is_object(t));
        self.objects = all.filter_map(|(i, _)| self.class(Value::new(i))).collect();
    }

    /// Finds the places of instructions anew, after others were added.
    pub(crate) fn renumber(&mut self, func: &Function, program: &dyn Program) {
        self.stores.clear();
        self.made.clear();
        self.note_accesses(func, program);
    }

    fn note_accesses(&mut self, func: &Function, program: &dyn Program) {
        for (i, data) in func.blocks.iter().enumerate() {
            for (at, d) in data.insts.iter().enumerate() {
                let place = (Block::new(i), at);
                for v in written(func, program, &d.inst) {
                    for k in self.of(v).to_vec() {
                        self.stores.entry(k).or_default().push(place);
                    }
                }
                // The result of a call with a rule is later a part of what the rule gives.
                let is_known = d.result.is_some_and(|r| self.makers.contains(&r));
                if is_made(&d.inst) || is_known {
                    self.makers.extend(d.result);
                    let mut of = d.result.map_or(Vec::new(), |r| self.of(r).to_vec());
                    of.dedup();
                    of.into_iter().for_each(|k| self.made.entry(k).or_default().push(place));
                }
            }
        }
    }
}

/// Whether an instruction makes memory that nothing else addresses.
pub(crate) fn is_made(inst: &Inst) -> bool {
    match inst {
        Inst::New(_) | Inst::Call(..) => true,
        Inst::Runtime(f, _) => f.allocates() || matches!(f.role, Role::Memory(Mem::Local | Mem::Shared | Mem::Dynamic)),
        _ => false,
    }
}

/// Whether an instruction shows numbers or texts to Python, which gives nothing back: `record.append(x)`.
pub(crate) fn is_shown(func: &Function, inst: &Inst) -> bool {
    let Inst::Runtime(f, args) = inst else { return false };
    let has_parts = |v: Value, has: fn(Ty) -> bool| func.ty(v).as_list().is_none_or(has);
    std::ptr::eq(*f, &rt::lh_call_python)
        && !has_parts(args[2], has_memory)
        && !has_parts(args[3], |t| has_memory(t) || has_floats(t))
}

/// Operands whose memory an instruction may write.
fn written(func: &Function, program: &dyn Program, inst: &Inst) -> Vec<Value> {
    match inst {
        Inst::Store(p, _) | Inst::Take(p) => vec![*p],
        Inst::MapInto(_, args) => vec![args[0]],
        Inst::Call(s, args) => {
            let mask = if program.derivatives().is_ruled(*s) { 0 } else { program.typed(*s).writes };
            let writes = |i: usize| mask >> i.min(31) & 1 != 0;
            args.iter().enumerate().filter(|(i, _)| writes(*i)).map(|(_, v)| *v).collect()
        }
        Inst::Foreign(f, args) => {
            args[1..].iter().enumerate().filter(|(i, _)| f.may_write(*i)).map(|(_, v)| *v).collect()
        }
        Inst::ParFor(_, args) => args.clone(),
        inst if is_shown(func, inst) => Vec::new(),
        Inst::Runtime(f, args) => match f.memory {
            Effect::Unknown => args.clone(),
            Effect::Operands { writes, resizes } => {
                let mut place = 0;
                let mut out = Vec::new();
                for v in args {
                    if (writes | resizes) >> place & 1 != 0 {
                        out.push(*v);
                    }
                    place += func.ty(*v).flatten().len();
                }
                out
            }
        },
        Inst::ElemPtr { .. } | Inst::SlotSet(..) | Inst::Map(..) | Inst::IncRef(_) | Inst::DecRef(_) => Vec::new(),
        // The list of pure instructions is exhaustive, so that a new one cannot be missed here.
        _ if inst.is_pure() => Vec::new(),
        _ => bug!("an instruction of which nobody says what it writes"),
    }
}

pub(crate) fn nulls(func: &Function) -> HashSet<Value> {
    func.insts().filter(|d| matches!(d.inst, Inst::Zero)).filter_map(|d| d.result).collect()
}

/// Unifies the classes of values of one type, part by part.
fn join(c: &mut Classes, class: &[Vec<u32>], null: &HashSet<Value>, a: Value, b: Value) {
    if null.contains(&a) || null.contains(&b) {
        return;
    }
    for (x, y) in class[a.index()].iter().zip(&class[b.index()]) {
        c.unify(*x, *y);
    }
}

/// Unifies all classes of some values.
fn join_all(c: &mut Classes, class: &[Vec<u32>], null: &HashSet<Value>, values: impl Iterator<Item = Value>) {
    let all: Vec<u32> = values.filter(|v| !null.contains(v)).flat_map(|v| class[v.index()].clone()).collect();
    all.windows(2).for_each(|w| c.unify(w[0], w[1]));
}

/// Unifies the classes of an instruction's operands and result.
fn unify_inst(
    func: &Function,
    c: &mut Classes,
    class: &[Vec<u32>],
    null: &HashSet<Value>,
    program: &dyn Program,
    d: &InstData,
) {
    let first = |v: &Value| class[v.index()].first().copied();
    let through = |c: &mut Classes, p: &Value, v: Value| {
        if let (Some(p), false) = (first(p), null.contains(&v)) {
            for k in class[v.index()].clone() {
                let to = c.pointee(p);
                c.unify(to, k);
            }
        }
    };
    match (&d.inst, d.result) {
        (Inst::Load(p) | Inst::Take(p), Some(r)) => through(c, p, r),
        // A list of owners is never read.
        (Inst::Store(_, v), _) if func.ty(*v) == Ty::meminfo() => {}
        (Inst::Store(p, v), _) => through(c, p, *v),
        (Inst::Runtime(f, args), _) if matches!(f.role, Role::Memory(Mem::Move | Mem::Moved | Mem::CopyRow)) => {
            // Items and their copies refer to the same memory; the regions themselves are apart.
            let regions: Vec<u32> = args.iter().filter_map(first).collect();
            if let [a, b] = regions[..] {
                let (a, b) = (c.pointee(a), c.pointee(b));
                c.unify(a, b);
            }
        }
        (Inst::Runtime(f, _), Some(r)) if f.allocates() => join_all(c, class, null, [r].into_iter()),
        (Inst::Runtime(f, _), _) if matches!(f.role, Role::Items(Items::Reserve | Items::SetLen)) => {}
        // The context of a block is no memory of the program.
        (Inst::Runtime(f, _), _) if f.is_for_kernels() && !matches!(f.role, Role::Atomic(..)) => {}
        (Inst::Call(s, _), _) if program.derivatives().is_ruled(*s) => {}
        (Inst::Pack(of), Some(r)) => {
            let own = class[r.index()].clone();
            let given: Vec<(Value, u32)> = of.iter().flat_map(|v| class[v.index()].iter().map(|k| (*v, *k))).collect();
            for ((v, k), o) in given.into_iter().zip(own) {
                if !null.contains(&v) {
                    c.unify(k, o);
                }
            }
        }
        (Inst::Field(v, n), Some(r)) => {
            let before: usize = parts(func.ty(*v)).take(*n as usize).map(memory_parts).sum();
            for (i, k) in class[r.index()].clone().into_iter().enumerate() {
                if let Some(x) = class[v.index()].get(before + i) {
                    c.unify(*x, k);
                }
            }
        }
        (Inst::Some(v) | Inst::Unwrap(v), Some(r)) => join(c, class, null, *v, r),
        (inst, Some(r)) => {
            let mut all = vec![r];
            inst.for_each_operand(|v| all.push(v));
            if !class[r.index()].is_empty() {
                join_all(c, class, null, all.into_iter());
            }
        }
        (_, None) => {}
    }
}

/// Whether the memory that a load reads is the same when everything has run that may run after it: no store to its
/// class is reached from it other than through the place where the memory is made, which makes new memory then.
pub(crate) fn is_lasting(func: &Function, memory: &Memory, class: u32, at: (Block, usize)) -> bool {
    let stores = memory.stores(class);
    if stores.is_empty() {
        return true;
    }
    let made = match memory.made(class) {
        [one] if !memory.mixed.contains(&class) => Some(*one),
        _ => None,
    };
    // The first event in a block from a place on: a store, or the making of new memory.
    let first = |b: Block, from: usize| {
        let store = stores.iter().filter(|(s, i)| *s == b && *i >= from).map(|(_, i)| *i).min();
        let made = made.filter(|(m, i)| *m == b && *i >= from).map(|(_, i)| i);
        match (store, made) {
            (Some(s), Some(m)) => Some(s < m),
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            (None, None) => None,
        }
    };
    if let Some(is_store) = first(at.0, at.1 + 1) {
        return !is_store;
    }
    let (mut seen, mut work) = (HashSet::new(), vec![at.0]);
    while let Some(b) = work.pop() {
        for (_, t) in targets(func, b) {
            if !seen.insert(t.block) {
                continue;
            }
            match first(t.block, 0) {
                Some(true) => return false,
                Some(false) => {}
                None => work.push(t.block),
            }
        }
    }
    true
}
