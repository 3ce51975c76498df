//! Functions of the run-time library for lists.

use super::Stop;
use super::exception::Exc;
use super::list::item_of;
use super::state::{Flow, Machine};
use super::word::{Word, Words, boolean, int};
use lh_ir::Ty;
use lh_ir::runtime::{List, Role};
use lh_ops::exceptions::MEMORY_ERROR;

impl<'a> Machine<'a> {
    /// A new list or object with fields, or MemoryError.
    pub(super) fn new_instance(&mut self, ty: Ty, room: Word) -> Result<Flow<'a>, Stop> {
        let Some(room) = room else { return Err(Stop::undefined("a list of unknown size")) };
        let has_fields = ty.as_class().is_some_and(|c| c.items.is_none());
        let made = if has_fields { self.memory.new_object(ty) } else { self.memory.new_list(item_of(ty), room as i64) };
        match made {
            Some(list) => Ok(Flow::Next(int(list as i64))),
            None => Ok(Flow::Raise(Exc::with_text(MEMORY_ERROR, "no memory for a list"))),
        }
    }
    /// Functions of the run-time library for lists.
    pub(super) fn list_runtime(&mut self, role: Role, args: &[Word]) -> Option<Result<Flow<'a>, Stop>> {
        let number = |i: usize| args[i].map(|n| n as i64).ok_or_else(|| Stop::undefined("a list of unknown size"));
        let done = match role {
            Role::List(List::Reserve) => number(1).and_then(|n| self.memory.reserve(args[0], n)).map(|done| {
                if done {
                    Flow::Next(Words::new())
                } else {
                    Flow::Raise(Exc::with_text(MEMORY_ERROR, "no memory for a list"))
                }
            }),
            Role::List(List::SetLen) => {
                let set = number(1).and_then(|n| self.memory.set_length(args[0], n));
                set.map(|()| Flow::Next(Words::new()))
            }
            Role::List(List::IsSame) => Ok(Flow::Next(boolean(args[0] == args[1]))),
            _ => return None,
        };
        Some(done)
    }
}
