//! Keeps the order of accesses within an iteration where LLVM's vectoriser would lose it.
//!
//! It joins strided accesses into interleaved groups, which it emits at the place of one of them. In loops whose
//! accesses are declared independent between iterations (threads of a kernel), it asks nothing about accesses in
//! between, which may be to the same memory in the same iteration:
//!
//! ```text
//! own[0] = a; own[1] = b;        ; with the last one a group, made at the place of the last one
//! own[k] = c;                    ; lost, if k < 2
//! own[3] = d;
//! ```
//!
//! The address of an access that has such a one in its group gets opaque: it is in no group then.

use crate::ir::flow::Graph;
use crate::ir::loop_metadata;
use crate::ir::{Module, Val};
use llvm_sys::LLVMOpcode::{self, LLVMAdd, LLVMOr};
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// A load or a store.
struct Access {
    inst: Val,
    is_store: bool,
    /// The pointer that its address is computed from, and whether that may be one of several memories.
    root: Val,
    is_open: bool,
    /// The parts of the address that vary, and the constants in it.
    parts: Vec<Val>,
    constants: Vec<i64>,
}

/// Accesses whose addresses differ by constants.
#[derive(Default)]
struct Group {
    /// The places of the first and the last one among the accesses to this memory.
    first: usize,
    last: usize,
    count: usize,
    /// Whether the constants differ.
    is_several: bool,
}

/// Makes the addresses of such accesses opaque in all functions.
pub(crate) fn run(m: &Module) {
    for f in m.functions() {
        let graph = Graph::new(m, f);
        for (latch, header) in graph.back_edges() {
            if loop_metadata::read(m, m.last(graph.blocks[latch])).threads {
                let body = graph.body(latch, header);
                let blocks = graph.order(&body, header);
                let insts = blocks.into_iter().flat_map(|b| m.instructions_of(graph.blocks[b]));
                let accesses: Vec<Access> = insts.filter_map(|inst| Access::of(m, inst)).collect();
                let mut seen = HashSet::new();
                for access in accesses.iter().filter(|a| seen.insert(a.root)) {
                    torn(access, &accesses).for_each(|a| a.hide(m));
                }
            }
        }
    }
}

/// The accesses from the root of one that have one to another place of the same memory between them and others of their
/// group, where one of all these is a store.
fn torn<'a>(one: &Access, all: &'a [Access]) -> impl Iterator<Item = &'a Access> {
    let (root, is_open) = (one.root, one.is_open);
    let accesses: Vec<&Access> = all.iter().filter(|a| a.root == root || a.is_open || is_open).collect();
    let mut groups: HashMap<&[Val], Group> = HashMap::new();
    // How many stores there are before each access.
    let mut stores = vec![0];
    for (place, access) in accesses.iter().enumerate() {
        stores.push(stores[place] + usize::from(access.is_store));
        if access.root == root {
            let group = groups.entry(&access.parts).or_insert(Group { first: place, ..Group::default() });
            group.last = place;
            group.count += 1;
            group.is_several |= access.constants != accesses[group.first].constants;
        }
    }
    groups.retain(|_, group| {
        let is_interrupted = group.last - group.first >= group.count;
        group.is_several && is_interrupted && stores[group.last + 1] > stores[group.first]
    });
    accesses.into_iter().filter(move |a| a.root == root && groups.contains_key(&*a.parts))
}

impl Access {
    fn of(m: &Module, inst: Val) -> Option<Access> {
        // SAFETY: asks an instruction of a live function; loads and stores have their address as operand 0 and 1.
        let (is_store, address) = unsafe {
            match (LLVMIsALoadInst(inst).is_null(), LLVMIsAStoreInst(inst).is_null()) {
                (false, _) => (false, LLVMGetOperand(inst, 0)),
                (_, false) => (true, LLVMGetOperand(inst, 1)),
                _ => return None,
            }
        };
        let (mut root, mut parts, mut constants) = (address, Vec::new(), Vec::new());
        // SAFETY: walks up the addresses of a live function, whose operands are as many as it says.
        unsafe {
            while !LLVMIsAGetElementPtrInst(root).is_null() {
                for i in 1..LLVMGetNumOperands(root) as u32 {
                    parts.extend(varying(m, LLVMGetOperand(root, i), &mut constants));
                }
                root = LLVMGetOperand(root, 0);
            }
        }
        parts.sort_unstable();
        constants.retain(|c| *c != 0);
        // SAFETY: asks a value what it is.
        let is_open = unsafe { !LLVMIsAPHINode(root).is_null() || !LLVMIsASelectInst(root).is_null() };
        Some(Access { inst, is_store, root, is_open, parts, constants })
    }

    fn hide(&self, m: &Module) {
        m.before(self.inst);
        let place = u32::from(self.is_store);
        // SAFETY: the operand is the address; what replaces it stands before the access.
        unsafe { LLVMSetOperand(self.inst, place, m.freeze(LLVMGetOperand(self.inst, place))) };
    }
}

/// An index without constants that are added to it, which go to the others; `None` if it is one.
fn varying(m: &Module, mut index: Val, constants: &mut Vec<i64>) -> Option<Val> {
    // SAFETY: asks values of a live function what they are; a sum has two operands.
    unsafe {
        while !LLVMIsABinaryOperator(index).is_null()
            && matches!(LLVMGetInstructionOpcode(index) as LLVMOpcode, LLVMAdd | LLVMOr)
            && let Some(c) = m.constant_int(LLVMGetOperand(index, 1))
        {
            constants.push(c);
            index = LLVMGetOperand(index, 0);
        }
        constants.extend(m.constant_int(index));
        LLVMIsAConstantInt(index).is_null().then_some(index)
    }
}
