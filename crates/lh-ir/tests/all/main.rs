//! Text and values of the IR.

mod untyped_text;
mod values;
