//! Containers of several functions, or of instances of several classes with a common base: an item says by a number
//! which one it is.

use crate::call::tags::{Refused, kind};
use crate::host::comptime;
use lh_ir::TyKind;
use pyo3::prelude::*;

/// The most functions in a container, as in compiled code.
const MAX: usize = 64;

/// The functions among which the items of a container choose, in the order of their addresses, so that containers of
/// the same functions have one type.
pub struct Choices(Vec<usize>);

impl Choices {
    /// The functions that items are; `None` if they are one only, or something else.
    pub fn of<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>) -> Option<Choices> {
        let mut found: Vec<usize> = Vec::new();
        for item in items {
            let address = item.as_ptr().addr();
            if found.contains(&address) {
                continue;
            }
            // Most items are data, which needs no further questions.
            let is_data = item.hasattr("__len__").unwrap_or(true);
            let is_function = !is_data
                && comptime::is_comptime(&item)
                && matches!(comptime::ty(&item).kind(), TyKind::Func(_) | TyKind::Obj(_));
            if !is_function || found.len() == MAX {
                return None;
            }
            found.push(address);
        }
        found.sort_unstable();
        (found.len() > 1).then_some(Choices(found))
    }

    /// The number of an item's function.
    pub fn number(&self, item: &Bound<'_, PyAny>) -> Result<u64, Refused> {
        let which = self.0.iter().position(|f| *f == item.as_ptr().addr());
        which.map(|i| i as u64).ok_or(Refused::MixedList)
    }

    /// The tags of every item.
    pub fn tags(&self) -> impl Iterator<Item = u64> {
        let several = kind::CHOICE | (self.0.len() as u64) << 8;
        std::iter::once(several).chain(self.0.iter().flat_map(|f| [kind::OBJECT, *f as u64]))
    }
}

/// The classes of the instances in a container, if they are several with a common base. Each instance in the container
/// has the type of all of them.
pub struct Family {
    /// Their addresses, in the order of the type's alternatives.
    pub classes: Vec<usize>,
    /// The tags of each class.
    pub tags: Vec<Vec<u64>>,
}

impl Family {
    /// The number of an instance's class.
    pub fn place(&self, o: &Bound<'_, PyAny>) -> Option<usize> {
        self.classes.iter().position(|class| *class == o.get_type_ptr().addr())
    }
}
