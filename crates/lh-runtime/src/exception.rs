//! The pending exception of a thread: class, arguments and the frames it went through.

use crate::classes::{ExcId, KEY_ERROR, OS_ERROR, UNICODE_DECODE_ERROR, UNICODE_ENCODE_ERROR, class_name, is_subclass};
use crate::repr::{complex_repr, float_repr, str_repr};
use crate::text::{Text, TextBuf};
use std::cell::RefCell;
use std::ffi::c_char;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
    Bytes(Vec<u8>),
    Tuple(Vec<ExcArg>),
    List(Vec<ExcArg>),
    Set(Vec<ExcArg>),
    /// Keys, each followed by its value.
    Dict(Vec<ExcArg>),
    /// An array: its dtype's text, its shape, the bytes of its items in C order, and its own text.
    Array(Vec<ExcArg>),
    /// Another exception.
    Exception(Arc<Pending>),
    /// An argument given by name.
    Named(String, Box<ExcArg>),
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

// SAFETY: a frame refers to facts about loaded code, which nobody changes.
unsafe impl Send for Frame {}
// SAFETY: as for `Send`.
unsafe impl Sync for Frame {}

/// Frames kept from the place where the exception was raised.
pub(crate) const INNER_FRAMES: usize = 256;
/// Frames kept from the outer end, when there are more.
pub(crate) const OUTER_FRAMES: usize = 32;

/// Exceptions kept that are linked by `__cause__` and `__context__`, one after the other.
const MAX_CHAIN: u32 = 500;

/// An exception to link to; one at the end of a long chain leaves the others.
fn cut(mut p: Pending) -> Arc<Pending> {
    if p.depth >= MAX_CHAIN - 1 {
        (p.depth, p.cause, p.context) = (0, None, None);
    }
    Arc::new(p)
}

/// An exception on its way, or in the hands of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// The number that it shares with its copies and with no other exception; 0 until somebody asks.
    pub(crate) identity: u64,
    /// Its class.
    pub class: ExcId,
    /// Its arguments.
    pub args: Vec<ExcArg>,
    /// Arguments of its class that were given by name.
    pub keywords: Vec<(String, ExcArg)>,
    /// Its fields, if compiled code has run the `__init__` of its class.
    pub fields: Option<Vec<(String, ExcArg)>>,
    /// Number of exceptions that are linked one after the other.
    pub(crate) depth: u32,
    /// `__cause__`
    pub cause: Option<Arc<Pending>>,
    /// `__context__`
    pub context: Option<Arc<Pending>>,
    /// `__suppress_context__`
    pub suppressed: bool,
    /// `__notes__`
    pub notes: Vec<String>,
    /// The functions that it went through, innermost first.
    pub frames: Vec<Frame>,
    /// Number of frames left out after the first [`Pending::omitted_at`].
    pub omitted: u64,
}

