//! Compares a function with its derivatives, on generated inputs.
//!
//! With tangents for all inputs, and adjoints for the result and for the memory as it is left, both derivatives give
//! the same sum of products. That holds to rounding, whatever the function does.

use super::leaves::{Leaf, leaves};
use crate::inputs::arguments;
use crate::interpret::Stop;
use crate::interpret::exception::Exc;
use crate::interpret::grid::{Launch, Place};
use crate::interpret::memory::Memory;
use crate::interpret::seen::Seen;
use crate::interpret::source::{Scale, Source};
use crate::interpret::state::{End, Machine, Settings};
use crate::interpret::word::{Words, poison};
use crate::random::Random;
use crate::wishes::Wishes;
use lh_ir::spec::Adjoint;
use lh_ir::verify::parts;
use lh_ir::{Function, Ty};
use std::collections::{HashMap, HashSet};

/// Instructions of a run of the function itself.
const FUEL: u64 = 20_000;
/// A derivative may run more by this factor.
const LONGER: u64 = 100;
/// Adjoint and tangent differ by less than this part of the sum of the absolute terms.
const ROUNDING: f64 = 1e-9;
/// Steps of differences of values, and the error that they may have.
const STEPS: [f64; 3] = [1e-6, 1e-5, 1e-7];
const DIFFERENCE: f64 = 1e-4;

/// A function, its derivatives, and what is asked.
pub struct Subject<'a> {
    /// All functions, which calls number.
    pub funcs: &'a [Function],
    pub own: usize,
    /// Of each parameter, whether derivatives are with respect to it.
    pub asked: &'a [bool],
    pub adjoint: Option<&'a Adjoint>,
    pub tangent: Option<&'a Adjoint>,
    /// The adjoint after all passes.
    pub optimised: Option<&'a Function>,
    pub wishes: &'a Wishes,
}

/// The subject of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared {
    Everything,
    /// All end with the same exception.
    Exceptions,
    /// The numbers are too large, the program takes too long, or differences of values go another way.
    Nothing,
}

/// A difference.
#[derive(Clone, Debug)]
pub enum Wrong {
    /// The derivative does not do what the function does.
    Value(String),
    /// The derivative is another one.
    Derivative(String),
}

/// The form of a function that is run.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    Value,
    Tangent,
    Adjoint,
    /// An adjoint in which references are counted.
    Optimised,
}

impl Which {
    fn wrong(self, what: impl std::fmt::Display) -> Wrong {
        let name = match self {
            Which::Value => "the function",
            Which::Tangent => "the tangent",
            Which::Adjoint => "the adjoint",
            Which::Optimised => "the optimised adjoint",
        };
        Wrong::Value(format!("{name}: {what}"))
    }
}

/// A sum of products, and that of their absolute values.
#[derive(Clone, Copy, Debug)]
struct Sum {
    sum: f64,
    size: f64,
}

impl Sum {
    fn of(terms: impl Iterator<Item = f64>) -> Sum {
        terms.fold(Sum { sum: 0.0, size: 0.0 }, |s, t| Sum { sum: s.sum + t, size: s.size + t.abs() })
    }
    fn is_small(&self) -> bool {
        self.size < 1e6
    }
    fn is_near(&self, other: &Sum, part: f64) -> bool {
        (self.sum - other.sum).abs() <= part * (1.0 + self.size.max(other.size))
    }
}

/// Inputs: what the function gets, tangents of it, and adjoints of what it gives and leaves.
struct Given {
    memory: Memory,
    args: Vec<Words>,
    /// Of each parameter asked for, its number and memory of the same form.
    shadows: Vec<(usize, Words)>,
    /// The floats of the parameters asked for, and a direction in which they change.
    values: Vec<f64>,
    directions: Vec<f64>,
    /// Adjoints of the result, and of the memory as it is left.
    result: Vec<f64>,
    left: Vec<f64>,
}

/// The results of a run.
struct Outcome {
    /// The result and the arguments as they are left, or an exception.
    end: Result<Vec<Seen>, Exc>,
    /// The floats of both, of those that are asked for.
    values: Vec<f64>,
    /// The same of their tangents, or the adjoints of the inputs.
    derivatives: Vec<f64>,
    /// Number of instructions.
    taken: u64,
}

