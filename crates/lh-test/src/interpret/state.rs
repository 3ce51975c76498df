//! The state of a program: threads, each a stack of frames, so that one can stop where it has to wait for others, and
//! go on later.

use super::exception::Exc;
use super::grid::{Launch, Place, Wait};
use super::memory::Memory;
use super::seen::{Event, Seen, see};
use super::source::Scale;
use super::word::{Word, Words, poison};
use lh_ir::func::Target;
use lh_ir::{Function, ObjId, Ty, Value};
use std::collections::{HashMap, HashSet};

/// The state that threads share.
pub struct Machine<'a> {
    /// The functions of the program, which calls number.
    pub funcs: &'a [Function],
    pub memory: Memory,
    pub settings: Settings,
    /// Instructions that may still be run.
    pub fuel: u64,
    /// Effects that could be seen from outside: calls of unknown code, and output.
    pub events: Vec<Event>,
    /// Whether an exception has ended a parallel loop: other iterations may have run, or not.
    pub is_partial: bool,
    /// The line being printed.
    pub line: String,
    /// Exceptions that handlers have taken, by address.
    pub taken: HashMap<u64, Exc>,
    /// Addresses of captured arrays.
    pub captured: HashMap<ObjId, u64>,
    /// The launch, in code for a device.
    pub launch: Launch,
    /// Blocks that have been run.
    pub visited: HashSet<(*const Function, usize)>,
    /// The form of results of unknown code.
    pub scale: Scale,
    /// References are counted explicitly.
    pub is_counted: bool,
    /// Address and bytes of the access said to come, where accesses must be.
    pub announced: Option<(Word, usize)>,
    pub announces: bool,
}

/// A function being run.
pub struct Frame<'a> {
    pub func: &'a Function,
    pub values: Vec<Words>,
    pub slots: Vec<Words>,
    pub block: usize,
    pub at: usize,
    /// Memory of the frame's own, by the instruction that asks for it.
    pub local: HashMap<(usize, usize), u64>,
}

/// A thread.
pub struct Thread<'a> {
    pub frames: Vec<Frame<'a>>,
    pub pending: Option<Exc>,
    /// Where it is in its grid.
    pub place: Place,
    /// The event it waits for.
    pub waits: Option<Wait>,
    /// The access that it has said it will make, while others have their turns.
    pub announced: Option<(Word, usize)>,
    /// The result of the operation that it waited in.
    pub answer: Option<Words>,
    /// How it has ended.
    pub end: Option<End>,
}

/// How a thread ends.
#[derive(Clone, Debug)]
pub enum End {
    Returned(Words),
    Raised(Exc),
}

/// The outcome of an instruction.
pub enum Flow<'a> {
    Next(Words),
    Raise(Exc),
    Enter(Frame<'a>),
    /// The thread waits, and runs the instruction again when it has its answer.
    Wait(Wait),
    /// Others have their turn.
    Turn(Words),
}

impl<'a> Frame<'a> {
    pub fn new(func: &'a Function, args: Vec<Words>) -> Frame<'a> {
        let mut values = vec![Words::new(); func.values.len()];
        for (p, a) in func.params().iter().zip(args) {
            values[p.index()] = a;
        }
        let slots = func.slots.iter().map(|t| poison(&t.flatten())).collect();
        Frame { func, values, slots, block: 0, at: 0, local: HashMap::new() }
    }
    /// The words of a value.
    pub fn get(&self, v: Value) -> &Words {
        &self.values[v.index()]
    }
    pub fn here(&self) -> (usize, usize) {
        (self.block, self.at)
    }
    /// The words of several values.
    pub fn flat(&self, vs: &[Value]) -> Words {
        vs.iter().flat_map(|v| self.get(*v)).copied().collect()
    }
    pub fn ty(&self, v: Value) -> Ty {
        self.func.ty(v)
    }
    pub fn typed(&self, vs: &[Value]) -> Vec<(Ty, Words)> {
        vs.iter().map(|v| (self.ty(*v), self.get(*v).clone())).collect()
    }
    /// Goes to a block.
    pub fn enter(&mut self, t: &Target) {
        let args: Vec<Words> = t.args.iter().map(|v| self.get(*v).clone()).collect();
        for (p, a) in self.func.blocks[t.block.index()].params.iter().zip(args) {
            self.values[p.index()] = a;
        }
        (self.block, self.at) = (t.block.index(), 0);
    }
}

impl<'a> Thread<'a> {
    /// A thread about to run a function.
    pub fn new(func: &'a Function, args: Vec<Words>, place: Place) -> Thread<'a> {
        let frames = vec![Frame::new(func, args)];
        Thread { frames, pending: None, place, waits: None, announced: None, answer: None, end: None }
    }
    /// The function that it runs.
    pub fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("a thread that has not ended has a frame")
    }
    /// The pending exception goes to the nearest handler.
    pub fn unwind(&mut self) {
        while let Some(frame) = self.frames.last_mut() {
            let func = frame.func;
            if let Some(t) = &func.blocks[frame.block].unwind {
                frame.enter(t);
                return;
            }
            self.frames.pop();
        }
        self.end = self.pending.take().map(End::Raised);
    }
    /// The result of the instruction being run.
    pub fn give(&mut self, result: Option<Value>, words: Words) {
        let frame = self.frame();
        if let Some(r) = result {
            frame.values[r.index()] = words;
        }
        frame.at += 1;
    }
}

/// Decisions that the program leaves open.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Iterations of a block of a parallel loop.
    pub grain: i64,
    /// Blocks of parallel loops, and threads of launches, are run from the last to the first.
    pub backwards: bool,
    /// Instructions that a thread of a launch runs before others have their turn.
    pub turn: u64,
}

impl Machine<'_> {
    /// A value as it is seen now.
    pub fn see(&self, ty: Ty, words: &[Word]) -> Seen {
        see(&self.memory, ty, words)
    }
    /// The same of an argument: of an address, what is there.
    pub fn see_given(&self, ty: Ty, words: &[Word]) -> Seen {
        let object = words.first().copied().flatten().and_then(|a| self.memory.object(a));
        match object.filter(|_| ty == Ty::ptr() || ty == Ty::meminfo()) {
            Some(o) => Seen::Bytes(o.bytes.iter().zip(&o.known).map(|(b, known)| known.then_some(*b)).collect()),
            None => self.see(ty, words),
        }
    }
    /// Notes something that can be seen from outside.
    pub fn note(&mut self, what: &str, text: String) {
        self.events.push(Event { what: what.into(), args: vec![Seen::Text(text)] });
    }
}
