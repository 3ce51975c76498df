//! What a loop carries from one iteration to the next: results that are combined, and results of the last iteration.

use super::region::{CARRIED, Reason, Region};
use crate::counted::{Defs, target_of};
use crate::effects::{Callees, Meaning};
use lh_ir::cfg::{Cfg, targets};
use lh_ir::func::{Inst, Term};
use lh_ir::{Block, Function, SpecId, Ty, Value};

/// How values are combined, in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reduce {
    Add,
    Mul,
    And,
    Or,
    Xor,
    Max,
    Min,
    /// By a row that may be applied to one value twice.
    Row(&'static lh_ir::Op),
    /// The function that multiplies complex numbers.
    Product(SpecId),
}

impl Reduce {
    /// Whether blocks begin with a value that changes nothing, instead of the one before the loop.
    pub(super) fn has_neutral(self) -> bool {
        matches!(self, Reduce::Add | Reduce::Mul | Reduce::Xor | Reduce::Product(_))
    }
    /// Whether it combines values of a type.
    pub(super) fn combines(self, ty: Ty) -> bool {
        ty.is_number() && ty.is_complex() == matches!(self, Reduce::Product(_))
    }
}

/// What a parameter of the header is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Carried {
    /// The loop's index.
    Index,
    /// Combined by an operation.
    Reduced(Reduce),
    /// Set by each iteration, and looked at only after the loop.
    Last,
}

/// Classifies the parameters of the header; with the results of the rows that combine floats.
pub(crate) fn carried(
    func: &Function,
    cfg: &Cfg,
    r: &Region,
    callees: Callees<'_>,
) -> Result<(Vec<Carried>, Vec<Value>), Reason> {
    let defs = Defs::new(func);
    let facts = Facts { func, cfg, defs: &defs, r, uses: &uses(func, r), callees };
    let (mut out, mut free) = (Vec::new(), Vec::new());
    for (place, p) in func.blocks[r.header.index()].params.iter().enumerate() {
        if place == r.counted.place {
            out.push(Carried::Index);
            continue;
        }
        let chain = Chain::of(&facts, *p, place);
        out.push(chain.kind().ok_or(CARRIED)?);
        if matches!(chain.group, Some(Reduce::Add | Reduce::Mul)) && func.ty(*p).is_float() {
            free.extend(&chain.members);
        }
        if matches!(out.last(), Some(Carried::Last)) && func.ty(*p).is_counted() {
            return Err("an array or string that its last iteration makes is used after it");
        }
    }
    Ok((out, free))
}

/// Places of the header's parameters that need the order of the iterations.
pub(crate) fn ordered(func: &Function, cfg: &Cfg, r: &Region, callees: Callees<'_>) -> Vec<usize> {
    let defs = Defs::new(func);
    let facts = Facts { func, cfg, defs: &defs, r, uses: &uses(func, r), callees };
    let params = func.blocks[r.header.index()].params.iter().enumerate();
    let is_ordered = |place: usize, p: Value| Chain::of(&facts, p, place).kind().is_none();
    params.filter(|(place, p)| *place != r.counted.place && is_ordered(*place, **p)).map(|(place, _)| place).collect()
}

/// Where a value is used in the region.
#[derive(Clone, Copy)]
enum Use {
    /// By an instruction.
    Inst(Block, usize),
    /// As an argument: target, place.
    Arg(Block, usize),
    /// By the end of a block, or by a handler.
    Other,
}

fn uses(func: &Function, r: &Region) -> Vec<Vec<Use>> {
    let mut out = vec![Vec::new(); func.values.len()];
    for b in &r.blocks {
        let data = &func.blocks[b.index()];
        for (i, d) in data.insts.iter().enumerate() {
            d.inst.for_each_operand(|v| out[v.index()].push(Use::Inst(*b, i)));
        }
        for (number, t) in targets(func, *b) {
            for (i, v) in t.args.iter().enumerate() {
                let kind = if number.is_some() { Use::Arg(t.block, i) } else { Use::Other };
                out[v.index()].push(kind);
            }
        }
        match &data.term {
            Some(Term::Branch { cond: v, .. } | Term::Return(v)) => out[v.index()].push(Use::Other),
            Some(Term::Raise { args, .. }) => args.iter().for_each(|v| out[v.index()].push(Use::Other)),
            Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
        }
    }
    out
}

