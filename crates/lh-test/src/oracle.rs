//! Whether passes have left a program what it was: both forms are run on generated inputs, and must do the same.
//!
//! Where the first form has no meaning (it reads outside of an array, say) nothing is required of the second. The
//! effects of several threads may depend on their order; then the second form must do what the first does in one of the
//! orders tried.

use crate::inputs::arguments;
use crate::interpret::Stop;
use crate::interpret::exception::Exc;
use crate::interpret::grid::{Launch, Place, Position};
use crate::interpret::launch::How;
use crate::interpret::memory::Memory;
use crate::interpret::source::{Scale, Source};
use crate::interpret::state::{End, Machine, Settings};
use crate::interpret::word::Words;
use crate::observe::Observation;
use crate::random::Random;
use crate::wishes::Wishes;
use lh_ir::cfg::Cfg;
use lh_ir::func::{Device, Inst, InstData, parallel};
use lh_ir::runtime::{self, Axis, Geometry, Role, Warp};
use lh_ir::{Function, Ty, Value};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Sets of inputs of each function.
const SEEDS: u64 = 36;
/// Instructions of a run.
const FUEL: u64 = 400_000;
/// The second form may take longer by this factor.
const LONGER: u64 = 10;
/// The extents that most arrays have, in turn.
const SIZES: [i64; 12] = [3, 0, 1, 4, 8, 2, 5, 17, 33, 7, 16, 40];

/// A program in two forms.
pub struct Case<'a> {
    pub before: &'a [Function],
    pub after: &'a [Function],
    pub wishes: &'a [Wishes],
    /// The passes that have made the second form.
    pub passes: &'a str,
    /// Blocks of the second form that have been run.
    pub visited: RefCell<HashSet<(*const Function, usize)>>,
}

/// A function with inputs.
struct Run<'a> {
    case: &'a Case<'a>,
    number: usize,
    memory: Memory,
    args: Vec<Words>,
    launch: Launch,
    scale: Scale,
}

impl Case<'_> {
    fn has_run(&self, pass: &str) -> bool {
        self.passes.split_whitespace().any(|p| p == pass)
    }

    /// Runs every function; the message says which does something else.
    ///
    /// # Errors
    /// That, or that a function has done nothing that could be compared.
    pub fn check(&self) -> Result<(), String> {
        (0..self.before.len()).try_for_each(|i| {
            let name = &self.before[i].name;
            let result = self.check_function(i).map_err(|e| format!("%{name}: {e}"));
            match (&self.wishes[i].not_run, result) {
                (None, result) => result,
                (Some(_), Err(e)) if e.contains("the interpreter does not know") => Ok(()),
                (Some(_), Ok(())) => Err(format!("%{name} is said not to be run, and can be")),
                (Some(_), Err(e)) => Err(e),
            }
        })
    }

    /// Blocks of the second form that no inputs lead to, of those that run more than hardly ever.
    pub fn unvisited(&self) -> Vec<String> {
        let visited = self.visited.borrow();
        let all = self.after.iter().flat_map(Function::with_bodies);
        let reached = |f: &Function| Cfg::new(f).rpo().to_vec();
        let blocks = all.flat_map(|f| reached(f).into_iter().map(move |b| (f, b.index())));
        let missed = blocks.filter(|(f, b)| !f.blocks[*b].cold && !visited.contains(&(std::ptr::from_ref(*f), *b)));
        missed.map(|(f, b)| format!("%{} block{b}", f.name)).collect()
    }

    /// Runs one function.
    ///
    /// # Errors
    /// As [`Case::check`].
    pub fn check_function(&self, number: usize) -> Result<(), String> {
        let (mut ran, mut last) = (0, Stop::Fuel);
        for seed in 0..SEEDS {
            let run = self.inputs(number, seed).map_err(|s| s.to_string())?;
            match run.compare() {
                Ok(()) => ran += 1,
                Err(Verdict::Skip(Stop::Unmodelled(what))) => return Err(Stop::Unmodelled(what).to_string()),
                Err(Verdict::Skip(stop)) => last = stop,
                Err(Verdict::Wrong(what)) => return Err(format!("seed {seed} (n = {}): {what}", run.scale.n)),
            }
        }
        if ran == 0 { Err(format!("no inputs to compare results of: {last}")) } else { Ok(()) }
    }

    fn inputs(&self, number: usize, seed: u64) -> Result<Run<'_>, Stop> {
        let (func, wishes) = (&self.before[number], &self.wishes[number]);
        let mut random = Random::new(seed * 1000 + 17);
        let is_device = func.options.device != Device::Host;
        let launch = shape(func, wishes, &mut random);
        let threads = launch.grid[0] * launch.block[0];
        let n = SIZES[seed as usize % SIZES.len()];
        let n = if is_device && !seed.is_multiple_of(3) { threads.max(n) } else { n };
        let scale = Scale { n, whole: wishes.whole };
        let mut memory = Memory::default();
        let mut source = Source::new(random, scale);
        // Threads of a kernel would meet in memory that arrays share.
        source.may_share = !wishes.apart && !is_device;
        let args = arguments(&mut source, func, own(func), wishes, &mut memory)?;
        memory.give();
        Ok(Run { case: self, number, memory, args, launch, scale })
    }
}

