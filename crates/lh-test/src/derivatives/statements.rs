//! Statements of random functions.

use super::programs::{ARRAYS, Around, COUNT, FLOATS, Generator, PAIR, pair};
use lh_ir::func::{Inst, LatchHint, Parallel, Term};
use lh_ir::{Block, Const, ExcId, SpecId, Ty, Value};
use lh_ops::runtime as rt;

/// How deep statements are nested.
const DEEPEST: usize = 3;

impl Generator {
    /// Some statements, of which there are fewer left afterwards.
    pub fn statements(&mut self, around: &Around) {
        let many = 1 + self.random.below(4);
        for _ in 0..many {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.random.below(if around.depth < DEEPEST { 26 } else { 16 }) {
                16 | 17 => self.conditional(*around),
                18 | 19 => self.counted(*around),
                20 | 21 => self.repeated(*around),
                22 => self.parallel(),
                23 | 24 if self.calls => self.attempt(*around),
                23..=25 => self.leave(),
                n => self.simple(n, around),
            }
        }
    }

    fn simple(&mut self, kind: usize, around: &Around) {
        let var = self.random.below(FLOATS);
        match kind {
            0..=3 => {
                let v = self.expression();
                self.set(var, v);
            }
            4 | 5 => {
                let (array, v) = (self.some_array(), self.expression());
                let p = self.element(array);
                self.effect(Inst::Store(p, v));
            }
            6 | 7 => self.update(),
            8 | 9 => _ = self.make(kind == 8),
            10 => self.now.swap(ARRAYS, ARRAYS + 1),
            11 => {
                let (a, b) = (self.now[var], self.expression());
                let both = self.inst(Inst::Pack(vec![a, b]), pair());
                self.set(PAIR, both);
            }
            12 => {
                let (i, seven) = (self.natural(), self.int(7));
                let i = self.op("srem", &[i, seven], Ty::int());
                self.set(COUNT, i);
            }
            13 if self.handler.is_some() => self.checked(var),
            14 if self.calls => {
                let array = self.some_array();
                let (a, b, n) = (self.now[var], self.now[0], self.counts[0]);
                let v = self.inst(Inst::Call(SpecId(1), vec![a, b, n, self.now[ARRAYS], array]), Ty::f64());
                self.set(var, v);
            }
            15 if around.of_loop.is_some() => self.jump_out(around),
            _ => self.view(),
        }
    }

    /// `x[i] = f(x[i])`, or a sum.
    fn update(&mut self) {
        let array = self.some_array();
        let p = self.element(array);
        let (old, v) = (self.inst(Inst::Load(p), Ty::f64()), self.expression());
        let new = match self.random.below(3) {
            0 => self.op("add", &[old, v], Ty::f64()),
            1 => self.op("sin", &[old], Ty::f64()),
            _ => {
                let product = self.op("mul", &[old, v], Ty::f64());
                self.op("tanh", &[product], Ty::f64())
            }
        };
        self.effect(Inst::Store(p, new));
    }

