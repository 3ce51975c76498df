//! Strings and output.

use super::Stop;
use super::exception::Exc;
use super::state::{Flow, Machine};
use super::word::{Word, Words, boolean, int, number};
use lh_ir::runtime::{Print, Role, RuntimeFn};
use lh_ir::{Const, Ty};
use lh_ops::exceptions::INDEX_ERROR;
use lh_ops::runtime as rt;

/// The functions on strings that are interpreted.
#[derive(Clone, Copy)]
enum Do {
    Eq,
    Compare,
    In,
    Len,
    Concat,
    Repeat,
    Item,
    Show(Print),
}

impl<'a> Machine<'a> {
    /// Functions of the run-time library for strings, and for what is printed.
    pub(super) fn text_runtime(&mut self, f: &RuntimeFn, args: &[Word]) -> Option<Result<Flow<'a>, Stop>> {
        if let Role::Print(what) = f.role {
            return Some(self.print(what, args).map(|()| Flow::Next(Words::new())));
        }
        const KNOWN: [(&RuntimeFn, Do); 11] = [
            (&rt::lh_str_eq, Do::Eq),
            (&rt::lh_str_cmp, Do::Compare),
            (&rt::lh_str_in, Do::In),
            (&rt::lh_str_len, Do::Len),
            (&rt::lh_str_concat, Do::Concat),
            (&rt::lh_str_repeat, Do::Repeat),
            (&rt::lh_str_getitem, Do::Item),
            (&rt::lh_str_from_i64, Do::Show(Print::Signed)),
            (&rt::lh_str_from_u64, Do::Show(Print::Unsigned)),
            (&rt::lh_str_from_f64, Do::Show(Print::F64)),
            (&rt::lh_str_from_bool, Do::Show(Print::Bool)),
        ];
        let what = KNOWN.iter().find(|(row, _)| *row == f)?.1;
        Some(self.string(what, args))
    }

    fn string(&mut self, what: Do, args: &[Word]) -> Result<Flow<'a>, Stop> {
        if let Do::Show(of) = what {
            let text = self.shown(of, args)?;
            return Ok(Flow::Next(self.memory.new_text(&text)?));
        }
        let first = self.memory.text(&args[..3])?;
        let number = |i: usize| args[i].map(|n| n as i64).ok_or_else(|| Stop::undefined("an index of poison"));
        Ok(Flow::Next(match what {
            Do::Len => int(first.chars().count() as i64),
            Do::Repeat => self.memory.new_text(&first.repeat(number(3)?.max(0) as usize))?,
            Do::Item => {
                let (i, len) = (number(3)?, first.chars().count() as i64);
                match usize::try_from(if i < 0 { i + len } else { i }).ok().and_then(|i| first.chars().nth(i)) {
                    Some(c) => self.memory.new_text(&c.to_string())?,
                    None => return Ok(Flow::Raise(Exc::with_text(INDEX_ERROR, "string index out of range"))),
                }
            }
            _ => {
                let second = self.memory.text(&args[3..6])?;
                match what {
                    Do::Eq => boolean(first == second),
                    Do::Compare => int(first.chars().cmp(second.chars()) as i64),
                    Do::In => boolean(second.contains(&first)),
                    _ => self.memory.new_text(&(first + &second))?,
                }
            }
        }))
    }

    /// A number as text.
    fn shown(&self, of: Print, args: &[Word]) -> Result<String, Stop> {
        let ty = match of {
            Print::Unsigned => Ty::u64(),
            Print::F64 | Print::Complex => Ty::f64(),
            Print::F32 => Ty::f32(),
            Print::Bool => Ty::bool(),
            Print::Signed | Print::Str | Print::None | Print::Flush => Ty::i64(),
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

    fn print(&mut self, what: Print, args: &[Word]) -> Result<(), Stop> {
        let text = match what {
            Print::Flush => {
                let line = std::mem::take(&mut self.line);
                self.note("print", line);
                return Ok(());
            }
            Print::Str => self.memory.text(args)?,
            Print::None => "None".into(),
            _ => self.shown(what, args)?,
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
