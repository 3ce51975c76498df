//! Operations that the lanes of a gang execute together: barriers and warp operations.
//!
//! ```text
//! w = shuffle up(v, k)     ->     for lane in 0..32: values[lane] = v[lane]
//!                                 for lane in 0..32: w[lane] = values[lane - k] if <that lane takes part> else v[lane]
//! ```

use super::build::{GangBuilder, Mode};
use super::piece::Lane;
use super::plan::GangOp;
use crate::edit::{Cursor, to};
use lh_ir::func::Term;
use lh_ir::func::{GANG, Inst};
use lh_ir::runtime::{Barrier, Combine, Role, RuntimeFn, Warp};
use lh_ir::{Block, Const, Ty, Value};
use lh_ops::runtime as rt;
use lh_ops::warp as kind;
use std::collections::HashMap;

/// State while such an operation is built.
struct OpState<'b> {
    mode: Mode,
    wait: &'b GangOp,
    number: i64,
    /// The participating lanes as a bit mask.
    there: Value,
    /// Values to recompute for its operands.
    again: Vec<Value>,
    once: HashMap<Value, Value>,
}

impl GangBuilder<'_> {
    pub(super) fn wait(&mut self, mode: Mode, head: Block, once: &mut HashMap<Value, Value>) -> Option<()> {
        let wait = &self.plan.waits[&head];
        let Inst::Runtime(f, args) = &wait.inst.inst else { lh_ir::bug!("a wait is a call") };
        self.span = wait.inst.span;
        self.enter_mode(mode);
        let again = self.again(args[1..].to_vec());
        if !mode.is_diverged() {
            for v in again.iter().filter(|v| !self.plan.varies[v.index()]) {
                self.once(once, *v)?;
            }
        }
        let number = self.plan.number(head);
        let there = self.participants(mode, number);
        let mut m = OpState { mode, wait, number, there, again, once: std::mem::take(once) };
        match f.role {
            Role::Warp(Warp::Exchange) => self.warp_op(&mut m, args)?,
            Role::Warp(Warp::ActiveMask) => self.results(&m, |_, _, _| Some(vec![there]))?,
            Role::Barrier(Barrier::Block(combine)) => self.barrier(&mut m, f, combine, args)?,
            // Calls that wait for all, such as a barrier of the grid.
            Role::Barrier(Barrier::Grid)
            | Role::Warp(Warp::Pause)
            | Role::Plain
            | Role::Geometry(..)
            | Role::Launch(_)
            | Role::Lanes(_)
            | Role::Atomic(..)
            | Role::Memory(_)
            | Role::Address(_)
            | Role::Items(_)
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
            | Role::LoopHint => self.barrier(&mut m, f, Combine::Nothing, args)?,
        }
        *once = m.once;
        if mode.is_diverged() {
            self.advance_lanes(mode, number, wait);
            return Some(());
        }
        let target = self.target(mode, wait.resume, &mut |b, v| b.once(once, v))?;
        self.end(Term::Jump(target));
        Some(())
    }

    /// The lanes that have reached the operation, as a bit mask.
    fn participants(&mut self, mode: Mode, number: i64) -> Value {
        match mode {
            Mode::Full => self.cursor(|c| c.int((1 << GANG) - 1)),
            Mode::Partial => self.start.mask,
            Mode::Diverged(_) => self.ballot(mode, |b, lane| Some(b.has_next(number, lane))).unwrap_or(self.start.mask),
        }
    }
    /// The lanes for which a condition holds, as a bit mask; bits of missing lanes are garbage.
    fn ballot(&mut self, mode: Mode, of: impl FnOnce(&mut Self, Value) -> Option<Value>) -> Option<Value> {
        let truth = self.array(1);
        let width = self.width(mode);
        let mut result = Some(());
        self.lanes(width, |b, lane| match of(b, lane) {
            Some(cond) => b.put(truth, 1, lane, cond),
            None => result = None,
        });
        result?;
        Some(self.inst(Inst::Runtime(&rt::lh_cuda_lanes_bits, vec![truth]), Ty::int()))
    }

    /// Operands for a lane.
    fn operands(&mut self, m: &OpState<'_>, vs: &[Value], lane: Value) -> Option<Vec<Value>> {
        let now = self.coordinates(m.mode, lane);
        let mut l = Lane::bare(lane, now);
        let mut needed: Vec<Value> = vs.to_vec();
        for v in &m.again {
            self.defs[v].inst.for_each_operand(|o| needed.push(o));
        }
        for v in needed {
            let here = m.once.contains_key(&v) || self.old.params().contains(&v) || self.plan.available[v.index()];
            if !here && !l.now.contains_key(&v) {
                let x = self.load(v, lane);
                l.now.insert(v, x);
            }
        }
        self.copy_again(&m.again, &m.once, &mut l)?;
        vs.iter().map(|v| self.current(&m.once, &l, *v)).collect()
    }
    fn operand(&mut self, m: &OpState<'_>, v: Value, lane: Value) -> Option<Value> {
        self.operands(m, &[v], lane).map(|v| v[0])
    }

    /// Stores the results of the operation for each lane.
    fn results(
        &mut self,
        m: &OpState<'_>,
        of: impl FnOnce(&mut Self, Value, Value) -> Option<Vec<Value>>,
    ) -> Option<()> {
        let alive = &self.plan.alive[m.wait.resume.index()];
        let wanted: Vec<(usize, Value)> =
            m.wait.results.iter().copied().enumerate().filter(|(_, r)| alive.contains(r)).collect();
        if wanted.is_empty() {
            return Some(());
        }
        let width = self.width(m.mode);
        let there = m.there;
        let mut result = Some(());
        self.lanes(width, |b, lane| {
            let Some(values) = of(b, lane, there) else {
                result = None;
                return;
            };
            for (i, r) in wanted {
                let mut v = values[i];
                if m.mode.is_diverged() {
                    let before = b.load(r, lane);
                    let is = b.has_next(m.number, lane);
                    v = b.cursor(|c| c.select(is, v, before));
                }
                b.store(r, lane, v);
            }
        });
        result
    }

    /// Moves the participating lanes behind the operation. At a barrier of the block these are all lanes, possibly at
    /// different barriers.
    fn advance_lanes(&mut self, mode: Mode, number: i64, wait: &GangOp) {
        const PLAIN: Role = Role::Barrier(Barrier::Block(Combine::Nothing));
        let only_computes = |w: &GangOp| matches!(&w.inst.inst, Inst::Runtime(f, _) if f.role == PLAIN);
        let mut passed = vec![(number, self.plan.number(wait.resume))];
        if only_computes(wait) {
            let all = self.plan.waits.iter().filter(|(_, w)| only_computes(w));
            passed = all.map(|(h, w)| (self.plan.number(*h), self.plan.number(w.resume))).collect();
            passed.sort_unstable();
        }
        let width = self.width(mode);
        self.lanes(width, |b, lane| {
            let n = b.next_of(lane);
            let after = passed.iter().fold(n, |after, (from, to)| {
                let (from, to) = (b.number(*from), b.number(*to));
                b.cursor(|c| {
                    let is = c.eq(n, from);
                    c.select(is, to, after)
                })
            });
            b.set_next(lane, after);
        });
        let dispatch = self.dispatch(mode);
        self.end(Term::Jump(to(dispatch, &[])));
    }

    /// Executes a barrier once for the gang.
    fn barrier(&mut self, m: &mut OpState<'_>, f: &'static RuntimeFn, combine: Combine, args: &[Value]) -> Option<()> {
        let mut given = vec![self.context()];
        if let Some(arg) = args.get(1) {
            let bits = self.ballot(m.mode, |b, lane| {
                let v = b.operand(m, *arg, lane)?;
                let set = b.cursor(|c| {
                    let zero = c.int(0);
                    let clear = c.eq(v, zero);
                    c.op(crate::edit::row("not"), &[clear], Ty::bool())
                });
                if !m.mode.is_diverged() {
                    return Some(set);
                }
                let is = b.has_next(m.number, lane);
                Some(b.cursor(|c| c.and(set, is)))
            })?;
            let there = m.there;
            let set = self.cursor(|c| c.and_int(bits, there));
            given.push(self.cursor(|c| match combine {
                Combine::Count => c.op(crate::edit::row("popcount"), &[set], Ty::int()),
                Combine::All => {
                    let (one, zero) = (c.int(1), c.int(0));
                    let all = c.eq(set, there);
                    c.select(all, one, zero)
                }
                Combine::Any | Combine::Nothing => {
                    let (one, zero) = (c.int(1), c.int(0));
                    let none = c.eq(set, zero);
                    c.select(none, zero, one)
                }
            }));
        }
        self.use_handler();
        let call = Inst::Runtime(f, given);
        let Some(r) = m.wait.results.first() else {
            self.effect(call);
            return Some(());
        };
        let v = self.inst(call, self.old.ty(*r));
        m.once.insert(*r, v);
        if m.mode.is_diverged() {
            self.results(m, |_, _, _| Some(vec![v]))?;
        }
        Some(())
    }

    /// A warp operation; the arguments are context, kind, mask, value, lane.
    fn warp_op(&mut self, m: &mut OpState<'_>, args: &[Value]) -> Option<()> {
        let Inst::Const(Const::Int(kind, _)) = self.defs.get(&args[1])?.inst else { return None };
        let (kind, narrow) = (kind as i64 & !kind::NARROW, kind as i64 & kind::NARROW != 0);
        let (mask, value, lane_of) = (args[2], args[3], args[4]);
        match kind {
            kind::SYNC => Some(()),
            kind::SHFL..=kind::XOR => self.shuffle(m, kind, narrow, (mask, value, lane_of)),
            kind::ALL..=kind::BALLOT => self.vote(m, kind, mask, value),
            kind::MATCH_ANY | kind::MATCH_ALL => self.compare(m, kind, mask, value),
            _ => None,
        }
    }

    /// Shuffles: lanes read values of other lanes.
    fn shuffle(
        &mut self,
        m: &OpState<'_>,
        kind: i64,
        narrow: bool,
        (mask, value, from): (Value, Value, Value),
    ) -> Option<()> {
        let (ty, size) = if narrow { (Ty::i32(), 4) } else { (Ty::int(), 8) };
        let values = self.array(size);
        let mut result = Some(());
        let width = self.width(m.mode);
        self.lanes(width, |b, lane| {
            let Some(mut v) = b.operand(m, value, lane) else {
                result = None;
                return;
            };
            if narrow {
                v = b.inst(Inst::Cast(v), ty);
            }
            b.put(values, size, lane, v);
        });
        result?;
        let same = m.once.get(&from).copied();
        let moved = same.map(|by| {
            let moved = self.array(size);
            let (kind, by) = self.cursor(|c| {
                // The distance, clamped to the size of a gang.
                let (zero, most) = (c.int(0), c.int(GANG));
                let below = c.lt(by, zero);
                let reach = c.select(below, zero, by);
                let above = c.lt(most, reach);
                let reach = c.select(above, most, reach);
                let by = if matches!(kind, kind::UP | kind::DOWN) { reach } else { by };
                (c.int(kind | if narrow { kind::NARROW } else { 0 }), by)
            });
            self.effect(Inst::Runtime(&rt::lh_cuda_lanes_move, vec![values, moved, kind, by]));
            moved
        });
        self.results(m, |b, lane, there| {
            let [mask, l] = b.operands(m, &[mask, from], lane)?[..] else { return None };
            let own = b.get(values, ty, lane);
            let (src, ok) = b.cursor(|c| source(c, kind, lane, (l, mask, there)));
            let other = match moved {
                Some(moved) => b.get(moved, ty, lane),
                None => {
                    let place = b.cursor(|c| c.select(ok, src, lane));
                    b.get(values, ty, place)
                }
            };
            let v = b.cursor(|c| c.select(ok, other, own));
            let v = if narrow { b.inst(Inst::Cast(v), Ty::int()) } else { v };
            let zero = b.cursor(|c| c.int(0));
            Some(vec![v, zero])
        })
    }

    fn vote(&mut self, m: &mut OpState<'_>, kind: i64, mask: Value, value: Value) -> Option<()> {
        let set = self.ballot(m.mode, |b, lane| {
            let v = b.operand(m, value, lane)?;
            Some(b.cursor(|c| {
                let zero = c.int(0);
                let clear = c.eq(v, zero);
                c.op(crate::edit::row("not"), &[clear], Ty::bool())
            }))
        })?;
        let zero = self.cursor(|c| c.int(0));
        if m.wait.results.iter().all(|r| !self.plan.varies[r.index()]) {
            let there = m.there;
            let v = self.cursor(|c| vote_result(c, kind, set, there));
            m.once.extend(m.wait.results.iter().copied().zip([v, zero]));
            return if m.mode.is_diverged() { self.results(m, |_, _, _| Some(vec![v, zero])) } else { Some(()) };
        }
        self.results(m, |b, lane, there| {
            let mask = b.operand(m, mask, lane)?;
            let v = b.cursor(|c| {
                let one = c.int(1);
                let own = c.int_op("shl", one, lane);
                let with = c.or_int(mask, own);
                let with = c.and_int(with, there);
                vote_result(c, kind, set, with)
            });
            Some(vec![v, zero])
        })
    }

    /// Match operations: lanes learn which others have the same value.
    fn compare(&mut self, m: &OpState<'_>, kind: i64, mask: Value, value: Value) -> Option<()> {
        let values = self.array(8);
        let mut result = Some(());
        let width = self.width(m.mode);
        self.lanes(width, |b, lane| match b.operand(m, value, lane) {
            Some(v) => b.put(values, 8, lane, v),
            None => result = None,
        });
        result?;
        let alike = self.array(8);
        self.find_matches(m, values, alike)?;
        self.results(m, |b, lane, there| {
            let mask = b.operand(m, mask, lane)?;
            let same = b.get(alike, Ty::int(), lane);
            let (v, flag) = b.cursor(|c| {
                let (zero, one) = (c.int(0), c.int(1));
                let bit = c.int_op("shl", one, lane);
                let with = c.or_int(mask, bit);
                let with = c.and_int(with, there);
                let alike = c.and_int(with, same);
                let all = c.eq(alike, with);
                if kind == kind::MATCH_ANY {
                    return (alike, zero);
                }
                (c.select(all, with, zero), c.select(all, one, zero))
            });
            Some(vec![v, flag])
        })
    }

    /// Finds, for each lane, the lanes with the same value: one pass for each distinct value, of which there are
    /// usually few.
    fn find_matches(&mut self, m: &OpState<'_>, values: Value, alike: Value) -> Option<()> {
        let (head, left) = self.cursor(|c| c.new_block(&[Ty::int()]));
        self.end(Term::Jump(to(head, &[m.there])));
        self.at = head;
        let (end, body) = self.branch_if_empty(left[0]);
        self.at = body;
        let first = self.cursor(|c| c.op(crate::edit::row("cttz"), &[left[0]], Ty::int()));
        let own = self.get(values, Ty::int(), first);
        let has = |b: &mut Self, lane: Value| {
            let v = b.get(values, Ty::int(), lane);
            b.cursor(|c| c.eq(v, own))
        };
        let same = self.ballot(m.mode, |b, lane| Some(has(b, lane)))?;
        let width = self.width(m.mode);
        self.lanes(width, |b, lane| {
            let (is, before) = (has(b, lane), b.get(alike, Ty::int(), lane));
            let v = b.cursor(|c| c.select(is, same, before));
            b.put(alike, 8, lane, v);
        });
        let next = self.cursor(|c| {
            let both = c.and_int(left[0], same);
            c.int_op("xor", left[0], both)
        });
        self.end(Term::Jump(to(head, &[next])));
        self.at = end;
        Some(())
    }
}

