//! Random functions full of counted values, for trying out reference counting.
//!
//! A few variables of fixed types; every block has all of them as parameters, and `dce` prunes that to SSA form as
//! inference makes it.

use crate::random::Random;
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::{Block, Const, ExcId, Function, Layout, Span, SpecId, Ty, Value};

/// A random function of about that many statements.
pub fn function(seed: u64, size: usize) -> Function {
    crate::library::declare_classes();
    let array = Ty::array(Ty::f64(), 1, Layout::C);
    let rows = Ty::list(Ty::list(Ty::float()));
    let vars = vec![
        array,
        array,
        rows,
        rows,
        Ty::list(Ty::float()),
        Ty::tuple(vec![array, rows]),
        Ty::optional(array),
        Ty::int(),
    ];
    let mut func =
        Function { name: format!("random{seed}"), ret: Some(Ty::tuple(vec![array, rows])), ..Function::default() };
    let entry = func.new_block();
    let params: Vec<Value> = vars.iter().map(|t| func.new_value(*t)).collect();
    func.blocks[0].params.clone_from(&params);
    let mut g = Generator { func, random: Random::new(seed), vars, now: params, at: entry, handler: None, left: size };
    g.statements(0);
    let (a, b) = (g.now[0], g.now[2]);
    let out = g.inst(Inst::Pack(vec![a, b]), Ty::tuple(vec![array, rows]));
    g.func.blocks[g.at.index()].term = Some(Term::Return(out));
    g.func
}

struct Generator {
    func: Function,
    random: Random,
    vars: Vec<Ty>,
    /// The variables' values.
    now: Vec<Value>,
    at: Block,
    handler: Option<Block>,
    left: usize,
}

impl Generator {
    fn inst(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.func.new_value(ty);
        self.func.blocks[self.at.index()].insts.push(InstData { result: Some(v), inst, span: Span::default() });
        v
    }
    fn effect(&mut self, inst: Inst) {
        self.func.blocks[self.at.index()].insts.push(InstData { result: None, inst, span: Span::default() });
    }
    fn block(&mut self) -> Block {
        let b = self.func.new_block();
        let params: Vec<Value> = self.vars.clone().into_iter().map(|t| self.func.new_value(t)).collect();
        self.func.blocks[b.index()].params = params;
        b
    }
    fn to(&self, block: Block) -> Target {
        Target { block, args: self.now.clone() }
    }
    fn go(&mut self, b: Block) {
        self.at = b;
        self.now.clone_from(&self.func.blocks[b.index()].params);
        let args = self.now.clone();
        self.func.blocks[b.index()].unwind = self.handler.map(|block| Target { block, args });
    }
    fn end(&mut self, term: Term) {
        self.func.blocks[self.at.index()].term = Some(term);
    }
    /// A store to a variable inside `try` ends a block.
    fn set(&mut self, var: usize, v: Value) {
        self.now[var] = v;
        if self.handler.is_some() {
            let next = self.block();
            self.end(Term::Jump(self.to(next)));
            self.go(next);
        }
    }
    fn flip(&mut self) -> Value {
        self.inst(Inst::Const(Const::Bool(true)), Ty::bool())
    }

