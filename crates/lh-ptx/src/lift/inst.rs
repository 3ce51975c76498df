//! Guards, control flow, and which file an instruction is in.

use super::build::FnLift;
use crate::ast::{Inst, Operand, PtxTy};
use crate::parse::Parsed;
use lh_ir::func::{Inst as Ir, Term};
use lh_ir::{Const, Ty};
use lh_ops::exceptions::RUNTIME_ERROR;

/// The words of an operation after its name.
pub(super) struct Words<'a>(pub(super) &'a [String]);

impl Words<'_> {
    pub(super) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|w| w == word)
    }
    /// The types among them.
    pub(super) fn types(&self) -> Vec<PtxTy> {
        self.0.iter().filter_map(|w| PtxTy::parse(w)).collect()
    }
}

impl FnLift<'_, '_> {
    /// An instruction that may depend on a truth value.
    pub(super) fn guarded(&mut self, inst: &Inst) -> Parsed<()> {
        let Some((register, on)) = &inst.guard else { return self.inst(inst) };
        let p = self.get(&Operand::Name(register.clone()), PtxTy::Pred)?;
        let next = self.func.new_block();
        if inst.op[0] == "bra" {
            let to = self.target(&inst.args)?;
            let (then, els) = if *on { (to, next) } else { (next, to) };
            self.branch(p, then, els);
        } else {
            let then = self.func.new_block();
            let (a, b) = if *on { (then, next) } else { (next, then) };
            self.branch(p, a, b);
            self.block = then;
            self.inst(inst)?;
            if !self.is_closed() {
                self.jump(next);
            }
        }
        self.block = next;
        Ok(())
    }

    fn target(&self, args: &[Operand]) -> Parsed<lh_ir::Block> {
        match args {
            [Operand::Name(label)] => self.label(label),
            _ => self.fail("a branch without a label"),
        }
    }

    /// `brx.idx %r, labels`: a number outside of the list has no meaning.
    fn choice(&mut self, args: &[Operand]) -> Parsed<()> {
        let [number, Operand::List(labels)] = args else { return self.fail("a branch without its labels") };
        let number = self.get(number, PtxTy::Unsigned(32))?;
        for (i, label) in labels.iter().enumerate() {
            let to = self.target(std::slice::from_ref(label))?;
            if i + 1 == labels.len() {
                self.jump(to);
                break;
            }
            let (this, next) = (self.int(i as i128, Ty::u32()), self.func.new_block());
            let is_this = self.op("eq", &[number, this]);
            self.branch(is_this, to, next);
            self.block = next;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> Parsed<()> {
        let words = Words(&inst.op[1..]);
        let args = &inst.args[..];
        if args.len() < least(&inst.op[0], &words) {
            return self.fail(format_args!("`{}` has too few operands", inst.op.join(".")));
        }
        match inst.op[0].as_str() {
            "bra" => {
                let to = self.target(args)?;
                self.jump(to);
                Ok(())
            }
            "brx" => self.choice(args),
            "ret" => {
                self.ret();
                Ok(())
            }
            "exit" => {
                self.exit();
                Ok(())
            }
            "trap" | "brkpt" => {
                let text = self.push(Ir::Const(Const::Str("the kernel has stopped itself (trap)".into())), Ty::str());
                self.terminate(Term::Raise { exc: RUNTIME_ERROR, args: vec![text] });
                Ok(())
            }
            "call" => self.call_function(args),
            "mov" | "ld" | "ldu" | "st" | "cvta" | "prefetch" | "prefetchu" | "discard" | "isspacep" => {
                self.memory(&inst.op[0], &words, args)
            }
            "cvt" => self.convert(&words, args),
            "bar" | "barrier" | "membar" | "fence" | "atom" | "red" | "shfl" | "vote" | "match" | "activemask"
            | "nanosleep" => {
                if super::converge::is_aligned_barrier(&inst.op) {
                    self.aligned.push(self.block);
                }
                self.threads(&inst.op[0], &words, args)
            }
            name => {
                if self.arithmetic(name, &words, args)? || self.bit_operation(name, &words, args)? {
                    return Ok(());
                }
                self.fail(format_args!("`{}` is not supported", inst.op.join(".")))
            }
        }
    }
}

/// How many operands an instruction has at least.
fn least(name: &str, words: &Words<'_>) -> usize {
    match name {
        "ret" | "exit" | "trap" | "brkpt" | "membar" | "fence" => 0,
        "bar" | "barrier" if words.has("red") => 3,
        "shfl" | "bfi" | "lop3" => 5,
        "mad" | "madc" | "fma" | "selp" | "slct" | "sad" | "mad24" | "bfe" | "prmt" | "shf" => 4,
        "add" | "sub" | "mul" | "div" | "rem" | "min" | "max" | "copysign" | "addc" | "subc" | "mul24" | "setp"
        | "set" | "and" | "or" | "xor" | "shl" | "shr" | "vote" | "match" | "atom" => 3,
        "bra" | "call" | "bar" | "barrier" | "activemask" | "nanosleep" | "prefetch" | "prefetchu" | "discard" => 1,
        _ => 2,
    }
}
