//! Arguments for functions, from their types and from what files say that they require, in comment lines:
//!
//! ```text
//! ; inputs: v1 in 0..8, v0[0] is v1, v2 items in 0..5, apart
//! ```
//!
//! `v1 in 0..8` bounds a number, `v0[0]` is an extent, `v2 items` are the elements of an array of integers, `v3 len` is
//! the length of a list; `is` makes an extent equal to a number, or a number to an extent. `apart`: no two arrays share
//! memory. `whole`: floats are small multiples of 1/4, whose sums and products are exact in any order. `v1 constant`:
//! derivatives are not with respect to it. `threads in`, `blocks in` and `rows in` (blocks along the second axis) are
//! the shape of a launch.

use crate::interpret::Stop;
use crate::interpret::memory::Memory;
use crate::interpret::source::Source;
use crate::interpret::word::{Word, Words, words_of};
use crate::wishes::Wishes;
use lh_ir::{Const, Function, Ty, Value};

/// Arguments for parameters of a function.
pub fn arguments(
    source: &mut Source,
    func: &Function,
    params: &[Value],
    wishes: &Wishes,
    memory: &mut Memory,
) -> Result<Vec<Words>, Stop> {
    source.begin();
    let mut out: Vec<Option<Words>> = vec![None; params.len()];
    // Numbers first, since extents may be said to be them.
    for (p, o) in params.iter().zip(&mut out).filter(|(p, _)| func.ty(**p).is_int()) {
        if let Some(range) = wishes.number(*p) {
            *o = Some(words_of(&Const::Int(source.within(&range).into(), func.ty(*p))));
        } else if wishes.equal_extent(*p).is_none() {
            *o = Some(source.value(func.ty(*p), memory)?);
        }
    }
    for i in 0..params.len() {
        if out[i].is_none() && !func.ty(params[i]).is_int() {
            let numbers = params.iter().zip(&out).filter_map(|(p, o)| Some((*p, o.as_ref()?.first().copied()?)));
            let numbers: Vec<(Value, Word)> = numbers.collect();
            out[i] = Some(wished(source, func.ty(params[i]), params[i], wishes, &numbers, memory)?);
        }
    }
    for i in 0..params.len() {
        if let (None, Some((array, d))) = (&out[i], wishes.equal_extent(params[i])) {
            let at = params.iter().position(|p| *p == array).and_then(|at| out[at].as_ref());
            let extent = at.and_then(|words| words[2 + d]).unwrap_or(0);
            out[i] = Some(words_of(&Const::Int(extent.into(), func.ty(params[i]))));
        }
    }
    Ok(out.into_iter().map(|o| o.expect("every parameter has its turn")).collect())
}

fn wished(
    source: &mut Source,
    ty: Ty,
    p: Value,
    wishes: &Wishes,
    numbers: &[(Value, Word)],
    memory: &mut Memory,
) -> Result<Words, Stop> {
    let Some((_, rank, ..)) = ty.as_array() else {
        return match wishes.length(p) {
            Some(range) => {
                let n = source.within(&range);
                source.items(ty, n, memory)
            }
            None => source.value(ty, memory),
        };
    };
    let mut shape = Vec::new();
    for d in 0..rank {
        let equal = wishes.equal_number(p, d);
        let number = numbers.iter().find(|(v, _)| Some(*v) == equal).and_then(|(_, word)| *word);
        shape.push(match (number, wishes.extent(p, d)) {
            (Some(n), _) => (n as i64).clamp(0, 4096),
            (None, Some(range)) => source.within(&range),
            (None, None) => source.extent(rank),
        });
    }
    source.array(ty, &shape, wishes.items(p), memory)
}
