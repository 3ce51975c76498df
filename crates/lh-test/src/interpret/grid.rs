//! Grids, blocks and threads of a launch, and what threads wait for.

use super::word::Words;
use lh_ir::func::{GANG, Gangs};
use lh_ir::runtime::Combine;
use lh_ops::warp as kind;
use std::collections::HashMap;

/// Threads that a parallel loop is said to use.
pub const THREADS: i64 = 3;

/// Threads of a warp.
pub const WARP: usize = 32;

/// Where a thread is: its block by number and its index; a gang's takes that of its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    pub block: usize,
    pub index: [i64; 3],
    /// Number in its block.
    pub linear: usize,
    /// Address of the block's context.
    pub context: u64,
}

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks of the grid.
    pub grid: [i64; 3],
    /// Threads of a block.
    pub block: [i64; 3],
    /// Bytes of shared memory whose size is given here.
    pub dynamic: i64,
    /// By address.
    pub contexts: HashMap<u64, Context>,
    /// Shared memory of blocks, by their index and the place of the program that asks for it.
    pub shared: HashMap<([i64; 3], i64), u64>,
    /// The first thread that was noted to have raised: block and index.
    pub failed: Option<Position>,
}

/// Index of a block and of a thread in it.
pub type Position = ([i64; 3], [i64; 3]);

/// The state of a block that its code can ask for.
#[derive(Clone, Debug)]
pub struct Context {
    pub block: [i64; 3],
    pub first: i64,
    pub last: i64,
    pub scratch: u64,
    pub capacity: i64,
}

/// An event that a thread waits for.
#[derive(Clone, Copy, Debug)]
pub enum Wait {
    /// All threads of the block, with a value of which the function of that name is given.
    Block(Combine, i64),
    Grid,
    Warp(Request),
}

impl Launch {
    /// A launch of a shape.
    pub fn new(grid: [i64; 3], block: [i64; 3]) -> Launch {
        Launch { grid, block, dynamic: 64, contexts: HashMap::new(), shared: HashMap::new(), failed: None }
    }
    /// Blocks in all.
    pub fn blocks(&self) -> usize {
        self.grid.iter().product::<i64>() as usize
    }
    /// The index of a block.
    pub fn block_of(&self, linear: usize) -> [i64; 3] {
        let ([x, y, _], linear) = (self.grid, linear as i64);
        [linear % x, linear / x % y, linear / (x * y)]
    }
    /// The index of a thread or gang of a block.
    pub fn index_of(&self, gangs: Gangs, thread: i64) -> [i64; 3] {
        let [x, y, _] = self.block;
        match gangs {
            Gangs::None => [thread % x, thread / x % y, thread / (x * y)],
            Gangs::Warps if x % GANG != 0 => [thread, 0, 0],
            Gangs::Rows | Gangs::Warps => {
                let strips = Gangs::Rows.count([x, 1, 1]);
                [thread % strips, thread / strips % y, thread / (strips * y)]
            }
        }
    }
}

/// An operation that a lane asks of its warp.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub mask: u32,
    pub kind: i64,
    value: u64,
    lane: i64,
}

impl Request {
    /// That of a thread, from the operands of the operation.
    pub fn new(linear: usize, args: &Words) -> Request {
        let number = |i: usize| args[i].unwrap_or(0);
        let own = 1 << (linear % WARP);
        let kind = number(1) as i64 & !kind::NARROW;
        Request { mask: number(2) as u32 | own, kind, value: number(3), lane: number(4) as i64 }
    }
    /// The lane that a shuffle takes the value of.
    fn source(&self, lane: usize) -> Option<i64> {
        let lane = lane as i64;
        match self.kind {
            kind::SHFL => Some(self.lane & 31),
            kind::UP => Some(lane - self.lane),
            kind::DOWN => Some(lane + self.lane),
            kind::XOR => Some(lane ^ self.lane),
            _ => None,
        }
    }
    /// The answer for a lane, given those that have come.
    pub fn answer(&self, lane: usize, all: &[(usize, Request)]) -> [u64; 2] {
        if let Some(from) = self.source(lane) {
            return [all.iter().find(|(l, _)| *l as i64 == from).map_or(self.value, |(_, r)| r.value), 0];
        }
        let bits = |f: &dyn Fn(&Request) -> bool| all.iter().filter(|(_, r)| f(r)).fold(0, |m, (l, _)| m | 1 << l);
        let (yes, voters) = (all.iter().filter(|(_, r)| r.value != 0).count(), all.len());
        let same = all.iter().all(|(_, r)| r.value == self.value);
        match self.kind {
            kind::ALL => [u64::from(yes == voters), 0],
            kind::ANY => [u64::from(yes > 0), 0],
            kind::EQ => [u64::from(yes == 0 || yes == voters), 0],
            kind::BALLOT => [bits(&|r| r.value != 0), 0],
            kind::MATCH_ANY => [bits(&|r| r.value == self.value), 0],
            kind::MATCH_ALL => [if same { bits(&|_| true) } else { 0 }, u64::from(same)],
            _ => [0, 0],
        }
    }
}
