//! Makes raw SSA form small: what translation (or unrolling) leaves behind and nobody needs goes away.
//!
//! - checks for being bound that cannot fail;
//! - parameters that are the same value on every edge: what a loop does not change is used directly;
//! - instructions and parameters without use or effect;
//! - blocks that only jump, and borders between blocks with one way across;
//! - handlers that only raise again what they caught.
//!
//! Every step is linear in the size of the code, and none recurses.

use crate::visit::{block_edges_mut, block_may_raise, edges, map_block, reverse_postorder, term_operands};
use hashbrown::HashMap;
use lh_ir::untyped::{BlockData, Code, Inst, PyConst, Target, Term};
use lh_ir::{Block, Value};

/// Rounds of dropping handlers; each round drops whole chains, so that more are hardly ever needed.
const ROUNDS: usize = 8;

/// Blocks or handlers in a row that are passed by at once.
const CHAIN: usize = 16;

/// Tidies code.
pub(crate) fn run(code: &mut Code) {
    remove_unreachable(code);
    remove_checks(code);
    for _ in 0..ROUNDS {
        remove_params(code);
        remove_dead(code);
        skip_empty(code);
        merge(code);
        remove_unreachable(code);
        if !drop_handlers(code) {
            break;
        }
        remove_unreachable(code);
    }
    renumber(code);
}

/// Values replaced by others.
pub(crate) struct Renames(Vec<Value>);

impl Renames {
    /// None yet, of so many values.
    pub(crate) fn new(count: usize) -> Self {
        Renames((0..count).map(Value::new).collect())
    }
    /// The value that replaces a value, by union-find with path compression.
    pub(crate) fn find(&mut self, value: Value) -> Value {
        let mut root = value;
        while self.0[root.index()] != root {
            root = self.0[root.index()];
        }
        let mut at = value;
        while at != root {
            at = std::mem::replace(&mut self.0[at.index()], root);
        }
        root
    }
    /// Rewrites every use.
    fn apply(mut self, code: &mut Code) {
        for block in &mut code.blocks {
            map_block(block, &mut |v| self.find(v));
        }
    }
    /// Lets a value stand for another.
    pub(crate) fn set(&mut self, old: Value, new: Value) {
        self.0[old.index()] = new;
    }
    /// Lets a value stand for another, with its name unless it has one.
    fn replace(&mut self, old: Value, new: Value, code: &mut Code) {
        self.0[old.index()] = new;
        if code.value_names[new.index()].is_none() {
            code.value_names[new.index()] = code.value_names[old.index()].take();
        }
    }
}

/// Drops blocks that cannot be reached and puts the others in reverse post-order.
fn remove_unreachable(code: &mut Code) {
    let order = reverse_postorder(&code.blocks);
    let mut numbers = vec![Block(u32::MAX); code.blocks.len()];
    order.iter().enumerate().for_each(|(i, b)| numbers[b.index()] = Block::new(i));
    let mut old = std::mem::take(&mut code.blocks);
    code.blocks = order.iter().map(|b| std::mem::take(&mut old[b.index()])).collect();
    for block in &mut code.blocks {
        for target in block_edges_mut(block) {
            target.block = numbers[target.block.index()];
        }
    }
}

/// Where each parameter gets its values: for every block the arguments of each edge to it.
fn incoming(code: &Code) -> Vec<Vec<(&[Value], usize)>> {
    let mut incoming = vec![Vec::new(); code.blocks.len()];
    for block in &code.blocks {
        for (target, skip) in edges(block) {
            incoming[target.block.index()].push((target.args.as_slice(), skip));
        }
    }
    incoming
}

/// Removes the checks of values that are certainly bound.
fn remove_checks(code: &mut Code) {
    let mut unbound = vec![false; code.value_count];
    let mut work = Vec::new();
    for block in &code.blocks {
        let consts = block.insts.iter().filter(|data| data.inst == Inst::Const(PyConst::Unbound));
        work.extend(consts.filter_map(|data| data.result));
    }
    let mut flows: Vec<Vec<Value>> = vec![Vec::new(); code.value_count];
    for (block, edges) in code.blocks.iter().zip(incoming(code)) {
        for (args, skip) in edges {
            args.iter().zip(&block.params[skip..]).for_each(|(arg, &param)| flows[arg.index()].push(param));
        }
    }
    while let Some(value) = work.pop() {
        if !std::mem::replace(&mut unbound[value.index()], true) {
            work.append(&mut flows[value.index()]);
        }
    }
    let mut renames = Renames::new(code.value_count);
    let mut blocks = std::mem::take(&mut code.blocks);
    for block in &mut blocks {
        block.insts.retain(|data| match (&data.inst, data.result) {
            (Inst::CheckBound { value, .. }, Some(result)) if !unbound[value.index()] => {
                renames.replace(result, *value, code);
                false
            }
            _ => true,
        });
    }
    code.blocks = blocks;
    renames.apply(code);
}

