//! Source-level information about a typed function that its code does not have: it is there for reports only.

use lh_ir::untyped::Code;
use lh_ir::{Span, Ty};
use lh_opt::Elementwise;
use serde::{Deserialize, Serialize};

/// Source-level information about a function.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct SourceInfo {
    /// Names and types of parameters.
    pub params: Vec<(String, Ty)>,
    pub last_line: u32,
    /// Types that variables get, with the place of each assignment.
    pub annotations: Vec<(Span, String, Ty)>,
    pub elementwise: Vec<Elementwise>,
    /// Of a derivative: what it keeps, computes again and cuts, by line.
    pub derivative: Vec<(u32, String)>,
}

impl SourceInfo {
    pub(crate) fn new(
        code: &Code,
        args: &[(Ty, Option<String>)],
        annotations: Vec<(Span, String, Ty)>,
        elementwise: Vec<Elementwise>,
    ) -> SourceInfo {
        let params = code.params.iter().zip(args).map(|(p, a)| (p.name.clone(), a.0)).collect();
        SourceInfo { params, last_line: last_line(code), annotations, elementwise, derivative: Vec::new() }
    }

    /// Types of the arguments.
    pub(crate) fn args(&self) -> Vec<Ty> {
        self.params.iter().map(|(_, t)| *t).collect()
    }
}

fn last_line(code: &Code) -> u32 {
    let spans = code.blocks.iter().flat_map(|b| b.insts.iter().map(|i| i.span).chain([b.term_span]));
    let own = spans.map(|s| s.line.max(s.end_line)).max().unwrap_or(0);
    code.inner.iter().map(|c| last_line(c)).max().unwrap_or(0).max(own).max(code.first_line)
}
