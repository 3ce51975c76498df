//! Diagnostics: messages to the user. A bug of ours is [`bug!`](crate::bug!), never a diagnostic.

use crate::parallel::Race;
use crate::span::Span;

/// The category of a diagnostic. The host has an exception class for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    /// Types do not fit.
    Typing,
    /// A form of the language that is not supported.
    Unsupported,
    /// Code that an extension generates.
    Lowering,
    /// A bytecode that is not supported.
    Bytecode,
    /// A value that does not fit.
    Value,
    /// Iterations that depend on each other.
    Race,
    /// A fault that the check of kernels finds.
    Kernel,
    /// A fault of the compiler, which does without a part of itself: a warning.
    Optimisation,
}

/// The kinds of diagnostic, each with a page `docs/diagnostics/<id>.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Id(pub &'static str, pub Category);

/// One message: a headline, the culprit, and notes.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// Kind.
    pub id: Id,
    /// One line, no full stop.
    pub headline: String,
    /// Text under the culprit, may be empty.
    pub label: String,
    /// File of the culprit.
    pub file: String,
    /// The culprit.
    pub span: Span,
    /// Other places that have a part in it, with the text under each.
    pub also: Vec<(String, Span, String)>,
    /// Calls that led here, innermost first: file, place, text.
    pub trail: Vec<(String, Span, String)>,
    /// Advice, and other facts.
    pub notes: Vec<String>,
    /// Names that exist where one was not found, or dotted names of classes with such: the host tells the nearest.
    pub names: Vec<String>,
    /// The parameter of the function being typed whose value must be known: with it, typing may succeed.
    pub literal: Option<usize>,
    /// A generator's function, and what is to be sent to those that it makes.
    pub sent: Option<(crate::FuncId, crate::Ty)>,
    /// A parameter or capture of the function being typed that is a cell, and the type that it has to hold.
    pub widen: Option<(usize, crate::Ty)>,
}

impl Diagnostic {
    /// A diagnostic without a place; the caller that knows it adds it with [`Diagnostic::at`].
    pub fn new(id: Id, headline: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic {
            id,
            headline: headline.into(),
            label: String::new(),
            file: String::new(),
            span: Span::default(),
            also: Vec::new(),
            trail: Vec::new(),
            notes: Vec::new(),
            names: Vec::new(),
            literal: None,
            sent: None,
            widen: None,
        })
    }
    /// Sets the place unless there is one already.
    #[must_use]
    pub fn at(mut self: Box<Self>, file: &str, span: Span) -> Box<Self> {
        if self.file.is_empty() {
            self.file = file.to_owned();
            self.span = span;
        }
        self
    }
    /// Adds the text under the culprit.
    #[must_use]
    pub fn label(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.label = text.into();
        self
    }
    /// Adds names that exist where one was not found.
    #[must_use]
    pub fn instead_of<N: AsRef<str>>(mut self: Box<Self>, names: impl IntoIterator<Item = N>) -> Box<Self> {
        self.names.extend(names.into_iter().map(|name| name.as_ref().to_owned()));
        self
    }
    /// Adds a note.
    #[must_use]
    pub fn note(mut self: Box<Self>, text: impl Into<String>) -> Box<Self> {
        self.notes.push(text.into());
        self
    }
}

/// A result whose error is for the user.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $category:ident;)*) => {
        $($(#[$doc])* pub const $name: Id = Id($text, Category::$category);)*
        /// Every kind, for the documentation and its tests.
        pub const ALL: &[Id] = &[$($name),*];
    };
}

impl Race {
    /// The diagnostic by which the user is told of it.
    pub fn diagnostic(&self, headline: &str, file: &str) -> Box<Diagnostic> {
        let mut d = Diagnostic::new(PARALLEL_RACE, headline).label(&self.text).at(file, self.first);
        if let Some(s) = self.second {
            d.also.push((file.to_owned(), s, String::from("the other access")));
        }
        d.note(&*self.way)
    }
}

ids! {
    /// No operation fits the operand types.
    NO_MATCHING_OP = "no-matching-op", Typing;
    /// A call whose arguments do not fit.
    NO_MATCHING_CALL = "no-matching-call", Typing;
    /// A name that is not bound.
    UNKNOWN_NAME = "unknown-name", Typing;
    /// An attribute that the type lacks.
    UNKNOWN_ATTRIBUTE = "unknown-attribute", Typing;
    /// Types that meet at one variable and have no common type.
    CANNOT_UNIFY = "cannot-unify", Typing;
    /// An argument or global of a type that has no native form.
    UNSUPPORTED_TYPE = "unsupported-type", Typing;
    /// A Python function or class that is not supported in compiled code.
    UNSUPPORTED_CALL = "unsupported-call", Typing;
    /// A language form that is not supported.
    UNSUPPORTED_SYNTAX = "unsupported-syntax", Unsupported;
    /// A bytecode that is not supported.
    UNSUPPORTED_BYTECODE = "unsupported-bytecode", Bytecode;
    /// A value must be known while compiling.
    NEEDS_CONSTANT = "needs-constant", Typing;
    /// The element type of a list cannot be found.
    UNTYPED_LIST = "untyped-list", Typing;
    /// A recursion without a way out.
    UNTYPED_RECURSION = "untyped-recursion", Typing;
    /// A store into something that cannot be written.
    READ_ONLY = "read-only", Typing;
    /// Something that code for a GPU cannot do.
    NOT_ON_DEVICE = "not-on-device", Typing;
    /// PTX that cannot be read, or that the CPU device cannot run.
    BAD_PTX = "bad-ptx", Unsupported;
    /// A stencil that means nothing.
    BAD_STENCIL = "bad-stencil", Value;
    /// A code generator of an extension that raises, or gives what it must not.
    EXTENSION_FAILED = "extension-failed", Lowering;
    /// Iterations of a parallel loop that depend on each other.
    PARALLEL_RACE = "parallel-race", Race;
    /// Threads of a kernel that use one element in no order.
    KERNEL_RACE = "kernel-race", Kernel;
    /// Memory of a kernel that is read before it is written.
    KERNEL_UNWRITTEN = "kernel-unwritten", Kernel;
    /// A barrier that not all threads of a block come to.
    KERNEL_BARRIER = "kernel-barrier", Kernel;
    /// An operation of a warp that lanes are missing from.
    KERNEL_WARP = "kernel-warp", Kernel;
    /// Something of which there is no derivative.
    NO_DERIVATIVE = "no-derivative", Typing;
    /// A limit of the compiler.
    TOO_LARGE = "too-large", Unsupported;
    /// A pass that has been undone.
    OPTIMISATION_UNDONE = "optimisation-undone", Optimisation;
}
