//! The faults of checked kernels, as data: `lh-cuda` makes messages of them.

use super::sites::Site;
use std::collections::HashSet;

/// More findings of one launch are not reported.
const MOST: usize = 4;

/// A fault of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    /// Threads of a block by axis.
    pub block_dim: [i64; 3],
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// Conflicting accesses without an order.
    Race(Race),
    /// A read of shared or local memory that nothing has been written to.
    Unwritten { memory: Memory, element: String, reader: ThreadAt, site: Site },
    /// A barrier that not all threads of a block come to.
    Barrier(Barrier),
    /// No thread can go on.
    Deadlock { waiting: Vec<Group> },
    /// A lane reads the value of a lane that does not take part in an operation of the warp.
    MissingLane { at: Lane, source: usize },
    /// A lane comes to an operation of its warp whose mask does not name it.
    NotInMask { at: Lane, mask: u32 },
}

/// Two accesses, each with the thread and the place.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    pub memory: Memory,
    pub element: String,
    pub first: (ThreadAt, Verb, Site),
    pub second: (ThreadAt, Verb, Site),
    pub is_one_warp: bool,
}

/// The kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Global,
    Shared,
    Local,
}

/// The kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Reads,
    Writes,
    /// Atomically.
    Updates,
}

/// Indices of a block and of a thread in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadAt {
    pub block: [i64; 3],
    pub thread: [i64; 3],
}

/// The threads of a block at a barrier.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    pub block: [i64; 3],
    pub waiting: Vec<Group>,
    pub ended: Vec<Group>,
}

/// Threads at one place, by their linear indices in ascending order, counted through all blocks that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub site: Site,
    pub threads: Vec<usize>,
}

/// A lane of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    pub thread: ThreadAt,
    pub lane: usize,
    pub site: Site,
}

impl FindingKind {
    /// The places that it is about; the first is the culprit.
    pub fn sites(&self) -> Vec<&Site> {
        match self {
            FindingKind::Race(race) if race.first.2 == race.second.2 => vec![&race.first.2],
            FindingKind::Race(race) => vec![&race.second.2, &race.first.2],
            FindingKind::Unwritten { site, .. } => vec![site],
            FindingKind::Barrier(b) => b.waiting.iter().chain(&b.ended).map(|g| &g.site).collect(),
            FindingKind::Deadlock { waiting } => waiting.iter().map(|g| &g.site).collect(),
            FindingKind::MissingLane { at, .. } | FindingKind::NotInMask { at, .. } => vec![&at.site],
        }
    }

    /// A number for each heading under which findings are reported.
    fn heading(&self) -> u8 {
        match self {
            FindingKind::Race(_) => 0,
            FindingKind::Unwritten { .. } => 1,
            FindingKind::Barrier(_) | FindingKind::Deadlock { .. } => 2,
            FindingKind::MissingLane { .. } | FindingKind::NotInMask { .. } => 3,
        }
    }
}

/// The findings of a launch.
#[derive(Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
    /// Places of races.
    raced: HashSet<Site>,
    seen: HashSet<(u8, Vec<Site>)>,
}

impl Findings {
    /// Adds a finding unless one of its kind is there for the same places.
    pub(super) fn add(&mut self, finding: Finding) {
        let sites = finding.kind.sites();
        // A read of unwritten memory where there is a race, too, is a consequence of it: another thread was to write.
        if let FindingKind::Race(_) = finding.kind {
            self.raced.extend(sites.iter().copied().cloned());
        }
        let mut places: Vec<Site> = sites.into_iter().cloned().collect();
        places.truncate(2);
        if self.list.len() >= MOST || !self.seen.insert((finding.kind.heading(), places)) {
            return;
        }
        self.list.push(finding);
        self.list.retain(|f| match &f.kind {
            FindingKind::Unwritten { site, .. } => !self.raced.contains(site),
            _ => true,
        });
    }

    pub(super) fn into_list(self) -> Vec<Finding> {
        self.list
    }
}
