//! Code that the program does not have: callees that are not in the file, and foreign code.
//!
//! Its results depend on what it is given and on nothing else, so that both forms of a program see the same. Each call
//! is visible (an [`Event`]); it writes to arrays that it may write to, takes an item off containers, and may raise.

use super::Stop;
use super::exception::Exc;
use super::items::ItemsHead;
use super::seen::Event;
use super::source::Source;
use super::state::{Flow, Machine};
use super::view::View;
use super::word::{Word, Words};
use crate::random::Random;
use lh_ir::Ty;
use lh_ir::func::{Foreign, ForeignAbi};
use lh_ir::types::{ClassTy, TyKind};
use lh_ops::exceptions::RUNTIME_ERROR;

impl<'a> Machine<'a> {
    /// A call of a function of which nothing is known.
    pub(super) fn unknown_call(&mut self, name: &str, args: &[(Ty, Words)], ty: Ty) -> Result<Flow<'a>, Stop> {
        self.outside_call(name.into(), args, ty, u32::MAX, true)
    }
    /// A call of foreign code.
    pub(super) fn foreign(&mut self, f: Foreign, args: &[(Ty, Words)], ty: Ty) -> Result<Flow<'a>, Stop> {
        let what = format!("foreign {:?}", args[0].1[0]);
        self.outside_call(what, &args[1..], ty, f.writes, f.abi == ForeignAbi::Table)
    }

    fn outside_call(
        &mut self,
        what: String,
        args: &[(Ty, Words)],
        ty: Ty,
        writes: u32,
        raises: bool,
    ) -> Result<Flow<'a>, Stop> {
        let seen: Vec<_> = args.iter().map(|(ty, words)| self.see(*ty, words)).collect();
        let event = Event { what, args: seen };
        // Two times the same call is two different calls to whoever looks.
        let before = self.events.iter().filter(|e| **e == event).count();
        let mut random = Random::new(digest(&format!("{event:?} {before}")));
        self.events.push(event);
        for (i, (ty, words)) in args.iter().enumerate() {
            if writes >> i.min(31) & 1 != 0 {
                self.change(*ty, words, &mut random)?;
            }
        }
        if raises && random.once_in(8) {
            return Ok(Flow::Raise(Exc::with_text(RUNTIME_ERROR, "from outside")));
        }
        let mut source = Source::new(random, self.scale);
        source.value(ty, &mut self.memory).map(Flow::Next)
    }

    /// Changes memory that others are given.
    fn change(&mut self, ty: Ty, words: &[Word], random: &mut Random) -> Result<(), Stop> {
        if let Some((dtype, _, _, readonly)) = ty.as_array() {
            let view = View::new(ty, words);
            let shape = view.shape()?;
            if readonly || !dtype.is_number() || shape.iter().any(|n| *n < 1) {
                return Ok(());
            }
            let index: Vec<Word> = shape.iter().map(|n| Some(random.below(*n as usize) as u64)).collect();
            let Ok(at) = view.element(&index, false, false)? else { return Ok(()) };
            let word = dtype.flatten().iter().map(|_| Some(random.below(4) as u64)).collect::<Words>();
            return self.memory.store_value(at, dtype, &word);
        }
        if let TyKind::Class(ClassTy { items: Some(item), constant: false, .. }) = ty.kind() {
            let object = words[0];
            let len = self.memory.items(object)?.len;
            if len > 0 && random.once_in(2) {
                let references = ItemsHead::references(self.memory.items(object)?, &self.memory, len - 1)?;
                self.memory.set_length(object, len - 1)?;
                // Before counting is explicit, nobody gives back.
                if self.is_counted && item.is_counted() {
                    references.into_iter().try_for_each(|w| self.memory.decref(w))?;
                }
            }
        }
        Ok(())
    }
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
