//! What is said of a fault.

use super::{Check, Memory, Use, WRITE};
use crate::device::team::WARP;
use crate::race::place::{Site, Sites};
use lh_ir::diag::{self, Diagnostic, Id};

/// More of one launch are not told.
const MOST: usize = 4;
/// Places of one fault that are shown.
const PLACES: usize = 4;

fn tuple(index: usize, dim: [i64; 3]) -> String {
    let (i, [x, y, _]) = (index as i64, dim);
    format!("({}, {}, {})", i % x, i / x % y, i / (x * y))
}

fn verb(u: &Use) -> &'static str {
    match (u.is_atomic(), u.kind() == WRITE) {
        (true, _) => "updates",
        (false, true) => "writes",
        (false, false) => "reads",
    }
}

impl Memory {
    fn text(self) -> &'static str {
        match self {
            Memory::Shared => "shared memory",
            Memory::Global => "global memory",
            Memory::Local => "local memory",
        }
    }
}

impl Check {
    fn thread(&self, t: usize) -> String {
        tuple(t, self.block_dim)
    }

    fn block(&self, b: u32) -> String {
        tuple(b as usize, self.grid_dim)
    }

    /// The thread and the block of a fiber.
    fn place(&self, i: usize) -> String {
        let who = self.order.who(i);
        format!("thread {} of block {}", self.thread(who.thread.into()), self.block(who.block))
    }

    /// Threads of a block, given as fibers in ascending order.
    fn several(&self, of: &[usize]) -> String {
        let text = |i: &usize| self.thread(i % self.threads);
        match of {
            [a] => format!("thread {}", text(a)),
            [a, b] => format!("threads {} and {}", text(a), text(b)),
            [a, .., b] if b - a + 1 == of.len() => format!("threads {} to {}", text(a), text(b)),
            [a, ..] => format!("thread {} and {} others", text(a), of.len() - 1),
            [] => "no thread".to_owned(),
        }
    }

    /// Adds a report unless the same was said of these places. The first place is the one that is pointed at.
    fn report(&mut self, sites: &Sites, id: Id, headline: String, places: &[(u32, String)], help: &str) {
        // What nobody has written yet another thread may be about to write: then that is the fault.
        if id == diag::KERNEL_RACE {
            self.raced.extend(places.iter().map(|(site, _)| *site));
        }
        let key = (id.0, places.iter().map(|(s, _)| *s).take(2).collect());
        if self.reports.len() >= MOST || !self.seen.insert(key) {
            return;
        }
        let mut d = Diagnostic::new(id, headline).note(help);
        for (n, (site, text)) in places.iter().take(PLACES).enumerate() {
            let Site { file, span } = sites.get(*site);
            if n == 0 {
                d = d.at(&file, span).label(text.clone());
            } else {
                d.also.push((file, span, text.clone()));
            }
        }
        self.reports.push((places[0].0, *d));
        self.reports.retain(|(site, d)| d.id != diag::KERNEL_UNWRITTEN || !self.raced.contains(site));
    }

    pub(super) fn report_race(&mut self, sites: &Sites, memory: Memory, element: &str, first: &Use, second: &Use) {
        let (a, b) = (self.thread(first.who().thread.into()), self.thread(second.who().thread.into()));
        let (of_a, of_b) = (self.block(first.block), self.block(second.block));
        let one_block = first.block == second.block;
        let headline = if one_block {
            format!("threads {a} and {b} of block {of_a} meet at {element} in {}", memory.text())
        } else {
            format!("thread {a} of block {of_a} and thread {b} of block {of_b} meet at {element} in {}", memory.text())
        };
        let text = |u: &Use, thread: &str, block: &str| {
            let block = if one_block { String::new() } else { format!(" of block {block}") };
            format!("thread {thread}{block} {} it", verb(u))
        };
        let (first_text, second_text) = (text(first, &a, &of_a), text(second, &b, &of_b));
        let (first_site, second_site) = (u32::from(first.site), u32::from(second.site));
        let places = if first_site == second_site {
            vec![(second_site, format!("{second_text}, {first_text}"))]
        } else {
            vec![(second_site, second_text), (first_site, first_text)]
        };
        let lines = [first_site, second_site].map(|s| sites.get(s).span.line);
        let near = first.who().thread as usize / WARP == second.who().thread as usize / WARP;
        let help = match () {
            () if first.is_atomic() != second.is_atomic() => {
                "an atomic operation is one for other atomic operations only: use `cuda.atomic` for both, or put a barrier \
                 between the two"
            }
            () if !one_block => {
                "blocks run in any order: let each write elements of its own, use `cuda.atomic`, or put \
                 `cuda.cg.this_grid().sync()` between the two"
            }
            () if lines[0] == lines[1] => {
                "let each thread write an element of its own, use `cuda.atomic`, or put a barrier between one thread's \
                 turn and the next"
            }
            () if near => {
                "`cuda.syncthreads()`, or `cuda.syncwarp()` within a warp, between the two puts them in order"
            }
            () => "`cuda.syncthreads()` between the two puts them in order",
        };
        self.report(sites, diag::KERNEL_RACE, headline, &places, help);
    }

