//! A PTX module as it is written.

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PtxTy {
    /// A truth value.
    Pred,
    /// Bits, as many.
    Bits(u32),
    /// An unsigned integer.
    Unsigned(u32),
    /// A signed integer.
    Signed(u32),
    /// A float.
    Float(u32),
}

impl PtxTy {
    /// The type that a suffix such as `u32` means.
    pub(crate) fn parse(s: &str) -> Option<PtxTy> {
        if s == "pred" {
            return Some(PtxTy::Pred);
        }
        let (kind, bits) = s.split_at_checked(1)?;
        let bits: u32 = bits.parse().ok().filter(|b| [8, 16, 32, 64].contains(b))?;
        Some(match kind {
            "b" => PtxTy::Bits(bits),
            "u" => PtxTy::Unsigned(bits),
            "s" => PtxTy::Signed(bits),
            "f" if bits >= 16 => PtxTy::Float(bits),
            _ => return None,
        })
    }
    /// Width; a truth value has 8 in memory.
    pub(crate) fn bits(self) -> u32 {
        match self {
            PtxTy::Pred => 8,
            PtxTy::Bits(b) | PtxTy::Unsigned(b) | PtxTy::Signed(b) | PtxTy::Float(b) => b,
        }
    }
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, PtxTy::Signed(_))
    }
    pub(crate) fn is_float(self) -> bool {
        matches!(self, PtxTy::Float(_))
    }
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Const,
    Shared,
    Local,
    Param,
}

impl Space {
    pub(crate) fn parse(s: &str) -> Option<Space> {
        Some(match s {
            "global" => Space::Global,
            "const" => Space::Const,
            "shared" | "shared::cta" => Space::Shared,
            "local" => Space::Local,
            "param" | "param::entry" | "param::func" => Space::Param,
            _ => return None,
        })
    }
}

/// A variable, or a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) space: Space,
    pub(crate) name: String,
    pub(crate) align: usize,
    /// Size in bytes; 0 if it is not known here.
    pub(crate) size: usize,
    /// First bytes; the rest are zero.
    pub(crate) init: Vec<u8>,
    /// Places in `init` where the address of another variable belongs.
    pub(crate) addresses: Vec<(usize, String)>,
}

/// A function.
#[derive(Clone, Debug)]
pub(crate) struct Func {
    pub(crate) name: String,
    pub(crate) is_entry: bool,
    pub(crate) rets: Vec<Var>,
    pub(crate) params: Vec<Var>,
    /// `None` for a declaration.
    pub(crate) body: Option<Vec<Stmt>>,
}

/// A statement of a function.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    /// Line in the text.
    pub(crate) line: u32,
    pub(crate) kind: StmtKind,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    /// Registers by their names.
    Regs(PtxTy, Vec<String>),
    Var(Var),
    Label(String),
    Inst(Inst),
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    /// Register that must be set, or unset, for the instruction to be executed.
    pub(crate) guard: Option<(String, bool)>,
    /// The words of the operation: `ld`, `param`, `b64`.
    pub(crate) op: Vec<String>,
    pub(crate) args: Vec<Operand>,
}

impl Inst {
    /// Gives the names in it to a function, which may change them.
    pub(crate) fn each_name(&mut self, f: &mut impl FnMut(&mut String)) {
        if let Some((register, _)) = &mut self.guard {
            f(register);
        }
        self.args.iter_mut().for_each(|a| a.each_name(f));
    }
}

impl Operand {
    fn each_name(&mut self, f: &mut impl FnMut(&mut String)) {
        match self {
            Operand::Name(n) | Operand::Not(n) | Operand::Offset(n, _) | Operand::Memory(Some(n), _) => f(n),
            Operand::Pair(a, b) => [a, b].into_iter().for_each(f),
            Operand::List(items) => items.iter_mut().for_each(|a| a.each_name(f)),
            Operand::Int(_) | Operand::Float(..) | Operand::Memory(None, _) => {}
        }
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// A register, a special register, a variable, a function or a label.
    Name(String),
    /// The contrary of a truth value.
    Not(String),
    /// An integer.
    Int(i128),
    /// Bits of a float of as many bits.
    Float(u64, u32),
    /// Address of a variable with an offset.
    Offset(String, i64),
    /// `[base + offset]`; no base is an absolute address.
    Memory(Option<String>, i64),
    /// `{a, b}`, or `(a, b)` of a call.
    List(Vec<Operand>),
    /// `a|b`.
    Pair(String, String),
}

/// A module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Module {
    pub(crate) vars: Vec<Var>,
    pub(crate) funcs: Vec<Func>,
}
