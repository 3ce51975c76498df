//! The functions of `lancehead.threads` in compiled code.

use crate::cx::Infer;
use crate::val::Val;
use lh_ir::Ty;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::runtime::RuntimeFn;
use lh_ops::runtime as rt;

/// A function that reads or sets something of the pool.
struct Setting {
    path: &'static str,
    /// The run-time function; none for what the library does.
    runtime: Option<&'static RuntimeFn>,
    gives: fn() -> Ty,
    /// The meaning of its argument `n`, if it takes one.
    n: Option<&'static str>,
}

const SETTINGS: &[Setting] = &[
    Setting { path: "lancehead.get_num_threads", runtime: Some(&rt::lh_get_num_threads), gives: Ty::int, n: None },
    Setting {
        path: "lancehead.set_num_threads",
        runtime: Some(&rt::lh_set_num_threads),
        gives: Ty::none,
        n: Some("number of threads"),
    },
    Setting { path: "lancehead.get_thread_id", runtime: Some(&rt::lh_get_thread_id), gives: Ty::int, n: None },
    Setting { path: "lancehead.get_parallel_chunksize", runtime: Some(&rt::lh_get_chunksize), gives: Ty::int, n: None },
    Setting {
        path: "lancehead.set_parallel_chunksize",
        runtime: Some(&rt::lh_set_chunksize),
        gives: Ty::int,
        n: Some("parallel chunksize"),
    },
    Setting { path: "lancehead.parallel_chunksize", runtime: None, gives: Ty::none, n: Some("parallel chunksize") },
];

impl Infer<'_> {
    /// A call of one of them; `None` if it is none, or not called as one is.
    pub(crate) fn thread_setting(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        let Some(setting) = SETTINGS.iter().find(|s| s.path == path) else { return Ok(None) };
        let args: Vec<Val> = match (args, kwargs) {
            (_, []) => args.to_vec(),
            ([], [(name, n)]) if name == "n" => vec![n.clone()],
            _ => return Ok(None),
        };
        if args.len() != usize::from(setting.n.is_some()) {
            return Ok(None);
        }
        if let (Some(what), [n]) = (setting.n, &args[..])
            && !(n.ty.is_int() || n.ty.is_never())
        {
            let text = format!("The {what} must be an integer, not `{}`", n.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        }
        match setting.runtime {
            Some(f) => self.runtime(f, &args, (setting.gives)()).map(Some),
            None => self.call_library("threads.parallel_chunksize", &args).map(Some),
        }
    }
}