/// What chains are made of.
#[derive(Clone, Copy)]
struct Facts<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    defs: &'a Defs,
    r: &'a Region,
    uses: &'a [Vec<Use>],
    callees: Callees<'a>,
}

/// The values that a parameter becomes within an iteration.
struct Chain<'a> {
    facts: Facts<'a>,
    members: Vec<Value>,
    /// Operands that must not be members.
    others: Vec<Value>,
    group: Option<Reduce>,
    /// Whether all uses are of a form that is understood.
    holds: bool,
    /// Whether the parameter is looked at in the loop.
    used: bool,
}

impl<'a> Chain<'a> {
    fn of(facts: &Facts<'a>, p: Value, place: usize) -> Chain<'a> {
        let Facts { func, cfg, r, .. } = *facts;
        let mut c =
            Chain { facts: *facts, members: vec![p], others: Vec::new(), group: None, holds: true, used: false };
        let mut at = 0;
        while c.holds && at < c.members.len() {
            let v = c.members[at];
            for u in &c.facts.uses[v.index()] {
                c.follow(r, p, place, v, *u);
            }
            at += 1;
        }
        c.holds &= !c.others.iter().any(|v| c.members.contains(v));
        c.holds &= c.members[1..].iter().all(|m| c.all_sources_are_members(cfg, *m));
        if c.used {
            let back = cfg.preds(r.header).iter().filter(|e| r.inside[e.from.index()]);
            c.holds &= back.clone().all(|e| c.members.contains(&target_of(func, *e).args[place]));
        }
        c
    }

    /// What the parameter is, unless iterations need what it was in the one before.
    fn kind(&self) -> Option<Carried> {
        match self.group {
            _ if !self.holds => None,
            Some(group) => Some(Carried::Reduced(group)),
            None => (self.members.len() == 1 && !self.used).then_some(Carried::Last),
        }
    }

    fn join(&mut self, v: Value) {
        if !self.members.contains(&v) {
            self.members.push(v);
        }
    }

    fn set_group(&mut self, g: Reduce) {
        self.holds &= *self.group.get_or_insert(g) == g;
    }

    /// Follows one use of a member.
    fn follow(&mut self, r: &Region, p: Value, place: usize, v: Value, u: Use) {
        match u {
            Use::Other => self.holds = false,
            // To the exit, which sees the parameter itself.
            Use::Arg(to, _) if !r.inside[to.index()] => self.holds &= v == p,
            Use::Arg(to, i) if to == r.header => {
                self.used = true;
                self.holds &= i == place;
            }
            Use::Arg(to, i) => {
                self.used = true;
                self.join(self.facts.func.blocks[to.index()].params[i]);
            }
            Use::Inst(b, i) => {
                self.used = true;
                let d = &self.facts.func.blocks[b.index()].insts[i];
                match (&d.inst, d.result) {
                    (Inst::Op(op, args), Some(result)) => self.follow_row(op, args, v, result),
                    (Inst::Call(f, args), Some(result)) => self.follow_call(*f, args, v, result),
                    (Inst::Cast(_), Some(result))
                        if self.facts.func.ty(v).strong() == self.facts.func.ty(result).strong() =>
                    {
                        self.join(result);
                    }
                    _ => self.holds = false,
                }
            }
        }
    }

    fn follow_row(&mut self, op: &'static lh_ir::Op, args: &[Value], v: Value, result: Value) {
        let first = args[0] == v;
        let group = match op.name {
            "add" => Reduce::Add,
            "sub" if first => Reduce::Add,
            "mul" => Reduce::Mul,
            "fdiv" if first && self.facts.func.ty(v).is_float() => Reduce::Mul,
            "and" => Reduce::And,
            "or" => Reduce::Or,
            "xor" => Reduce::Xor,
            "maxnum" | "minnum" | "maximum" | "minimum" => Reduce::Row(op),
            "lt" | "le" | "gt" | "ge" => return self.follow_comparison(args, v, result),
            "select" => return self.follow_select(args, result),
            _ => return self.holds = false,
        };
        let others = args.iter().copied().filter(|a| *a != v);
        self.others.extend(others.clone());
        self.holds &= others.count() == 1;
        self.set_group(group);
        self.join(result);
    }

    fn follow_call(&mut self, f: SpecId, args: &[Value], v: Value, result: Value) {
        let is_product = (self.facts.callees)(f).is_some_and(|s| s.meaning == Some(Meaning::ComplexProduct));
        let ty = |v: &Value| self.facts.func.ty(*v).strong();
        self.holds &= is_product && args.iter().all(|a| ty(a) == ty(&result));
        let others = args.iter().copied().filter(|a| *a != v);
        self.others.extend(others.clone());
        self.holds &= others.count() == 1;
        self.set_group(Reduce::Product(f));
        self.join(result);
    }

    /// Whether two values are the same: one, or one that is cast twice, as what is compared and then chosen is.
    fn is_same(&self, a: Value, b: Value) -> bool {
        let source = |v: Value| match self.facts.defs.inst(self.facts.func, v) {
            Some(Inst::Cast(from)) => Some((*from, self.facts.func.ty(v).strong())),
            _ => None,
        };
        a == b || source(a).is_some_and(|from| source(b) == Some(from))
    }

    /// A comparison may only choose between what it has compared.
    fn follow_comparison(&mut self, args: &[Value], v: Value, result: Value) {
        let chooses = |u: &Use| match u {
            Use::Inst(b, i) => match &self.facts.func.blocks[b.index()].insts[*i].inst {
                Inst::Op(op, parts) if op.name == "select" => {
                    let is_compared = |x: &Value| args.iter().any(|a| self.is_same(*a, *x));
                    parts[0] == result && parts[1..].iter().all(is_compared) && !self.is_same(parts[1], parts[2])
                }
                _ => false,
            },
            Use::Arg(..) | Use::Other => false,
        };
        self.holds &=
            args.iter().filter(|a| **a == v).count() == 1 && self.facts.uses[result.index()].iter().all(chooses);
    }

    fn follow_select(&mut self, args: &[Value], result: Value) {
        self.join(result);
        let Some(Inst::Op(op, compared)) = self.facts.defs.inst(self.facts.func, args[0]) else { return };
        let (a, b) = (args[1], args[2]);
        let in_order = match compared[..] {
            [x, y] if self.is_same(x, a) && self.is_same(y, b) => true,
            [x, y] if self.is_same(x, b) && self.is_same(y, a) => false,
            // An update under a condition: both are members, which is checked at the end.
            _ => return,
        };
        let greater = match op.name {
            "gt" | "ge" => in_order,
            "lt" | "le" => !in_order,
            _ => return,
        };
        self.set_group(if greater { Reduce::Max } else { Reduce::Min });
    }

    /// Whether a member is made of members only, as far as the group allows.
    fn all_sources_are_members(&self, cfg: &Cfg, m: Value) -> bool {
        let is_member = |v: &Value| self.members.contains(v);
        match self.facts.defs.inst(self.facts.func, m) {
            Some(Inst::Op(op, args)) if op.name == "select" => {
                let n = args[1..].iter().filter(|v| is_member(v)).count();
                let compares = matches!(self.facts.defs.inst(self.facts.func, args[0]), Some(Inst::Op(_, c)) if c.iter().any(is_member));
                if compares { n == 1 } else { n == 2 }
            }
            Some(_) => true,
            None => {
                let Some(b) = self.facts.defs.block(m) else { return false };
                let Some(place) = self.facts.func.blocks[b.index()].params.iter().position(|p| *p == m) else {
                    return false;
                };
                cfg.preds(b).iter().all(|e| is_member(&target_of(self.facts.func, *e).args[place]))
            }
        }
    }
}
