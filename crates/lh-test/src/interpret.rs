//! An interpreter of typed IR: rows by their `eval`, everything else here.
//!
//! It is the oracle of passes (see [`crate::oracle`]): a function must do the same before and after. Therefore it is
//! strict where machines are not. A program ends at an access outside of its object, a decision by an undefined value,
//! or a division that the machine would trap at; values that are undefined, but never looked at, are poison.

mod atomic;
mod elementwise;
pub mod exception;
pub mod grid;
pub mod items;
mod items_calls;
pub mod launch;
pub mod memory;
mod outside;
mod parallel;
mod row;
mod runtime;
pub mod seen;
pub mod source;
pub mod state;
mod step;
mod strings;
pub mod view;
mod warp;
pub mod word;

use std::fmt;

/// Why a program cannot go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// It does what has no meaning.
    Undefined(String),
    /// It takes too long.
    Fuel,
    /// It uses what is not modelled here.
    Unmodelled(String),
}

impl Stop {
    /// Something has no meaning.
    pub fn undefined(what: impl Into<String>) -> Stop {
        Stop::Undefined(what.into())
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Undefined(what) => write!(f, "it does what has no meaning: {what}"),
            Stop::Fuel => f.write_str("it takes too long"),
            Stop::Unmodelled(what) => write!(f, "the interpreter does not know {what}"),
        }
    }
}
