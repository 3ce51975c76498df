//! Compiled code and the state of the process: live allocations and interrupts.

use std::process::Command;

use crate::common::build;
use lh_ir::class::Declaration;
use lh_runtime::take_pending;

/// Runs a test in a process of its own, as other tests make allocations and can be interrupted.
fn alone(name: &str, test: impl FnOnce()) {
    if std::env::var_os("LH_ALONE").is_some() {
        return test();
    }
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let run = command.args(["--exact", name]).env("LH_ALONE", "1").output().expect("it starts");
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&run.stderr));
}

fn live_allocations() -> u64 {
    let c = build("function %f() -> int {\nblock0():\n    v0 = runtime lh_live_allocations(): int\n    return v0\n}");
    c.call::<1>(&[]).expect("no exception")[0]
}

/// Classes as the library declares them, and one with fields.
fn declare_classes() {
    lh_ir::class::set_source(|path| {
        let is_list = path == lh_ir::class::LIST;
        let fields = [("count", "int8"), ("text", "str"), ("after", "optional(Self)")];
        Some(Declaration {
            path: path.to_owned(),
            parameters: vec!["T".to_owned()],
            fields: if is_list { vec![] } else { fields.map(|(n, t)| (n.to_owned(), t.to_owned())).to_vec() },
            items: is_list.then(|| "T".to_owned()),
            by_value: false,
            entries: None,
            infers: vec![],
            user: None,
        })
    });
}

#[test]
fn fields_of_objects_are_released_with_them() {
    alone("process::fields_of_objects_are_released_with_them", || {
        declare_classes();
        let c = build(
            "function %f(v0: int) -> int {
block0(v0: int):
    v1 = new v0: toys.node(int)
    v2 = new v0: toys.node(int)
    v3 = field_ptr v1, 1: ptr
    v4 = const \"text\": str
    store v3, v4
    v5 = field_ptr v1, 2: ptr
    v6 = some v2: optional(toys.node(int))
    store v5, v6
    v8 = field_ptr v1, 0: ptr
    v9 = cast v0: int8
    store v8, v9
    v10 = load v8: int8
    v11 = cast v10: int
    decref v1
    return v11
}",
        );
        let before = live_allocations();
        assert_eq!(c.call(&[7]), Some([7]));
        assert_eq!(live_allocations(), before);
    });
}

#[test]
fn lists_are_made_filled_and_released() {
    alone("process::lists_are_made_filled_and_released", || {
        declare_classes();
        let c = build(
            "function %f(v0: int) -> int {
block0(v0: int):
    v1 = new v0: list(int)
    jump block1()
block1() unwind block2():
    v2 = const 3: int
    runtime lh_items_reserve(v1, v2)
    runtime lh_items_set_len(v1, v2)
    v3 = items_data v1: ptr
    v4 = const 8: int
    v5 = ptr_add v3, v4: ptr
    store v3, v0
    store v5, v4
    incref v1
    decref v1
    v6 = load v3: int
    v7 = load v5: int
    v8 = add v6, v7: int
    v9 = items_len v1: int
    v10 = add v8, v9: int
    decref v1
    return v10
block2():
    decref v1
    propagate
}",
        );
        let before = live_allocations();
        assert_eq!(c.call(&[7]), Some([7 + 8 + 3]));
        assert_eq!(live_allocations(), before);
    });
}

#[test]
fn a_poll_stops_a_loop() {
    alone("process::a_poll_stops_a_loop", || {
        let c = build(
            "function %f(v0: int) -> int {
    source \"f\", \"/x/f.py\", 1
block0(v0: int):
    jump block1(v0)
block1(v1: int):
    runtime lh_interrupted() @ 2:0-2:1
    v2 = const 1: int
    v3 = add v1, v2: int
    jump block1(v3)
}",
        );
        std::thread::scope(|s| {
            s.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(30));
                lh_runtime::interrupt::set();
            });
            assert_eq!(c.call::<1>(&[0]), None);
            assert_eq!(take_pending().expect("an exception").class, lh_runtime::classes::KEYBOARD_INTERRUPT);
        });
    });
}
