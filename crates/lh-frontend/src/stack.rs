//! The abstract stack of one block.

use crate::raw::RawCode;
use lh_ir::Value;
use std::collections::VecDeque;
use std::rc::Rc;

/// Entries of the stack that are not plain values.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    /// `NULL` beside a callable.
    Null,
    /// Something nobody reads.
    Junk,
    /// The code of an inner function.
    Code(&'a RawCode),
    /// The exception that is being handled.
    Handled,
    /// A module, by name, from which names are imported.
    Module(&'a str),
}

impl PartialEq for Kind<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Kind::Null, Kind::Null) | (Kind::Junk, Kind::Junk) | (Kind::Handled, Kind::Handled) => true,
            (Kind::Code(a), Kind::Code(b)) => std::ptr::eq(*a, *b),
            (Kind::Module(a), Kind::Module(b)) => a == b,
            _ => false,
        }
    }
}

/// Where a slot's value comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// It has none.
    None,
    /// A value.
    Value(Value),
    /// The entry of this position when the block began; not read yet.
    Entry(u32),
}

/// A variable whose cell is on its way to a closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// One of this function.
    Var(u32),
    /// One that it captures.
    Free(u32),
}

/// A position of the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    /// Its kind, if it is not a plain value.
    pub(crate) kind: Option<Kind<'a>>,
    /// Its value.
    pub(crate) source: Source,
    /// The captured variable that was loaded.
    pub(crate) origin: Option<Origin>,
}

impl<'a> Slot<'a> {
    /// A plain value.
    pub(crate) fn value(value: Value) -> Self {
        Slot { kind: None, source: Source::Value(value), origin: None }
    }
    /// Something without a value.
    pub(crate) fn special(kind: Kind<'a>) -> Self {
        Slot { kind: Some(kind), source: Source::None, origin: None }
    }
}

/// Shape of the stack at the start of a block: how deep, and what is not a plain value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shape<'a> {
    /// Depth.
    pub(crate) depth: u32,
    /// Kinds by position, from the bottom.
    pub(crate) kinds: Rc<Vec<(u32, Kind<'a>)>>,
}

impl<'a> Shape<'a> {
    /// The stack cut down to a depth.
    pub(crate) fn cut(&self, depth: u32) -> Shape<'a> {
        let kinds = self.kinds.iter().copied().filter(|k| k.0 < depth).collect();
        Shape { depth, kinds: Rc::new(kinds) }
    }
}

/// The stack while a block is being translated: what the block found and did not touch, and its own slots.
pub(crate) struct Stack<'a> {
    below: u32,
    found: Shape<'a>,
    own: VecDeque<Slot<'a>>,
}

impl<'a> Stack<'a> {
    /// The stack at the start of a block.
    pub(crate) fn new(found: Shape<'a>) -> Self {
        Stack { below: found.depth, found, own: VecDeque::new() }
    }

    /// The stack when the block began.
    pub(crate) fn found(&self) -> &Shape<'a> {
        &self.found
    }

    /// Depth.
    pub(crate) fn depth(&self) -> u32 {
        self.below + self.own.len() as u32
    }

    /// Pushes a slot.
    pub(crate) fn push(&mut self, slot: Slot<'a>) {
        self.own.push_back(slot);
    }

    /// Pops a slot.
    pub(crate) fn pop(&mut self) -> Option<Slot<'a>> {
        if let Some(slot) = self.own.pop_back() {
            return Some(slot);
        }
        self.below = self.below.checked_sub(1)?;
        Some(self.untouched(self.below))
    }

    /// The n-th slot from the top, from 1.
    pub(crate) fn peek(&mut self, n: u32) -> Option<&mut Slot<'a>> {
        if n == 0 || n > self.depth() {
            return None;
        }
        while (self.own.len() as u32) < n {
            self.below -= 1;
            let slot = self.untouched(self.below);
            self.own.push_front(slot);
        }
        let index = self.own.len() - n as usize;
        self.own.get_mut(index)
    }

    /// Swaps the top with the n-th slot from the top.
    pub(crate) fn swap(&mut self, n: u32) -> Option<()> {
        self.peek(n)?;
        let top = self.own.len() - 1;
        self.own.swap(top, top + 1 - n as usize);
        Some(())
    }

    /// The exception handled by the innermost handler.
    pub(crate) fn handled(&self) -> Option<Slot<'a>> {
        let own = self.own.iter().rev().find(|s| s.kind == Some(Kind::Handled)).copied();
        own.or_else(|| {
            let mut below = self.found.kinds.iter().rev().filter(|k| k.0 < self.below);
            below.find(|k| k.1 == Kind::Handled).map(|k| self.untouched(k.0))
        })
    }

    /// The block's own slots with their positions.
    pub(crate) fn own(&self) -> impl Iterator<Item = (u32, &Slot<'a>)> {
        self.own.iter().enumerate().map(|(i, slot)| (self.below + i as u32, slot))
    }

    /// The shape now.
    pub(crate) fn shape(&self) -> Shape<'a> {
        if self.own.is_empty() && self.below == self.found.depth {
            return self.found.clone();
        }
        let mut kinds = Vec::clone(&self.found.cut(self.below).kinds);
        kinds.extend(self.own().filter_map(|(position, slot)| Some((position, slot.kind?))));
        Shape { depth: self.depth(), kinds: Rc::new(kinds) }
    }

    fn untouched(&self, position: u32) -> Slot<'a> {
        let kinds = &self.found.kinds;
        let kind = kinds.binary_search_by_key(&position, |k| k.0).ok().map(|i| kinds[i].1);
        let source = match kind {
            Some(Kind::Null | Kind::Junk | Kind::Code(_)) => Source::None,
            Some(Kind::Handled | Kind::Module(_)) | None => Source::Entry(position),
        };
        Slot { kind, source, origin: None }
    }
}
