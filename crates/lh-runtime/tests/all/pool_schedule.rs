//! The schedule of loops in a model of 64 cores with caches on two sockets: the blocks that [`pool::grain`] proposes,
//! claimed by the pool's own code, are to take little longer than those of the best size by hand.

use lh_runtime::pool;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The pool's atomics: the model runs on one thread.
mod sync {
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}

#[path = "../../src/pool/parts.rs"]
#[allow(dead_code, clippy::duplicate_mod, reason = "nobody joins or fails; the model checker has other atomics")]
mod parts;

use parts::Parts;

const THREADS: usize = 64;
const SOCKET: usize = 32;
/// Bytes of a core's own cache.
const CACHE: usize = 2 << 20;

/// A loop that is run several times over the same data.
struct Case {
    name: &'static str,
    n: usize,
    times: usize,
    /// The compiler's estimate of an iteration in nanoseconds; 0: none.
    estimate: i64,
    /// Nanoseconds of an iteration, without its memory.
    time: fn(f64) -> f64,
    /// Bytes that an iteration reads and writes.
    bytes: usize,
    /// How far an iteration reads into the data of its neighbours.
    reach: usize,
}

/// Where data is when a core reads it.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Own,
    Socket,
    OtherSocket,
    Memory,
}

impl From {
    fn of(core: usize, last: Option<usize>, fits: bool) -> From {
        match last {
            Some(last) if last == core && fits => From::Own,
            Some(last) if last / SOCKET == core / SOCKET => From::Socket,
            Some(_) => From::OtherSocket,
            None => From::Memory,
        }
    }

    /// Nanoseconds for the first bytes of a run, and for each further one, which is prefetched.
    fn nanoseconds(self, bytes: usize, is_first: bool) -> f64 {
        let (latency, rate) = match self {
            From::Own => (0.0, 50.0),
            From::Socket => (60.0, 20.0),
            From::OtherSocket => (150.0, 6.0),
            From::Memory => (100.0, 8.0),
        };
        bytes as f64 / rate + if is_first { latency } else { 0.0 }
    }
}

/// The time of a case in blocks of so many iterations.
fn run(case: &Case, grain: usize) -> f64 {
    let blocks = case.n.div_ceil(grain);
    let threads = THREADS.min(blocks);
    let fits = case.n * case.bytes <= CACHE * threads;
    let mut last: Vec<Option<usize>> = vec![None; case.n];
    let mut total = 0.0;
    for _ in 0..case.times {
        if threads == 1 {
            total += (0..case.n).map(|i| (case.time)(i as f64 / case.n as f64)).sum::<f64>();
            continue;
        }
        let parts = Parts::new(blocks as u64, threads as u32);
        let mut claims: Vec<_> = (0..threads).map(|t| parts.claims(t as u32)).collect();
        let before = last.clone();
        // Threads that wait see the loop one after the other.
        let mut free: BinaryHeap<Reverse<(u64, usize)>> =
            (0..threads).map(|t| Reverse((400 + 30 * t as u64, t))).collect();
        let mut end = 0;
        while let Some(Reverse((now, thread))) = free.pop() {
            end = end.max(now);
            let Some(claimed) = claims[thread].next(3 * now) else { continue };
            let is_own =
                (blocks * thread / threads..blocks * (thread + 1) / threads).contains(&(claimed.start as usize));
            let mut time = if is_own { 40.0 } else { 300.0 };
            let mut source = None;
            for i in claimed.flat_map(|b| b as usize * grain..case.n.min((b as usize + 1) * grain)) {
                let from = From::of(thread, before[i], fits);
                time += (case.time)(i as f64 / case.n as f64) + from.nanoseconds(case.bytes, source != Some(from));
                source = Some(from);
                // A neighbour's data is fetched, too, where another core has it.
                for near in [i.wrapping_sub(case.reach), i + case.reach] {
                    let other = before.get(near).copied().flatten().filter(|other| *other != thread && case.reach > 0);
                    time += other.map_or(0.0, |o| From::of(thread, Some(o), fits).nanoseconds(case.bytes / 2, true));
                }
                last[i] = Some(thread);
            }
            free.push(Reverse((now + time.ceil() as u64, thread)));
        }
        total += end as f64 + 300.0;
    }
    total
}

const CASES: [Case; 12] = [
    Case { name: "stencil 256", n: 254, times: 20, estimate: 1_300, time: |_| 60.0, bytes: 4_096, reach: 1 },
    Case { name: "stencil 1024", n: 1_022, times: 20, estimate: 5_200, time: |_| 250.0, bytes: 16_384, reach: 1 },
    Case { name: "stencil 8192", n: 8_190, times: 5, estimate: 42_000, time: |_| 2_000.0, bytes: 131_072, reach: 1 },
    Case { name: "updates of 200,000", n: 200_000, times: 10, estimate: 2, time: |_| 0.2, bytes: 8, reach: 0 },
    Case {
        name: "lattice Boltzmann",
        n: 512,
        times: 10,
        estimate: 60_000,
        time: |_| 20_000.0,
        bytes: 73_728,
        reach: 1,
    },
    Case { name: "50,000 numbers", n: 50_000, times: 5, estimate: 2, time: |_| 0.3, bytes: 16, reach: 0 },
    Case { name: "a million square roots", n: 1_000_000, times: 2, estimate: 6, time: |_| 2.0, bytes: 16, reach: 0 },
    Case { name: "triangle", n: 4_000, times: 3, estimate: 0, time: |x| 40_000.0 * x, bytes: 4_000, reach: 0 },
    Case {
        name: "triangle, from its long end",
        n: 4_000,
        times: 3,
        estimate: 0,
        time: |x| 40_000.0 * (1.0 - x),
        bytes: 4_000,
        reach: 0,
    },
    Case {
        name: "Mandelbrot rows",
        n: 2_000,
        times: 3,
        estimate: 0,
        time: |x| if (x - 0.5).abs() < 0.2 { 900_000.0 } else { 60_000.0 },
        bytes: 16_000,
        reach: 0,
    },
    Case {
        name: "all work in the last eighth",
        n: 10_000,
        times: 3,
        estimate: 0,
        time: |x| if x > 0.875 { 50_000.0 } else { 500.0 },
        bytes: 512,
        reach: 0,
    },
    Case { name: "few long rows", n: 200, times: 3, estimate: 0, time: |_| 2_000_000.0, bytes: 65_536, reach: 0 },
];

#[test]
fn blocks_are_near_the_best_size_by_hand() {
    let mut worst = Vec::new();
    for case in &CASES {
        let ours = run(case, pool::grain(case.n as i64, case.estimate) as usize);
        let by_hand = (0..10).map(|k| (case.n / (THREADS << k)).max(1)).chain([1, case.n.div_ceil(THREADS)]);
        let (best, grain) = by_hand.map(|grain| (run(case, grain), grain)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        println!("{:28} {:10.1} us, {:.2} of that of {grain}", case.name, ours / 1e3, ours / best);
        if ours > 1.1 * best {
            worst.push(format!("{}: {:.2}", case.name, ours / best));
        }
    }
    assert!(worst.is_empty(), "{worst:?}");
}
