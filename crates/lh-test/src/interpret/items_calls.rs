//! Functions of the run-time library for objects.

use super::Stop;
use super::exception::Exc;
use super::items::item_of;
use super::state::{Flow, Machine};
use super::word::{Word, Words, boolean, int};
use lh_ir::Ty;
use lh_ir::runtime::{Items, Role};
use lh_ops::exceptions::MEMORY_ERROR;

impl<'a> Machine<'a> {
    /// A new object with items or fields, or MemoryError.
    pub(super) fn new_instance(&mut self, ty: Ty, room: Word) -> Result<Flow<'a>, Stop> {
        let Some(room) = room else { return Err(Stop::undefined("items of unknown number")) };
        let has_fields = ty.as_class().is_some_and(|c| c.items.is_none());
        let made =
            if has_fields { self.memory.new_object(ty) } else { self.memory.new_items(item_of(ty), room as i64) };
        match made {
            Some(object) => Ok(Flow::Next(int(object as i64))),
            None => Ok(Flow::Raise(Exc::with_text(MEMORY_ERROR, "no memory for items"))),
        }
    }
    /// Functions of the run-time library for items, and the comparison of objects.
    pub(super) fn items_runtime(&mut self, role: Role, args: &[Word]) -> Option<Result<Flow<'a>, Stop>> {
        let number = |i: usize| args[i].map(|n| n as i64).ok_or_else(|| Stop::undefined("items of unknown number"));
        let done = match role {
            Role::Items(Items::Reserve) => number(1).and_then(|n| self.memory.reserve(args[0], n)).map(|done| {
                if done {
                    Flow::Next(Words::new())
                } else {
                    Flow::Raise(Exc::with_text(MEMORY_ERROR, "no memory for items"))
                }
            }),
            Role::Items(Items::SetLen) => {
                let set = number(1).and_then(|n| self.memory.set_length(args[0], n));
                set.map(|()| Flow::Next(Words::new()))
            }
            Role::Items(Items::Closes | Items::Keeps) | Role::LoopHint => Ok(Flow::Next(Words::new())),
            Role::IsSame => Ok(Flow::Next(boolean(args[0] == args[1]))),
            _ => return None,
        };
        Some(done)
    }
}