    fn statements(&mut self, depth: usize) {
        let many = 1 + self.random.below(5);
        for _ in 0..many {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.random.below(if depth < 4 { 14 } else { 10 }) {
                10 => self.conditional(depth),
                11 | 12 => self.repetition(depth),
                13 => self.attempt(depth),
                n => self.simple(n),
            }
        }
    }
    fn conditional(&mut self, depth: usize) {
        let (then, els, join) = (self.block(), self.block(), self.block());
        let cond = self.flip();
        self.end(Term::Branch { cond, then: self.to(then), els: self.to(els) });
        self.go(then);
        self.statements(depth + 1);
        self.end(Term::Jump(self.to(join)));
        self.go(els);
        self.statements(depth + 1);
        self.end(Term::Jump(self.to(join)));
        self.go(join);
    }
    fn repetition(&mut self, depth: usize) {
        let (header, body, exit) = (self.block(), self.block(), self.block());
        self.end(Term::Jump(self.to(header)));
        self.go(header);
        let cond = self.flip();
        self.end(Term::Branch { cond, then: self.to(body), els: self.to(exit) });
        self.go(body);
        self.statements(depth + 1);
        let cond = self.flip();
        let term = Term::Branch { cond, then: self.to(header), els: self.to(exit) };
        self.end(term);
        self.go(exit);
    }
    fn attempt(&mut self, depth: usize) {
        let (body, handler, join) = (self.block(), self.block(), self.block());
        self.end(Term::Jump(self.to(body)));
        let outer = self.handler.replace(handler);
        self.go(body);
        self.statements(depth + 1);
        let raises = self.random.once_in(4);
        if raises {
            let msg = self.inst(Inst::Const(Const::Str("no".into())), Ty::str());
            self.end(Term::Raise { exc: ExcId(3), args: vec![msg] });
        } else {
            self.end(Term::Jump(self.to(join)));
        }
        self.handler = outer;
        self.go(handler);
        self.statements(depth + 1);
        if self.random.once_in(3) {
            self.end(Term::Propagate);
        } else {
            self.end(Term::Jump(self.to(join)));
        }
        self.go(join);
    }
    fn item(&mut self, list: Value, ty: Ty) -> Value {
        let data = self.inst(Inst::ItemsData(list), Ty::ptr());
        self.inst(Inst::Load(data), ty)
    }
    fn simple(&mut self, kind: usize) {
        let (array, rows, row) = (self.vars[0], self.vars[2], self.vars[4]);
        let (x, y) = (self.random.below(2), 2 + self.random.below(2));
        match kind {
            0 => {
                let v = self.inst(Inst::Call(SpecId(0), vec![self.now[x], self.now[y]]), array);
                self.set(1 - x, v);
            }
            1 => self.now.swap(0, 1),
            2 => {
                let v = self.item(self.now[y], row);
                self.set(4, v);
            }
            3 => {
                let v = self.item(self.now[y], row);
                let len = self.inst(Inst::ItemsLen(v), Ty::int());
                self.set(7, len);
            }
            4 => {
                let data = self.inst(Inst::ItemsData(self.now[y]), Ty::ptr());
                self.effect(Inst::Store(data, self.now[4]));
            }
            5 => {
                let v = self.inst(Inst::Pack(vec![self.now[x], self.now[y]]), self.vars[5]);
                self.set(5, v);
            }
            6 => {
                let a = self.inst(Inst::Field(self.now[5], 0), array);
                let b = self.inst(Inst::Field(self.now[5], 1), rows);
                self.now[y] = b;
                self.set(x, a);
            }
            7 => self.view(x),
            8 => {
                let v = self.inst(Inst::Some(self.now[x]), self.vars[6]);
                self.now[6] = v;
                let u = self.inst(Inst::Unwrap(self.now[6]), array);
                self.set(x, u);
            }
            _ => {
                let n = self.now[7];
                let l = self.inst(Inst::New(n), rows);
                let data = self.inst(Inst::ItemsData(l), Ty::ptr());
                self.effect(Inst::Store(data, self.now[4]));
                let taken = self.inst(Inst::Take(data), row);
                let v = self.inst(Inst::Call(SpecId(1), vec![taken]), row);
                self.now[4] = v;
                self.set(y, l);
            }
        }
    }
    fn view(&mut self, x: usize) {
        let a = self.now[x];
        let owner = self.inst(Inst::ArrayOwner(a), Ty::meminfo());
        let data = self.inst(Inst::ArrayData(a), Ty::ptr());
        let n = self.now[7];
        let v = self.inst(Inst::ArrayMake { owner, data, shape: vec![n], strides: vec![n] }, self.vars[0]);
        self.set(1 - x, v);
    }
}
