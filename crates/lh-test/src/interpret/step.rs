//! Runs threads one instruction at a time. Callees of parallel loops and elementwise computations run to their end at
//! once.

use super::Stop;
use super::exception::{Exc, argument};
use super::grid::Place;
use super::items::{ItemsHead, field_address};
use super::row::row;
use super::state::{End, Flow, Frame, Machine, Thread};
use super::view::View;
use super::word::{Word, Words, cast, int, poison, words_of};
use lh_ir::func::{Extern, Inst, InstData, Term};
use lh_ir::types::Prim;
use lh_ir::verify::part;
use lh_ir::{Const, Function, Ty, Value, bug};

/// Calls within calls.
const DEEPEST: usize = 100;

impl<'a> Machine<'a> {
    /// Runs a function to its end.
    pub fn run(&mut self, func: &'a Function, args: Vec<Words>, place: Place) -> Result<End, Stop> {
        let mut t = Thread::new(func, args, place);
        while t.end.is_none() {
            self.advance(&mut t, u64::MAX)?;
            if t.waits.is_some() {
                return Err(Stop::undefined("a thread waits where there are no others"));
            }
        }
        Ok(t.end.expect("the loop has ended"))
    }
    /// Runs a thread until it ends or waits, or for a number of instructions.
    pub fn advance(&mut self, t: &mut Thread<'a>, instructions: u64) -> Result<(), Stop> {
        for _ in 0..instructions {
            self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Fuel)?;
            let frame = t.frame();
            let func = frame.func;
            let block = &func.blocks[frame.block];
            if frame.at == 0 {
                self.visited.insert((std::ptr::from_ref(func), frame.block));
            }
            let Some(d) = block.insts.get(frame.at) else {
                self.term(t, block.term.as_ref().expect("verified"))?;
                if t.end.is_some() {
                    return Ok(());
                }
                continue;
            };
            match self.inst(t, d)? {
                Flow::Next(words) => t.give(d.result, words),
                Flow::Enter(_) if t.frames.len() >= DEEPEST => return Err(Stop::Fuel),
                Flow::Enter(frame) => t.frames.push(frame),
                Flow::Raise(exc) => {
                    t.pending = Some(exc);
                    t.unwind();
                }
                Flow::Wait(what) => t.waits = Some(what),
                Flow::Turn(words) => {
                    t.give(d.result, words);
                    return Ok(());
                }
            }
            if t.end.is_some() || t.waits.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn term(&mut self, t: &mut Thread<'a>, term: &'a Term) -> Result<(), Stop> {
        let frame = t.frame();
        match term {
            Term::Jump(to) => frame.enter(to),
            Term::Branch { cond, then, els } => match frame.get(*cond)[0] {
                Some(bits) => frame.enter(if bits & 1 != 0 { then } else { els }),
                None => return Err(Stop::undefined(format!("{cond} is poison, and branched on"))),
            },
            Term::Return(v) => {
                let words = frame.get(*v).clone();
                t.frames.pop();
                match t.frames.last() {
                    None => t.end = Some(End::Returned(words)),
                    Some(f) => {
                        let result = f.func.blocks[f.block].insts[f.at].result;
                        t.give(result, words);
                    }
                }
            }
            Term::Raise { exc, args } => {
                let typed = frame.typed(args);
                let args = typed.iter().map(|(ty, words)| argument(&self.memory, *ty, words)).collect::<Result<_, _>>();
                t.pending = Some(Exc { class: *exc, args: args? });
                t.unwind();
            }
            Term::Propagate if t.pending.is_none() => return Err(Stop::undefined("no exception is pending")),
            Term::Propagate => t.unwind(),
            Term::Unreachable => return Err(Stop::undefined("what cannot be reached is reached")),
        }
        Ok(())
    }

    fn inst(&mut self, t: &mut Thread<'a>, d: &'a InstData) -> Result<Flow<'a>, Stop> {
        let place = t.place;
        let frame = t.frame();
        let ty = d.result.map_or(Ty::none(), |r| frame.ty(r));
        let one = |v: &Value| frame.get(*v)[0];
        Ok(Flow::Next(match &d.inst {
            Inst::Const(Const::Str(s)) => self.memory.constant_text(s),
            Inst::Const(c) => words_of(c),
            Inst::Zero => ty.flatten().iter().map(|_| Some(0)).collect(),
            Inst::Extern(e) => int(self.outside(*e)? as i64),
            Inst::Op(op, args) => row(op, &frame.typed(args))?,
            Inst::Cast(v) => cast(frame.get(*v), frame.ty(*v), ty),
            Inst::Pack(vs) => frame.flat(vs),
            Inst::Field(v, i) => {
                let whole = frame.ty(*v);
                let at: usize = (0..*i).filter_map(|j| part(whole, j)).map(|p| p.flatten().len()).sum();
                frame.get(*v)[at..at + ty.flatten().len()].into()
            }
            Inst::Some(v) => std::iter::once(Some(1)).chain(frame.get(*v).iter().copied()).collect(),
            Inst::IsSome(v) => [one(v)].into_iter().collect(),
            Inst::Unwrap(v) => frame.get(*v)[1..].into(),
            Inst::Call(spec, args) => return self.call(spec.index(), frame.typed(args), ty, d.result.is_some()),
            Inst::ParFor(p, args) => {
                let (func, args) = (frame.func, args.iter().map(|v| frame.get(*v).clone()).collect());
                return self.par_for(&func.bodies[p.body as usize], args, place);
            }
            Inst::Foreign(f, args) => return self.foreign(*f, &frame.typed(args), ty),
            Inst::Runtime(f, args) => {
                let flat = frame.flat(args);
                return self.runtime(t, f, &flat);
            }
            Inst::SlotGet(s) => frame.slots[s.index()].clone(),
            Inst::SlotSet(s, v) => {
                frame.slots[s.index()] = frame.get(*v).clone();
                Words::new()
            }
            Inst::Map(e, args) => return self.map(e, &frame.typed(args), ty, place),
            Inst::MapInto(e, args) => return self.map_into(e, &frame.typed(args), place),
            Inst::ArrayMake { .. }
            | Inst::ArrayOwner(_)
            | Inst::ArrayData(_)
            | Inst::ArrayShape(..)
            | Inst::ArrayStride(..)
            | Inst::ElemPtr { .. }
            | Inst::Load(_)
            | Inst::Take(_)
            | Inst::Store(..)
            | Inst::PtrAdd(..)
            | Inst::New(_)
            | Inst::ItemsLen(_)
            | Inst::ItemsData(_)
            | Inst::FieldPtr(..)
            | Inst::IncRef(_)
            | Inst::DecRef(_) => return self.memory_inst(frame, &d.inst, ty),
        }))
    }

