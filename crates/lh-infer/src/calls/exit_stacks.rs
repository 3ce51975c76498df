//! Methods of `contextlib.ExitStack` that add something to leave, and that which enters it. A function like `__exit__`
//! is added, by whose type the stack knows what it holds: one of several functions, where these differ.

use crate::convert::passes_pending;
use crate::cx::Infer;
use crate::val::Val;
use lh_ir::diag::{self, Diagnostic, Result};

impl Infer<'_> {
    /// A call of such a method.
    pub(crate) fn stack_up(&mut self, name: &str, stack: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let (leave, result) = match (name, args, kwargs) {
            ("__enter__", [], []) => return Ok(stack.clone()),
            ("enter_context", [manager], []) => {
                let leave = self.call_library("contextlib.leaver", std::slice::from_ref(manager))?;
                (leave, self.method(manager, "__enter__", &[])?)
            }
            ("push", [exit], []) if self.get_attr(exit, "__exit__").is_ok() => {
                (self.call_library("contextlib.leaver", std::slice::from_ref(exit))?, exit.clone())
            }
            ("push", [exit], []) => (exit.clone(), exit.clone()),
            ("callback", [function, rest @ ..], _) => {
                if passes_pending(function.ty) {
                    // The call says what is in the container; it is emitted when that is known.
                    self.call(function, rest, kwargs)?;
                    return Ok(function.clone());
                }
                let called = self.partial(function, rest, kwargs);
                (self.call_library("contextlib.caller", &[called])?, function.clone())
            }
            _ => {
                let text = format!("`{name}` of an `ExitStack` takes one argument");
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
            }
        };
        if !leave.ty.is_never() {
            self.teaching_method("_push", stack, &[leave], &[])?;
        }
        Ok(result)
    }
}
