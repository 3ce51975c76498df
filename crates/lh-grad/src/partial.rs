//! The texts of derivatives in rows of operations ([`lh_ir::algebra::Grad::Partials`]), read and emitted.

use crate::builder::{Builder, row};
use hashbrown::HashMap;
use lh_ir::op::{Op, Sig};
use lh_ir::{Ty, Value, bug};
use std::sync::{Arc, LazyLock, Mutex};

/// An expression over an operation's operands, its result and the result's adjoint.
#[derive(Debug)]
enum Expr {
    Operand(usize),
    Result,
    Adjoint,
    Number(f64),
    Call(&'static Op, Vec<Expr>),
    /// Its operand, but 0 where the adjoint is 0 and it is NaN: the product of the adjoint and an infinite slope.
    Cut(Box<Expr>),
}

/// The values that an expression is about, and the type in which it is computed.
pub(crate) struct Terms<'a> {
    pub operands: &'a [Value],
    pub result: Value,
    pub adjoint: Value,
    pub ty: Ty,
    /// Whether the adjoint may be 0 because the result is not chosen, so that all products with it are cut.
    pub is_cut: bool,
}

/// Emits the value of a text.
pub(crate) fn emit(b: &mut Builder<'_>, text: &'static str, terms: &Terms<'_>) -> Value {
    static READ: LazyLock<Mutex<HashMap<&'static str, Arc<Expr>>>> = LazyLock::new(Mutex::default);
    let mut read = READ.lock().unwrap_or_else(|e| e.into_inner());
    let expr = read.entry(text).or_insert_with(|| Arc::new(parse(text))).clone();
    drop(read);
    let x = value(b, &expr, terms);
    if terms.is_cut && expr.has_slope() { cut(b, x, terms) } else { x }
}

impl Expr {
    /// Whether it is a product of the adjoint and something else, which is not cut yet.
    fn has_slope(&self) -> bool {
        match self {
            Expr::Adjoint | Expr::Cut(_) => false,
            Expr::Call(_, args) => args.len() != 1 || args[0].has_slope(),
            Expr::Operand(_) | Expr::Result | Expr::Number(_) => true,
        }
    }
}

/// 0 where the adjoint is 0 and a value is NaN.
fn cut(b: &mut Builder<'_>, x: Value, terms: &Terms<'_>) -> Value {
    let zero = b.float(0.0, terms.ty);
    let adjoint = b.cast(terms.adjoint, terms.ty);
    let is_zero = b.op(row("eq"), &[adjoint, zero], Ty::bool());
    // Elsewhere it stays a function of the adjoint, whose own derivative is the slope also where it is 0.
    let is_nan = b.op(row("ne"), &[x, x], Ty::bool());
    let is_cut = b.op(row("and"), &[is_zero, is_nan], Ty::bool());
    b.op(row("select"), &[is_cut, zero, x], terms.ty)
}

fn value(b: &mut Builder<'_>, e: &Expr, terms: &Terms<'_>) -> Value {
    match e {
        // Truth values and the integers of `ldexp` stay as they are.
        Expr::Operand(i) => {
            let v = terms.operands[*i];
            if b.func.ty(v).is_float() { b.cast(v, terms.ty) } else { v }
        }
        Expr::Result => b.cast(terms.result, terms.ty),
        Expr::Adjoint => b.cast(terms.adjoint, terms.ty),
        Expr::Number(x) => b.float(*x, terms.ty),
        Expr::Call(op, args) => {
            let args: Vec<Value> = args.iter().map(|a| value(b, a, terms)).collect();
            let ty = if matches!(op.sig, Sig::Pred(..)) { Ty::bool() } else { terms.ty };
            b.op(op, &args, ty)
        }
        Expr::Cut(x) => {
            let x = value(b, x, terms);
            cut(b, x, terms)
        }
    }
}

fn parse(text: &str) -> Expr {
    let mut p = Parser { text, rest: text };
    let e = p.sum();
    if !p.rest.is_empty() {
        p.fail();
    }
    e
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Parser<'_> {
    fn fail(&self) -> ! {
        bug!("the derivative `{}` is not read at `{}`", self.text, self.rest)
    }
    fn take(&mut self, c: char) -> bool {
        match self.rest.trim_start().strip_prefix(c) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }
    /// The longest beginning of such characters.
    fn word(&mut self, is: fn(char) -> bool) -> &str {
        let end = self.rest.find(|c| !is(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }
    fn sum(&mut self) -> Expr {
        let mut e = self.product();
        loop {
            if self.take('+') {
                e = Expr::Call(row("add"), vec![e, self.product()]);
            } else if self.take('-') {
                e = Expr::Call(row("sub"), vec![e, self.product()]);
            } else {
                return e;
            }
        }
    }
    fn product(&mut self) -> Expr {
        let mut e = self.factor();
        loop {
            if self.take('*') {
                e = Expr::Call(row("mul"), vec![e, self.factor()]);
            } else if self.take('/') {
                e = Expr::Call(row("fdiv"), vec![e, self.factor()]);
            } else {
                return e;
            }
        }
    }
    fn factor(&mut self) -> Expr {
        if self.take('-') {
            return Expr::Call(row("neg"), vec![self.factor()]);
        }
        if self.take('(') {
            let e = self.sum();
            if !self.take(')') {
                self.fail();
            }
            return e;
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let number = self.word(|c| c.is_ascii_digit() || c == '.').parse();
            return number.map_or_else(|_| self.fail(), Expr::Number);
        }
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
        if self.take('(') {
            let mut args = vec![self.sum()];
            while self.take(',') {
                args.push(self.sum());
            }
            if !self.take(')') {
                self.fail();
            }
            return match (&*name, args.pop()) {
                ("cut", Some(x)) => Expr::Cut(Box::new(x)),
                (_, last) => {
                    args.extend(last);
                    Expr::Call(row(&name), args)
                }
            };
        }
        match &*name {
            "a" => Expr::Operand(0),
            "b" => Expr::Operand(1),
            "c" => Expr::Operand(2),
            "r" => Expr::Result,
            "d" => Expr::Adjoint,
            _ => self.fail(),
        }
    }
}
