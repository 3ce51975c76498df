//! `np.einsum_path`: the order in which operands are contracted, and a report of what that costs.
//!
//! The answers are NumPy's, ties included: pairs are tried in its order, and costs are exact integers.

use crate::classes::ExcId;
use crate::classes::{INDEX_ERROR, NOT_IMPLEMENTED_ERROR, OVERFLOW_ERROR, RUNTIME_ERROR, VALUE_ERROR};
use crate::exception::raise;
use crate::memory::alloc::MemInfo;
use crate::strings::value::{StrValue, give, text};
use crate::symbol::{Symbol, functions};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// How a path is found; another number says that it is given.
const GREEDY: i64 = 1;
const OPTIMAL: i64 = 2;

/// Letters, by their positions in [`Sizes`].
type Letters = u64;

/// Places of operands that are contracted together. Their result is added behind the others.
type Places = Vec<i64>;

/// The extent of each letter.
struct Sizes(Vec<(char, u128)>);

impl Sizes {
    /// Reads the extents of all axes in order. An extent of 1 is broadcast to another one.
    fn of(terms: &[&str], extents: &[i64]) -> Result<Sizes, String> {
        let mut sizes: Vec<(char, u128)> = Vec::new();
        let mut extents = extents.iter();
        for (operand, term) in terms.iter().enumerate() {
            for (letter, extent) in term.chars().zip(extents.by_ref()) {
                let extent = *extent as u128;
                match sizes.iter_mut().find(|(l, _)| *l == letter) {
                    None => sizes.push((letter, extent)),
                    Some((_, known)) if *known == 1 => *known = extent,
                    Some((_, known)) if extent != 1 && extent != *known => {
                        return Err(format!(
                            "Size of label '{letter}' for operand {operand} ({known}) does not match previous terms \
                             ({extent})."
                        ));
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(Sizes(sizes))
    }
    fn set(&self, term: &str) -> Letters {
        term.chars().filter_map(|c| self.0.iter().position(|(l, _)| *l == c)).fold(0, |set, at| set | 1 << at)
    }
    /// The number of items of an operand, where a letter may occur twice.
    fn items(&self, term: &str) -> u128 {
        term.chars().fold(1, |n: u128, c| n.saturating_mul(self.size(self.set(c.encode_utf8(&mut [0; 4])))))
    }
    fn of_set(&self, set: Letters) -> impl Iterator<Item = (u128, char)> {
        self.0.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1).map(|(_, (letter, n))| (*n, *letter))
    }
    /// The product of the extents; the largest number if it is even larger.
    fn size(&self, set: Letters) -> u128 {
        self.of_set(set).fold(1, |product, (n, _)| product.saturating_mul(n))
    }
    /// Operations of a contraction of so many operands.
    fn cost(&self, set: Letters, is_inner: bool, operands: usize) -> u128 {
        self.size(set).saturating_mul(factor(is_inner, operands))
    }
    /// The same as an integer of any size, its lowest digits first.
    fn exact_cost(&self, set: Letters, is_inner: bool, operands: usize) -> Vec<u64> {
        let mut digits = vec![factor(is_inner, operands) as u64];
        for (n, _) in self.of_set(set) {
            let mut carry = 0;
            for digit in &mut digits {
                let product = u128::from(*digit) * n + carry;
                (*digit, carry) = (product as u64, product >> 64);
            }
            digits.push(carry as u64);
        }
        digits
    }
}

fn factor(is_inner: bool, operands: usize) -> u128 {
    operands.saturating_sub(1).max(1) as u128 + u128::from(is_inner)
}

/// One contraction of some operands: the letters of the result and all that occur in it.
struct Contraction {
    result: Letters,
    all: Letters,
}

impl Contraction {
    fn of(places: &[i64], operands: &[Letters], output: Letters) -> Contraction {
        let (mut all, mut kept) = (0, output);
        for (at, letters) in operands.iter().enumerate() {
            match places.contains(&(at as i64)) {
                true => all |= letters,
                false => kept |= letters,
            }
        }
        Contraction { result: kept & all, all }
    }
    fn is_inner(&self) -> bool {
        self.all != self.result
    }
    fn cost(&self, operands: usize, sizes: &Sizes) -> u128 {
        sizes.cost(self.all, self.is_inner(), operands)
    }
    /// The operands after it.
    fn applied(&self, places: &[i64], operands: &[Letters]) -> Vec<Letters> {
        let others = operands.iter().enumerate().filter(|(at, _)| !places.contains(&(*at as i64)));
        others.map(|(_, letters)| *letters).chain([self.result]).collect()
    }
}

struct Problem<'a> {
    sizes: &'a Sizes,
    output: Letters,
    /// Items that a result between may have; none may be if it is negative.
    limit: i128,
}

fn signed(n: u128) -> i128 {
    i128::try_from(n).unwrap_or(i128::MAX)
}

fn pairs(n: usize) -> impl Iterator<Item = [i64; 2]> {
    (0..n as i64).flat_map(move |i| (i + 1..n as i64).map(move |j| [i, j]))
}

fn all_at_once(n: usize) -> Places {
    (0..n as i64).collect()
}

/// A pair that may be contracted: items that are no longer needed, negated, and the cost; the smaller the better.
struct Candidate {
    rank: (i128, u128),
    pair: [i64; 2],
    result: Letters,
}

impl Problem<'_> {
    /// Always contracts the pair after which the fewest items are left.
    fn greedy(&self, mut operands: Vec<Letters>) -> Vec<Places> {
        let n = operands.len();
        let whole = Contraction::of(&all_at_once(n), &operands, self.output);
        let naive = whole.cost(n, self.sizes);
        let (mut path, mut spent, mut candidates) = (Vec::new(), 0u128, Vec::new());
        let mut fresh: Vec<[i64; 2]> = pairs(n).collect();
        for _ in 1..n {
            // Outer products wait until there is nothing else.
            fresh.retain(|[i, j]| operands[*i as usize] & operands[*j as usize] != 0);
            let consider = |pair| self.candidate(pair, &operands, spent, naive);
            candidates.extend(fresh.drain(..).filter_map(consider));
            if candidates.is_empty() {
                candidates.extend(pairs(operands.len()).filter_map(consider));
            }
            let Some(Candidate { rank, pair, result }) = take_best(&mut candidates) else {
                path.push(all_at_once(operands.len()));
                break;
            };
            operands = Contraction { result, all: 0 }.applied(&pair, &operands);
            candidates.retain(|c| c.pair.iter().all(|at| !pair.contains(at)));
            for at in candidates.iter_mut().flat_map(|c| &mut c.pair) {
                *at -= pair.iter().filter(|gone| **gone < *at).count() as i64;
            }
            let last = operands.len() as i64 - 1;
            fresh = (0..last).map(|i| [i, last]).collect();
            path.push(pair.to_vec());
            spent = spent.saturating_add(rank.1);
        }
        path
    }

    fn candidate(&self, pair: [i64; 2], operands: &[Letters], spent: u128, naive: u128) -> Option<Candidate> {
        let contraction = Contraction::of(&pair, operands, self.output);
        let size = self.sizes.size(contraction.result);
        let cost = contraction.cost(2, self.sizes);
        let before = pair.iter().fold(0u128, |n, at| n.saturating_add(self.sizes.size(operands[*at as usize])));
        let is_possible = signed(size) <= self.limit && spent.saturating_add(cost) <= naive;
        let rank = (signed(size) - signed(before), cost);
        is_possible.then_some(Candidate { rank, pair, result: contraction.result })
    }

    /// The cheapest of all orders; if none keeps to the limit, the cheapest of those that get furthest, whose other
    /// operands are then contracted at once.
    fn optimal(&self, operands: &[Letters]) -> Vec<Places> {
        let mut best = (u128::MAX, Vec::new());
        self.search(operands, 0, &mut Vec::new(), operands.len(), &mut best);
        let mut path: Vec<Places> = best.1.iter().map(|pair: &[i64; 2]| pair.to_vec()).collect();
        let left = operands.len() - path.len();
        if left > 1 {
            path.push(all_at_once(left));
        }
        path
    }

    fn search(
        &self,
        operands: &[Letters],
        cost: u128,
        path: &mut Vec<[i64; 2]>,
        n: usize,
        best: &mut (u128, Vec<[i64; 2]>),
    ) {
        // Costs only grow, so that what is not cheaper than a whole order is not looked at any further.
        let is_whole = n == best.1.len() + 1;
        if is_whole && cost >= best.0 {
            return;
        }
        if path.len() > best.1.len() || path.len() == best.1.len() && cost < best.0 {
            *best = (cost, path.clone());
        }
        for pair in pairs(operands.len()) {
            let contraction = Contraction::of(&pair, operands, self.output);
            if signed(self.sizes.size(contraction.result)) <= self.limit {
                path.push(pair);
                let cost = cost.saturating_add(contraction.cost(2, self.sizes));
                self.search(&contraction.applied(&pair, operands), cost, path, n, best);
                path.pop();
            }
        }
    }
}

fn take_best(candidates: &mut Vec<Candidate>) -> Option<Candidate> {
    let (at, _) = candidates.iter().enumerate().min_by_key(|(_, c)| c.rank)?;
    Some(candidates.remove(at))
}

/// The costs of a path, and its lines of the report.
struct Costs {
    sum: u128,
    scaling: u32,
    largest: u128,
    lines: String,
}

type Failure = (ExcId, String);

fn costs(path: &[Places], terms: &[&str], output: &str, sizes: &Sizes) -> Result<Costs, Failure> {
    let mut sets: Vec<Letters> = terms.iter().map(|term| sizes.set(term)).collect();
    let mut terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
    let mut costs = Costs { sum: 0, scaling: 0, largest: 0, lines: String::new() };
    for (at, places) in path.iter().enumerate() {
        let contraction = Contraction::of(places, &sets, sizes.set(output));
        sets = contraction.applied(places, &sets);
        costs.sum = costs.sum.saturating_add(contraction.cost(places.len(), sizes));
        costs.scaling = costs.scaling.max(contraction.all.count_ones());
        costs.largest = costs.largest.max(sizes.size(contraction.result));
        let mut places = places.clone();
        places.sort_unstable_by(|a, b| b.cmp(a));
        let mut current = Vec::new();
        for place in places {
            let place = if place < 0 { place + terms.len() as i64 } else { place };
            if !(0..terms.len() as i64).contains(&place) {
                return Err((INDEX_ERROR, "pop index out of range".to_owned()));
            }
            current.push(terms.remove(place as usize));
        }
        let mut letters: Vec<(u128, char)> = sizes.of_set(contraction.result).collect();
        letters.sort_unstable();
        let is_last = at + 1 == path.len();
        terms.push(if is_last { output.to_owned() } else { letters.iter().map(|(_, letter)| letter).collect() });
        let current = format!("{}->{}", current.join(","), terms[terms.len() - 1]);
        let remaining = format!("{}->{output}", terms.join(","));
        costs.lines += &format!("\n{:4}    {current:>24} {remaining:>40}", contraction.all.count_ones());
    }
    match terms.len() {
        1 if path.is_empty() => Err((VALUE_ERROR, "max() arg is an empty sequence".to_owned())),
        1 => Ok(costs),
        n => {
            let message = format!("Invalid einsum_path is specified: {} more operands has to be contracted.", n - 1);
            Err((RUNTIME_ERROR, message))
        }
    }
}

fn report(path: &[Places], subscripts: &str, terms: &[&str], output: &str, sizes: &Sizes) -> Result<String, Failure> {
    let Costs { sum, scaling, largest, lines } = costs(path, terms, output, sizes)?;
    let indices = sizes.0.len();
    let all = sizes.set(&terms.concat());
    let of_operands: u32 = terms.iter().map(|term| sizes.set(term).count_ones()).sum();
    let cost = sizes.exact_cost(all, of_operands as usize > indices, terms.len());
    let naive = quotient(&cost, 1);
    if naive.is_infinite() {
        return Err((OVERFLOW_ERROR, "int too large to convert to float".to_owned()));
    }
    let spent = sum.saturating_add(1);
    let speedup = quotient(&cost, spent.min(1 << 127));
    let rule = "-".repeat(74);
    Ok(format!(
        "  Complete contraction:  {subscripts}
         Naive scaling:  {indices}
     Optimized scaling:  {scaling}
      Naive FLOP count:  {}
  Optimized FLOP count:  {}
   Theoretical speedup:  {speedup:.3}
  Largest intermediate:  {} elements
{rule}
{:>6} {:>24} {:>40}
{rule}{lines}",
        short(naive),
        short(spent as f64),
        short(largest as f64),
        "scaling",
        "current",
        "remaining",
    ))
}

/// As `%.3e` of C.
fn short(x: f64) -> String {
    let text = format!("{x:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{digits}e{:+03}", exponent.parse::<i32>().unwrap_or_default())
}

/// The quotient of an integer by one of at most 127 bits, rounded once.
fn quotient(numerator: &[u64], denominator: u128) -> f64 {
    let (mut digits, mut rest, mut is_more, mut scale) = (0u128, 0, false, 0);
    let is_full = |digits: u128| digits >> 64 != 0;
    let bits = numerator.iter().rev().flat_map(|word| (0..64).rev().map(move |at| word >> at & 1));
    for bit in bits.chain(std::iter::repeat(0)).enumerate() {
        let is_fraction = bit.0 >= 64 * numerator.len();
        if is_fraction && (is_full(digits) || rest == 0) {
            break;
        }
        rest = rest << 1 | u128::from(bit.1);
        let digit = u128::from(rest >= denominator);
        rest -= digit * denominator;
        if is_full(digits) {
            is_more |= digit != 0;
            scale += 1;
        } else {
            digits = digits << 1 | digit;
            scale -= i32::from(is_fraction);
        }
    }
    (digits << 1 | u128::from(is_more || rest != 0)) as f64 * f64::powi(2.0, scale - 1)
}

/// The path, unless it is given, into places for contractions of two operands each; and the report.
fn ordered(subscripts: &str, extents: &[i64], how: i64, limit: i64, path: &mut [i64]) -> Result<String, Failure> {
    let (inputs, output) = subscripts.split_once("->").unwrap_or((subscripts, ""));
    let terms: Vec<&str> = inputs.split(',').collect();
    let sizes = Sizes::of(&terms, extents).map_err(|message| (VALUE_ERROR, message))?;
    let limit = match limit {
        i64::MIN => signed(terms.iter().chain(&[output]).map(|term| sizes.items(term)).max().unwrap_or_default()),
        i64::MAX => i128::MAX,
        _ => i128::from(limit),
    };
    let operands: Vec<Letters> = terms.iter().map(|term| sizes.set(term)).collect();
    let problem = Problem { sizes: &sizes, output: sizes.set(output), limit };
    let found = match how {
        GREEDY => problem.greedy(operands),
        OPTIMAL => problem.optimal(&operands),
        _ => {
            let mut rest = &path[..];
            let mut given = Vec::new();
            while let [n, items @ ..] = rest {
                let (places, others) = items.split_at(*n as usize);
                given.push(places.to_vec());
                rest = others;
            }
            return report(&given, subscripts, &terms, output, &sizes);
        }
    };
    if found.len() + 1 != terms.len() || found.iter().any(|places| places.len() != 2) {
        let message = "NumPy's path of these extents contracts more than two operands at once: the length of its type \
                       is not known while compiling; call `np.einsum_path` outside, or with `optimize=False`";
        return Err((NOT_IMPLEMENTED_ERROR, message.to_owned()));
    }
    path.iter_mut().zip(found.iter().flatten()).for_each(|(place, at)| *place = *at);
    report(&found, subscripts, &terms, output, &sizes)
}

/// `lh_contractions(subscripts, extents, n, how, limit, path, n, out)`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_contractions(
    _mem: *mut MemInfo,
    data: *const u8,
    len: i64,
    extents: *const i64,
    axes: i64,
    how: i64,
    limit: i64,
    path: *mut i64,
    places: i64,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes a live text, memory of so many numbers and room for the result.
    unsafe {
        let subscripts = text(data, len).lossy();
        let (extents, path) = (from_raw_parts(extents, axes as usize), from_raw_parts_mut(path, places as usize));
        match ordered(&subscripts, extents, how, limit, path) {
            Ok(report) => give(report, out),
            Err((class, message)) => raise(class, message),
        }
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _ _ _ _ _ _ _) lh_contractions;
    }
}
