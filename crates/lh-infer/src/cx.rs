//! The state of inference of one function: its untyped code, the types found so far, and the typed function under
//! construction.

use crate::convert::Pending;
use crate::shape::Shape;
use crate::val::Val;
use crate::world::{ArgTy, Offsets, World};
use hashbrown::{HashMap, HashSet};
use lh_ir::class::Class;
use lh_ir::diag::Result;
use lh_ir::func::{self, Function, Options, Term};
use lh_ir::untyped::{self, Code};
use lh_ir::{Block, FuncId, Meaning, Span, SpecId, Ty, Value};
use std::sync::Arc;

/// An edge between untyped blocks, to be completed when its target's parameter types are known.
pub(crate) struct Edge {
    /// Typed block at whose end the jump goes.
    pub from: Block,
    /// Untyped block that it leaves.
    pub src: Block,
    /// Values for the target's parameters.
    pub vals: Vec<Val>,
    /// Place, for messages.
    pub span: Span,
}

/// State of a `for` loop kept in extra parameters of its header.
pub(crate) struct LoopState {
    /// First block of the body: what it dominates carries the next state.
    pub body: Block,
    /// Header: what it dominates otherwise carries the current state.
    pub header: Block,
    /// Start, current and next value of each part.
    pub parts: Vec<(Val, Value, Value)>,
}

/// How a generator is left.
#[derive(Clone)]
pub(crate) enum Leave {
    /// With an item.
    With(Val),
    /// Without one, as at its end, but it is resumed when it is asked again.
    Paused,
    /// Not at all, but it is resumed there after an exception.
    Marked,
}

/// A `yield`: where it ends the function, what it gives, and where the function goes on.
pub(crate) struct Yield {
    pub from: Block,
    pub leave: Leave,
    pub span: Span,
    pub resume: Block,
    /// Where what is thrown there is raised.
    pub thrown: Block,
    /// Whether the program handles that: then the generator is closed when it dies.
    pub is_handled: bool,
}

/// The answer to a callee's request for the value of an argument, `literally`.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Wishes {
    /// The callee is typed for the value.
    Granted,
    /// The overload that chose the callee is asked again, since it may choose another one by the value.
    Reported,
    /// One was made, for this parameter.
    Made(usize),
}

