//! Computes ownership: the owned values, and for each other counted value or address the owned values that it needs
//! alive.

use lh_ir::cfg::{Cfg, DomTree, def_blocks, targets};
use lh_ir::func::{Inst, InstData, Target};
use lh_ir::{Block, Function, Ty, Value, bug};
use smallvec::SmallVec;

pub(super) type SmallValues = SmallVec<[Value; 2]>;

/// Ownership of all values.
pub(super) struct Ownership {
    /// Owned values that must live as long as a value does; an owned value is its own root.
    pub roots: Vec<SmallValues>,
    /// The owned values whose references are exactly those of the value: moving the value consumes them.
    pub exact: Vec<Option<SmallValues>>,
    /// Whether the value owns references itself.
    pub owned: Vec<bool>,
    /// The block that defines each value.
    pub home: Vec<Option<Block>>,
}

impl Ownership {
    /// `lasting` says which loads borrow.
    pub(super) fn new(func: &Function, cfg: &Cfg, dom: &DomTree, lasting: &[bool]) -> Ownership {
        let n = func.values.len();
        let counted: Vec<bool> = func.values.iter().map(|t| t.is_counted()).collect();
        let own = Ownership {
            roots: vec![SmallValues::new(); n],
            exact: vec![None; n],
            owned: vec![false; n],
            home: def_blocks(func),
        };
        let mut s = Solver { func, dom, lasting, counted, own, changed: false };
        for (i, b) in cfg.rpo().iter().enumerate() {
            for p in &func.blocks[b.index()].params {
                if i > 0 && s.counted[p.index()] {
                    s.set_owned(*p);
                }
            }
        }
        // Addresses that are loop-carried, which are rare, need a second round.
        loop {
            s.changed = false;
            for b in cfg.rpo() {
                s.pointer_params(cfg, *b);
                func.blocks[b.index()].insts.iter().for_each(|d| s.inst(d));
            }
            if !s.changed || !has_pointer_params(func) {
                return s.own;
            }
        }
    }
    pub(super) fn roots(&self, v: Value) -> &[Value] {
        &self.roots[v.index()]
    }
}

fn has_pointer_params(func: &Function) -> bool {
    func.blocks.iter().skip(1).any(|b| b.params.iter().any(|p| func.ty(*p) == Ty::ptr()))
}

struct Solver<'a> {
    func: &'a Function,
    dom: &'a DomTree,
    lasting: &'a [bool],
    counted: Vec<bool>,
    own: Ownership,
    changed: bool,
}

impl Solver<'_> {
    fn set_owned(&mut self, v: Value) {
        self.own.owned[v.index()] = true;
        self.own.roots[v.index()] = SmallValues::from_slice(&[v]);
        self.own.exact[v.index()] = Some(SmallValues::from_slice(&[v]));
    }
    fn add_roots(&mut self, v: Value, from: SmallValues) {
        for r in from {
            let roots = &mut self.own.roots[v.index()];
            if !roots.contains(&r) {
                roots.push(r);
                self.changed = true;
            }
        }
    }
    fn borrow(&mut self, v: Value, from: &[Value], exact: Option<SmallValues>) {
        for f in from {
            let roots = self.own.roots[f.index()].clone();
            self.add_roots(v, roots);
        }
        self.own.exact[v.index()] = exact;
    }

    fn inst(&mut self, d: &InstData) {
        let Some(r) = d.result else { return };
        let (counted, pointer) = (self.counted[r.index()], self.func.ty(r) == Ty::ptr());
        if !counted && !pointer {
            return;
        }
        let exact = |s: &Self, v: Value| s.own.exact[v.index()].clone();
        match &d.inst {
            Inst::Const(_) | Inst::Zero | Inst::Extern(_) => self.own.exact[r.index()] = Some(SmallValues::new()),
            Inst::Some(v) | Inst::Unwrap(v) | Inst::ArrayOwner(v) => self.borrow(r, &[*v], exact(self, *v)),
            Inst::Pack(parts) => {
                let mut all = Some(SmallValues::new());
                for p in parts.iter().filter(|p| self.counted[p.index()]) {
                    all = all.zip(exact(self, *p)).map(|(mut a, b)| {
                        a.extend(b);
                        a
                    });
                }
                self.borrow(r, parts, all);
            }
            Inst::Field(v, _) => {
                // The field has the references of the whole if no other field is counted.
                let count = |v: Value| self.func.ty(v).flatten().iter().filter(|p| p.is_counted()).count();
                let whole = counted && count(*v) == count(r);
                self.borrow(r, &[*v], if whole { exact(self, *v) } else { None });
            }
            Inst::ArrayMake { owner, data, .. } => self.borrow(r, &[*owner, *data], exact(self, *owner)),
            Inst::ArrayData(v) | Inst::ItemsData(v) | Inst::FieldPtr(v, _) | Inst::PtrAdd(v, _) => {
                self.borrow(r, &[*v], None)
            }
            Inst::ElemPtr { array, .. } => self.borrow(r, &[*array], None),
            Inst::Load(p) if pointer || self.lasting[r.index()] => self.borrow(r, &[*p], None),
            Inst::Load(_) | Inst::Take(_) | Inst::Call(..) | Inst::Foreign(..) | Inst::Runtime(..) | Inst::New(_) => {
                if counted && !self.own.owned[r.index()] {
                    self.set_owned(r);
                }
            }
            // An address that is computed as a number belongs to a constant array.
            Inst::SlotGet(_) | Inst::Op(..) | Inst::Cast(_) if pointer => {}
            Inst::Op(..)
            | Inst::Cast(_)
            | Inst::IsSome(_)
            | Inst::SlotGet(_)
            | Inst::SlotSet(..)
            | Inst::ParFor(..)
            | Inst::ArrayShape(..)
            | Inst::ArrayStride(..)
            | Inst::Store(..)
            | Inst::ItemsLen(_)
            | Inst::Map(..)
            | Inst::MapInto(..)
            | Inst::IncRef(_)
            | Inst::DecRef(_) => bug!("{r}: {} is not counted here: {:?}", self.func.ty(r), d.inst),
        }
    }

    /// An address as a block parameter needs the roots of all its arguments alive. A root that is not visible in the
    /// block must be the argument of another parameter on the same edge.
    fn pointer_params(&mut self, cfg: &Cfg, b: Block) {
        let func = self.func;
        let params = &func.blocks[b.index()].params;
        for (i, p) in params.iter().enumerate() {
            if b.0 == 0 || func.ty(*p) != Ty::ptr() {
                continue;
            }
            for e in cfg.preds(b) {
                let t = targets(func, e.from).find(|t| t.0 == e.target).expect("an edge has a target").1;
                for root in self.own.roots[t.args[i].index()].clone() {
                    let keeper = self.keeper(root, b, t, params);
                    self.add_roots(*p, SmallValues::from_slice(&[keeper]));
                }
            }
        }
    }
    fn keeper(&self, root: Value, b: Block, t: &Target, params: &[Value]) -> Value {
        let home = self.own.home[root.index()].expect("roots are defined");
        let is_param = self.func.blocks[home.index()].params.contains(&root);
        if if is_param { self.dom.dominates(home, b) } else { self.dom.results_reach(home, b) } {
            return root;
        }
        let holds = |a: &Value| self.own.exact[a.index()].as_ref().is_some_and(|e| e.contains(&root));
        match t.args.iter().position(holds) {
            Some(j) if self.counted[params[j].index()] => params[j],
            _ => bug!("an address outlives {root} in {b} of {}", self.func.name),
        }
    }
}