/// Removes parameters that have one value on all edges, themselves aside.
fn remove_params(code: &mut Code) {
    struct Param {
        value: Value,
        args: Vec<Value>,
        queued: bool,
    }
    let mut params: Vec<Param> = Vec::new();
    let mut of_value: Vec<u32> = vec![u32::MAX; code.value_count];
    for (block, edges) in code.blocks.iter().zip(incoming(code)).skip(1) {
        let skip = edges.first().map_or(0, |e| e.1);
        for (i, &value) in block.params.iter().enumerate().skip(skip) {
            of_value[value.index()] = params.len() as u32;
            params.push(Param { value, args: edges.iter().map(|e| e.0[i - skip]).collect(), queued: true });
        }
    }
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); params.len()];
    for (i, param) in params.iter().enumerate() {
        for arg in &param.args {
            if let Some(list) = users.get_mut(of_value[arg.index()] as usize) {
                list.push(i as u32);
            }
        }
    }
    let mut renames = Renames::new(code.value_count);
    let mut work: Vec<u32> = (0..params.len() as u32).rev().collect();
    while let Some(i) = work.pop() {
        let param = &mut params[i as usize];
        param.queued = false;
        let value = param.value;
        if renames.find(value) != value {
            continue;
        }
        let Some(only) = single(&param.args, value, &mut renames) else { continue };
        renames.replace(value, only, code);
        let mine = std::mem::take(&mut users[i as usize]);
        for &user in &mine {
            if !std::mem::replace(&mut params[user as usize].queued, true) {
                work.push(user);
            }
        }
        if let Some(list) = users.get_mut(of_value[only.index()] as usize) {
            list.extend(mine);
        }
    }
    let mut gone = vec![false; code.value_count];
    params.iter().for_each(|p| gone[p.value.index()] = renames.find(p.value) != p.value);
    retain_params(code, |value| !gone[value.index()]);
    renames.apply(code);
}

/// The one value among arguments other than the parameter itself.
fn single(args: &[Value], itself: Value, renames: &mut Renames) -> Option<Value> {
    let mut only = None;
    for &arg in args {
        let arg = renames.find(arg);
        if arg == itself || only == Some(arg) {
            continue;
        }
        if only.is_some() {
            return None;
        }
        only = Some(arg);
    }
    only
}

/// Keeps some of the parameters (not those of the entry) with their arguments.
fn retain_params(code: &mut Code, keep: impl Fn(Value) -> bool) {
    let keeps: Vec<Vec<bool>> = code.blocks.iter().map(|b| b.params.iter().map(|&p| keep(p)).collect()).collect();
    if keeps.iter().skip(1).flatten().all(|&k| k) {
        return;
    }
    for block in code.blocks.iter_mut().skip(1) {
        block.params.retain(|&p| keep(p));
    }
    for block in &mut code.blocks {
        let skips: Vec<usize> = edges(block).iter().map(|e| e.1).collect();
        for (target, skip) in block_edges_mut(block).into_iter().zip(skips) {
            let mut kept = keeps[target.block.index()][skip..].iter();
            target.args.retain(|_| *kept.next().unwrap_or(&true));
        }
    }
}

/// Whether an instruction may go when nobody uses its result.
fn is_removable(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Const(_)
            | Inst::Free(_)
            | Inst::Import { .. }
            | Inst::Tuple(_)
            | Inst::Slice(_)
            | Inst::Is { .. }
            | Inst::Format { .. }
            | Inst::MakeFunction { .. }
            | Inst::Cell(_)
            | Inst::Sibling { .. }
            | Inst::UnpackItem(..)
    )
}

/// Removes instructions and parameters whose values nobody needs.
fn remove_dead(code: &mut Code) {
    let mut live = vec![false; code.value_count];
    let mut inputs: Vec<Vec<Value>> = vec![Vec::new(); code.value_count];
    let mut work: Vec<Value> = code.blocks[0].params.clone();
    for (b, (block, edges)) in code.blocks.iter().zip(incoming(code)).enumerate() {
        for data in &block.insts {
            match data.result.filter(|_| is_removable(&data.inst)) {
                Some(result) => data.inst.for_each_operand(|v| inputs[result.index()].push(v)),
                None => data.inst.for_each_operand(|v| work.push(v)),
            }
        }
        work.extend(block.term.iter().flat_map(term_operands));
        let skip = if b == 0 { 0 } else { edges.first().map_or(0, |e| e.1) };
        work.extend(&block.params[..skip]);
        for (i, &param) in block.params.iter().enumerate().skip(skip) {
            inputs[param.index()].extend(edges.iter().map(|e| e.0[i - skip]));
        }
    }
    while let Some(value) = work.pop() {
        if !std::mem::replace(&mut live[value.index()], true) {
            work.append(&mut inputs[value.index()]);
        }
    }
    for block in &mut code.blocks {
        block.insts.retain(|data| !is_removable(&data.inst) || data.result.is_none_or(|r| live[r.index()]));
    }
    let items: Vec<Value> = loop_items(code);
    items.iter().for_each(|v| live[v.index()] = true);
    retain_params(code, |value| live[value.index()]);
}

