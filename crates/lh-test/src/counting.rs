//! Tries out reference counting: walks random ways through a function and keeps the books of every object.
//!
//! Nothing is computed. Branches and exceptions are decided by chance; calls make new objects and now and then change
//! lists that exist. On the way, whatever is used must be alive; in the end, every count must be explained by who is
//! left: the caller's arguments and the items of containers.

use crate::random::Random;
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::types::Prim;
use lh_ir::verify::parts;
use lh_ir::{Block, Function, Ty, Value};

/// Walks `ways` ways.
pub fn try_out(func: &Function, ways: u64) -> Result<(), String> {
    for seed in 0..ways {
        let mut w = Walk {
            func,
            random: Random::new(seed + 1),
            objects: Vec::new(),
            values: vec![Held::default(); func.values.len()],
            params: Vec::new(),
            trace: Vec::new(),
        };
        w.run().map_err(|e| format!("way {seed} over {:?}: {e}", w.trace))?;
    }
    Ok(())
}

/// Counted references of a value, in the order of flattening; of an address, the objects it points into.
#[derive(Clone, Default)]
struct Held {
    refs: Vec<Option<usize>>,
    into: Vec<usize>,
}

struct Object {
    count: i64,
    /// References held in its memory.
    cells: Vec<Vec<Option<usize>>>,
}

struct Walk<'a> {
    func: &'a Function,
    random: Random,
    objects: Vec<Object>,
    values: Vec<Held>,
    params: Vec<usize>,
    trace: Vec<u32>,
}

type Step<T> = Result<T, String>;

fn counted(ty: Ty) -> usize {
    ty.flatten().iter().filter(|p| p.is_counted()).count()
}

