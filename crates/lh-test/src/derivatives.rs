//! Derivatives of random functions, in the interpreter: the adjoint against the tangent, and the tangent against
//! differences of values.
//!
//! With tangents for all inputs, and adjoints for the result and for the arrays as they are left, both derivatives give
//! the same sum of products. That holds to rounding, whatever the function does.
//!
//! The values of both derivatives must be those of the function, bit by bit. `LH_FUZZ` sets the number of programs,
//! `LH_FUZZ_FIRST` the first seed; one adjoint in eight is optimised, too.

mod programs;
mod statements;

pub use programs::program;

use crate::files::checked;
use crate::interpret::grid::{Launch, Place};
use crate::interpret::memory::Memory;
use crate::interpret::source::Scale;
use crate::interpret::state::{End, Machine, Settings};
use crate::interpret::word::{Word, Words, words_of};
use crate::random::Random;
use lh_grad::{Callees, Made, Push, Request, Rule, Snapshot};
use lh_ir::func::{Derivative, Options};
use lh_ir::print::print;
use lh_ir::{Const, Function, SpecId, Ty};
use lh_opt::pipeline::{Known, before_adjoint};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Instructions of a run of the function itself.
const FUEL: u64 = 20_000;
/// A derivative may run more by this factor.
const LONGER: u64 = 100;
/// Adjoint and tangent differ by less than this part of the sum of the absolute terms.
const ROUNDING: f64 = 1e-9;
/// Steps of differences of values, and the error that they may have.
const STEPS: [f64; 3] = [1e-6, 1e-5, 1e-7];
const DIFFERENCE: f64 = 1e-4;

/// No function has a rule or calls itself: all that is called has been inlined.
struct Alone;

impl Callees for Alone {
    fn rule(&self, _: SpecId) -> Option<Rule> {
        None
    }
    fn push(&self, _: SpecId) -> Option<Push> {
        None
    }
    fn copy_back(&self, _: Ty) -> Option<SpecId> {
        None
    }
    fn recursive(&self, _: SpecId, _: &[bool], _: Derivative) -> Option<(SpecId, Ty)> {
        None
    }
    fn snapshot(&self, _: Ty) -> Option<Snapshot> {
        None
    }
    fn fills(&self, _: Options) -> Option<[SpecId; 2]> {
        None
    }
    fn taken(&self, _: Options, _: Ty) -> Option<SpecId> {
        None
    }
    fn name(&self, spec: SpecId) -> String {
        spec.to_string()
    }
    fn writes(&self, _: SpecId) -> u32 {
        u32::MAX
    }
}

/// A program with its derivatives.
pub struct Case {
    /// As it was made, with what it calls.
    program: Vec<Function>,
    /// In the form that is differentiated.
    lowered: Function,
    adjoint: Function,
    tangent: Function,
    /// The adjoint after all passes.
    optimised: Option<Function>,
}

/// The subject of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compared {
    Everything,
    /// The numbers are too large, or the program takes too long.
    Nothing,
}

impl Case {
    /// Differentiates a random program.
    ///
    /// # Errors
    /// One of the functions is malformed, or the program is refused.
    pub fn new(seed: u64) -> Result<Case, String> {
        crate::library::declare_classes();
        let program = program(seed, 3 + seed as usize % 22);
        program.iter().try_for_each(checked)?;
        let mut lowered = program[0].clone();
        let callee = Arc::new(program[1].clone());
        let bodies = move |s: SpecId| (s.index() == 1).then(|| callee.clone());
        before_adjoint(&mut lowered, &Known::nothing(), &bodies).map_err(|d| d.headline.to_string())?;
        let asked: Vec<bool> = lowered.params().iter().map(|p| lowered.ty(*p) != Ty::int()).collect();
        let params = lowered.params().iter().map(|p| lowered.ty(*p)).filter(|t| *t != Ty::int()).collect();
        let value = lowered.ret.unwrap_or_else(Ty::none);
        let ret = Ty::tuple(vec![value, Ty::tuple(params)]);
        let request = Request { asked: &asked, owners: Some(Ty::list(Ty::meminfo())), seed: Some(value), ret };
        let Made { func: adjoint, .. } =
            lh_grad::adjoint(&lowered, &request, &Alone).map_err(|d| format!("the adjoint: {}", d.headline))?;
        let both = Ty::tuple(vec![value, value]);
        let tangent = lh_grad::tangent(&lowered, &asked, both, None, &Alone)
            .map_err(|d| format!("the tangent: {}", d.headline))?;
        checked(&adjoint).map_err(|e| format!("the adjoint: {e}"))?;
        checked(&tangent).map_err(|e| format!("the tangent: {e}"))?;
        let mut case = Case { program, lowered, adjoint, tangent, optimised: None };
        if seed.is_multiple_of(8) {
            let mut func = case.adjoint.clone();
            lh_opt::run(&mut func, &Known::nothing()).map_err(|d| format!("the passes: {}", d.headline))?;
            case.optimised = Some(func);
        }
        Ok(case)
    }