    /// Arrays, objects and memory.
    fn memory_inst(&mut self, frame: &Frame<'a>, inst: &Inst, ty: Ty) -> Result<Flow<'a>, Stop> {
        let one = |v: &Value| frame.get(*v)[0];
        Ok(Flow::Next(match inst {
            Inst::ArrayMake { owner, data, shape, strides } => {
                [owner, data].into_iter().chain(shape).chain(strides).map(one).collect()
            }
            Inst::ArrayOwner(v) => [one(v)].into_iter().collect(),
            Inst::ArrayData(v) => [frame.get(*v)[1]].into_iter().collect(),
            Inst::ArrayShape(v, i) => [frame.get(*v)[2 + *i as usize]].into_iter().collect(),
            Inst::ArrayStride(v, i) => {
                [View::new(frame.ty(*v), frame.get(*v)).stride(*i as usize)].into_iter().collect()
            }
            Inst::ElemPtr { array, index, wrap, check } => {
                let view = View::new(frame.ty(*array), frame.get(*array));
                let index: Vec<Word> = index.iter().map(one).collect();
                match view.element(&index, *wrap, *check)? {
                    Ok(address) => [address].into_iter().collect(),
                    Err(exc) => return Ok(Flow::Raise(exc)),
                }
            }
            Inst::Load(p) => {
                self.expect_access(one(p), ty.mem_layout().1)?;
                let words = self.memory.load_value(one(p), ty)?;
                let counts_poison = |(w, p): (&Word, &Prim)| w.is_none() && p.is_counted();
                if ty.is_counted() && words.iter().zip(&ty.flatten()).any(counts_poison) {
                    return Err(Stop::undefined("what is counted is loaded, and not known"));
                }
                words
            }
            Inst::Take(p) => {
                let (address, prims) = (one(p), ty.flatten());
                self.expect_access(address, ty.mem_layout().1)?;
                let words = self.memory.load_value(address, ty)?;
                self.memory.store_value(address, ty, &poison(&prims))?;
                words
            }
            Inst::Store(p, v) => {
                self.expect_access(one(p), frame.ty(*v).mem_layout().1)?;
                self.memory.store_value(one(p), frame.ty(*v), frame.get(*v))?;
                Words::new()
            }
            Inst::PtrAdd(p, n) => [one(p).zip(one(n)).map(|(p, n)| p.wrapping_add(n))].into_iter().collect(),
            Inst::New(room) => return self.new_instance(ty, one(room)),
            Inst::ItemsLen(v) => int(self.memory.items(one(v))?.len),
            Inst::FieldPtr(v, i) => field_address(one(v), frame.ty(*v), *i),
            Inst::ItemsData(v) => int(ItemsHead::at(self.memory.items(one(v))?, 0) as i64),
            Inst::IncRef(v) | Inst::DecRef(v) => {
                let is_taken = matches!(inst, Inst::IncRef(_));
                for (word, prim) in frame.get(*v).clone().into_iter().zip(frame.ty(*v).flatten()) {
                    match prim.is_counted() {
                        true if is_taken => self.memory.incref(word)?,
                        true => self.memory.decref(word)?,
                        false => {}
                    }
                }
                Words::new()
            }
            other => bug!("not an instruction of memory: {other:?}"),
        }))
    }

    /// In a program that is checked for races, each access is said before it is made.
    pub(super) fn expect_access(&mut self, address: Word, bytes: usize) -> Result<(), Stop> {
        let said = self.announced.take();
        if self.announces && said != Some((address, bytes)) {
            return Err(Stop::undefined(format!("an access of {bytes} bytes at {address:?}, where {said:?} was said")));
        }
        Ok(())
    }

    fn outside(&mut self, e: Extern) -> Result<u64, Stop> {
        match e {
            Extern::Array(o) => {
                let found = self.captured.get(&o).copied();
                found.ok_or_else(|| Stop::Unmodelled(format!("no inputs say what the captured array {o} is")))
            }
            Extern::Class(c) => Ok(u64::from(c.0)),
            Extern::Foreign(o) => Ok(super::word::foreign_address(o)),
            Extern::Type(n) => Ok(u64::from(n)),
            Extern::Function(o) => Ok(u64::from(o.0) + 1),
        }
    }

    /// A call of a function of the program, or of one that nothing is known of.
    fn call(&mut self, spec: usize, args: Vec<(Ty, Words)>, ty: Ty, wants: bool) -> Result<Flow<'a>, Stop> {
        let flat = |ts: &mut dyn Iterator<Item = Ty>| -> Vec<Prim> { ts.flat_map(Ty::flatten).collect() };
        let fits = |f: &&Function| {
            flat(&mut f.params().iter().map(|p| f.ty(*p))) == flat(&mut args.iter().map(|a| a.0))
                && (!wants || f.ret.is_none_or(|r| r.flatten() == ty.flatten()))
        };
        match self.funcs.get(spec).filter(fits) {
            Some(func) => Ok(Flow::Enter(Frame::new(func, args.into_iter().map(|a| a.1).collect()))),
            None => self.unknown_call(&format!("spec{spec}"), &args, ty),
        }
    }
}