impl Outcome {
    fn is_usable(&self) -> bool {
        self.values.iter().all(|x| x.abs() < 1e4)
    }
    fn same_as(&self, other: &Outcome, which: Which) -> Result<(), Wrong> {
        let same = match (&self.end, &other.end) {
            (Ok(_), Ok(_)) if which == Which::Optimised => {
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= ROUNDING * (1.0 + b.abs());
                self.values.len() == other.values.len() && self.values.iter().zip(&other.values).all(near)
            }
            (Ok(a), Ok(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.refines(b)),
            (Err(a), Err(b)) => a == b,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        let shown = || which.wrong(format!("it ends with {:?}, not {:?}", self.end, other.end));
        if same { Ok(()) } else { Err(shown()) }
    }
}

impl Subject<'_> {
    fn func(&self) -> &Function {
        &self.funcs[self.own]
    }
    fn ret(&self) -> Ty {
        self.func().ret.unwrap_or_else(Ty::none)
    }
    fn types(&self) -> Vec<Ty> {
        self.func().params().iter().map(|p| self.func().ty(*p)).collect()
    }

    /// Runs all forms for generated inputs.
    ///
    /// # Errors
    /// A difference.
    pub fn check(&self, seed: u64) -> Result<Compared, Wrong> {
        let given = self.given(seed).map_err(|stop| Which::Value.wrong(stop))?;
        let expected = match self.run(&given, 0.0, Which::Value, FUEL) {
            Ok(outcome) => outcome,
            Err(Stop::Unmodelled(what)) => return Err(Which::Value.wrong(Stop::Unmodelled(what))),
            Err(Stop::Fuel | Stop::Undefined(_)) => return Ok(Compared::Nothing),
        };
        if !expected.is_usable() {
            return Ok(Compared::Nothing);
        }
        let again = |which| -> Result<Outcome, Wrong> {
            let outcome = self.run(&given, 0.0, which, LONGER * FUEL).map_err(|stop| which.wrong(stop))?;
            outcome.same_as(&expected, which)?;
            Ok(outcome)
        };
        let adjoint = self.adjoint.map(|_| again(Which::Adjoint)).transpose()?;
        let tangent = self.tangent.map(|_| again(Which::Tangent)).transpose()?;
        let optimised = self.optimised.map(|_| again(Which::Optimised)).transpose()?;
        if expected.end.is_err() {
            return Ok(Compared::Exceptions);
        }
        let back = |o: Outcome| Sum::of(o.derivatives.iter().zip(&given.directions).map(|(a, d)| a * d));
        let ahead = |o: Outcome| Sum::of(o.derivatives.iter().zip(given.adjoints()).map(|(t, a)| t * a));
        let sums = [adjoint.map(back), tangent.map(ahead), optimised.map(back)];
        let names = ["adjoint", "tangent", "optimised adjoint"];
        let found: Vec<(&str, Sum)> = names.into_iter().zip(sums).filter_map(|(n, s)| Some((n, s?))).collect();
        let Some((of, first)) = found.first().copied() else { return Ok(Compared::Nothing) };
        if !found.iter().all(|(_, s)| s.is_small()) {
            return Ok(Compared::Nothing);
        }
        for (name, sum) in &found[1..] {
            if !sum.is_near(&first, ROUNDING) {
                return Err(Wrong::Derivative(format!("the {of} gives {}, the {name} {}", first.sum, sum.sum)));
            }
        }
        self.differences(&given, &expected, (of, &first))
    }

    /// A derivative against differences of values, where these go the same way.
    fn differences(&self, given: &Given, middle: &Outcome, (of, sum): (&str, &Sum)) -> Result<Compared, Wrong> {
        let mut last: Option<Sum> = None;
        let mut settles = false;
        for step in STEPS {
            let at = |h: f64| self.run(given, h, Which::Value, 2 * FUEL);
            let (Ok(low), Ok(high)) = (at(-step), at(step)) else { return Ok(Compared::Nothing) };
            if low.taken != high.taken || low.values.len() != middle.values.len() {
                return Ok(Compared::Nothing);
            }
            let terms = low.values.iter().zip(&high.values).zip(given.adjoints());
            let found = Sum::of(terms.map(|((a, b), d)| (b - a) / (2.0 * step) * d));
            if found.is_near(sum, DIFFERENCE) {
                return Ok(Compared::Everything);
            }
            settles |= last.is_some_and(|before| before.is_near(&found, DIFFERENCE));
            last = Some(found);
        }
        if !settles {
            // Of a function that bends within each step, differences say nothing.
            return Ok(Compared::Nothing);
        }
        let differences = last.map(|found| found.sum);
        Err(Wrong::Derivative(format!("the {of} gives {}, values differ by {differences:?}", sum.sum)))
    }

    /// Arguments that belong together, and what goes with them.
    fn given(&self, seed: u64) -> Result<Given, Stop> {
        let mut memory = Memory::default();
        let scale = Scale { n: 1 + seed as i64 % 5, whole: true };
        // Made twice from the same numbers, arguments and shadows have the same form.
        let mut make = || {
            let mut source = Source::new(Random::new(seed ^ 0x1f4), scale);
            arguments(&mut source, self.func(), self.func().params(), self.wishes, &mut memory)
        };
        let (mut args, again) = (make()?, make()?);
        memory.give();
        let mut random = Random::new(seed ^ 0xd1ff);
        let mut many = |n: usize| (0..n).map(|_| random.below(2001) as f64 / 1000.0 - 1.0 + 1e-4).collect::<Vec<f64>>();
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for ((words, ty), asked) in args.iter_mut().zip(self.types()).zip(self.asked) {
            let found = leaves(&memory, ty, words)?;
            let own = many(found.len());
            found.iter().zip(&own).try_for_each(|(leaf, x)| leaf.set(&mut memory, words, *x))?;
            if *asked {
                values.extend(own);
                places.extend(found);
            }
        }
        let left = places.iter().filter(|leaf| leaf.is_in_memory()).count();
        let result = leaves(&memory, self.ret(), &poison(&self.ret().flatten()))?.len();
        let shadows = again.into_iter().enumerate().filter(|(i, _)| self.asked[*i]).collect();
        let (directions, result, left) = (many(values.len()), many(result), many(left));
        Ok(Given { memory, args, shadows, values, directions, result, left })
    }

    /// Runs a form of the function, with inputs that are so many times the directions away.
    fn run(&self, given: &Given, far: f64, which: Which, fuel: u64) -> Result<Outcome, Stop> {
        let types = self.types();
        let func = match which {
            Which::Value => self.func(),
            Which::Adjoint => &self.funcs[self.adjoint.expect("it is there").id.index()],
            Which::Tangent => &self.funcs[self.tangent.expect("it is there").id.index()],
            Which::Optimised => self.optimised.expect("it is there"),
        };
        let mut m = machine(self.funcs, given.memory.clone(), fuel);
        m.is_counted = which == Which::Optimised;
        let (mut args, mut shadows) = (given.args.clone(), given.shadows.clone());
        let mut inputs = given.values.iter().zip(&given.directions).map(|(x, d)| x + far * d);
        for (i, _) in &shadows {
            set(&mut m.memory, types[*i], &mut args[*i], &mut inputs, |_| true)?;
        }
        let beside = if which == Which::Tangent { &given.directions } else { &given.left };
        let mut beside = beside.iter().copied();
        for (i, words) in &mut shadows {
            let is_set = |leaf: &Leaf| which == Which::Tangent || leaf.is_in_memory();
            set(&mut m.memory, types[*i], words, &mut beside, is_set)?;
        }
        let own = args.len();
        match which {
            Which::Value => {}
            Which::Tangent => args.extend(shadows.iter().map(|(_, words)| words.clone())),
            Which::Adjoint | Which::Optimised => {
                let shadowed = &self.adjoint.expect("it is there").shadowed;
                args.extend(shadows.iter().zip(shadowed).filter(|(_, s)| **s).map(|((_, words), _)| words.clone()));
                args.push([m.memory.new_items(Ty::meminfo(), 0)].into_iter().collect());
                let mut seed: Words = self.ret().flatten().iter().map(|_| Some(0)).collect();
                set(&mut m.memory, self.ret(), &mut seed, &mut given.result.iter().copied(), |_| true)?;
                args.push(seed);
            }
        }
        let words = match m.run(func, args.clone(), Place::default())? {
            End::Returned(words) => words,
            End::Raised(exc) => {
                let (values, derivatives) = Default::default();
                return Ok(Outcome { end: Err(exc), values, derivatives, taken: fuel - m.fuel });
            }
        };
        if m.is_counted {
            let tys = func.params().iter().map(|p| func.ty(*p));
            let mut held: Vec<(Ty, Words)> = tys.zip(args.iter().cloned()).collect();
            held.push((func.ret.unwrap_or_else(Ty::none), words.clone()));
            m.memory.close(&held).map_err(Stop::Undefined)?;
        }
        let (result, rest) = words.split_at(self.ret().flatten().len());
        let mut seen = vec![m.see(self.ret(), result)];
        seen.extend(types.iter().zip(&args[..own]).map(|(ty, words)| m.see_given(*ty, words)));
        let mut values = read(&m.memory, self.ret(), result, |_| true)?;
        for (i, _) in &shadows {
            values.extend(read(&m.memory, types[*i], &args[*i], Leaf::is_in_memory)?);
        }
        let derivatives = self.derivatives(&m, which, rest, &shadows)?;
        Ok(Outcome { end: Ok(seen), values, derivatives, taken: fuel - m.fuel })
    }

    /// The tangents or adjoints that a derivative gives, in its result behind that of the function, and leaves.
    fn derivatives(
        &self,
        m: &Machine<'_>,
        which: Which,
        rest: &[Option<u64>],
        shadows: &[(usize, Words)],
    ) -> Result<Vec<f64>, Stop> {
        let types = self.types();
        let mut found = Vec::new();
        if which == Which::Value {
            return Ok(found);
        }
        if which == Which::Tangent {
            found.extend(read(&m.memory, self.ret(), rest, |_| true)?);
            for (i, words) in shadows {
                found.extend(read(&m.memory, types[*i], words, Leaf::is_in_memory)?);
            }
            return Ok(found);
        }
        let adjoint = self.adjoint.expect("it is there");
        let each = parts(adjoint.ret).nth(1).into_iter().flat_map(parts);
        let mut at = 0;
        for ((i, words), part) in shadows.iter().zip(each) {
            let own = &rest[at..at + part.flatten().len()];
            at += own.len();
            // A value has its numbers in the result, and the rest in its shadow.
            let mut numbers = read(&m.memory, part, own, |leaf| !leaf.is_in_memory())?.into_iter();
            for leaf in leaves(&m.memory, types[*i], words)? {
                let x = if leaf.is_in_memory() { leaf.get(&m.memory, words)? } else { numbers.next().unwrap_or(0.0) };
                found.push(x);
            }
        }
        Ok(found)
    }
}

impl Given {
    /// Adjoints in the order of [`Outcome::values`].
    fn adjoints(&self) -> impl Iterator<Item = f64> + '_ {
        self.result.iter().chain(&self.left).copied()
    }
}

