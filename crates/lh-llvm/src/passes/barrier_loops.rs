//! Keeps NVIDIA's compiler from unrolling loops with barriers in our PTX: such a loop waits rather than computes, and
//! copies of its body only cost instructions.

use crate::ir::Module;
use crate::ir::flow::Graph;

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