/// One inference in progress.
pub struct Infer<'w> {
    pub(crate) world: &'w mut dyn World,
    pub(crate) id: FuncId,
    pub(crate) code: Arc<Code>,
    pub(crate) options: Options,
    pub(crate) is_library: bool,
    pub(crate) meaning: Option<Meaning>,
    pub(crate) args: Vec<ArgTy>,
    /// Types that the decorator gives to variables.
    pub(crate) locals: Vec<(String, Ty)>,
    pub(crate) shape: Shape,
    pub(crate) sticky: HashMap<(Block, usize), Ty>,
    pub(crate) pending: Pending,
    pub(crate) sites: HashMap<Value, u32>,
    /// Sites of arguments whose type is undecided, by their places.
    pub(crate) argument_sites: HashMap<usize, u32>,
    /// Sites of containers inside of arguments, by the places of these and in order.
    pub(crate) inner_sites: HashMap<usize, Vec<u32>>,
    /// Whether callees are asked what they store in containers whose type is undecided.
    pub(crate) asks_callees: bool,
    /// Of a generator, the type of what is sent to it.
    pub(crate) sent: Ty,
    /// Whether nothing outside of the function says it.
    pub(crate) sent_is_open: bool,
    /// Number of the function that goes on with the generator.
    pub(crate) next: Option<SpecId>,
    /// The type that this function sends to the generators that a function makes.
    pub(crate) sends: HashMap<FuncId, Ty>,
    // One sweep:
    pub(crate) out: Function,
    pub(crate) vals: Vec<Option<Val>>,
    pub(crate) cur: Block,
    pub(crate) here: Block,
    pub(crate) span: Span,
    pub(crate) dead: bool,
    /// Untyped result of the instruction being typed.
    pub(crate) result: Option<Value>,
    pub(crate) unwind: Option<func::Target>,
    pub(crate) edges: HashMap<Block, Vec<Edge>>,
    pub(crate) entered: HashMap<Block, (Block, Vec<Val>)>,
    pub(crate) returns: Vec<(Block, Val, Span)>,
    pub(crate) yields: Vec<Yield>,
    /// Functions with `yield` that were called.
    pub(crate) makes: HashSet<FuncId>,
    /// Whether a function was called that is not the library's.
    pub(crate) calls_users: bool,
    /// Whether a call has no result only because that of a function which is being typed is unknown.
    pub(crate) is_open: bool,
    /// Whether something is iterated over whose items are of an unknown type.
    pub(crate) unknown_items: bool,
    /// Of a generator, whether it yields nothing although what it would yield was unknown at first.
    pub(crate) yields_nothing: bool,
    pub(crate) loops: HashMap<Block, LoopState>,
    pub(crate) captures: Vec<Val>,
    pub(crate) restart: Option<(Block, u32)>,
    /// Optional values known to be present, or `None`, in the blocks that a block dominates.
    pub(crate) refined: HashMap<Value, Vec<(Block, Val)>>,
    /// List displays that only serve to make tuples.
    pub(crate) tuple_lists: HashSet<Value>,
    /// List displays that are tuples, since their only use is an argument whose number of items must be known.
    pub(crate) sized_lists: HashSet<Value>,
    /// Dictionary displays that only serve to give arguments by keyword.
    pub(crate) keyword_maps: HashSet<Value>,
    /// Items of list displays that become tuples.
    pub(crate) builders: HashMap<Value, Vec<Val>>,
    /// The display that made a typed value.
    pub(crate) made_at: HashMap<Value, u32>,
    /// Keys and values of displays of constants.
    pub(crate) initial: HashMap<Value, (Vec<Val>, Vec<Val>)>,
    /// Whether a callee may ask for a literal type, which an overload is then asked with; and the parameter it is for.
    pub(crate) wishes: Wishes,
    /// Why overloads have nothing for the operands of the instruction, if they say it.
    pub(crate) refusals: Vec<String>,
    /// Memory that lives as long as the function's frame: owner, address, bytes.
    pub(crate) frames: Vec<(Value, Value, u64)>,
    /// Of a display of lists made here: the displays that made those.
    pub(crate) rows_at: HashMap<u32, Vec<u32>>,
    /// Indices into a stencil's arrays.
    pub(crate) offsets: Vec<Offsets>,
}

