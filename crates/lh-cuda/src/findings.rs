//! Messages about the faults that the check of kernels finds.

use lh_ir::diag::{self, Diagnostic, Id};
use lh_runtime::check::findings::{Barrier, Finding, FindingKind, Group, Lane, Memory, Race, ThreadAt, Verb};

/// Places of one fault that are shown.
const PLACES: usize = 4;

type Place<'a> = (&'a lh_runtime::check::Site, String);

/// The diagnostic for a fault.
pub(crate) fn diagnostic(finding: &Finding) -> Diagnostic {
    let dim = finding.block_dim;
    match &finding.kind {
        FindingKind::Race(race) => self::race(race),
        FindingKind::Unwritten { memory, element, reader, site } => {
            let memory = memory_text(*memory);
            let headline = format!("{} reads {element} in {memory}, which nobody has written", place(reader));
            let help = "what is there is left over from others: write it first, and let all threads wait where one \
                        writes for all";
            build(diag::KERNEL_UNWRITTEN, headline, vec![(site, String::new())], help)
        }
        FindingKind::Barrier(barrier) => self::barrier(barrier, dim),
        FindingKind::Deadlock { waiting } => {
            let headline = "the threads of the kernel wait for each other for ever".to_owned();
            let help = "let all threads that a barrier or an operation of a warp is for come to it";
            build(diag::KERNEL_BARRIER, headline, groups(waiting, dim, "wait"), help)
        }
        FindingKind::MissingLane { at: Lane { thread, lane, site }, source } => {
            let headline = format!("lane {lane} of a warp reads the value of lane {source}, which does not take part");
            let help = "the value is undefined: let all lanes that are read from come here, and name them in the mask";
            build(diag::KERNEL_WARP, headline, vec![(site, place(thread))], help)
        }
        FindingKind::NotInMask { at: Lane { thread, lane, site }, mask } => {
            let headline = format!("the mask {mask:#010x} does not name lane {lane}, which comes here");
            let help = "name all lanes that come here, and only those";
            build(diag::KERNEL_WARP, headline, vec![(site, place(thread))], help)
        }
    }
}

/// A diagnostic that points at the first place.
fn build(id: Id, headline: String, places: Vec<Place<'_>>, help: &str) -> Diagnostic {
    let mut d = Diagnostic::new(id, headline).note(help);
    for (n, (site, text)) in places.into_iter().take(PLACES).enumerate() {
        if n == 0 {
            d = d.at(&site.file, site.span).label(text);
        } else {
            d.also.push((site.file.clone(), site.span, text));
        }
    }
    *d
}

fn tuple([x, y, z]: [i64; 3]) -> String {
    format!("({x}, {y}, {z})")
}

fn place(at: &ThreadAt) -> String {
    format!("thread {} of block {}", tuple(at.thread), tuple(at.block))
}

fn memory_text(memory: Memory) -> &'static str {
    match memory {
        Memory::Shared => "shared memory",
        Memory::Global => "global memory",
        Memory::Local => "local memory",
    }
}

fn race(race: &Race) -> Diagnostic {
    let Race { memory, element, first, second, is_one_warp } = race;
    let memory = memory_text(*memory);
    let (a, b) = (tuple(first.0.thread), tuple(second.0.thread));
    let (of_a, of_b) = (tuple(first.0.block), tuple(second.0.block));
    let is_one_block = of_a == of_b;
    let headline = if is_one_block {
        format!("threads {a} and {b} of block {of_a} meet at {element} in {memory}")
    } else {
        format!("thread {a} of block {of_a} and thread {b} of block {of_b} meet at {element} in {memory}")
    };
    let text = |verb: Verb, thread: &str, block: &str| {
        let block = if is_one_block { String::new() } else { format!(" of block {block}") };
        let verb = match verb {
            Verb::Updates => "updates",
            Verb::Writes => "writes",
            Verb::Reads => "reads",
        };
        format!("thread {thread}{block} {verb} it")
    };
    let (first_text, second_text) = (text(first.1, &a, &of_a), text(second.1, &b, &of_b));
    let places = if first.2 == second.2 {
        vec![(&second.2, format!("{second_text}, {first_text}"))]
    } else {
        vec![(&second.2, second_text), (&first.2, first_text)]
    };
    let help = match () {
        () if (first.1 == Verb::Updates) != (second.1 == Verb::Updates) => {
            "an atomic operation is one for other atomic operations only: use `cuda.atomic` for both, or put a barrier \
             between the two"
        }
        () if !is_one_block => {
            "blocks run in any order: let each write elements of its own, use `cuda.atomic`, or put \
             `cuda.cg.this_grid().sync()` between the two"
        }
        () if first.2.span.line == second.2.span.line => {
            "let each thread write an element of its own, use `cuda.atomic`, or put a barrier between one thread's \
             turn and the next"
        }
        () if *is_one_warp => {
            "`cuda.syncthreads()`, or `cuda.syncwarp()` within a warp, between the two puts them in order"
        }
        () => "`cuda.syncthreads()` between the two puts them in order",
    };
    build(diag::KERNEL_RACE, headline, places, help)
}

/// Threads of a block, by their linear indices in ascending order.
fn several(threads: &[usize], dim: [i64; 3]) -> String {
    let [x, y, z] = dim;
    let text = |i: usize| {
        let i = i as i64 % (x * y * z);
        tuple([i % x, i / x % y, i / (x * y)])
    };
    match *threads {
        [a] => format!("thread {}", text(a)),
        [a, b] => format!("threads {} and {}", text(a), text(b)),
        [a, .., b] if b - a + 1 == threads.len() => format!("threads {} to {}", text(a), text(b)),
        [a, ..] => format!("thread {} and {} others", text(a), threads.len() - 1),
        [] => "no thread".to_owned(),
    }
}

fn groups<'a>(groups: &'a [Group], dim: [i64; 3], verb: &str) -> Vec<Place<'a>> {
    groups.iter().map(|g| (&g.site, format!("{} {verb} here", several(&g.threads, dim)))).collect()
}

fn barrier(barrier: &Barrier, dim: [i64; 3]) -> Diagnostic {
    let block = tuple(barrier.block);
    let headline = if barrier.waiting.len() > 1 {
        format!("threads of block {block} wait at different barriers")
    } else {
        format!("not all threads of block {block} come to this barrier")
    };
    let mut places = groups(&barrier.waiting, dim, "wait");
    places.truncate(PLACES - 1);
    places.extend(groups(&barrier.ended, dim, "ended"));
    let help = "a barrier is for all threads of the block: put the work in the branch, and the barrier outside of it";
    build(diag::KERNEL_BARRIER, headline, places, help)
}