/// Parameters that are a function's own: not those that a launch gives, where a file begins with a kernel in the form
/// that passes make. Then the first is the context; the index of a thread follows, unless there are loops over threads.
fn own(func: &Function) -> &[Value] {
    let params = func.params();
    let is_context = |d: &InstData| match &d.inst {
        Inst::Runtime(f, args) => asks_context(f.role) && args.first() == params.first(),
        _ => false,
    };
    if func.options.device != Device::Kernel || !func.blocks.iter().flat_map(|b| &b.insts).any(is_context) {
        return params;
    }
    let loops = func.blocks.iter().any(|b| b.latch.is_parallel());
    let has_index = params.len() > 3 && params[1..4].iter().all(|p| func.ty(*p) == Ty::int());
    &params[if has_index && !loops { 4 } else { 1 }..]
}

fn asks_context(role: Role) -> bool {
    match role {
        Role::Geometry(what, _) => what != Geometry::Thread,
        Role::Barrier(_) | Role::Warp(Warp::Exchange) => true,
        Role::Memory(of) => {
            use runtime::Memory::{Dynamic, DynamicBytes, Shared};
            matches!(of, Shared | Dynamic | DynamicBytes)
        }
        _ => false,
    }
}

/// The shape of a launch; axes that a kernel does not ask for have one thread.
fn shape(func: &Function, wishes: &Wishes, random: &mut Random) -> Launch {
    let asks = |what, axis| {
        let role = Role::Geometry(what, axis);
        let insts = func.blocks.iter().flat_map(|b| &b.insts);
        insts.into_iter().any(|d| matches!(&d.inst, Inst::Runtime(f, _) if f.role == role))
    };
    let mut within = |range: Option<&std::ops::Range<i64>>, often: &[i64]| match range {
        Some(r) => r.start + random.below((r.end - r.start).max(1) as usize) as i64,
        None => often[random.below(often.len())],
    };
    // Whole warps, parts of them, and both.
    let x = within(wishes.threads.as_ref(), &[1, 2, 5, 8, 31, 32, 33, 40, 64]);
    let mut axis = |axis| if asks(Geometry::Thread, axis) && x < 40 { within(None, &[1, 2, 3]) } else { 1 };
    let block = [x, axis(Axis::Y), axis(Axis::Z)];
    // Blocks that do not ask which they are do all the same.
    let blocks = within(wishes.blocks.as_ref(), if asks(Geometry::Block, Axis::X) { &[1, 2] } else { &[1] });
    let rows = within(wishes.rows.as_ref(), &[1, 1, 1, 2]);
    Launch::new([blocks, rows, 1], block)
}

/// Why inputs are of no use, or what is wrong.
enum Verdict {
    Skip(Stop),
    Wrong(String),
}

