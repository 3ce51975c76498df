//! Exceptions: a class with arguments.

use super::Stop;
use super::memory::Memory;
use super::word::{Word, number};
use lh_ir::types::TyKind;
use lh_ir::verify::parts;
use lh_ir::{Const, ExcId, Ty};
use lh_ops::exceptions::{ALL, EXCEPTION, VALUE_ERROR};
use std::fmt;

/// An exception.
#[derive(Clone, Debug, PartialEq)]
pub struct Exc {
    /// Its class.
    pub class: ExcId,
    /// Its arguments, as text that tells types apart.
    pub args: Vec<String>,
}

impl Exc {
    /// An exception with a message.
    pub fn with_text(class: ExcId, text: impl Into<String>) -> Exc {
        Exc { class, args: vec![format!("{:?}", text.into())] }
    }
    /// Whether it is an instance of a class. Classes of the program's own are those right below `Exception`.
    pub fn is_a(&self, class: ExcId) -> bool {
        let (mut at, mut steps) = (self.class, 0);
        while at != class && steps < ALL.len() {
            let base = ALL.iter().find(|c| c.0 == at).map(|c| c.2);
            let number = base.and_then(|name| ALL.iter().find(|c| c.1 == name)).map(|c| c.0);
            at = number.unwrap_or(EXCEPTION);
            steps += 1;
        }
        at == class
    }
    /// `str(exception)`, near enough: what passes do to it does not depend on the form of numbers.
    pub fn message(&self) -> String {
        match &self.args[..] {
            [one] => one.trim_matches('"').to_owned(),
            many => many.join(", "),
        }
    }
}

impl fmt::Display for Exc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ALL.iter().find(|c| c.0 == self.class) {
            Some((_, name, _)) => write!(f, "{name}({})", self.args.join(", ")),
            None => write!(f, "{}({})", self.class, self.args.join(", ")),
        }
    }
}

/// Message of a MemoryError.
pub fn out_of_memory(bytes: i64) -> String {
    if bytes < 0 {
        "Unable to allocate memory of negative size".into()
    } else {
        format!("Unable to allocate {bytes} bytes")
    }
}

/// The ValueError for operands that do not fit. The shapes in its message depend on the computations that were fused.
pub fn mismatch() -> Exc {
    Exc::with_text(VALUE_ERROR, "operands do not fit")
}

/// An argument as text.
pub fn argument(memory: &Memory, ty: Ty, words: &[Word]) -> Result<String, Stop> {
    if ty.is_none() {
        return Ok("None".into());
    }
    if ty == Ty::str() {
        return Ok(format!("{:?}", memory.text(words)?));
    }
    match ty.kind() {
        TyKind::Tuple { .. } | TyKind::Complex { .. } => {
            let (mut at, mut out) = (0, Vec::new());
            for part in parts(ty) {
                let n = part.flatten().len();
                out.push(argument(memory, part, &words[at..at + n])?);
                at += n;
            }
            Ok(format!("({})", out.join(", ")))
        }
        _ => match words {
            [Some(bits)] => Ok(match number(*bits, ty) {
                Const::Bool(b) => b.to_string(),
                Const::Int(i, _) => i.to_string(),
                Const::Float(x, _) => format!("{x:?}"),
                Const::None | Const::Complex(..) | Const::Str(_) => String::new(),
            }),
            _ => Err(Stop::undefined(format!("an exception's argument of type {ty} is not known"))),
        },
    }
}