    /// The forms of the program, for messages.
    pub fn shown(&self) -> String {
        format!("{}\nwhose adjoint is\n{}", print(&self.lowered), print(&self.adjoint))
    }

    /// Computes all of them for random inputs.
    ///
    /// # Errors
    /// The message says what is not the same.
    pub fn check(&self, seed: u64) -> Result<Compared, String> {
        let given = Given::new(self.program[0].ty(self.program[0].params()[3]), self.results(), seed);
        let Ok(expected) = run(&self.program, &given, 0.0, Which::Value, FUEL) else { return Ok(Compared::Nothing) };
        if !expected.is_usable() {
            return Ok(Compared::Nothing);
        }
        let own = run(std::slice::from_ref(&self.lowered), &given, 0.0, Which::Value, LONGER * FUEL)?;
        own.same_values(&expected, 0.0).map_err(|e| format!("lowered: {e}"))?;
        let adjoint = run(std::slice::from_ref(&self.adjoint), &given, 0.0, Which::Adjoint, LONGER * FUEL)
            .map_err(|e| format!("the adjoint: {e}"))?;
        adjoint.same_values(&expected, 0.0).map_err(|e| format!("the adjoint: {e}"))?;
        let tangent = run(std::slice::from_ref(&self.tangent), &given, 0.0, Which::Tangent, LONGER * FUEL)
            .map_err(|e| format!("the tangent: {e}"))?;
        tangent.same_values(&expected, 0.0).map_err(|e| format!("the tangent: {e}"))?;
        let (back, ahead) = (adjoint.back(&given), tangent.ahead(&given));
        if !back.is_small() || !ahead.is_small() {
            return Ok(Compared::Nothing);
        }
        if !back.is_near(&ahead, ROUNDING) {
            return Err(format!("the adjoint gives {}, the tangent {}", back.sum, ahead.sum));
        }
        if let Some(func) = &self.optimised {
            let after = run(std::slice::from_ref(func), &given, 0.0, Which::Optimised, LONGER * FUEL)
                .map_err(|e| format!("the optimised adjoint: {e}"))?;
            after.same_values(&expected, ROUNDING).map_err(|e| format!("the optimised adjoint: {e}"))?;
            let after = after.back(&given);
            if !after.is_near(&back, ROUNDING) {
                return Err(format!("the optimised adjoint gives {}, not {}", after.sum, back.sum));
            }
        }
        self.check_differences(&given, &expected, &ahead)?;
        Ok(Compared::Everything)
    }

    /// Number of floats of the result.
    fn results(&self) -> usize {
        self.program[0].ret.map_or(0, |t| t.flatten().len())
    }

    /// The tangent against differences of values, where these go the same way.
    fn check_differences(&self, given: &Given, middle: &Outcome, ahead: &Sum) -> Result<(), String> {
        let mut last = None;
        for step in STEPS {
            let at = |h: f64| run(std::slice::from_ref(&self.lowered), given, h, Which::Value, LONGER * FUEL);
            let (low, high) = (at(-step)?, at(step)?);
            if low.taken != high.taken || low.values.len() != middle.values.len() {
                return Ok(());
            }
            let terms = low.values.iter().zip(&high.values).zip(given.adjoints());
            let sum = Sum::of(terms.map(|((a, b), d)| (b - a) / (2.0 * step) * d));
            if sum.is_near(ahead, DIFFERENCE) {
                return Ok(());
            }
            last = Some(sum.sum);
        }
        Err(format!("the tangent gives {}, values differ by {last:?}", ahead.sum))
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
    array: Ty,
    n: usize,
    /// Two numbers and the elements of two arrays, in this order.
    values: Vec<f64>,
    directions: Vec<f64>,
    /// Adjoints of the elements as they are left, and of the result.
    left: Vec<f64>,
    result: Vec<f64>,
}

impl Given {
    fn new(array: Ty, results: usize, seed: u64) -> Given {
        let mut random = Random::new(seed ^ 0xd1ff);
        let n = 1 + random.below(5);
        let mut many = |n: usize| (0..n).map(|_| random.below(2001) as f64 / 1000.0 - 1.0 + 1e-4).collect::<Vec<f64>>();
        let (values, directions) = (many(2 + 2 * n), many(2 + 2 * n));
        Given { array, n, values, directions, left: many(2 * n), result: many(results) }
    }
    /// Adjoints in the order of [`Outcome::values`].
    fn adjoints(&self) -> impl Iterator<Item = f64> + '_ {
        self.result.iter().chain(&self.left).copied()
    }

