//! Lazily compiled functions: those that hardly ever run, such as the checked versions of loops. All of a unit are
//! compiled when the first one is called. That needs nothing of Python, so any thread may be the one that calls.

use super::group::Group;
use super::image::Mapped;
use super::objects::ObjectStore;
use lh_ir::func::Extern;
use lh_llvm::{Rare, Wanted};
use lh_runtime::lazy::Cell;
use once_cell::race::OnceBox;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::thread;

/// LLVM needs a larger stack than the thread that calls first may have.
const STACK: usize = 16 << 20;

/// The lazily compiled functions of a group.
pub(crate) struct Lazy {
    /// For each name, the cell through which the function is called.
    cells: Vec<Cell>,
    names: Vec<String>,
    group: Arc<Group>,
    /// Numbers of the process that they refer to.
    words: HashMap<Extern, u64>,
    store: Arc<ObjectStore>,
    /// Their code, once it is needed. A thread never waits for another to make it, because the other may not exist in a
    /// forked child: each makes its own, and all take the first that is ready.
    code: OnceBox<Option<Mapped>>,
}

impl Lazy {
    /// The functions of these names, of a group.
    pub(crate) fn new(
        names: Vec<String>,
        group: &Arc<Group>,
        words: &HashMap<Extern, u64>,
        store: &Arc<ObjectStore>,
    ) -> Arc<Lazy> {
        let cell = |own: &Weak<Lazy>, number| {
            let own = own.clone();
            Cell::new(Box::new(move || own.upgrade()?.make(number)))
        };
        Arc::new_cyclic(|own| Lazy {
            cells: (0..names.len()).map(|number| cell(own, number)).collect(),
            names,
            group: group.clone(),
            words: words.clone(),
            store: store.clone(),
            code: OnceBox::new(),
        })
    }

    /// Address of a function's cell.
    pub(crate) fn cell(&self, number: usize) -> Option<usize> {
        self.cells.get(number).map(Cell::address)
    }

    /// Compiles all of them; the address of one.
    fn make(&self, number: usize) -> Option<usize> {
        let compiled = || {
            thread::scope(|s| {
                let made = thread::Builder::new().stack_size(STACK).spawn_scoped(s, || self.compile());
                made.ok()?.join().ok()
            })
        };
        self.code.get_or_init(|| Box::new(compiled())).as_ref()?.address(&self.names[number])
    }

    fn compile(&self) -> Mapped {
        let (_, output) = self.store.compile(&self.group.unit(Wanted::default(), Rare::Only));
        self.group.compile_called(&output.object);
        Mapped::new(&output.object, &self.group.functions[0].name, &self.group.outsiders(&self.words))
    }
}
