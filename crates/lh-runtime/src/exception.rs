//! The pending exception of a thread: class, arguments and the frames it went through.

use crate::classes::{ExcId, KEY_ERROR, OS_ERROR, UNICODE_DECODE_ERROR, UNICODE_ENCODE_ERROR, class_name, is_subclass};
use crate::repr::{complex_repr, float_repr, str_repr};
use crate::text::{Text, TextBuf};
use std::cell::RefCell;
use std::ffi::c_char;
use std::fmt::Write;

/// An argument of an exception.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are Python's types")]
pub enum ExcArg {
    None,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Complex(f64, f64),
    Str(TextBuf),
    Tuple(Vec<ExcArg>),
}

/// Facts about a compiled function, in the memory of its code.
#[repr(C)]
#[derive(Debug)]
pub struct FunctionInfo {
    /// Qualified name, zero-terminated UTF-8.
    pub qualname: *const c_char,
    /// Source file, likewise.
    pub file: *const c_char,
    /// Line of the definition.
    pub first_line: i32,
    /// Whether it belongs to the library: not shown.
    pub is_library: i32,
}

/// A function that an exception went through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Facts about the function; valid as long as the code is loaded.
    pub info: *const FunctionInfo,
    /// The line being executed.
    pub line: i32,
}

/// Frames kept from the place where the exception was raised.
pub(crate) const INNER_FRAMES: usize = 256;
/// Frames kept from the outer end, when there are more.
pub(crate) const OUTER_FRAMES: usize = 32;

/// An exception on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// Its class.
    pub class: ExcId,
    /// Its arguments.
    pub args: Vec<ExcArg>,
    /// The functions that it went through, innermost first.
    pub frames: Vec<Frame>,
    /// Number of frames left out after the first [`Pending::omitted_at`].
    pub omitted: u64,
}

impl Pending {
    /// An exception with arguments and no frames.
    pub fn new(class: ExcId, args: Vec<ExcArg>) -> Pending {
        Pending { class, args, frames: Vec::new(), omitted: 0 }
    }
    /// Position in `frames` at which frames were left out, if any were.
    pub fn omitted_at(&self) -> Option<usize> {
        (self.omitted > 0).then_some(INNER_FRAMES)
    }
    pub(crate) fn add_frame(&mut self, frame: Frame) {
        if self.frames.len() == INNER_FRAMES + OUTER_FRAMES {
            self.frames.remove(INNER_FRAMES);
            self.omitted += 1;
        }
        self.frames.push(frame);
    }
    /// `str(exception)`.
    pub fn message(&self) -> TextBuf {
        match &self.args[..] {
            [] => TextBuf::new(),
            [one] if is_subclass(self.class, KEY_ERROR) => one.repr().into(),
            [one] => one.str(),
            [number, message] if is_subclass(self.class, OS_ERROR) => {
                let mut all = TextBuf::from("[Errno ");
                all.push_text(number.str());
                all.push_text("] ");
                all.push_text(message.str());
                all
            }
            [ExcArg::Str(codec), ExcArg::Str(of), ExcArg::Int(start), ExcArg::Int(end), ExcArg::Str(reason)]
                if matches!(self.class, UNICODE_DECODE_ERROR | UNICODE_ENCODE_ERROR) =>
            {
                self.coding_message(&codec.lossy(), of, *start, *end, &reason.lossy()).into()
            }
            many => ExcArg::Tuple(many.to_vec()).repr().into(),
        }
    }
    /// The message about a part of a text, or of bytes, which are given as characters with the same numbers.
    fn coding_message(&self, codec: &str, of: &Text, start: i64, end: i64, reason: &str) -> String {
        let decoded = self.class == UNICODE_DECODE_ERROR;
        let (verb, what) = if decoded { ("decode", "byte") } else { ("encode", "character") };
        let c = usize::try_from(start).ok().and_then(|at| of.points().nth(at)).map_or(0, u32::from);
        let place = match c {
            _ if end != start + 1 => {
                return format!("'{codec}' codec can't {verb} {what}s in position {start}-{}: {reason}", end - 1);
            }
            _ if decoded => format!("0x{c:02x}"),
            0..=0xff => format!("'\\x{c:02x}'"),
            0x100..=0xffff => format!("'\\u{c:04x}'"),
            _ => format!("'\\U{c:08x}'"),
        };
        format!("'{codec}' codec can't {verb} {what} {place} in position {start}: {reason}")
    }
    /// `repr(exception)`.
    pub fn repr(&self) -> String {
        let args: Vec<String> = self.args.iter().map(ExcArg::repr).collect();
        format!("{}({})", class_name(self.class), args.join(", "))
    }
}

impl ExcArg {
    /// `str(argument)`.
    pub fn str(&self) -> TextBuf {
        match self {
            ExcArg::Str(s) => s.clone(),
            _ => self.repr().into(),
        }
    }
    /// `repr(argument)`.
    pub fn repr(&self) -> String {
        match self {
            ExcArg::None => "None".to_owned(),
            ExcArg::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
            ExcArg::Int(i) => i.to_string(),
            ExcArg::Uint(u) => u.to_string(),
            ExcArg::Float(x) => float_repr(*x),
            ExcArg::Complex(re, im) => complex_repr(*re, *im),
            ExcArg::Str(s) => str_repr(s),
            ExcArg::Tuple(items) => {
                let mut out = "(".to_owned();
                for (i, item) in items.iter().enumerate() {
                    write!(out, "{}{}", if i > 0 { ", " } else { "" }, item.repr()).expect("strings take any text");
                }
                out + if items.len() == 1 { ",)" } else { ")" }
            }
        }
    }
}

/// A thread's pending exception.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) pending: Option<Box<Pending>>,
    /// Tuples among the arguments that are not yet complete, outermost first.
    pub(crate) open: Vec<Vec<ExcArg>>,
}

thread_local! {
    static STATE: RefCell<State> = const { RefCell::new(State { pending: None, open: Vec::new() }) };
}

pub(crate) fn with_state<R>(f: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|s| f(&mut s.borrow_mut()))
}

/// Makes an exception pending; returns the failure status.
#[cold]
pub fn raise(class: ExcId, message: impl Into<TextBuf>) -> i32 {
    set_pending(Pending::new(class, vec![ExcArg::Str(message.into())]));
    1
}

/// Makes an exception pending.
#[cold]
pub fn set_pending(pending: Pending) {
    with_state(|s| {
        s.open.clear();
        s.pending = Some(Box::new(pending));
    });
}

/// Takes the pending exception of this thread.
pub fn take_pending() -> Option<Pending> {
    with_state(|s| s.pending.take()).map(|p| *p)
}

/// Whether an exception is pending in this thread.
pub fn is_pending() -> bool {
    with_state(|s| s.pending.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::VALUE_ERROR;

    #[test]
    fn key_error_shows_its_key() {
        assert_eq!(Pending::new(KEY_ERROR, vec![ExcArg::Str("k".into())]).message(), "'k'");
        assert_eq!(Pending::new(VALUE_ERROR, vec![]).message(), "");
    }
}
