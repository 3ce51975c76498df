//! Dominators of a flow graph, by the semi-NCA algorithm (Georgiadis): nearly linear, without recursion.

/// A node's number that stands for none.
pub(crate) const NONE: u32 = u32::MAX;

/// A flow graph whose entry is node 0.
pub(crate) struct Graph {
    /// Successors of each node.
    pub(crate) succs: Vec<Vec<u32>>,
}

/// The tree of dominators.
pub(crate) struct Dominators {
    /// Immediate dominator; `NONE` for the entry and for what cannot be reached.
    pub(crate) idom: Vec<u32>,
    /// Predecessors that can be reached.
    pub(crate) preds: Vec<Vec<u32>>,
    /// The nodes that a node dominates immediately.
    pub(crate) children: Vec<Vec<u32>>,
}

/// A depth-first search: nodes in pre-order, and by node its number and its parent's.
struct Search {
    order: Vec<u32>,
    number: Vec<u32>,
    parent: Vec<u32>,
}

impl Graph {
    fn search(&self) -> Search {
        let count = self.succs.len();
        let mut search = Search { order: vec![0], number: vec![NONE; count], parent: vec![0] };
        search.number[0] = 0;
        let mut stack = vec![(0u32, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(&succ) = self.succs[*node as usize].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if search.number[succ as usize] == NONE {
                search.number[succ as usize] = search.order.len() as u32;
                search.parent.push(search.number[*node as usize]);
                search.order.push(succ);
                stack.push((succ, 0));
            }
        }
        search
    }

    /// The dominators.
    pub(crate) fn dominators(&self) -> Dominators {
        let search = self.search();
        let mut preds: Vec<Vec<u32>> = vec![Vec::new(); self.succs.len()];
        for &node in &search.order {
            for &succ in &self.succs[node as usize] {
                preds[succ as usize].push(node);
            }
        }
        let reached = search.order.len();
        // By number: semidominator, then dominator; and the forest with the label of least semidominator on the way.
        let mut semi: Vec<u32> = (0..reached as u32).collect();
        let mut label: Vec<u32> = semi.clone();
        let mut ancestor = vec![NONE; reached];
        for w in (1..reached).rev() {
            for &pred in &preds[search.order[w] as usize] {
                let v = search.number[pred as usize];
                let best = evaluate(v, &mut ancestor, &mut label, &semi);
                semi[w] = semi[w].min(semi[best as usize]);
            }
            ancestor[w] = search.parent[w];
        }
        let mut dom = search.parent.clone();
        for (w, &least) in semi.iter().enumerate().skip(1) {
            let mut above = dom[w];
            while above > least {
                above = dom[above as usize];
            }
            dom[w] = above;
        }
        let mut result = Dominators { idom: vec![NONE; preds.len()], children: vec![Vec::new(); preds.len()], preds };
        for (&node, &dom) in search.order.iter().zip(&dom).skip(1) {
            let above = search.order[dom as usize];
            result.idom[node as usize] = above;
            result.children[above as usize].push(node);
        }
        result
    }
}

/// The label of least semidominator above `v` in the forest; shortens the way.
fn evaluate(v: u32, ancestor: &mut [u32], label: &mut [u32], semi: &[u32]) -> u32 {
    let mut way = Vec::new();
    let mut at = v;
    while ancestor[at as usize] != NONE && ancestor[ancestor[at as usize] as usize] != NONE {
        way.push(at);
        at = ancestor[at as usize];
    }
    let root = ancestor[at as usize];
    for &node in way.iter().rev() {
        let above = ancestor[node as usize];
        if semi[label[above as usize] as usize] < semi[label[node as usize] as usize] {
            label[node as usize] = label[above as usize];
        }
        if root != NONE {
            ancestor[node as usize] = root;
        }
    }
    label[v as usize]
}

impl Dominators {
    /// For each node the joins at which its dominance ends.
    pub(crate) fn frontiers(&self) -> Vec<Vec<u32>> {
        let mut frontiers: Vec<Vec<u32>> = vec![Vec::new(); self.idom.len()];
        for (join, preds) in self.preds.iter().enumerate() {
            for &pred in preds {
                let mut runner = pred;
                // Where a runner has been already for this join, so have all above.
                while runner != self.idom[join] && frontiers[runner as usize].last() != Some(&(join as u32)) {
                    frontiers[runner as usize].push(join as u32);
                    runner = self.idom[runner as usize];
                    if runner == NONE {
                        break;
                    }
                }
            }
        }
        frontiers
    }

    /// A pre-order and a post-order number for each node: a node dominates those whose numbers lie between its own.
    pub(crate) fn ranges(&self) -> Vec<(u32, u32)> {
        let mut ranges = vec![(0, 0); self.idom.len()];
        let mut clock = 1;
        let mut stack = vec![(0u32, 0)];
        ranges[0].0 = clock;
        while let Some((node, next)) = stack.last_mut() {
            clock += 1;
            if let Some(&child) = self.children[*node as usize].get(*next) {
                *next += 1;
                ranges[child as usize].0 = clock;
                stack.push((child, 0));
            } else {
                ranges[*node as usize].1 = clock;
                stack.pop();
            }
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::{Dominators, Graph, NONE};

    fn dominators(edges: &[(u32, u32)], count: usize) -> Dominators {
        let mut succs = vec![Vec::new(); count];
        edges.iter().for_each(|&(a, b)| succs[a as usize].push(b));
        Graph { succs }.dominators()
    }

    #[test]
    fn a_loop_with_a_branch() {
        let edges = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5), (6, 5)];
        let doms = dominators(&edges, 7);
        assert_eq!(doms.idom, [NONE, 0, 1, 1, 1, 4, NONE]);
        assert_eq!(doms.frontiers()[..6], [vec![], vec![1], vec![4], vec![4], vec![1], vec![]]);
    }

    /// Against the definition: `a` dominates `b` if `b` cannot be reached without `a`.
    #[test]
    fn random_graphs_agree_with_the_definition() {
        let mut seed = 12345u64;
        for _ in 0..300 {
            let mut random = |n: u64| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) % n
            };
            let edges: Vec<(u32, u32)> = (0..14).map(|_| (random(9) as u32, random(8) as u32 + 1)).collect();
            let doms = dominators(&edges, 9);
            let ranges = doms.ranges();
            for a in 0..9u32 {
                for b in 0..9u32 {
                    let reaches = |without: Option<u32>| {
                        let mut seen = [false; 9];
                        let mut work = vec![0u32];
                        while let Some(n) = work.pop() {
                            if Some(n) != without && !std::mem::replace(&mut seen[n as usize], true) {
                                work.extend(edges.iter().filter(|e| e.0 == n).map(|e| e.1));
                            }
                        }
                        seen[b as usize]
                    };
                    let (ra, rb) = (ranges[a as usize], ranges[b as usize]);
                    let found = rb.0 != 0 && ra.0 != 0 && ra.0 <= rb.0 && rb.1 <= ra.1;
                    assert_eq!(found, reaches(None) && !reaches(Some(a)), "{a} {b} in {edges:?}");
                }
            }
        }
    }
}
