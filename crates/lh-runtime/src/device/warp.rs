//! Operations of a warp: its threads wait for each other, and the last to come computes the results for all.

use super::Context;
use super::team::Team;
use crate::check::{self, kernels::WARP};
use crate::symbol::{Symbol, functions};
use lh_ops::warp as kind;

/// A thread's operands of an operation of its warp.
#[derive(Clone, Copy)]
pub(super) struct Request {
    mask: u32,
    kind: i64,
    value: u64,
    lane: i64,
}

impl Team {
    /// The first fiber of a fiber's warp, and its lane.
    fn warp_of(&self, i: usize) -> (usize, usize) {
        let lane = i % self.threads() % WARP;
        (i - lane, lane)
    }

    /// The lanes of a warp whose threads have not ended.
    fn lanes(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        let threads = self.threads();
        let end = (first / threads + 1) * threads;
        (0..WARP.min(end - first)).filter(move |l| !self.fibers[first + l].done)
    }

    /// Completes the operation of fiber `i` if all lanes of its mask have come.
    pub(super) fn answer_warp(&mut self, i: usize) {
        let Some(asked) = self.fibers[i].request else { return };
        let (first, _) = self.warp_of(i);
        let with: Vec<usize> = self.lanes(first).filter(|l| asked.mask >> l & 1 == 1).collect();
        let all: Option<Vec<Request>> = with.iter().map(|l| self.fibers[first + l].request).collect();
        let Some(all) = all else { return };
        if all.iter().any(|r| (r.mask, r.kind) != (asked.mask, asked.kind)) {
            return;
        }
        let missing = || -> Vec<(usize, usize)> {
            let source = |(lane, r): (&usize, &Request)| Some((*lane, usize::try_from(source(*lane, r)?).ok()?));
            with.iter().zip(&all).filter_map(source).filter(|(_, l)| *l < WARP && !with.contains(l)).collect()
        };
        check::with_kernel(|k, sites| k.leaves_warp(sites, first, &with, asked.kind == kind::SYNC, &missing()));
        for (lane, request) in with.iter().zip(&all) {
            let answer = answer(*lane, request, &with, &all);
            let fiber = &mut self.fibers[first + lane];
            (fiber.request, fiber.answer) = (None, Some(answer));
        }
        self.made_progress();
    }
}

/// The lane that a shuffle reads from, which may lie outside of the warp.
fn source(lane: usize, own: &Request) -> Option<i64> {
    let lane = lane as i64;
    match own.kind {
        kind::SHFL => Some(own.lane & 31),
        kind::UP => Some(lane - own.lane),
        kind::DOWN => Some(lane + own.lane),
        kind::XOR => Some(lane ^ own.lane),
        _ => None,
    }
}

/// The result for a lane, given all lanes and their operands.
fn answer(lane: usize, own: &Request, lanes: &[usize], all: &[Request]) -> [u64; 2] {
    let value_of = |l: i64| lanes.iter().position(|x| *x as i64 == l).map_or(own.value, |i| all[i].value);
    let bits =
        |f: &dyn Fn(&Request) -> bool| lanes.iter().zip(all).filter(|(_, r)| f(r)).fold(0u64, |m, (l, _)| m | 1 << l);
    if let Some(lane) = source(lane, own) {
        return [value_of(lane), 0];
    }
    let (value, flag) = match own.kind {
        kind::ALL => (u64::from(all.iter().all(|r| r.value != 0)), false),
        kind::ANY => (u64::from(all.iter().any(|r| r.value != 0)), false),
        kind::EQ => (u64::from(all.iter().all(|r| (r.value != 0) == (own.value != 0))), false),
        kind::BALLOT => (bits(&|r| r.value != 0), false),
        kind::MATCH_ANY => (bits(&|r| r.value == own.value), false),
        kind::MATCH_ALL => {
            let same = all.iter().all(|r| r.value == own.value);
            (if same { bits(&|_| true) } else { 0 }, same)
        }
        kind::SYNC => (0, false),
        other => lh_ir::bug!("warp operation {other}"),
    };
    [value, u64::from(flag)]
}

/// Kind, mask, value, lane: a 64-bit value and a truth value.
unsafe extern "C-unwind" fn lh_cuda_warp(
    cx: *mut Context,
    kind: i64,
    mask: i64,
    value: i64,
    lane: i64,
    out: *mut i64,
) -> i32 {
    // SAFETY: kernels pass the context of their block and room for the result; references into the team end before
    // another fiber runs.
    unsafe {
        let team = (*cx).team;
        if team.is_null() {
            lh_ir::bug!("a warp operation without threads that run together");
        }
        {
            let t = &mut *team;
            let me = t.current;
            let (_, own) = t.warp_of(me);
            check::with_kernel(|k, sites| k.comes_to_warp(sites, mask as u32));
            t.fibers[me].request =
                Some(Request { mask: mask as u32 | 1 << own, kind: kind & !kind::NARROW, value: value as u64, lane });
            t.answer_warp(me);
        }
        loop {
            let t = &mut *team;
            let me = t.current;
            if let Some([value, flag]) = t.fibers[me].answer.take() {
                *out = value as i64;
                *out.add(1) = flag as i64;
                return 0;
            }
            let status = Team::wait(team);
            if status != 0 {
                (&mut (*team).fibers)[me].request = None;
                return status;
            }
        }
    }
}

/// The lanes of the running thread's warp whose threads have not ended.
unsafe extern "C-unwind" fn lh_cuda_activemask(cx: *mut Context) -> i64 {
    // SAFETY: as above.
    unsafe {
        let team = (*cx).team;
        if team.is_null() {
            return 1;
        }
        let t = &*team;
        let (first, _) = t.warp_of(t.current);
        t.lanes(first).fold(0i64, |m, l| m | 1 << l)
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_) lh_cuda_activemask;
        (_ _ _ _ _ _) lh_cuda_warp;
    }
}
