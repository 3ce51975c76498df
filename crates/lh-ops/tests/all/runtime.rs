//! Rows of run-time functions.

use lh_ir::runtime::{Axis, Effect, Geometry, Memory, Rmw, Role, RuntimeFn, Warp};
use lh_ir::types::Prim;
use lh_ops::families::{atomic, atomic_of_word, geometry};
use lh_ops::runtime::{PREFIX, all, find};

/// Functions in which other threads of a kernel may write memory, and those that run the program's code.
fn lets_others_write(f: &RuntimeFn) -> bool {
    let is_order = matches!(f.role, Role::Barrier(_) | Role::Warp(Warp::Exchange | Warp::Pause));
    is_order
        || f.role == Role::Memory(Memory::Fence)
        || matches!(f.name, "lh_parallel_for" | "lh_call_python" | "lh_call_function")
        || matches!(f.name, "lh_memo_enter" | "lh_memo_enter_plain" | "lh_memo_leave")
}

#[test]
fn every_row_says_what_it_does_to_memory_unless_others_may_write_meanwhile() {
    for f in all() {
        assert_eq!(f.memory == Effect::Unknown, lets_others_write(f), "{}", f.name);
    }
}

#[test]
fn a_row_that_says_nothing_may_write_any_memory() {
    assert_eq!(RuntimeFn::SILENT.memory, Effect::Unknown);
}

#[test]
fn effects_are_said_of_operands_that_have_memory() {
    for f in all() {
        let Effect::Operands { writes, resizes } = f.memory else { continue };
        for at in (0..16).filter(|at| (writes | resizes) >> at & 1 == 1) {
            assert!(matches!(f.args.get(at), Some(Prim::Ptr | Prim::Object)), "operand {at} of {}", f.name);
        }
    }
}

#[test]
fn names_are_unique_and_found() {
    for f in all() {
        assert!(f.name.starts_with(PREFIX), "{}", f.name);
        assert_eq!(find(f.name), Some(f), "{}", f.name);
    }
}

#[test]
fn families_are_found_by_their_data() {
    let y = geometry(Geometry::BlockDim, Axis::Y);
    assert_eq!((y.role, y.limits), (Role::Geometry(Geometry::BlockDim, Axis::Y), Some((1, 1024))));
    let least = atomic_of_word("min", true, false).and_then(|rmw| atomic(rmw, Prim::I64));
    assert_eq!(least.map(|f| f.role), Some(Role::Atomic(Rmw::UMin, Prim::I64)));
    assert_eq!(atomic(Rmw::Xor, Prim::F64), None);
}
