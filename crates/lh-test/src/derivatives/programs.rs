//! Random functions of numbers and arrays that have a derivative nearly everywhere.
//!
//! Functions of a program take the same parameters: two floats, a count of 1 to 5 and two arrays. A few variables of
//! fixed types; every block has all of them as parameters, and the passes before differentiation prune that to SSA
//! form. Counters of loops are used by dominance.

use crate::random::Random;
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::{Block, Const, Function, Layout, Span, Ty, Value, bug};

/// Numbers of variables: floats, then two arrays, a pair of floats, and an integer that is never negative.
pub(super) const FLOATS: usize = 4;
pub(super) const ARRAYS: usize = FLOATS;
pub(super) const PAIR: usize = FLOATS + 2;
pub(super) const COUNT: usize = FLOATS + 3;

/// Constants of random expressions.
const NUMBERS: [f64; 6] = [0.3, -0.7, 1.1, 0.05, -1.6, 0.9];

/// A program: its first function, and one that it may call.
pub fn program(seed: u64, size: usize) -> Vec<Function> {
    let mut random = Random::new(seed);
    let layout = if random.once_in(3) { Layout::A } else { Layout::C };
    let gives_pair = random.once_in(2);
    let main = Generator::new(random, format!("random{seed}"), layout, gives_pair, size).function(true);
    let callee = Random::new(seed ^ 0x5eed_0000_0000);
    let callee = Generator::new(callee, format!("callee{seed}"), layout, false, 1 + size / 4).function(false);
    vec![main, callee]
}

/// A pair of floats.
pub(super) fn pair() -> Ty {
    Ty::tuple(vec![Ty::f64(), Ty::f64()])
}

/// The surroundings of a statement.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    pub depth: usize,
    /// The blocks to which `continue` and `break` go.
    pub of_loop: Option<(Block, Block)>,
}

impl Around {
    pub fn deeper(self) -> Around {
        Around { depth: self.depth + 1, ..self }
    }
}

pub(super) struct Generator {
    pub func: Function,
    pub random: Random,
    vars: Vec<Ty>,
    /// The variables' values.
    pub now: Vec<Value>,
    at: Block,
    pub handler: Option<Block>,
    /// Counts that are visible: of loops around, and the parameter.
    pub counts: Vec<Value>,
    pub left: usize,
    pub array: Ty,
    pub calls: bool,
    gives_pair: bool,
}

impl Generator {
    fn new(random: Random, name: String, layout: Layout, gives_pair: bool, size: usize) -> Generator {
        let array = Ty::array(Ty::f64(), 1, layout);
        let mut vars = vec![Ty::f64(); FLOATS];
        vars.extend([array, array, pair(), Ty::int()]);
        let ret = if gives_pair { pair() } else { Ty::f64() };
        let func = Function { qualname: name.clone(), name, ret: Some(ret), ..Function::default() };
        let (now, counts) = (Vec::new(), Vec::new());
        let (at, handler, left) = (Block(0), None, size);
        Generator { func, random, vars, now, at, handler, counts, left, array, calls: false, gives_pair }
    }

    fn function(mut self, calls: bool) -> Function {
        self.calls = calls;
        self.at = self.func.new_block();
        let tys = [Ty::f64(), Ty::f64(), Ty::int(), self.array, self.array];
        let given: Vec<Value> = tys.into_iter().map(|t| self.func.new_param(self.at, t)).collect();
        self.counts.push(given[2]);
        let product = self.op("mul", &[given[0], given[1]], Ty::f64());
        let constant = self.number();
        let both = self.inst(Inst::Pack(vec![given[0], constant]), pair());
        self.now = vec![given[0], given[1], product, constant, given[3], given[4], both, given[2]];
        let first = self.block();
        self.end(Term::Jump(self.to(first)));
        self.go(first);
        while self.left > 0 {
            self.statements(&Around::default());
        }
        self.give_back();
        self.func
    }

    pub fn inst(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.func.new_value(ty);
        self.func.blocks[self.at.index()].insts.push(InstData { result: Some(v), inst, span: Span::default() });
        v
    }
    pub fn effect(&mut self, inst: Inst) {
        self.func.blocks[self.at.index()].insts.push(InstData { result: None, inst, span: Span::default() });
    }
    pub fn op(&mut self, name: &str, args: &[Value], ty: Ty) -> Value {
        let row = lh_ops::row(name).unwrap_or_else(|| bug!("no row `{name}`"));
        self.inst(Inst::Op(row, args.to_vec()), ty)
    }
    pub fn int(&mut self, n: i64) -> Value {
        self.inst(Inst::Const(Const::Int(n.into(), Ty::int())), Ty::int())
    }
    pub fn float(&mut self, x: f64) -> Value {
        self.inst(Inst::Const(Const::Float(x, Ty::f64())), Ty::f64())
    }
    fn number(&mut self) -> Value {
        let x = NUMBERS[self.random.below(NUMBERS.len())];
        self.float(x)
    }
    /// A block with the variables as parameters.
    pub fn block(&mut self) -> Block {
        let b = self.func.new_block();
        self.vars.clone().into_iter().for_each(|t| _ = self.func.new_param(b, t));
        b
    }
    pub fn to(&self, block: Block) -> Target {
        Target { block, args: self.now.clone() }
    }
    /// Goes on in a block that has the variables as its first parameters.
    pub fn go(&mut self, b: Block) {
        self.at = b;
        self.now = self.func.blocks[b.index()].params[..self.vars.len()].to_vec();
        let args = self.now.clone();
        self.func.blocks[b.index()].unwind = self.handler.map(|block| Target { block, args });
    }
    pub fn end(&mut self, term: Term) {
        self.func.blocks[self.at.index()].term = Some(term);
    }
    /// Branches to two blocks with the variables.
    pub fn branch(&mut self, cond: Value, then: Block, els: Block) {
        let term = Term::Branch { cond, then: self.to(then), els: self.to(els) };
        self.end(term);
    }
    /// A store to a variable where there is a handler ends a block.
    pub fn set(&mut self, var: usize, v: Value) {
        self.now[var] = v;
        if self.handler.is_some() {
            let next = self.block();
            self.end(Term::Jump(self.to(next)));
            self.go(next);
        }
    }
    /// Returns from here.
    pub fn give_back(&mut self) {
        let result = if self.gives_pair {
            let (a, b) = (self.now[0], self.inst(Inst::Field(self.now[PAIR], 1), Ty::f64()));
            let b = self.op("add", &[b, self.now[1]], Ty::f64());
            self.inst(Inst::Pack(vec![a, b]), pair())
        } else {
            let sum = self.op("add", &[self.now[0], self.now[1]], Ty::f64());
            self.op("sub", &[sum, self.now[2]], Ty::f64())
        };
        self.end(Term::Return(result));
    }