/// Gives floats of a value other numbers.
fn set(
    memory: &mut Memory,
    ty: Ty,
    words: &mut Words,
    numbers: &mut dyn Iterator<Item = f64>,
    is_set: impl Fn(&Leaf) -> bool,
) -> Result<(), Stop> {
    for leaf in leaves(memory, ty, words)?.iter().filter(|leaf| is_set(leaf)) {
        leaf.set(memory, words, numbers.next().expect("there are as many"))?;
    }
    Ok(())
}

/// The floats of a value.
fn read(memory: &Memory, ty: Ty, words: &[Option<u64>], is_read: impl Fn(&Leaf) -> bool) -> Result<Vec<f64>, Stop> {
    leaves(memory, ty, words)?.iter().filter(|leaf| is_read(leaf)).map(|leaf| leaf.get(memory, words)).collect()
}

fn machine(funcs: &[Function], memory: Memory, fuel: u64) -> Machine<'_> {
    Machine {
        funcs,
        memory,
        settings: Settings { grain: 2, backwards: false, turn: 7 },
        fuel,
        events: Vec::new(),
        is_partial: false,
        line: String::new(),
        taken: HashMap::new(),
        captured: HashMap::new(),
        launch: Launch::new([1; 3], [1; 3]),
        visited: HashSet::new(),
        scale: Scale { n: 1, whole: true },
        is_counted: false,
        announced: None,
        announces: false,
    }
}