/// The items of `for` loops, which stay parameters even if unused.
fn loop_items(code: &Code) -> Vec<Value> {
    let heads = code.blocks.iter().filter_map(|b| match &b.term {
        Some(Term::ForIter { body, .. }) => Some(body.block),
        _ => None,
    });
    heads.filter_map(|b| code.blocks[b.index()].params.first().copied()).collect()
}

/// Leads edges past blocks that only jump on.
fn skip_empty(code: &mut Code) {
    let uses = use_counts(code);
    let next: Vec<Option<Passage>> = code.blocks.iter().enumerate().map(|(b, block)| pass(b, block, &uses)).collect();
    for b in 0..code.blocks.len() {
        let skips: Vec<usize> = edges(&code.blocks[b]).iter().map(|e| e.1).collect();
        for (target, skip) in block_edges_mut(&mut code.blocks[b]).into_iter().zip(skips) {
            // A ring of empty blocks is an endless loop; the bound keeps us out of it.
            for _ in 0..CHAIN {
                let Some(passage) = next[target.block.index()].as_ref().filter(|_| skip == 0) else { break };
                passage.follow(target);
            }
        }
    }
}

/// A block that only jumps on.
struct Passage {
    params: Vec<Value>,
    to: Target,
}

impl Passage {
    fn follow(&self, target: &mut Target) {
        let given = |v: &Value| self.params.iter().position(|p| p == v).map_or(*v, |i| target.args[i]);
        *target = Target { block: self.to.block, args: self.to.args.iter().map(given).collect() };
    }
}

/// Where a block leads that does nothing else and whose parameters nobody else reads.
fn pass(b: usize, block: &BlockData, uses: &[u32]) -> Option<Passage> {
    let Some(Term::Jump(to)) = &block.term else { return None };
    if b == 0 || !block.insts.is_empty() || to.block.index() == b || block.params.len() > 16 {
        return None;
    }
    let here = |p: &Value| to.args.iter().filter(|a| *a == p).count() as u32;
    let passes_on = block.params.iter().all(|p| uses[p.index()] == here(p));
    passes_on.then(|| Passage { params: block.params.clone(), to: to.clone() })
}

/// Joins a block with the one it jumps to, if that has no other way in.
fn merge(code: &mut Code) {
    let mut ways = vec![0u32; code.blocks.len()];
    for block in &code.blocks {
        edges(block).iter().for_each(|e| ways[e.0.block.index()] += 1);
    }
    let uses = use_counts(code);
    for b in 0..code.blocks.len() {
        while let Some(Term::Jump(Target { block: next, args })) = &code.blocks[b].term {
            let c = next.index();
            if c == b || c == 0 || ways[c] != 1 || !args.is_empty() {
                break;
            }
            let (first, second) = (&code.blocks[b], &code.blocks[c]);
            let Some(unwind) = joint_handler(first, second, &uses) else { break };
            let second = std::mem::take(&mut code.blocks[c]);
            let first = &mut code.blocks[b];
            first.insts.extend(second.insts);
            (first.term, first.term_span, first.unwind) = (second.term, second.term_span, unwind);
            code.blocks[c].term = Some(Term::Unreachable);
        }
    }
}

/// The handler for two blocks in one, if one handler serves both.
fn joint_handler(first: &BlockData, second: &BlockData, uses: &[u32]) -> Option<Option<Target>> {
    if !block_may_raise(second) || first.unwind == second.unwind {
        return Some(first.unwind.clone());
    }
    if block_may_raise(first) {
        return None;
    }
    // The handler must not use values that the first block defines, because it is entered from the start of both.
    let mut inside: HashMap<Value, u32> = HashMap::new();
    for block in [first, second] {
        for_each_use(block, true, |v| *inside.entry(v).or_default() += 1);
    }
    let is_known = |v: Value| uses[v.index()] != inside.get(&v).copied().unwrap_or(0);
    let serves = second.unwind.is_none() || !first.insts.iter().filter_map(|d| d.result).any(is_known);
    serves.then(|| second.unwind.clone())
}

