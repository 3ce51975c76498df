//! Loops with barriers are not to be unrolled by what reads our PTX: waiting is what they do, not computing, and copies
//! of what is between barriers only cost instructions.

use crate::flow::Graph;
use crate::ir::Module;

/// Marks the loops of every function.
pub(crate) fn mark(m: &Module) {
    for f in m.functions() {
        let graph = Graph::new(m, f);
        for (from, to) in graph.back_edges() {
            if graph.body(from, to).iter().any(|b| m.calls_named(graph.blocks[*b], "llvm.nvvm.barrier")) {
                let no = m.node(&[m.md_text("llvm.loop.unroll.disable")]);
                m.attach(m.last(graph.blocks[from]), "llvm.loop", m.loop_node(&[no]));
            }
        }
    }
}
