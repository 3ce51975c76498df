//! Units of NumPy's `datetime64` and `timedelta64`: a base such as seconds, and how many of it are one tick.
//!
//! The classes of both are declared in the library; the type argument of an instance is the text of its unit (`"10s"`),
//! a literal, so that everything about units is decided while compiling.

use crate::class::Class;
use crate::types::{Literal, Ty, TyKind};
use std::fmt;

/// The library's class of points in time.
pub const DATETIME: &str = "numpy.datetime64";
/// The library's class of spans of time.
pub const TIMEDELTA: &str = "numpy.timedelta64";

/// Codes of the bases from the coarsest to the finest; the last is that of values without a unit.
pub const BASES: [&str; 14] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];
const YEAR: usize = 0;
const MONTH: usize = 1;
const WEEK: usize = 2;
const DAY: usize = 3;
const GENERIC: usize = 13;

/// How many of the next finer base a base has, from weeks on.
const STEPS: [i128; 10] = [7, 24, 60, 60, 1000, 1000, 1000, 1000, 1000, 1000];
/// Days of 400 years.
const DAYS_OF_CYCLE: i128 = 146_097;

/// A unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeUnit {
    base: usize,
    count: i64,
}

impl TimeUnit {
    /// The unit of a text: `s`, `10s`, or `generic`.
    pub fn parse(text: &str) -> Option<TimeUnit> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, code) = text.split_at(digits);
        let count = if count.is_empty() { 1 } else { count.parse().ok().filter(|n| (1..1 << 31).contains(n))? };
        let code = if code == "\u{b5}s" || code == "\u{3bc}s" { "us" } else { code };
        let base = BASES.iter().position(|b| *b == code)?;
        (base != GENERIC || digits == 0).then_some(TimeUnit { base, count })
    }
    /// The unit in the name of a dtype, and whether it is one of spans: `M8[s]`, `timedelta64[10ms]`, `m8`.
    pub fn of_dtype(text: &str) -> Option<(TimeUnit, bool)> {
        let (name, unit) = match text.split_once('[') {
            Some((name, rest)) => (name, rest.strip_suffix(']')?),
            None => (text, "generic"),
        };
        let is_span = match name {
            "M8" | "datetime64" | "<M8" | "=M8" => false,
            "m8" | "timedelta64" | "<m8" | "=m8" => true,
            _ => return None,
        };
        Some((TimeUnit::parse(unit)?, is_span))
    }
    /// The unit of a base by its number.
    pub fn new(base: usize, count: i64) -> Option<TimeUnit> {
        (base < BASES.len() && count > 0).then_some(TimeUnit { base, count: if base == GENERIC { 1 } else { count } })
    }
    /// The numbers that [`TimeUnit::new`] takes.
    pub fn numbers(self) -> (u64, u64) {
        (self.base as u64, self.count as u64)
    }
    /// Its base and how many of it are a tick.
    pub fn parts(self) -> (&'static str, i64) {
        (BASES[self.base], self.count)
    }
    /// Whether values have no unit.
    pub fn is_generic(self) -> bool {
        self.base == GENERIC
    }
    /// Whether it is of years or months, which have no fixed number of days.
    pub fn is_calendar(self) -> bool {
        self.base <= MONTH
    }
    /// The unit in which values of both are computed, the greatest that divides them. Spans in years or months have no
    /// common unit with those in days.
    pub fn common((a, a_is_span): (TimeUnit, bool), (b, b_is_span): (TimeUnit, bool)) -> Option<TimeUnit> {
        if a.is_generic() || b.is_generic() {
            return Some(if a.is_generic() { b } else { a });
        }
        if a.base > b.base {
            return TimeUnit::common((b, b_is_span), (a, a_is_span));
        }
        let coarse = match (a.base, b.base) {
            (x, y) if x == y => a.count.into(),
            (YEAR, MONTH) => i128::from(a.count) * 12,
            (YEAR | MONTH, _) if a_is_span => return None,
            // Years and months have no fixed number of days. NumPy takes them for weeks here.
            (YEAR | MONTH, y) => i128::from(a.count) * steps(WEEK, y),
            (x, y) => i128::from(a.count) * steps(x, y),
        };
        let count = gcd(coarse, b.count.into());
        Some(TimeUnit { base: b.base, count: i64::try_from(count).ok()? })
    }
    /// The factor from ticks of a unit to those of another as a fraction, with the mean lengths of years and months.
    /// `None` if there is none in 64 bits.
    pub fn factor(self, to: TimeUnit) -> Option<(i64, i64)> {
        if self.is_generic() {
            return Some((1, 1));
        }
        if to.is_generic() {
            return None;
        }
        let (low, high) = (self.base.min(to.base), self.base.max(to.base));
        let days = if high == WEEK { (1, 7) } else { (steps(DAY, high.max(DAY)), 1) };
        let (num, denom) = match low {
            _ if low == high => (1, 1),
            YEAR if high == MONTH => (12, 1),
            YEAR => (DAYS_OF_CYCLE * days.0, 400 * days.1),
            MONTH => (DAYS_OF_CYCLE * days.0, 4800 * days.1),
            _ => (steps(low, high), 1),
        };
        let (num, denom) = if self.base <= to.base { (num, denom) } else { (denom, num) };
        let (num, denom) = (num * i128::from(self.count), denom * i128::from(to.count));
        let by = gcd(num, denom);
        Some((i64::try_from(num / by).ok()?, i64::try_from(denom / by).ok()?))
    }
    /// The type of points or spans in the unit.
    pub fn ty(self, is_span: bool) -> Ty {
        let class = Class::find(if is_span { TIMEDELTA } else { DATETIME });
        let class = class.unwrap_or_else(|| crate::bug!("the library has no classes of time"));
        class.of(vec![Ty::new(TyKind::Literal(Literal::Str(self.to_string())))], false)
    }
}

/// How many of a finer base a coarser one has, both from weeks on.
fn steps(coarse: usize, fine: usize) -> i128 {
    STEPS[coarse - WEEK..fine - WEEK].iter().product()
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count != 1 {
            write!(f, "{}", self.count)?;
        }
        f.write_str(BASES[self.base])
    }
}

impl Ty {
    /// The unit of points or spans of time, and whether they are spans.
    pub fn as_time(self) -> Option<(TimeUnit, bool)> {
        let class = self.as_class()?;
        let path = class.class.path();
        let is_span = path == TIMEDELTA;
        match class.args.first()?.kind() {
            TyKind::Literal(Literal::Str(unit)) if is_span || path == DATETIME => {
                Some((TimeUnit::parse(unit)?, is_span))
            }
            _ => None,
        }
    }
    /// Whether values are points or spans of time.
    pub fn is_time(self) -> bool {
        self.as_time().is_some()
    }
    /// Whether values are elements of arrays that one word or two hold: numbers, and points and spans of time.
    pub fn is_scalar(self) -> bool {
        self.is_number() || self.is_time()
    }
    /// NumPy's name of the dtype of points or spans of time: `datetime64[s]`.
    pub fn time_name(self) -> Option<String> {
        let (unit, is_span) = self.as_time()?;
        let name = if is_span { "timedelta64" } else { "datetime64" };
        Some(if unit.is_generic() { name.to_owned() } else { format!("{name}[{unit}]") })
    }
}
