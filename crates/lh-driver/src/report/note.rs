//! A remark about a line of the user's source, and its text.

use std::fmt;

/// One remark about a line of the user's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A variable gets this type here.
    Type(String, String),
    /// Elementwise operations computed in one loop, and the other lines whose operations are among them.
    Fused(usize, Vec<u32>),
    /// The elementwise operations of this line are computed in the loop of another.
    FusedInto(u32),
    /// A reduction reads an elementwise computation in parts; whether these are stored, too.
    Joined(bool),
    /// A loop became vector code: elements at a time, vectors at a time; in a library function if it has a name.
    Vectorised(Option<String>, u32, u32),
    /// A loop did not become vector code, and why, if that is known.
    Scalar(Option<String>),
    /// The compiler replaced the loop by the code that the text names.
    Replaced(String),
    /// A loop runs on the pool, with conditions and what is combined.
    Parallel(String),
    /// A loop that was to run on the pool does not, and why.
    Serial(String),
    /// Index checks that are made at once, before a loop.
    Hoisted,
    /// Index checks that remain at run time.
    Checks(usize),
    /// Allocations made here, and whether a loop repeats one of them.
    Allocates(usize, bool),
    /// How a derivative treats the values of this line.
    Derivative(String),
}

impl Note {
    /// Place among the remarks about a line.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Note::Type(..) => 0,
            Note::Fused(..) | Note::FusedInto(_) | Note::Joined(_) => 1,
            Note::Parallel(_) | Note::Serial(_) => 2,
            Note::Vectorised(..) | Note::Scalar(_) | Note::Replaced(_) => 3,
            Note::Hoisted | Note::Checks(_) => 4,
            Note::Allocates(..) => 5,
            Note::Derivative(_) => 6,
        }
    }

    /// One word for its subject.
    pub fn kind(&self) -> &'static str {
        match self {
            Note::Type(..) => "type",
            Note::Fused(..) | Note::FusedInto(_) | Note::Joined(_) => "fused",
            Note::Parallel(_) => "parallel",
            Note::Serial(_) => "serial",
            Note::Vectorised(..) => "vectorised",
            Note::Scalar(_) => "scalar",
            Note::Replaced(_) => "replaced",
            Note::Hoisted => "hoisted",
            Note::Checks(_) => "checks",
            Note::Allocates(..) => "allocates",
            Note::Derivative(_) => "derivative",
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Type(name, ty) => write!(f, "{name}: {ty}"),
            Note::Fused(n, from) => {
                write!(f, "fused: {n} operations in one loop")?;
                match &from[..] {
                    [] => Ok(()),
                    [line] => write!(f, ", with those of line {line}"),
                    lines => write!(
                        f,
                        ", with those of lines {}",
                        lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
                    ),
                }
            }
            Note::FusedInto(line) => write!(f, "fused: computed in the loop of line {line}"),
            Note::Joined(false) => write!(f, "fused: reduced part by part, without an array in between"),
            Note::Joined(true) => write!(f, "fused: reduced part by part, while it is stored"),
            Note::Vectorised(name, width, count) => {
                if let Some(name) = name {
                    write!(f, "{name}: ")?;
                }
                match (width, count) {
                    (1, n) => write!(f, "vectorised: {n} elements at a time"),
                    (w, 1) => write!(f, "vectorised: {w} elements at a time"),
                    (w, n) => write!(f, "vectorised: {n} vectors of {w} elements at a time"),
                }
            }
            Note::Parallel(text) | Note::Serial(text) | Note::Replaced(text) => f.write_str(text),
            Note::Derivative(text) => write!(f, "derivative: {text}"),
            Note::Scalar(Some(reason)) => write!(f, "not vectorised: {reason}"),
            Note::Scalar(None) => write!(f, "not vectorised"),
            Note::Hoisted => write!(f, "index checks: made once, before the loop"),
            Note::Checks(1) => write!(f, "1 index check remains"),
            Note::Checks(n) => write!(f, "{n} index checks remain"),
            Note::Allocates(n, repeats) => {
                f.write_str(if *repeats { "allocates in a loop" } else { "allocates" })?;
                if *n > 1 { write!(f, ", in {n} places") } else { Ok(()) }
            }
        }
    }
}
