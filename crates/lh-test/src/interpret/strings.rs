//! Strings and output.

use super::Stop;
use super::exception::Exc;
use super::state::{Flow, Machine};
use super::word::{Word, Words, boolean, int, number};
use lh_ir::{Const, Ty};
use lh_ops::exceptions::INDEX_ERROR;

impl<'a> Machine<'a> {
    /// Functions of the run-time library for strings, and for what is printed.
    pub(super) fn text_runtime(&mut self, name: &str, args: &[Word]) -> Option<Result<Flow<'a>, Stop>> {
        if let Some(kind) = name.strip_prefix("lh_print_") {
            return Some(self.print(kind, args).map(|()| Flow::Next(Words::new())));
        }
        let kind = name.strip_prefix("lh_str_")?;
        if !matches!(
            kind,
            "eq" | "cmp"
                | "in"
                | "len"
                | "concat"
                | "repeat"
                | "getitem"
                | "from_i64"
                | "from_u64"
                | "from_f64"
                | "from_bool"
        ) {
            return None;
        }
        Some(self.string(kind, args))
    }

    fn string(&mut self, kind: &str, args: &[Word]) -> Result<Flow<'a>, Stop> {
        if let Some(of) = kind.strip_prefix("from_") {
            let text = self.shown(of, args)?;
            return Ok(Flow::Next(self.memory.new_text(&text)?));
        }
        let first = self.memory.text(&args[..3])?;
        let number = |i: usize| args[i].map(|n| n as i64).ok_or_else(|| Stop::undefined("an index of poison"));
        Ok(Flow::Next(match kind {
            "len" => int(first.chars().count() as i64),
            "repeat" => self.memory.new_text(&first.repeat(number(3)?.max(0) as usize))?,
            "getitem" => {
                let (i, len) = (number(3)?, first.chars().count() as i64);
                match usize::try_from(if i < 0 { i + len } else { i }).ok().and_then(|i| first.chars().nth(i)) {
                    Some(c) => self.memory.new_text(&c.to_string())?,
                    None => return Ok(Flow::Raise(Exc::with_text(INDEX_ERROR, "string index out of range"))),
                }
            }
            _ => {
                let second = self.memory.text(&args[3..6])?;
                match kind {
                    "eq" => boolean(first == second),
                    "cmp" => int(first.chars().cmp(second.chars()) as i64),
                    "in" => boolean(second.contains(&first)),
                    _ => self.memory.new_text(&(first + &second))?,
                }
            }
        }))
    }

    /// A number as text.
    fn shown(&self, of: &str, args: &[Word]) -> Result<String, Stop> {
        let ty = match of {
            "u64" => Ty::u64(),
            "f64" | "complex" => Ty::f64(),
            "f32" => Ty::f32(),
            "bool" => Ty::bool(),
            _ => Ty::i64(),
        };
        let one = |w: &Word| -> Result<String, Stop> {
            let bits = w.ok_or_else(|| Stop::undefined("poison is shown"))?;
            Ok(match number(bits, ty) {
                Const::Bool(b) => b.to_string(),
                Const::Int(i, _) => i.to_string(),
                Const::Float(x, _) => format!("{x:?}"),
                Const::None | Const::Complex(..) | Const::Str(_) => String::new(),
            })
        };
        Ok(args.iter().map(one).collect::<Result<Vec<_>, _>>()?.join(" "))
    }

    fn print(&mut self, kind: &str, args: &[Word]) -> Result<(), Stop> {
        let text = match kind {
            "flush" => {
                let line = std::mem::take(&mut self.line);
                self.note("print", line);
                return Ok(());
            }
            "str" => self.memory.text(args)?,
            "none" => "None".into(),
            _ => self.shown(kind, args)?,
        };
        self.line.push_str(&text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::interpret::memory::Memory;

    #[test]
    fn an_empty_string_is_no_poison() {
        let mut memory = Memory::default();
        let words = memory.constant_text("");
        assert_eq!(memory.text(&words), Ok(String::new()));
        let two = memory.new_text("zwei").unwrap();
        assert_eq!(memory.text(&two), Ok("zwei".into()));
    }
}