    pub(super) fn report_unwritten(&mut self, sites: &Sites, memory: Memory, element: &str, i: usize, site: u32) {
        let headline = format!("{} reads {element} in {}, which nobody has written", self.place(i), memory.text());
        let help =
            "what is there is left over from others: write it first, and let all threads wait where one writes for all";
        self.report(sites, diag::KERNEL_UNWRITTEN, headline, &[(site, String::new())], help);
    }

    /// Threads by the place where they wait.
    fn groups(&self, waiting: impl Iterator<Item = usize>) -> Vec<(u32, Vec<usize>)> {
        let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
        for i in waiting {
            let Some(site) = self.fibers[i].wait.or(self.fibers[i].exit) else { continue };
            match groups.iter_mut().find(|(s, _)| *s == site) {
                Some((_, of)) => of.push(i),
                None => groups.push((site, vec![i])),
            }
        }
        groups
    }

    fn say(&self, groups: Vec<(u32, Vec<usize>)>, what: &str) -> Vec<(u32, String)> {
        groups.into_iter().map(|(site, of)| (site, format!("{} {what} here", self.several(&of)))).collect()
    }

    /// Threads go on from a barrier: all of them wait at it.
    pub(super) fn report_barrier(&mut self, sites: &Sites, fibers: std::ops::Range<usize>) {
        let waiting = self.groups(fibers.clone().filter(|i| self.fibers[*i].wait.is_some()));
        let gone = self.groups(fibers.clone().filter(|i| self.fibers[*i].exit.is_some()));
        if waiting.len() < 2 && gone.is_empty() {
            return;
        }
        let block = self.block(self.order.who(fibers.start).block);
        let headline = if waiting.len() > 1 {
            format!("threads of block {block} wait at different barriers")
        } else {
            format!("not all threads of block {block} come to this barrier")
        };
        let mut places = self.say(waiting, "wait");
        places.truncate(PLACES - 1);
        places.extend(self.say(gone, "ended"));
        let help =
            "a barrier is for all threads of the block: put the work in the branch, and the barrier outside of it";
        self.report(sites, diag::KERNEL_BARRIER, headline, &places, help);
    }

    /// Nobody gets on any more.
    pub(super) fn report_deadlock(&mut self, sites: &Sites) {
        let places = self.say(self.groups(0..self.fibers.len()), "wait");
        let headline = "the threads of the kernel wait for each other for ever".to_owned();
        let help = "let all threads that a barrier or an operation of a warp is for come to it";
        self.report(sites, diag::KERNEL_BARRIER, headline, &places, help);
    }

    pub(super) fn report_lane(&mut self, sites: &Sites, i: usize, source: usize) {
        let lane = i % self.threads % WARP;
        let headline = format!("lane {lane} of a warp reads the value of lane {source}, which does not take part");
        let text = self.place(i);
        let site = self.fibers[i].wait.unwrap_or_default();
        let help = "the value is undefined: let all lanes that are read from come here, and name them in the mask";
        self.report(sites, diag::KERNEL_WARP, headline, &[(site, text)], help);
    }

    pub(super) fn report_mask(&mut self, sites: &Sites, i: usize, site: u32, mask: u32) {
        let lane = i % self.threads % WARP;
        let headline = format!("the mask {mask:#010x} does not name lane {lane}, which comes here");
        let text = self.place(i);
        let help = "name all lanes that come here, and only those";
        self.report(sites, diag::KERNEL_WARP, headline, &[(site, text)], help);
    }
}