impl Walk<'_> {
    fn new_object(&mut self) -> usize {
        self.objects.push(Object { count: 1, cells: Vec::new() });
        self.objects.len() - 1
    }
    fn fresh(&mut self, ty: Ty) -> Held {
        let refs: Vec<Option<usize>> = (0..counted(ty)).map(|_| Some(self.new_object())).collect();
        let into = refs.iter().flatten().copied().collect();
        Held { refs, into }
    }
    fn run(&mut self) -> Step<()> {
        for p in self.func.params() {
            let held = self.fresh(self.func.ty(*p));
            self.params.extend(held.refs.iter().flatten());
            self.values[p.index()] = held;
        }
        let mut at = Block(0);
        for _ in 0..400 {
            self.trace.push(at.0);
            match self.block(at)? {
                Some(t) => at = self.enter(&t),
                None => return Ok(()),
            }
        }
        Ok(())
    }
    fn enter(&mut self, t: &Target) -> Block {
        let held: Vec<Held> = t.args.iter().map(|a| self.values[a.index()].clone()).collect();
        for (p, h) in self.func.blocks[t.block.index()].params.iter().zip(held) {
            self.values[p.index()] = h;
        }
        t.block
    }
    fn alive(&self, v: Value) -> Step<()> {
        let held = &self.values[v.index()];
        match held.refs.iter().flatten().chain(&held.into).find(|o| self.objects[**o].count <= 0) {
            Some(_) => Err(format!("{v} is used after it was released")),
            None => Ok(()),
        }
    }
    /// The target of an exception, after the books are closed if there is none.
    fn raise(&mut self, b: Block) -> Step<Option<Target>> {
        match &self.func.blocks[b.index()].unwind {
            Some(t) => Ok(Some(t.clone())),
            None => self.close().map(|()| None),
        }
    }
    fn block(&mut self, b: Block) -> Step<Option<Target>> {
        let data = &self.func.blocks[b.index()];
        for d in &data.insts {
            let mut dead = Ok(());
            d.inst.for_each_operand(|v| dead = dead.clone().and(self.alive(v)));
            dead.map_err(|e| format!("{e} in {b}, {:?}", d.inst))?;
            if d.inst.can_raise() && self.random.once_in(4) {
                return self.raise(b);
            }
            self.inst(d)?;
        }
        match data.term.as_ref().expect("verified") {
            Term::Jump(t) => Ok(Some(t.clone())),
            Term::Branch { then, els, .. } => Ok(Some(if self.random.once_in(2) { then } else { els }.clone())),
            Term::Return(v) => {
                self.alive(*v)?;
                for o in self.values[v.index()].refs.clone().into_iter().flatten() {
                    self.release(o)?;
                }
                self.close().map(|()| None)
            }
            Term::Raise { args, .. } => {
                args.iter().try_for_each(|v| self.alive(*v))?;
                self.raise(b)
            }
            Term::Propagate => self.raise(b),
            Term::Unreachable => Ok(None),
        }
    }
    fn release(&mut self, o: usize) -> Step<()> {
        let object = &mut self.objects[o];
        object.count -= 1;
        if object.count < 0 {
            return Err("an object is released once too often".into());
        }
        if object.count > 0 {
            return Ok(());
        }
        let cells = std::mem::take(&mut object.cells);
        cells.into_iter().flatten().flatten().try_for_each(|o| self.release(o))
    }
    /// Every count must be explained.
    fn close(&mut self) -> Step<()> {
        let mut expected = vec![0i64; self.objects.len()];
        self.params.iter().for_each(|o| expected[*o] += 1);
        for o in self.objects.iter().filter(|o| o.count > 0) {
            o.cells.iter().flatten().flatten().for_each(|c| expected[*c] += 1);
        }
        match self.objects.iter().zip(&expected).position(|(o, e)| o.count != *e) {
            Some(i) => {
                Err(format!("object {i} has {} references in the end, not {}", self.objects[i].count, expected[i]))
            }
            None => Ok(()),
        }
    }
    /// Others may change memory: an item disappears from some container.
    fn change_lists(&mut self) -> Step<()> {
        let full: Vec<usize> = (0..self.objects.len()).filter(|o| !self.objects[*o].cells.is_empty()).collect();
        if full.is_empty() || !self.random.once_in(2) {
            return Ok(());
        }
        let o = full[self.random.below(full.len())];
        let cell = self.objects[o].cells.remove(0);
        cell.into_iter().flatten().try_for_each(|o| self.release(o))
    }
    /// An item of the memory that an address points into.
    fn cell(&mut self, pointer: Value, ty: Ty, take: bool) -> Held {
        let Some(&o) = self.values[pointer.index()].into.first() else { return self.fresh(ty) };
        if self.objects[o].cells.is_empty() {
            let held = self.fresh(ty);
            self.objects[o].cells.push(held.refs);
        }
        let cells = &mut self.objects[o].cells;
        let at = self.random.below(cells.len());
        let refs = if take { cells.remove(at) } else { cells[at].clone() };
        let into = refs.iter().flatten().copied().collect();
        Held { refs, into }
    }

    fn inst(&mut self, d: &InstData) -> Step<()> {
        let ty = d.result.map_or(Ty::none(), |r| self.func.ty(r));
        let of = |w: &Self, v: &Value| w.values[v.index()].clone();
        let held = match &d.inst {
            Inst::Const(_) | Inst::Zero | Inst::Extern(_) => Held { refs: vec![None; counted(ty)], into: Vec::new() },
            Inst::Call(..) | Inst::Foreign(..) | Inst::ParFor(..) => {
                self.change_lists()?;
                self.fresh(ty)
            }
            Inst::Runtime(f, _) => {
                if !f.pure && f.args.iter().any(|p| matches!(p, Prim::Object | Prim::Mem | Prim::Ptr)) {
                    self.change_lists()?;
                }
                self.fresh(ty)
            }
            Inst::New(_) => self.fresh(ty),
            Inst::Pack(vs) => {
                let parts: Vec<Held> = vs.iter().map(|v| of(self, v)).collect();
                Held {
                    refs: parts.iter().flat_map(|h| h.refs.clone()).collect(),
                    into: parts.into_iter().flat_map(|h| h.into).collect(),
                }
            }
            Inst::Field(v, i) => {
                let whole = self.func.ty(*v);
                let before: usize = parts(whole).take(*i as usize).map(counted).sum();
                let h = of(self, v);
                let refs = h.refs[before..before + counted(ty)].to_vec();
                let into = if ty == Ty::ptr() { h.into } else { refs.iter().flatten().copied().collect() };
                Held { refs, into }
            }
            Inst::Some(v) | Inst::Unwrap(v) | Inst::ArrayOwner(v) => of(self, v),
            Inst::ArrayMake { owner, data, .. } => {
                let (h, p) = (of(self, owner), of(self, data));
                Held { into: h.into.into_iter().chain(p.into).collect(), refs: h.refs }
            }
            Inst::ArrayData(v)
            | Inst::ItemsData(v)
            | Inst::FieldPtr(v, _)
            | Inst::PtrAdd(v, _)
            | Inst::ElemPtr { array: v, .. } => Held { refs: Vec::new(), into: of(self, v).into },
            Inst::Load(p) if counted(ty) > 0 => self.cell(*p, ty, false),
            Inst::Take(p) if counted(ty) > 0 => self.cell(*p, ty, true),
            Inst::Store(p, v) if counted(self.func.ty(*v)) > 0 => {
                let refs = of(self, v).refs;
                if let Some(&o) = of(self, p).into.first() {
                    self.objects[o].cells.push(refs);
                }
                return Ok(());
            }
            Inst::IncRef(v) => {
                of(self, v).refs.iter().flatten().for_each(|o| self.objects[*o].count += 1);
                return Ok(());
            }
            Inst::DecRef(v) => return of(self, v).refs.into_iter().flatten().try_for_each(|o| self.release(o)),
            _ => Held::default(),
        };
        if let Some(r) = d.result {
            self.values[r.index()] = held;
        }
        Ok(())
    }
}
