//! A graph of files: an arrow goes from a file to another that it imports from.

use std::collections::{BTreeMap, BTreeSet};

/// Files and their arrows.
#[derive(Debug, Default)]
pub struct Graph {
    /// Paths, below the repository.
    pub files: Vec<String>,
    /// From file to file, with the first line that says so.
    pub arrows: BTreeMap<(usize, usize), usize>,
}

impl Graph {
    /// Notes an arrow; one of a file to itself is none.
    pub fn add(&mut self, from: usize, to: usize, line: usize) {
        if from != to {
            self.arrows.entry((from, to)).or_insert(line);
        }
    }

    /// The strongly connected sets of at least two files, the largest first.
    pub fn knots(&self) -> Vec<Vec<usize>> {
        let mut reached: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.files.len()];
        for (start, reached) in reached.iter_mut().enumerate() {
            let mut open = vec![start];
            while let Some(file) = open.pop() {
                let next = self.arrows.range((file, 0)..=(file, usize::MAX)).map(|(&(_, to), _)| to);
                open.extend(next.filter(|&to| reached.insert(to)));
            }
        }
        let mut knots: BTreeSet<Vec<usize>> = BTreeSet::new();
        for (file, others) in reached.iter().enumerate() {
            let knot: Vec<usize> = others.iter().copied().filter(|&other| reached[other].contains(&file)).collect();
            if knot.len() > 1 {
                knots.insert(knot);
            }
        }
        let mut knots: Vec<Vec<usize>> = knots.into_iter().collect();
        knots.sort_by_key(|knot| std::cmp::Reverse(knot.len()));
        knots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_import_each_other_are_a_knot() {
        let mut graph = Graph { files: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(), ..Graph::default() };
        for (from, to) in [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (0, 0)] {
            graph.add(from, to, 1);
        }
        assert_eq!(graph.knots(), [vec![0, 1, 2], vec![3, 4]]);
    }
}