impl Run<'_> {
    fn compare(&self) -> Result<(), Verdict> {
        let case = self.case;
        let has_orders = |f: &Function| !f.bodies.is_empty() || f.options.device != Device::Host;
        let orders = |funcs: &[Function]| if funcs.iter().any(has_orders) { 2 } else { 1 };
        let first = [
            Settings { grain: 2, backwards: false, turn: 7 },
            Settings { grain: i64::MAX, backwards: true, turn: 100_000 },
        ];
        let mut before = Vec::new();
        for s in &first[..orders(case.before)] {
            before.push(self.observe(case.before, *s, FUEL, &|_| false).map_err(|(stop, _)| Verdict::Skip(stop))?);
        }
        let second =
            [Settings { grain: 3, backwards: true, turn: 11 }, Settings { grain: 1, backwards: false, turn: 100_000 }];
        for s in &second[..orders(case.after).max(orders(case.before))] {
            let after = match self.observe(case.after, *s, LONGER * FUEL, &|pass| case.has_run(pass)) {
                Ok(after) => after,
                Err((stop @ Stop::Unmodelled(_), _)) => return Err(Verdict::Skip(stop)),
                Err((stop, at)) => return Err(Verdict::Wrong(format!("afterwards {stop}{at}"))),
            };
            let differences: Vec<String> = before.iter().filter_map(|b| after.differs(b)).collect();
            if differences.len() == before.len() {
                return Err(Verdict::Wrong(format!("{} {}", differences[0], self.shown())));
            }
        }
        Ok(())
    }

    /// The arguments, for messages.
    fn shown(&self) -> String {
        let machine = self.machine(self.case.before, Settings { grain: 1, backwards: false, turn: 1 }, 0);
        let types = self.types();
        let args: Vec<String> =
            self.args.iter().zip(types).map(|(words, ty)| format!("{:?}", machine.see(ty, words))).collect();
        format!("given {}", args.join(", "))
    }

    fn types(&self) -> Vec<Ty> {
        let func = &self.case.before[self.number];
        own(func).iter().map(|p| func.ty(*p)).collect()
    }

    fn machine<'a>(&self, funcs: &'a [Function], settings: Settings, fuel: u64) -> Machine<'a> {
        Machine {
            funcs,
            memory: self.memory.clone(),
            settings,
            fuel,
            events: Vec::new(),
            is_partial: false,
            line: String::new(),
            taken: HashMap::new(),
            captured: HashMap::new(),
            launch: self.launch.clone(),
            visited: HashSet::new(),
            scale: self.scale,
            is_counted: false,
            announced: None,
            announces: false,
        }
    }

    /// Runs one form. A stop comes with the arguments.
    fn observe(
        &self,
        funcs: &[Function],
        settings: Settings,
        fuel: u64,
        has_run: &dyn Fn(&str) -> bool,
    ) -> Result<Observation, (Stop, String)> {
        let mut m = self.machine(funcs, settings, fuel);
        let func = &funcs[self.number];
        m.is_counted = has_run("refcount");
        m.announces =
            has_run("check_races") && func.options.parallel & parallel::RACE != 0 && func.options.device != Device::Gpu;
        let is_device = func.options.device != Device::Host;
        let ends = if is_device {
            m.launch(func, &self.args, How::of(func, self.args.len()))
        } else {
            m.run(func, self.args.clone(), Place::default()).map(|end| vec![(Position::default(), end)])
        };
        let ends = ends.map_err(|stop| (stop, format!(" {}", self.shown())))?;
        self.case.visited.borrow_mut().extend(m.visited.drain());
        let types = self.types();
        let mut held: Vec<(Ty, Words)> = types.iter().copied().zip(self.args.iter().cloned()).collect();
        let arguments = held.iter().map(|(ty, words)| m.see_given(*ty, words)).collect();
        let noted = m.launch.failed;
        let mut raised: Vec<(Exc, Option<Position>)> = ends
            .iter()
            .filter_map(|(at, end)| match end {
                End::Raised(exc) => Some((exc.clone(), (is_device && noted.is_none()).then_some(*at))),
                End::Returned(_) => None,
            })
            .collect();
        if let [(_, at)] = &mut raised[..] {
            *at = at.or(noted);
        }
        let ret = func.ret.unwrap_or_else(Ty::none);
        let results = ends.iter().filter_map(|(_, end)| match end {
            End::Returned(words) => Some(words.clone()),
            End::Raised(_) => None,
        });
        let results: Vec<Words> = results.collect();
        let end = if raised.is_empty() {
            // A function without a result may be entered by threads or once.
            let has_value = !ret.flatten().is_empty();
            Ok(results.iter().filter(|_| has_value).map(|words| m.see(ret, words)).collect())
        } else {
            Err(raised)
        };
        if m.is_counted && !is_device {
            held.extend(results.into_iter().map(|words| (ret, words)));
            m.memory.close(&held).map_err(|e| (Stop::Undefined(e), String::new()))?;
        }
        let is_partial = m.is_partial || is_device && end.is_err();
        let is_unordered = !func.bodies.is_empty() || is_device;
        let has_messages = func.options.device != Device::Gpu;
        Ok(Observation { end, arguments, events: m.events, is_partial, is_unordered, has_messages })
    }
}
