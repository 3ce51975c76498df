//! The effects of a program that its caller can see, and whether another program has the same.

use crate::interpret::exception::Exc;
use crate::interpret::grid::Position;
use crate::interpret::memory::Memory;
use crate::interpret::seen::{Event, Seen};
use crate::interpret::word::{Word, Words};
use lh_ir::Ty;

/// The effects of a call.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Results of all threads, or exceptions with the thread's place where it is known.
    pub end: Result<Vec<Seen>, Vec<(Exc, Option<Position>)>>,
    /// The arguments, afterwards.
    pub arguments: Vec<Seen>,
    pub events: Vec<Event>,
    /// Parts of it may have been done or not, since a parallel loop or a launch has ended early.
    pub is_partial: bool,
    /// Events may come in any order.
    pub is_unordered: bool,
    /// On a GPU only the class of an exception is told.
    pub has_messages: bool,
}

impl Observation {
    fn raises_same(&self, a: &(Exc, Option<Position>), b: &(Exc, Option<Position>)) -> bool {
        let same = if self.has_messages { a.0 == b.0 } else { a.0.class == b.0.class };
        same && (a.1.is_none() || b.1.is_none() || a.1 == b.1)
    }
}

impl Observation {
    /// The first difference from another observation, if there is one that matters.
    pub fn differs(&self, before: &Observation) -> Option<String> {
        match (&self.end, &before.end) {
            (Ok(a), Ok(b)) if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.refines(b)) => {}
            (Err(a), Err(b)) if a.iter().all(|a| b.iter().any(|b| self.raises_same(a, b))) => {}
            (a, b) => return Some(format!("it ended with {}, not {}", shown(a), shown(b))),
        }
        if self.is_partial || before.is_partial {
            return None;
        }
        for (i, (a, b)) in self.arguments.iter().zip(&before.arguments).enumerate() {
            if !a.refines(b) {
                return Some(format!("argument {i} became {a:?}, not {b:?}"));
            }
        }
        let (a, b) = (self.events.clone(), before.events.clone());
        let same = |(x, y): (&Event, &Event)| {
            x.what == y.what && x.args.len() == y.args.len() && x.args.iter().zip(&y.args).all(|(x, y)| x.refines(y))
        };
        let (a, b) = if self.is_unordered { (sorted(a), sorted(b)) } else { (a, b) };
        (a.len() != b.len() || !a.iter().zip(&b).all(same)).then(|| format!("outside it did {a:?}, not {b:?}"))
    }
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_cached_key(|e| format!("{e:?}"));
    events
}

fn shown(end: &Result<Vec<Seen>, Vec<(Exc, Option<Position>)>>) -> String {
    match end {
        Ok(values) => format!("{values:?}"),
        Err(raised) => {
            let each: Vec<String> = raised
                .iter()
                .map(|(exc, at)| at.map_or(exc.to_string(), |(block, thread)| format!("{exc} at {block:?} {thread:?}")))
                .collect();
            each.join(" or ")
        }
    }
}

impl Memory {
    /// Whether every count is explained by who is left: the caller, the result, the items and the fields of
    /// objects.
    pub fn close(&self, held: &[(Ty, Words)]) -> Result<(), String> {
        let mut expected = vec![0i64; self.len()];
        let mut hold = |word: Word| {
            if let Some((object, _)) = word.filter(|w| *w != 0).and_then(Memory::place) {
                expected[object] += 1;
            }
        };
        for (ty, words) in held {
            let prims = ty.flatten();
            words.iter().zip(prims).filter(|(_, p)| p.is_counted()).for_each(|(w, _)| hold(*w));
        }
        for items in self.objects().iter().filter(|o| !o.is_freed).filter_map(|o| o.items.as_ref()) {
            hold(Some(items.data));
            for i in 0..items.len {
                items.references(self, i).map_err(|s| s.to_string())?.into_iter().for_each(&mut hold);
            }
        }
        for (address, ty) in self.with_fields() {
            self.references_of_fields(Some(address), ty).map_err(|s| s.to_string())?.into_iter().for_each(&mut hold);
        }
        for (i, (o, expected)) in self.objects().iter().zip(expected).enumerate() {
            let alive = if o.is_freed { 0 } else { o.count };
            if o.is_counted && alive != expected {
                return Err(format!("object {i} has {alive} references in the end, not {expected}"));
            }
        }
        Ok(())
    }
}