    /// New memory: zeros, or filled with elements of another array.
    fn make(&mut self, zeros: bool) -> Value {
        let (n, eight) = (self.counts[0], self.int(8));
        let bytes = self.op("mul", &[n, eight], Ty::int());
        let f = if zeros { &rt::lh_calloc } else { &rt::lh_alloc };
        let memory = self.inst(Inst::Runtime(f, vec![bytes]), Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]));
        let owner = self.inst(Inst::Field(memory, 0), Ty::meminfo());
        let data = self.inst(Inst::Field(memory, 1), Ty::ptr());
        let made = self.inst(Inst::ArrayMake { owner, data, shape: vec![n], strides: vec![eight] }, self.array);
        if !zeros {
            let none = self.int(0);
            let at = self.begin(none, n, None);
            let (own, v) = (self.address(made, at.counter), self.expression());
            self.effect(Inst::Store(own, v));
            self.again(&at);
        }
        let which = self.random.below(2);
        self.set(ARRAYS + which, made);
        made
    }

    /// A view of an array that leaves out elements, or has them in reverse order.
    fn view(&mut self) {
        let array = self.some_array();
        let owner = self.inst(Inst::ArrayOwner(array), Ty::meminfo());
        let (n, one) = (self.inst(Inst::ArrayShape(array, 0), Ty::int()), self.int(1));
        let is_any = self.array.as_array().is_some_and(|(_, _, layout, _)| layout == lh_ir::Layout::A);
        let stride = self.inst(Inst::ArrayStride(array, 0), Ty::int());
        let (first, n, stride) = if is_any {
            let (last, none) = (self.op("sub", &[n, one], Ty::int()), self.int(0));
            (last, n, self.op("sub", &[none, stride], Ty::int()))
        } else {
            // All but the first, where there are others.
            let cond = self.op("lt", &[one, n], Ty::bool());
            let none = self.int(0);
            let first = self.op("select", &[cond, one, none], Ty::int());
            (first, self.op("sub", &[n, first], Ty::int()), stride)
        };
        let data = self.address(array, first);
        let made = self.inst(Inst::ArrayMake { owner, data, shape: vec![n], strides: vec![stride] }, self.array);
        let which = self.random.below(2);
        self.set(ARRAYS + which, made);
    }

    /// Reads an element whose index may be out of range, which a handler catches.
    fn checked(&mut self, var: usize) {
        let (array, i) = (self.some_array(), self.natural());
        let wrap = self.random.once_in(2);
        let p = self.inst(Inst::ElemPtr { array, index: vec![i], wrap, check: true }, Ty::ptr());
        let v = self.inst(Inst::Load(p), Ty::f64());
        self.set(var, v);
    }

    /// Goes on here if a condition does not hold.
    fn unless(&mut self, out: &mut dyn FnMut(&mut Generator)) {
        let (then, rest) = (self.block(), self.block());
        let cond = self.condition();
        self.branch(cond, then, rest);
        self.go(then);
        out(self);
        self.go(rest);
    }
    /// Returns early.
    fn leave(&mut self) {
        self.unless(&mut |g| g.give_back());
    }
    /// `break` or `continue`.
    fn jump_out(&mut self, around: &Around) {
        let Some((again, exit)) = around.of_loop else { return };
        let to = if self.random.once_in(2) { again } else { exit };
        self.unless(&mut |g| g.end(Term::Jump(g.to(to))));
    }

    fn conditional(&mut self, around: Around) {
        let (then, els, join) = (self.block(), self.block(), self.block());
        let cond = self.condition();
        self.branch(cond, then, els);
        for side in [then, els] {
            self.go(side);
            self.statements(&around.deeper());
            self.end(Term::Jump(self.to(join)));
        }
        self.go(join);
    }

    /// Begins a loop over the numbers from `first` to `limit`, in its body.
    fn begin(&mut self, first: Value, limit: Value, parallel: Option<Parallel>) -> Loop {
        let header = self.block();
        let counter = self.func.new_param(header, Ty::int());
        let (body, latch, exit) = (self.block(), self.block(), self.block());
        let mut into = self.to(header);
        into.args.push(first);
        self.end(Term::Jump(into));
        self.go(header);
        self.func.blocks[header.index()].parallel = parallel;
        let more = self.op("lt", &[counter, limit], Ty::bool());
        self.branch(more, body, exit);
        self.go(body);
        self.counts.push(counter);
        Loop { header, latch, exit, counter }
    }
    /// Ends it.
    fn again(&mut self, at: &Loop) {
        self.end(Term::Jump(self.to(at.latch)));
        self.go(at.latch);
        let one = self.int(1);
        let next = self.op("add", &[at.counter, one], Ty::int());
        let mut back = self.to(at.header);
        back.args.push(next);
        self.end(Term::Jump(back));
        self.func.blocks[at.latch.index()].latch = LatchHint::default();
        self.counts.pop();
        self.go(at.exit);
    }

    /// `for`.
    fn counted(&mut self, around: Around) {
        let first = self.random.below(2) as i64;
        let (first, limit) = (self.int(first), self.count());
        let at = self.begin(first, limit, None);
        self.statements(&Around { of_loop: Some((at.latch, at.exit)), ..around }.deeper());
        self.again(&at);
    }

    /// `while`, which ends after some iterations, or earlier if the numbers want it.
    fn repeated(&mut self, around: Around) {
        let most = 1 + self.random.below(4) as i64;
        let (none, limit) = (self.int(0), self.int(most));
        let at = self.begin(none, limit, None);
        let rest = self.block();
        let cond = self.condition();
        self.branch(cond, at.exit, rest);
        self.go(rest);
        self.statements(&Around { of_loop: Some((at.latch, at.exit)), ..around }.deeper());
        self.again(&at);
    }

    /// A loop whose iterations write elements of their own, and add to a sum.
    fn parallel(&mut self) {
        // Elements of what is written are not read.
        let others = [self.now[ARRAYS], self.now[ARRAYS + 1]];
        let made = self.make(true);
        self.now[ARRAYS..ARRAYS + 2].copy_from_slice(&others);
        let sum = self.random.below(FLOATS);
        let (none, n) = (self.int(0), self.inst(Inst::ArrayShape(made, 0), Ty::int()));
        let at = self.begin(none, n, Some(Parallel::Asked));
        let (p, v) = (self.address(made, at.counter), self.expression());
        self.effect(Inst::Store(p, v));
        let term = self.op("sin", &[v], Ty::f64());
        let total = self.op("add", &[self.now[sum], term], Ty::f64());
        self.set(sum, total);
        self.again(&at);
        self.set(ARRAYS, made);
    }

    /// `try`.
    fn attempt(&mut self, around: Around) {
        let (body, handler, join) = (self.block(), self.block(), self.block());
        self.end(Term::Jump(self.to(body)));
        let outer = self.handler.replace(handler);
        self.go(body);
        self.statements(&around.deeper());
        let var = self.random.below(FLOATS);
        self.checked(var);
        self.statements(&around.deeper());
        if self.random.once_in(4) {
            self.unless(&mut |g| {
                let msg = g.inst(Inst::Const(Const::Str("no".into())), Ty::str());
                g.end(Term::Raise { exc: ExcId(3), args: vec![msg] });
            });
        }
        self.end(Term::Jump(self.to(join)));
        self.handler = outer;
        self.go(handler);
        self.inst(Inst::Runtime(&rt::lh_exc_take, vec![]), Ty::exc());
        self.statements(&around.deeper());
        self.end(Term::Jump(self.to(join)));
        self.go(join);
    }
}

struct Loop {
    header: Block,
    latch: Block,
    exit: Block,
    counter: Value,
}