impl<'w> Infer<'w> {
    pub(crate) fn new(world: &'w mut dyn World, id: FuncId, args: &[ArgTy], options: Options) -> Result<Infer<'w>> {
        let code = world.code(id)?;
        let info = world.info(id);
        let last = args.last().and_then(ArgTy::as_sent);
        let (args, sent) = (&args[..args.len() - usize::from(last.is_some())], last);
        let is_said = sent.filter(|t| !t.is_never()).or(info.sent);
        let shape = Shape::of(&code);
        Ok(Infer {
            world,
            id,
            shape,
            code,
            options,
            is_library: info.is_library,
            meaning: info.meaning,
            args: args.to_vec(),
            locals: info.locals,
            sticky: HashMap::new(),
            pending: Pending::default(),
            sites: HashMap::new(),
            argument_sites: HashMap::new(),
            inner_sites: HashMap::new(),
            asks_callees: false,
            sent: is_said.or(sent).unwrap_or(Ty::none()),
            sent_is_open: is_said.is_none(),
            next: None,
            sends: HashMap::new(),
            out: Function::default(),
            vals: Vec::new(),
            cur: Block(0),
            here: Block(0),
            span: Span::default(),
            dead: false,
            result: None,
            unwind: None,
            edges: HashMap::new(),
            entered: HashMap::new(),
            returns: Vec::new(),
            yields: Vec::new(),
            makes: HashSet::new(),
            calls_users: false,
            is_open: false,
            unknown_items: false,
            yields_nothing: false,
            loops: HashMap::new(),
            captures: Vec::new(),
            restart: None,
            refined: HashMap::new(),
            tuple_lists: HashSet::new(),
            sized_lists: HashSet::new(),
            keyword_maps: HashSet::new(),
            builders: HashMap::new(),
            made_at: HashMap::new(),
            initial: HashMap::new(),
            wishes: Wishes::Granted,
            refusals: Vec::new(),
            frames: Vec::new(),
            rows_at: HashMap::new(),
            offsets: Vec::new(),
        })
    }

    /// Site number of a display, the same in every sweep.
    pub(crate) fn display_site(&mut self, result: Value, class: Class) -> u32 {
        if let Some(s) = self.sites.get(&result) {
            return *s;
        }
        let s = self.pending.add(class);
        self.sites.insert(result, s);
        s
    }

    /// The parameter of this function that a value is, if it is one.
    pub(crate) fn parameter(&self, x: &Val) -> Option<usize> {
        let (_, params) = self.entered.get(&Block(0))?;
        params.iter().position(|p| p.v.is_some() && p.v == x.v)
    }

    /// The parameter of this function that a value is, or is a part of.
    pub(crate) fn parameter_of_part(&self, x: &Val) -> Option<usize> {
        self.parameter(x).or_else(|| {
            let insts = self.out.blocks.iter().flat_map(|b| &b.insts);
            let whole = insts.filter(|i| i.result.is_some() && i.result == x.v).find_map(|i| match i.inst {
                func::Inst::Field(whole, _) => Some(whole),
                _ => None,
            })?;
            self.parameter(&Val::new(self.out.values[whole.index()], whole))
        })
    }

    /// A parameter of a typed block, or the value a type already says.
    pub(crate) fn param(&mut self, block: Block, ty: Ty) -> Val {
        if ty.flatten().is_empty() {
            return Val::of_type(ty);
        }
        let v = self.out.new_param(block, ty);
        Val::new(ty, v)
    }

    /// Nothing after this point of the block is reached.
    pub(crate) fn stop(&mut self) {
        if !self.dead {
            self.set_term(Term::Unreachable);
            self.dead = true;
        }
    }

    /// The abstract value of an untyped one.
    pub(crate) fn val(&self, v: Value) -> Val {
        if let Some(list) = self.refined.get(&v) {
            if let Some((_, val)) = list.iter().rev().find(|(b, _)| self.shape.dominates(*b, self.here)) {
                return val.clone();
            }
        }
        self.vals[v.index()].clone().unwrap_or_else(|| Val::of_type(Ty::never()))
    }

    /// Records an edge from the current typed block.
    pub(crate) fn edge_to(&mut self, t: &untyped::Target, first: Option<Val>) {
        let vals = first.into_iter().chain(t.args.iter().map(|v| self.val(*v))).collect();
        let edge = Edge { from: self.cur, src: self.here, vals, span: self.span };
        self.edges.entry(t.block).or_default().push(edge);
    }

    /// Ends the current typed block.
    pub(crate) fn set_term(&mut self, term: Term) {
        let b = &mut self.out.blocks[self.cur.index()];
        b.term = Some(term);
        b.term_span = self.span;
    }

    /// Ends the current block with a branch to two new ones.
    pub(crate) fn branch(&mut self, cond: &Val) -> (Block, Block) {
        let c = self.value(cond);
        let (x, y) = (self.new_block(), self.new_block());
        let to = |block| func::Target { block, args: vec![] };
        self.set_term(Term::Branch { cond: c, then: to(x), els: to(y) });
        (x, y)
    }

    /// A new typed block of the untyped block being visited.
    pub(crate) fn new_block(&mut self) -> Block {
        self.out.new_block()
    }

    /// The typed block where an untyped block starts.
    pub(crate) fn typed_start(&self, b: Block) -> Block {
        self.entered[&b].0
    }
}