/// The result of a vote among the lanes in `with`; `set` are the lanes with a true condition.
fn vote_result(c: &mut Cursor<'_>, kind: i64, set: Value, with: Value) -> Value {
    let (zero, one) = (c.int(0), c.int(1));
    let yes = c.and_int(with, set);
    let no = c.int_op("xor", with, yes);
    let (all, none) = (c.eq(no, zero), c.eq(yes, zero));
    match kind {
        kind::ALL => c.select(all, one, zero),
        kind::ANY => c.select(none, zero, one),
        kind::EQ => {
            let same = c.or(all, none);
            c.select(same, one, zero)
        }
        _ => yes,
    }
}

/// The source lane of a shuffle, and whether it participates.
fn source(c: &mut Cursor<'_>, kind: i64, lane: Value, (by, mask, there): (Value, Value, Value)) -> (Value, Value) {
    let last = c.int(GANG - 1);
    let src = match kind {
        kind::SHFL => c.int_op("and", by, last),
        kind::UP => c.sub(lane, by),
        kind::DOWN => c.add(lane, by),
        _ => c.int_op("xor", lane, by),
    };
    let (zero, one) = (c.int(0), c.int(1));
    let (low, high) = (c.le(zero, src), c.le(src, last));
    let inside = c.and(low, high);
    let with = c.and_int(mask, there);
    let within = c.int_op("and", src, last);
    let bit = c.int_op("shr", with, within);
    let bit = c.and_int(bit, one);
    let is = c.eq(bit, one);
    (src, c.and(inside, is))
}