    /// An array with these elements.
    fn place(&self, memory: &mut Memory, items: &[f64]) -> Words {
        let is_any = self.array.as_array().is_some_and(|(_, _, layout, _)| layout == lh_ir::Layout::A);
        let stride = if is_any { 16 } else { 8 };
        let data = memory.allocate((items.len() * stride) as i64);
        for (i, x) in items.iter().enumerate() {
            let at = data.map(|a| a + (i * stride) as u64);
            memory.store_value(at, Ty::f64(), &float(*x)).expect("it is inside");
        }
        [data, data, Some(items.len() as u64), Some(stride as u64)].into_iter().collect()
    }
}

fn float(x: f64) -> Words {
    words_of(&Const::Float(x, Ty::f64()))
}

/// The elements of an array.
fn elements(memory: &Memory, array: &[Word]) -> Vec<f64> {
    let (data, n, stride) = (array[1], array[2].unwrap_or(0), array[3].unwrap_or(0));
    let load = |i: u64| memory.load_value(data.map(|a| a + i * stride), Ty::f64()).ok().and_then(|w| w[0]);
    (0..n).map(|i| load(i).map_or(f64::NAN, f64::from_bits)).collect()
}

/// A form of a program.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    Value,
    Tangent,
    Adjoint,
    /// An adjoint in which references are counted.
    Optimised,
}

/// The results of a run.
struct Outcome {
    /// The result and the elements of the arrays that were given.
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
    fn same_values(&self, other: &Outcome, part: f64) -> Result<(), String> {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a - b).abs() <= part * (1.0 + b.abs());
        if self.values.len() == other.values.len() && self.values.iter().zip(&other.values).all(same) {
            return Ok(());
        }
        Err(format!("it gives {:?}, not {:?}", self.values, other.values))
    }
    fn back(&self, given: &Given) -> Sum {
        Sum::of(self.derivatives.iter().zip(&given.directions).map(|(a, d)| a * d))
    }
    fn ahead(&self, given: &Given) -> Sum {
        Sum::of(self.derivatives.iter().zip(given.adjoints()).map(|(t, a)| t * a))
    }
}

/// Runs a form of a program, with inputs that are so many times the directions away.
fn run(funcs: &[Function], given: &Given, far: f64, which: Which, fuel: u64) -> Result<Outcome, String> {
    let mut memory = Memory::default();
    let n = given.n;
    let inputs: Vec<f64> = given.values.iter().zip(&given.directions).map(|(x, d)| x + far * d).collect();
    let [x, y] = [&inputs[2..2 + n], &inputs[2 + n..]].map(|items| given.place(&mut memory, items));
    let mut args =
        vec![float(inputs[0]), float(inputs[1]), [Some(n as u64)].into_iter().collect(), x.clone(), y.clone()];
    let beside = if which == Which::Tangent { &given.directions[2..] } else { &given.left[..] };
    let shadows = [&beside[..n], &beside[n..]].map(|items| given.place(&mut memory, items));
    match which {
        Which::Value => {}
        Which::Tangent => {
            args.extend(given.directions[..2].iter().map(|d| float(*d)));
            args.extend(shadows.clone());
        }
        Which::Adjoint | Which::Optimised => {
            args.extend(shadows.clone());
            args.push([memory.new_items(Ty::meminfo(), 0)].into_iter().collect());
            args.push(given.result.iter().map(|d| float(*d)[0]).collect());
        }
    }
    let func = &funcs[0];
    let tys: Vec<Ty> = func.params().iter().map(|p| func.ty(*p)).collect();
    let mut m = machine(funcs, memory, fuel);
    m.is_counted = which == Which::Optimised;
    let words = match m.run(func, args.clone(), Place::default()).map_err(|s| s.to_string())? {
        End::Returned(words) => words,
        End::Raised(exc) => return Err(format!("it raises {exc}")),
    };
    if m.is_counted {
        let mut held: Vec<(Ty, Words)> = tys.into_iter().zip(args).collect();
        held.push((func.ret.unwrap_or_else(Ty::none), words.clone()));
        m.memory.close(&held)?;
    }
    let number = |w: &Word| w.map_or(f64::NAN, f64::from_bits);
    let results = given.result.len();
    let mut values: Vec<f64> = words[..results].iter().map(number).collect();
    values.extend([&x, &y].into_iter().flat_map(|a| elements(&m.memory, a)));
    let more = if which == Which::Tangent { results } else { 2 };
    let rest = words[results..].iter().take(more);
    let mut derivatives: Vec<f64> = rest.map(number).collect();
    derivatives.extend(shadows.iter().flat_map(|a| elements(&m.memory, a)));
    Ok(Outcome { values, derivatives, taken: fuel - m.fuel })
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
