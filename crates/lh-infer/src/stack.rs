//! Functions being typed, and recursion among them.
//!
//! A call of a function that is still being typed is given the result type that is known so far. When that type
//! changes, the function is swept again, and whatever was typed in between on the old type is forgotten.

use lh_ir::SpecId;
use lh_ir::diag::{self, Diagnostic, Result};

/// Depth of calls that typing follows before it gives up: each needs several native frames.
const MAX_DEPTH: usize = 150;

/// A function being typed.
#[derive(Debug)]
pub struct Frame<K, X> {
    /// Its specialisation.
    pub spec: SpecId,
    /// By this it is found.
    pub key: K,
    /// The world's own notes about it.
    pub notes: X,
    /// Whether a recursive call used the result type assumed so far.
    used: bool,
    /// Depth of the outermost frame whose assumed result type this one has used.
    lowest: usize,
    /// Specialisations finished inside this frame that rest on its assumed result type.
    provisional: Vec<K>,
}

impl<K, X> Frame<K, X> {
    /// The keys to forget if the function does not compile: its own, and those of functions that rest on it.
    pub fn forgotten(&self) -> impl Iterator<Item = &K> {
        std::iter::once(&self.key).chain(&self.provisional)
    }
}

/// The functions being typed, outermost first.
#[derive(Debug)]
pub struct Stack<K, X> {
    frames: Vec<Frame<K, X>>,
}

impl<K, X> Default for Stack<K, X> {
    fn default() -> Self {
        Stack { frames: Vec::new() }
    }
}

impl<K, X> Stack<K, X> {
    /// Refuses calls that are nested too deeply.
    ///
    /// # Errors
    /// The diagnostic for that.
    pub fn check_depth(&self) -> Result<()> {
        if self.frames.len() < MAX_DEPTH {
            return Ok(());
        }
        Err(Diagnostic::new(diag::TOO_LARGE, format!("more than {MAX_DEPTH} functions call each other"))
            .note("a recursion whose argument types grow with every call never ends"))
    }

    /// Begins a function.
    pub fn enter(&mut self, spec: SpecId, key: K, notes: X) {
        let (lowest, provisional) = (self.frames.len(), Vec::new());
        self.frames.push(Frame { spec, key, notes, used: false, lowest, provisional });
    }

    /// Ends the innermost function.
    ///
    /// # Panics
    /// If none was entered.
    pub fn leave(&mut self) -> Frame<K, X> {
        self.frames.pop().expect("a function was entered")
    }

    /// The innermost function.
    pub fn innermost(&mut self) -> Option<&mut Frame<K, X>> {
        self.frames.last_mut()
    }

    /// Notes a call of a function that is still being typed.
    pub fn note_recursion(&mut self, spec: SpecId) {
        if let Some(at) = self.frames.iter().position(|f| f.spec == spec) {
            self.note_use(at);
        }
    }

    fn note_use(&mut self, at: usize) {
        self.frames[at].used = true;
        for f in &mut self.frames[at + 1..] {
            f.lowest = f.lowest.min(at);
        }
    }

    /// Notes a call of a finished function: whether it rests on the assumed result of one that is being typed, which
    /// the caller does then, too.
    pub fn note_call(&mut self, key: &K) -> bool
    where
        K: PartialEq,
    {
        let at = self.frames.iter().position(|f| f.provisional.contains(key));
        if let Some(at) = at {
            self.note_use(at);
        }
        at.is_some()
    }

    /// After a sweep of the innermost function: whether a recursive call used the result type assumed for it, and,
    /// if that type has changed, the keys of functions that rest on it.
    pub fn swept(&mut self, is_changed: bool) -> (bool, Vec<K>) {
        let Some(frame) = self.frames.last_mut() else { return (false, Vec::new()) };
        let used = std::mem::replace(&mut frame.used, false);
        let stale = if is_changed { std::mem::take(&mut frame.provisional) } else { Vec::new() };
        (used, stale)
    }

    /// Whether the innermost function rests on no assumed result of an outer one.
    pub fn is_outermost(&self) -> bool {
        self.frames.last().is_none_or(|f| f.lowest + 1 >= self.frames.len())
    }

    /// Whether a function that was left rests on no assumed result of an outer function.
    pub fn is_final(&self, frame: &Frame<K, X>) -> bool {
        frame.lowest >= self.frames.len()
    }

    /// After a function that was left has compiled: if its result rests on the assumed one of an outer function, it
    /// goes when that changes. Gives back the world's notes.
    pub fn settle(&mut self, frame: Frame<K, X>) -> X {
        if !self.is_final(&frame) {
            let head = &mut self.frames[frame.lowest];
            head.provisional.push(frame.key);
            head.provisional.extend(frame.provisional);
        }
        frame.notes
    }
}
