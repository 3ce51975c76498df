//! Serialisation of typed code, for the parts that are not plain data. Objects of the process have no stored form.

use crate::entity::{Block, ExcId, FuncId, ObjId, Slot, SpecId, Value};
use crate::op::Op;
use crate::parse::Tables;
use crate::runtime::RuntimeFn;
use crate::types::{Ty, TyKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::sync::OnceLock;

impl Serialize for Ty {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.kind().serialize(to)
    }
}

impl<'de> Deserialize<'de> for Ty {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Ty, D::Error> {
        TyKind::deserialize(from).map(Ty::new)
    }
}

macro_rules! numbers {
    ($($ty:ident)*) => {$(
        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_newtype_struct(stringify!($ty), &self.0)
            }
        }
    )*};
}
numbers!(Value Block Slot SpecId ExcId);

impl Serialize for FuncId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let is_stored = self.as_stored().is_some();
        if is_stored { self.0.serialize(to) } else { Err(ser::Error::custom("a function of this process")) }
    }
}

impl Serialize for ObjId {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom("an object of this process"))
    }
}

/// Where rows and run-time functions are looked up when typed code is read that was stored: `lh-ops` has the tables.
pub static TABLES: OnceLock<Tables> = OnceLock::new();

macro_rules! by_name {
    ($ty:ty, $table:ident) => {
        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.name.serialize(to)
            }
        }
        impl<'de> Deserialize<'de> for &'static $ty {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let find = TABLES.get().map(|t| t.$table);
                find.and_then(|find| find(<&str>::deserialize(from).ok()?))
                    .ok_or_else(|| de::Error::custom("no such row"))
            }
        }
    };
}
by_name!(Op, row);
by_name!(RuntimeFn, runtime);
