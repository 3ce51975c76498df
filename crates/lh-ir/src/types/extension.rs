//! Types that programs define with `lancehead.extending`. Such a type is made before the program says of which type its
//! values consist, so that names and models are kept in a table.

use super::{Ty, TyKind};
use std::sync::Mutex;

struct Extension {
    name: String,
    model: Option<Ty>,
}

/// By the number of the type.
static EXTENSIONS: Mutex<Vec<Extension>> = Mutex::new(Vec::new());

fn with<T>(change: impl FnOnce(&mut Vec<Extension>) -> T) -> T {
    change(&mut EXTENSIONS.lock().unwrap_or_else(|e| e.into_inner()))
}

impl Ty {
    /// A new type without a name and a model.
    pub fn new_extension() -> Ty {
        let number = with(|all| {
            all.push(Extension { name: String::new(), model: None });
            all.len() as u32 - 1
        });
        Ty::new(TyKind::Extension { number, model: Ty::never() })
    }
    /// Whether only overloads give operations on its values a meaning: structs, types that programs define, and objects
    /// of Python.
    pub fn is_overloaded(self) -> bool {
        self.is_struct() || self.extension().is_some() || self.is_pyobject()
    }
    /// The number of a type that a program defines.
    pub fn extension(self) -> Option<u32> {
        match self.kind() {
            TyKind::Extension { number, .. } => Some(*number),
            _ => None,
        }
    }
    /// The type of which the values of a type that a program defines consist; `never` until it is known.
    pub fn model(self) -> Option<Ty> {
        match self.kind() {
            TyKind::Extension { model, .. } => Some(*model),
            _ => None,
        }
    }
    /// The same type with its model, if that is known by now.
    pub fn modelled(self) -> Ty {
        let known = self.extension().and_then(|number| with(|all| all[number as usize].model.map(|m| (number, m))));
        known.map_or(self, |(number, model)| Ty::new(TyKind::Extension { number, model }))
    }
    /// Gives the type its model, and returns it with that.
    pub fn set_model(self, model: Ty) -> Ty {
        if let Some(number) = self.extension() {
            with(|all| all[number as usize].model = Some(model));
        }
        self.modelled()
    }
    /// Gives the type its name.
    pub fn set_extension_name(self, name: &str) {
        if let Some(number) = self.extension() {
            with(|all| name.clone_into(&mut all[number as usize].name));
        }
    }
    /// Its name, by its number.
    pub fn extension_name(number: u32) -> String {
        with(|all| all[number as usize].name.clone())
    }
}