impl Pending {
    /// An exception with arguments and no frames.
    pub fn new(class: ExcId, args: Vec<ExcArg>) -> Pending {
        Pending {
            identity: 0,
            depth: 0,
            class,
            args,
            keywords: Vec::new(),
            fields: None,
            cause: None,
            context: None,
            suppressed: false,
            notes: Vec::new(),
            frames: Vec::new(),
            omitted: 0,
        }
    }
    /// The same number for the exception and for copies that are made from now on.
    pub(crate) fn identify(&mut self) -> u64 {
        static LAST: AtomicU64 = AtomicU64::new(0);
        if self.identity == 0 {
            self.identity = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        }
        self.identity
    }
    /// Whether another is the same exception, not one like it.
    pub fn is(&self, other: &Pending) -> bool {
        self.identity != 0 && self.identity == other.identity
    }
    /// Says that it was raised while `handled` was handled, unless the chain says more.
    pub(crate) fn chain(&mut self, handled: Pending) {
        if self.identify() == handled.identity || self.depth >= MAX_CHAIN {
            return;
        }
        let next = match self.context.take() {
            None => cut(handled),
            Some(mut next) => {
                Arc::make_mut(&mut next).chain(handled);
                next
            }
        };
        self.depth = self.depth.max(next.depth + 1);
        self.context = Some(next);
    }
    /// `raise ... from cause`
    pub(crate) fn set_cause(&mut self, cause: Option<Pending>) {
        self.suppressed = true;
        self.cause = cause.map(cut);
        self.depth = self.depth.max(self.cause.as_ref().map_or(0, |c| c.depth + 1));
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
            [number, message, file] if is_subclass(self.class, OS_ERROR) => {
                format!("[Errno {}] {}: {}", number.str().lossy(), message.str().lossy(), file.repr()).into()
            }
            [number, message, file, _, other] if is_subclass(self.class, OS_ERROR) => {
                let (number, message) = (number.str().lossy(), message.str().lossy());
                format!("[Errno {number}] {message}: {} -> {}", file.repr(), other.repr()).into()
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
            ExcArg::Exception(e) => e.message(),
            ExcArg::Array(parts) => parts.get(4).map_or_else(TextBuf::new, ExcArg::str),
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
            ExcArg::Bytes(bytes) => bytes_repr(bytes),
            ExcArg::Tuple(items) if items.len() == 1 => format!("({},)", items[0].repr()),
            ExcArg::Tuple(items) => format!("({})", joined(items)),
            ExcArg::List(items) => format!("[{}]", joined(items)),
            ExcArg::Set(items) if items.is_empty() => "set()".to_owned(),
            ExcArg::Set(items) => format!("{{{}}}", joined(items)),
            ExcArg::Dict(items) => {
                let entries: Vec<String> =
                    items.chunks(2).map(|e| e.iter().map(ExcArg::repr).collect::<Vec<_>>().join(": ")).collect();
                format!("{{{}}}", entries.join(", "))
            }
            ExcArg::Array(parts) => parts.get(3).map_or_else(String::new, |text| text.str().lossy()),
            ExcArg::Exception(e) => e.repr(),
            ExcArg::Named(name, x) => format!("{name}={}", x.repr()),
        }
    }
}

fn joined(items: &[ExcArg]) -> String {
    items.iter().map(ExcArg::repr).collect::<Vec<_>>().join(", ")
}

fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut out = format!("b{quote}");
    for &b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ if char::from(b) == quote => write!(out, "\\{quote}").expect("strings take any text"),
            0x20..0x7f => out.push(char::from(b)),
            _ => write!(out, "\\x{b:02x}").expect("strings take any text"),
        }
    }
    out.push(quote);
    out
}

/// A thread's pending exception.
pub(crate) struct State {
    pub(crate) pending: Option<Box<Pending>>,
    /// Tuples among the arguments that are not yet complete, outermost first.
    pub(crate) open: Vec<Vec<ExcArg>>,
    /// The class of the exception that is being made.
    pub(crate) class: ExcId,
    /// Whether the pending exception has been made pending by `lh_exc_restore`: a raising statement that follows raises
    /// it.
    pub(crate) restored: bool,
    /// The cause of the exception that is raised next, which may be None.
    pub(crate) cause: Option<Option<Pending>>,
}

thread_local! {
    static STATE: RefCell<State> = const {
        RefCell::new(State { pending: None, open: Vec::new(), class: ExcId(0), restored: false, cause: None })
    };
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
        (s.restored, s.cause) = (false, None);
        s.pending = Some(Box::new(pending));
    });
}

/// Runs something that raises and catches, and leaves this thread's exception as it was.
pub(crate) fn apart(run: impl FnOnce()) {
    let before = with_state(|s| {
        let cleared = State { pending: None, open: Vec::new(), class: ExcId(0), restored: false, cause: None };
        std::mem::replace(s, cleared)
    });
    run();
    // Dropping it may run code that asks for the state.
    drop(with_state(|s| std::mem::replace(s, before)));
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
