//! Elementwise computations over broadcast operands, as if all elements were computed before the first is stored.

use super::Stop;
use super::exception::{Exc, mismatch, out_of_memory};
use super::grid::Place;
use super::row::row;
use super::state::{End, Flow, Machine};
use super::view::{View, places};
use super::word::{Word, Words, cast, words_of};
use lh_ir::func::MapExpr;
use lh_ir::{Layout, Ty};
use lh_ops::exceptions::MEMORY_ERROR;

/// An operand: an array, or a scalar that is itself everywhere.
type Operand = (Ty, Words);

/// An early end: an exception of the program's, or a stop.
enum Fault {
    Raised(Exc),
    Stopped(Stop),
}

impl From<Stop> for Fault {
    fn from(s: Stop) -> Fault {
        Fault::Stopped(s)
    }
}

impl From<Fault> for Result<Flow<'_>, Stop> {
    fn from(f: Fault) -> Self {
        match f {
            Fault::Raised(exc) => Ok(Flow::Raise(exc)),
            Fault::Stopped(s) => Err(s),
        }
    }
}

impl<'a> Machine<'a> {
    /// A new array.
    pub(super) fn map(&mut self, e: &MapExpr, args: &[Operand], ty: Ty, place: Place) -> Result<Flow<'a>, Stop> {
        let shapes = shapes(args)?;
        let Some(shape) = broadcast(&shapes) else { return Ok(Flow::Raise(mismatch())) };
        let (dtype, rank, layout, _) = ty.as_array().unwrap_or_else(|| lh_ir::bug!("a map makes an array, not {ty}"));
        if rank != shape.len() {
            return Err(Stop::undefined(format!("a map of rank {} makes an array of rank {rank}", shape.len())));
        }
        let strides = contiguous(&shape, dtype.itemsize() as i64, layout == Layout::F);
        let bytes = shape.iter().try_fold(dtype.itemsize() as i64, |n, d| n.checked_mul(*d)).unwrap_or(-1);
        let values = match self.elements(e, args, &shape, place) {
            Ok(values) => values,
            Err(fault) => return fault.into(),
        };
        let Some(data) = self.memory.allocate(bytes) else {
            return Ok(Flow::Raise(Exc::with_text(MEMORY_ERROR, out_of_memory(bytes))));
        };
        let numbers = [data as i64, data as i64].into_iter().chain(shape.iter().copied()).chain(strides);
        let words: Words = numbers.map(|n| Some(n as u64)).collect();
        self.scatter(View::new(ty, &words), &shape, &values)?;
        Ok(Flow::Next(words))
    }

    /// Into an array that is there.
    pub(super) fn map_into(&mut self, e: &MapExpr, args: &[Operand], place: Place) -> Result<Flow<'a>, Stop> {
        let ((to_ty, to_words), sources) = args.split_first().unwrap_or_else(|| lh_ir::bug!("verified"));
        let to = View::new(*to_ty, to_words);
        let shape = to.shape()?;
        // It is an operand too if its elements are among those read.
        let in_place = sources.iter().any(|s| s == &args[0]);
        let all = shapes(sources)?;
        if !all.iter().all(|s| fits(s, &shape, in_place)) {
            return Ok(Flow::Raise(mismatch()));
        }
        match self.elements(e, sources, &shape, place) {
            Ok(values) => self.scatter(to, &shape, &values)?,
            Err(Fault::Stopped(stop)) => return Err(stop),
            Err(Fault::Raised(exc)) => {
                // Elements may have been stored before, or not.
                let nothing: Vec<Words> = places(&shape).map(|_| super::word::poison(&to.dtype.flatten())).collect();
                self.scatter(to, &shape, &nothing)?;
                return Ok(Flow::Raise(exc));
            }
        }
        Ok(Flow::Next(Words::new()))
    }

    fn elements(&mut self, e: &MapExpr, args: &[Operand], shape: &[i64], place: Place) -> Result<Vec<Words>, Fault> {
        places(shape).map(|at| self.element(e, args, &at, place)).collect()
    }

    fn element(&mut self, e: &MapExpr, args: &[Operand], at: &[i64], place: Place) -> Result<Words, Fault> {
        let all = |m: &mut Self, es: &[MapExpr]| -> Result<Vec<Operand>, Fault> {
            es.iter().map(|e| Ok((e.ty(), m.element(e, args, at, place)?))).collect()
        };
        Ok(match e {
            MapExpr::Arg(i, _) => {
                let (ty, words) = &args[*i as usize];
                if !ty.is_array() {
                    return Ok(words.clone());
                }
                let view = View::new(*ty, words);
                self.memory.load_value(address(view, at)?, view.dtype)?
            }
            MapExpr::Const(c) => words_of(c),
            MapExpr::Op(op, _, es) => row(op, &all(self, es)?)?,
            MapExpr::Cast(ty, inner) => cast(&self.element(inner, args, at, place)?, inner.ty(), *ty),
            MapExpr::Call(spec, ty, es) => {
                let operands = all(self, es)?;
                match self.funcs.get(spec.index()) {
                    Some(func) => match self.run(func, operands.into_iter().map(|o| o.1).collect(), place)? {
                        End::Returned(words) => words,
                        End::Raised(exc) => return Err(Fault::Raised(exc)),
                    },
                    None => match self.unknown_call(&format!("spec{}", spec.0), &operands, *ty)? {
                        Flow::Next(words) => words,
                        Flow::Raise(exc) => return Err(Fault::Raised(exc)),
                        Flow::Enter(_) | Flow::Wait(_) | Flow::Turn(_) => lh_ir::bug!("unknown code ends at once"),
                    },
                }
            }
        })
    }

    fn scatter(&mut self, to: View<'_>, shape: &[i64], values: &[Words]) -> Result<(), Stop> {
        for (at, v) in places(shape).zip(values) {
            self.memory.store_value(address(to, &at)?, to.dtype, v)?;
        }
        Ok(())
    }
}

