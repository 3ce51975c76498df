//! Operations of warps: lanes that meet, and arrays with a place for each lane.

use super::Stop;
use super::grid::{WARP, Wait};
use super::state::{Flow, Machine, Thread};
use super::word::{Word, Words, int};
use lh_ir::runtime::{Lanes, Memory, Role, RuntimeFn};
use lh_ir::types::Prim;
use lh_ops::warp as kind;

/// Lanes go on whose request all that it is for have made.
pub(super) fn release(block: &mut [Thread<'_>]) -> bool {
    let mut any = false;
    for warp in block.chunks_mut(WARP) {
        for asking in 0..warp.len() {
            let Some(Wait::Warp(asked)) = warp[asking].waits else { continue };
            let meant = |l: &usize| asked.mask >> l & 1 == 1;
            let lanes: Vec<usize> = (0..warp.len()).filter(meant).filter(|l| warp[*l].end.is_none()).collect();
            let request = |l: &usize| match warp[*l].waits {
                Some(Wait::Warp(r)) if (r.mask, r.kind) == (asked.mask, asked.kind) => Some((*l, r)),
                _ => None,
            };
            let Some(all) = lanes.iter().map(request).collect::<Option<Vec<_>>>() else { continue };
            for (lane, r) in &all {
                let answer = r.answer(*lane, &all).map(Some);
                (warp[*lane].waits, warp[*lane].answer, any) = (None, Some(answer.into_iter().collect()), true);
            }
        }
    }
    any
}

impl<'a> Machine<'a> {
    /// Operations on arrays with a place for each lane, and memory accesses that only a device has.
    pub(super) fn lanes_runtime(&mut self, f: &RuntimeFn, args: &Words) -> Option<Result<Flow<'a>, Stop>> {
        let done = match f.role {
            Role::Lanes(Lanes::Copy) => {
                let size = WARP * args[2].unwrap_or(0) as usize;
                self.memory.copy(args[1], args[0], size).map(|()| Words::new())
            }
            Role::Lanes(Lanes::Move) => self.move_lanes(args).map(|()| Words::new()),
            Role::Lanes(Lanes::Bits) => self.lane_bits(args[0]),
            Role::Memory(Memory::LoadCached) => self.memory.load(args[0], f.ret[0]).map(|w| [w].into_iter().collect()),
            Role::Memory(Memory::StoreCached) => self.memory.store(args[0], f.args[1], args[1]).map(|()| Words::new()),
            Role::Atomic(rmw, prim) => match self.expect_access(args[0], prim.size()) {
                Ok(()) => super::atomic::atomic(&mut self.memory, rmw, prim, args)?,
                Err(stop) => Err(stop),
            },
            _ => return None,
        };
        Some(done.map(Flow::Next))
    }

    fn move_lanes(&mut self, args: &Words) -> Result<(), Stop> {
        let [from, to, Some(how), Some(by)] = args[..] else { return Err(Stop::undefined("a shuffle of poison")) };
        let (how, by) = (how as i64, by as i64 & 31);
        let prim = if how & kind::NARROW != 0 { Prim::I32 } else { Prim::I64 };
        let at = |base: Word, lane: i64| base.map(|b| b.wrapping_add((lane * prim.size() as i64) as u64));
        let mut moved = Vec::new();
        for lane in 0..WARP as i64 {
            let source = match how & !kind::NARROW {
                kind::SHFL => by,
                kind::UP => lane - by,
                kind::DOWN => lane + by,
                _ => lane ^ by,
            };
            let is_there = (0..WARP as i64).contains(&source);
            moved.push(if is_there { self.memory.load(at(from, source), prim)? } else { None });
        }
        (0..).zip(moved).try_for_each(|(lane, w)| self.memory.store(at(to, lane), prim, w))
    }

    fn lane_bits(&mut self, of: Word) -> Result<Words, Stop> {
        let mut bits = 0;
        for lane in 0..WARP as u64 {
            // The code generator freezes them: some bit, but always the same.
            let set = self.memory.load(of.map(|a| a + lane), Prim::I1)?;
            bits |= i64::from(set == Some(1)) << lane;
        }
        Ok(int(bits))
    }
}
