//! `np.einsum`: what its subscripts ask for, as axes of arrays. `numpy/einsum.py` of the library does it.

use crate::cx::Infer;
use crate::val::Val;
use lh_ir::diag::{self, Diagnostic, Result};

/// A letter, or the axis of an ellipsis as a negative number, the last one -1.
type Label = i32;

/// How an operand is brought in order first: the axes of each of its labels, which repeat where a diagonal is taken,
/// and the number of labels at the end over which it is summed, because they occur nowhere else.
struct Own {
    groups: Vec<Vec<usize>>,
    summed: usize,
}

/// The product of what came before and the next operand: axes of the first that are of both, its own, and summed ones;
/// axes of the second that are of both, summed, and its own.
type Step = [Vec<usize>; 6];

/// The labels of the operands' axes, and those of the result.
struct Labels {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

struct Plan {
    own: Vec<Own>,
    steps: Vec<Step>,
    /// The axes of the last product in the order of the result.
    order: Vec<usize>,
}

impl Infer<'_> {
    /// `prim.einsum(subscripts, operands)`
    pub(crate) fn einsum_plan(&mut self, subscripts: &Val, operands: &Val) -> Result<Val> {
        let Labels { inputs, output } = self.einsum_labels(subscripts, operands)?;
        let plan = planned(&inputs, &output);
        let ints = |axes: &Vec<usize>| Val::tuple(axes.iter().map(|a| Val::int(*a as i128)).collect());
        let own = plan.own.iter().map(|own| {
            let groups = Val::tuple(own.groups.iter().map(ints).collect());
            Val::tuple(vec![groups, Val::tuple(vec![Val::int(0); own.summed])])
        });
        let steps = plan.steps.iter().map(|step| Val::tuple(step.iter().map(ints).collect()));
        let (own, steps) = (Val::tuple(own.collect()), Val::tuple(steps.collect()));
        Ok(Val::tuple(vec![own, steps, ints(&plan.order)]))
    }

    /// `prim.einsum_letters(subscripts, operands)`: the subscripts with letters for ellipses and with a result, and
    /// whether the result has all letters.
    pub(crate) fn einsum_letters(&mut self, subscripts: &Val, operands: &Val) -> Result<Val> {
        let labels = self.einsum_labels(subscripts, operands)?;
        let Some(text) = labels.lettered() else {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, "the axes of these operands have more than 52 names"));
        };
        let is_kept = |label| labels.output.contains(label);
        let all_kept = labels.inputs.iter().flatten().all(is_kept);
        Ok(Val::tuple(vec![Val::str(text), Val::bool(all_kept)]))
    }

    fn einsum_labels(&mut self, subscripts: &Val, operands: &Val) -> Result<Labels> {
        let Some(text) = subscripts.as_str() else {
            let mut d =
                Diagnostic::new(diag::NEEDS_CONSTANT, "the subscripts of `einsum` must be known while compiling")
                    .note("write them as a text: `np.einsum(\"ij,jk->ik\", a, b)`");
            d.literal = self.parameter(subscripts);
            return Err(d);
        };
        let parts = operands.ty.tuple_elems().unwrap_or_default();
        let ranks: Vec<usize> = parts.iter().map(|t| t.as_array().map_or(0, |(_, ndim, ..)| ndim)).collect();
        read(text, &ranks).map_err(|why| {
            Diagnostic::new(diag::NO_MATCHING_CALL, format!("the subscripts {text:?} of `einsum` do not fit: {why}"))
        })
    }
}

impl Labels {
    /// As a text in which the axes of ellipses have letters of their own, if there are enough.
    fn lettered(&self) -> Option<String> {
        let is_used = |letter: &char| self.inputs.iter().flatten().any(|label| *label == *letter as Label);
        let spare: Vec<char> = ('A'..='Z').chain('a'..='z').filter(|letter| !is_used(letter)).collect();
        let first = self.inputs.iter().flatten().min().copied().unwrap_or_default();
        let letter = |label: &Label| match u8::try_from(*label) {
            Ok(byte) => Some(char::from(byte)),
            Err(_) => spare.get((*label - first) as usize).copied(),
        };
        let term = |labels: &Vec<Label>| labels.iter().map(letter).collect::<Option<String>>();
        let inputs = self.inputs.iter().map(term).collect::<Option<Vec<_>>>()?;
        Some(format!("{}->{}", inputs.join(","), term(&self.output)?))
    }
}

fn read(text: &str, ranks: &[usize]) -> std::result::Result<Labels, String> {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let (inputs, output) = match text.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (text.as_str(), None),
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != ranks.len() {
        return Err(format!("they are of {} operands, and there are {}", inputs.len(), ranks.len()));
    }
    let labels = inputs.iter().zip(ranks).map(|(input, rank)| operand_labels(input, *rank));
    let inputs = labels.collect::<std::result::Result<Vec<_>, _>>()?;
    let output = match output {
        Some(text) => output_labels(text, &inputs)?,
        None => implied_output(&inputs),
    };
    Ok(Labels { inputs, output })
}