/// Shapes of operands; a scalar's is empty.
fn shapes(args: &[Operand]) -> Result<Vec<Vec<i64>>, Stop> {
    args.iter().map(|(ty, words)| if ty.is_array() { View::new(*ty, words).shape() } else { Ok(Vec::new()) }).collect()
}

/// The shape that shapes broadcast to.
pub(super) fn broadcast(shapes: &[Vec<i64>]) -> Option<Vec<i64>> {
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![1; rank];
    for s in shapes {
        for (o, n) in out[rank - s.len()..].iter_mut().zip(s) {
            if *o != *n && *o != 1 && *n != 1 {
                return None;
            }
            *o = if *o == 1 { *n } else { *o };
        }
    }
    Some(out)
}

/// Whether a source fits into a destination. Extents of 1 may be too many.
fn fits(source: &[i64], to: &[i64], in_place: bool) -> bool {
    let skipped = source.len().saturating_sub(to.len());
    if in_place && skipped > 0 {
        return false;
    }
    let own = to.len().saturating_sub(source.len());
    source[..skipped].iter().all(|n| *n == 1)
        && source[skipped..].iter().zip(&to[own..]).all(|(n, d)| *n == 1 || n == d)
}

/// Address of an operand's element for a place of the result.
fn address(view: View<'_>, at: &[i64]) -> Result<Word, Stop> {
    let shape = view.shape()?;
    // A source with more dimensions than the destination has extents of 1 there.
    let own = |d: usize| (d + at.len()).checked_sub(view.rank).map_or(0, |i| at[i]);
    let index: Vec<Word> = (0..view.rank).map(|d| Some(if shape[d] == 1 { 0 } else { own(d) as u64 })).collect();
    view.element(&index, false, false)?.map_err(|_| Stop::undefined("nothing is checked here"))
}

/// Strides of a contiguous array.
fn contiguous(shape: &[i64], itemsize: i64, fortran: bool) -> Vec<i64> {
    let mut out = vec![0; shape.len()];
    let mut stride = itemsize;
    let order: Vec<usize> = if fortran { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
    for d in order {
        out[d] = stride;
        stride = stride.wrapping_mul(shape[d]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_as_in_numpy() {
        assert_eq!(broadcast(&[vec![2, 1], vec![3]]), Some(vec![2, 3]));
        assert_eq!(broadcast(&[vec![2], vec![3]]), None);
        assert_eq!(broadcast(&[vec![0], vec![1]]), Some(vec![0]));
        assert_eq!(contiguous(&[2, 3], 8, true), [8, 16]);
        assert!(fits(&[1, 3], &[3], false) && !fits(&[1, 3], &[3], true) && fits(&[], &[3], true));
    }
}