/// Uses of each value.
fn use_counts(code: &Code) -> Vec<u32> {
    let mut uses = vec![0u32; code.value_count];
    for block in &code.blocks {
        for_each_use(block, false, |v| uses[v.index()] += 1);
    }
    uses
}

/// Visits the values that a block uses; those given to its handler, unless that is left out.
fn for_each_use(block: &BlockData, without_handler: bool, mut f: impl FnMut(Value)) {
    block.insts.iter().for_each(|data| data.inst.for_each_operand(&mut f));
    block.term.iter().flat_map(term_operands).for_each(&mut f);
    let skip = usize::from(without_handler && block.unwind.is_some());
    edges(block).iter().skip(skip).flat_map(|e| &e.0.args).for_each(|v| f(*v));
}

/// Sends exceptions past handlers that only raise them again. Says whether anything changed.
fn drop_handlers(code: &mut Code) -> bool {
    hand_on_params(code);
    let again: Vec<Option<Option<Target>>> = code.blocks.iter().map(raises_again).collect();
    let mut changed = false;
    for b in 0..code.blocks.len() {
        if code.blocks[b].unwind.is_some() && !block_may_raise(&code.blocks[b]) {
            code.blocks[b].unwind = None;
            changed = true;
        }
        // The bound keeps us out of handlers that (in damaged code) protect each other.
        for _ in 0..CHAIN {
            let Some(target) = &code.blocks[b].unwind else { break };
            let Some(to) = &again[target.block.index()] else { break };
            let params = &code.blocks[target.block.index()].params;
            let given = |v: &Value| params.iter().position(|p| p == v).map_or(*v, |i| target.args[i]);
            let to = to.as_ref().map(|to| Target { block: to.block, args: to.args.iter().map(given).collect() });
            code.blocks[b].unwind = to;
            changed = true;
        }
    }
    changed
}

/// Where a handler that only raises again is the only way to the next one, code behind may use its parameters: hands
/// them on as parameters of that next handler.
fn hand_on_params(code: &mut Code) {
    let mut ways = vec![0u32; code.blocks.len()];
    for block in &code.blocks {
        edges(block).iter().for_each(|e| ways[e.0.block.index()] += 1);
    }
    for b in 1..code.blocks.len() {
        let block = &code.blocks[b];
        let Some(Some(to)) = raises_again(block) else { continue };
        if ways[to.block.index()] != 1 || block.params.is_empty() || to.block.index() == b {
            continue;
        }
        let old = block.params.clone();
        let mut renames: HashMap<Value, Value> = HashMap::new();
        for &param in &old {
            renames.insert(param, Value::new(code.value_count));
            code.value_names.push(code.value_names[param.index()].clone());
            code.value_count += 1;
        }
        let own: Vec<Value> = old.iter().map(|p| renames[p]).collect();
        let block = &mut code.blocks[b];
        map_block(block, &mut |v| renames.get(&v).copied().unwrap_or(v));
        block.unwind.iter_mut().for_each(|to| to.args.extend(&own));
        block.params = own;
        code.blocks[to.block.index()].params.extend(old);
    }
}

/// If a block is a handler that does nothing but raise again what it caught: where that goes.
fn raises_again(block: &BlockData) -> Option<Option<Target>> {
    let [catch, rest @ ..] = &block.insts[..] else { return None };
    let Some(Term::Reraise(exc)) = block.term else { return None };
    let idle = rest.iter().all(|d| matches!(d.inst, Inst::Const(_) | Inst::EndCatch(_)));
    if catch.inst != Inst::CatchExc || catch.result != Some(exc) || !idle {
        return None;
    }
    let own = |v: &Value| block.insts.iter().any(|d| d.result == Some(*v));
    match &block.unwind {
        Some(to) if to.args.iter().any(own) => None,
        unwind => Some(unwind.clone()),
    }
}

/// Numbers values in the order of the text.
fn renumber(code: &mut Code) {
    let mut numbers = vec![Value(u32::MAX); code.value_count];
    let mut names = Vec::new();
    let mut number = |value: &mut Value| {
        numbers[value.index()] = Value::new(names.len());
        names.push(code.value_names[value.index()].clone());
        *value = Value::new(names.len() - 1);
    };
    for block in &mut code.blocks {
        block.params.iter_mut().for_each(&mut number);
        block.insts.iter_mut().filter_map(|d| d.result.as_mut()).for_each(&mut number);
    }
    for block in &mut code.blocks {
        map_block(block, &mut |v| numbers[v.index()]);
    }
    code.value_count = names.len();
    code.value_names = names;
}