/// The labels of an operand's axes.
fn operand_labels(text: &str, rank: usize) -> std::result::Result<Vec<Label>, String> {
    let (before, after) = text.split_once("...").unwrap_or((text, ""));
    let named = letters(before)?.len() + letters(after)?.len();
    let more = rank.checked_sub(named).filter(|more| *more == 0 || text.contains("..."));
    let more = more.ok_or_else(|| format!("\"{text}\" names {named} axes of an operand that has {rank}"))?;
    let mut labels = letters(before)?;
    labels.extend(ellipsis(more));
    labels.extend(letters(after)?);
    Ok(labels)
}

fn letters(text: &str) -> std::result::Result<Vec<Label>, String> {
    match text.chars().find(|c| !c.is_ascii_alphabetic()) {
        Some(c) => Err(format!("{c:?} is no letter")),
        None => Ok(text.chars().map(|c| c as Label).collect()),
    }
}

/// Labels of the axes of an ellipsis.
fn ellipsis(count: usize) -> impl Iterator<Item = Label> {
    (1..=count as Label).rev().map(|k| -k)
}

fn output_labels(text: &str, inputs: &[Vec<Label>]) -> std::result::Result<Vec<Label>, String> {
    let (before, after) = text.split_once("...").unwrap_or((text, ""));
    let broadcast = inputs.iter().flatten().copied().filter(|l| *l < 0).min().map_or(0, |l| -l) as usize;
    if broadcast > 0 && !text.contains("...") {
        return Err("the result lacks the ellipsis".to_owned());
    }
    let mut labels = letters(before)?;
    labels.extend(ellipsis(broadcast));
    labels.extend(letters(after)?);
    for (at, label) in labels.iter().enumerate() {
        let name = || char::from(*label as u8);
        if labels[..at].contains(label) {
            return Err(format!("the result has {:?} twice", name()));
        }
        if !inputs.iter().any(|input| input.contains(label)) {
            return Err(format!("the result has {:?}, which no operand has", name()));
        }
    }
    Ok(labels)
}

/// Without an arrow the result has the axes of ellipses, and then the letters that occur once, in their order.
fn implied_output(inputs: &[Vec<Label>]) -> Vec<Label> {
    let mut all: Vec<Label> = inputs.iter().flatten().copied().collect();
    all.sort_unstable();
    let count = |label: Label| all.iter().filter(|l| **l == label).count();
    let mut output: Vec<Label> = all.iter().copied().filter(|l| *l < 0 || count(*l) == 1).collect();
    output.dedup();
    output
}

fn planned(inputs: &[Vec<Label>], output: &[Label]) -> Plan {
    let mut own = Vec::new();
    let mut kept: Vec<Vec<Label>> = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let mut labels: Vec<Label> = Vec::new();
        input.iter().for_each(|l| {
            if !labels.contains(l) {
                labels.push(*l)
            }
        });
        let is_used = |l: &Label| {
            output.contains(l) || inputs.iter().enumerate().any(|(other, labels)| other != at && labels.contains(l))
        };
        let (used, summed): (Vec<Label>, Vec<Label>) = labels.into_iter().partition(is_used);
        let axes = |l: &Label| (0..input.len()).filter(|axis| input[*axis] == *l).collect();
        own.push(Own { groups: used.iter().chain(&summed).map(axes).collect(), summed: summed.len() });
        kept.push(used);
    }
    let mut steps = Vec::new();
    let mut first = kept.first().cloned().unwrap_or_default();
    for at in 1..kept.len() {
        let second = &kept[at];
        let is_kept = |l: &Label| output.contains(l) || kept[at + 1..].iter().any(|later| later.contains(l));
        let places = |labels: &[Label], of: &[Label]| -> Vec<usize> {
            labels.iter().filter_map(|l| of.iter().position(|o| o == l)).collect()
        };
        let (shared, own): (Vec<Label>, Vec<Label>) = first.iter().partition(|l| second.contains(l));
        let (both, summed): (Vec<Label>, Vec<Label>) = shared.into_iter().partition(is_kept);
        let others: Vec<Label> = second.iter().copied().filter(|l| !first.contains(l)).collect();
        steps.push([
            places(&both, &first),
            places(&own, &first),
            places(&summed, &first),
            places(&both, second),
            places(&summed, second),
            places(&others, second),
        ]);
        first = [both, own, others].concat();
    }
    let order = output.iter().filter_map(|l| first.iter().position(|o| o == l)).collect();
    Plan { own, steps, order }
}