    /// A count that is visible, or a small constant.
    pub fn count(&mut self) -> Value {
        match self.random.below(self.counts.len() + 2) {
            0 => self.now[COUNT],
            1 => {
                let n = self.random.below(4) as i64;
                self.int(n)
            }
            i => self.counts[i - 2],
        }
    }
    /// A number from 0 on.
    pub fn natural(&mut self) -> Value {
        let (a, b) = (self.count(), self.count());
        match self.random.below(3) {
            0 => a,
            1 => self.op("add", &[a, b], Ty::int()),
            _ => {
                let two = self.int(2);
                let twice = self.op("mul", &[a, two], Ty::int());
                self.op("add", &[twice, b], Ty::int())
            }
        }
    }
    /// The address of a random element of an array.
    pub fn element(&mut self, array: Value) -> Value {
        let (n, i) = (self.inst(Inst::ArrayShape(array, 0), Ty::int()), self.natural());
        let i = self.op("srem", &[i, n], Ty::int());
        self.address(array, i)
    }
    pub fn address(&mut self, array: Value, i: Value) -> Value {
        self.inst(Inst::ElemPtr { array, index: vec![i], wrap: false, check: false }, Ty::ptr())
    }
    /// One of the two arrays.
    pub fn some_array(&mut self) -> Value {
        self.now[ARRAYS + self.random.below(2)]
    }
    /// A float that is there already, or in memory.
    fn leaf(&mut self) -> Value {
        match self.random.below(8) {
            0 => self.number(),
            1 | 2 => {
                let array = self.some_array();
                let p = self.element(array);
                self.inst(Inst::Load(p), Ty::f64())
            }
            3 => {
                let part = self.random.below(2) as u32;
                self.inst(Inst::Field(self.now[PAIR], part), Ty::f64())
            }
            i => self.now[i - 4],
        }
    }
    /// A float computed from others, of the same magnitude.
    pub fn expression(&mut self) -> Value {
        let (a, b, f) = (self.leaf(), self.leaf(), Ty::f64());
        let half = self.number();
        match self.random.below(13) {
            0 => {
                let sum = self.op("add", &[a, b], f);
                self.op("mul", &[sum, half], f)
            }
            1 => self.op("sub", &[a, b], f),
            2 => {
                let s = self.op("sin", &[a], f);
                self.op("mul", &[s, b], f)
            }
            3 => self.op("cos", &[a], f),
            4 => {
                let product = self.op("mul", &[a, b], f);
                self.op("tanh", &[product], f)
            }
            5 => {
                let s = self.op("sin", &[a], f);
                let e = self.op("exp", &[s], f);
                self.op("mul", &[e, half], f)
            }
            6 => self.positive(a, "sqrt"),
            7 => {
                let below = self.positive(b, "sqrt");
                self.op("fdiv", &[a, below], f)
            }
            8 => {
                let (cond, b) = (self.condition(), self.op("mul", &[b, half], f));
                self.op("select", &[cond, a, b], f)
            }
            9 => {
                let r = self.op("fma", &[a, b, half], f);
                self.op("atan", &[r], f)
            }
            10 => self.positive(a, "log"),
            11 => {
                let name = ["minimum", "maximum"][self.random.below(2)];
                self.op(name, &[a, b], f)
            }
            _ => {
                let r = self.op("neg", &[a], f);
                self.op("mul", &[r, half], f)
            }
        }
    }
    /// A function of what is positive.
    fn positive(&mut self, a: Value, name: &str) -> Value {
        let (square, more) = (self.op("mul", &[a, a], Ty::f64()), self.float(1.25));
        let sum = self.op("add", &[square, more], Ty::f64());
        self.op(name, &[sum], Ty::f64())
    }
    /// A condition on counts or on floats.
    pub fn condition(&mut self) -> Value {
        match self.random.below(3) {
            0 => {
                let (i, two, none) = (self.natural(), self.int(2), self.int(0));
                let rest = self.op("srem", &[i, two], Ty::int());
                self.op("eq", &[rest, none], Ty::bool())
            }
            1 => {
                let (a, b) = (self.count(), self.count());
                self.op("lt", &[a, b], Ty::bool())
            }
            _ => {
                let (a, limit) = (self.leaf(), self.number());
                self.op("lt", &[a, limit], Ty::bool())
            }
        }
    }
}
