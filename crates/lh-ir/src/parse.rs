//! The inverse of [`crate::print`]. Rows and run-time functions are found by name through [`Tables`], since the tables
//! stand above this crate.

mod class_types;
pub(crate) mod lex;

use crate::class::Class;
use crate::consts::Const;
use crate::entity::{Block, ExcId, FuncId, ObjId, Slot, SpecId, Value};
use crate::func::{
    Extern, Foreign, ForeignAbi, Function, Inst, InstData, LatchHint, LoopHint, MapExpr, ParFor, Parallel, Pragma,
    Target, Term,
};
use crate::meaning::Meaning;
use crate::op::Op;
use crate::runtime::RuntimeFn;
use crate::span::Span;
use crate::types::{Buffer, GeneratorTy, InstanceOf, Layout, Literal, NamedTuple, Ty, TyKind};
use lex::{Lexer, Token};
use std::fmt;

pub use class_types::{Field, UserField};

/// The tables in which names are looked up.
#[derive(Clone, Copy)]
pub struct Tables {
    /// The row of a name.
    pub row: fn(&str) -> Option<&'static Op>,
    /// The run-time function of a name.
    pub runtime: fn(&str) -> Option<&'static RuntimeFn>,
}

/// Text that is not a function.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// The fault.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The parsed value, or the first error.
pub type Parsed<T> = Result<T, ParseError>;

/// Functions of a text; `;` starts a comment.
pub fn parse(text: &str, tables: Tables) -> Parsed<Vec<Function>> {
    let mut p = Parser::new(text, tables)?;
    let mut out = Vec::new();
    while !p.lex.at_end() {
        out.push(p.function()?);
    }
    Ok(out)
}

/// Types of a text, between commas.
pub fn parse_types(text: &str, tables: Tables) -> Parsed<Vec<Ty>> {
    types(&mut Parser::new(text, tables)?)
}

/// Types in the declaration of a class, where names may stand for types.
pub(crate) fn parse_class_types(text: &str, names: &[(&str, Ty)]) -> Parsed<Vec<Ty>> {
    let mut p = Parser::new(text, Tables { row: |_| None, runtime: |_| None })?;
    p.names = names.iter().map(|(n, t)| ((*n).to_owned(), *t)).collect();
    types(&mut p)
}

fn types(p: &mut Parser) -> Parsed<Vec<Ty>> {
    let mut out = Vec::new();
    while !p.lex.at_end() {
        if !out.is_empty() {
            p.punct(',')?;
        }
        out.push(p.ty()?);
    }
    Ok(out)
}

struct Parser {
    lex: Lexer,
    tables: Tables,
    func: Function,
    /// Names that stand for types.
    names: Vec<(String, Ty)>,
}

impl Parser {
    fn new(text: &str, tables: Tables) -> Parsed<Parser> {
        Ok(Parser { lex: Lexer::new(text)?, tables, func: Function::default(), names: Vec::new() })
    }
    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.lex.fail(message)
    }
    fn word(&mut self) -> Parsed<String> {
        self.lex.word()
    }
    fn punct(&mut self, c: char) -> Parsed<()> {
        self.lex.punct(c)
    }
    fn eat(&mut self, c: char) -> bool {
        self.lex.eat(c)
    }
    fn eat_word(&mut self, w: &str) -> bool {
        self.lex.eat_word(w)
    }
    /// Items between parentheses.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.punct('(')?;
        let mut out = Vec::new();
        while !self.eat(')') {
            if !out.is_empty() {
                self.punct(',')?;
            }
            out.push(item(self)?);
        }
        Ok(out)
    }
    fn int<T: TryFrom<i128>>(&mut self) -> Parsed<T> {
        let text = self.lex.number()?;
        match text.parse::<i128>().ok().and_then(|i| T::try_from(i).ok()) {
            Some(i) => Ok(i),
            None => self.fail(format!("`{text}` is not an integer in range")),
        }
    }
    fn entity(&mut self, prefix: &str) -> Parsed<u32> {
        let w = self.word()?;
        match w.strip_prefix(prefix).and_then(|n| n.parse().ok()) {
            Some(n) => Ok(n),
            None => self.fail(format!("`{w}` is not {prefix} and a number")),
        }
    }
    fn value(&mut self) -> Parsed<Value> {
        let v = Value(self.entity("v")?);
        if v.index() >= self.func.values.len() {
            self.func.values.resize(v.index() + 1, Ty::never());
        }
        Ok(v)
    }
    fn typed_value(&mut self) -> Parsed<Value> {
        let v = self.value()?;
        self.punct(':')?;
        self.func.values[v.index()] = self.ty()?;
        Ok(v)
    }
    /// Values separated by commas, to the end of the line or a `:` or `@`.
    fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut out = Vec::new();
        while self.lex.is_entity("v") {
            out.push(self.value()?);
            if !self.eat(',') {
                break;
            }
        }
        Ok(out)
    }

    fn function(&mut self) -> Parsed<Function> {
        self.func = Function::default();
        if !self.eat_word("function") {
            return self.fail("expected `function`");
        }
        self.func.name = self.lex.name()?;
        let params = self.list(Parser::typed_value)?;
        if self.lex.eat_arrow() {
            self.func.ret = Some(self.ty()?);
        }
        self.options()?;
        if self.eat_word("source") {
            self.func.qualname = self.lex.string()?;
            self.punct(',')?;
            self.func.file = self.lex.string()?;
            self.punct(',')?;
            self.func.first_line = self.int()?;
        }
        while self.lex.is_entity("slot") {
            self.entity("slot")?;
            self.punct(':')?;
            let ty = self.ty()?;
            self.func.slots.push(ty);
        }
        while !self.eat('}') {
            if self.lex.is_entity("body") {
                self.body()?;
            } else {
                self.block()?;
            }
        }
        if self.func.blocks.first().is_some_and(|b| b.params != params) {
            return self.fail("the entry block has other parameters than the function");
        }
        Ok(std::mem::take(&mut self.func))
    }
    /// The body of a parallel loop.
    fn body(&mut self) -> Parsed<()> {
        let number = self.entity("body")? as usize;
        if number != self.func.bodies.len() {
            return self.fail(format!("body{number} is out of order"));
        }
        let outer = std::mem::take(&mut self.func);
        let body = self.function()?;
        self.func = outer;
        self.func.bodies.push(body);
        Ok(())
    }
    fn options(&mut self) -> Parsed<()> {
        while !self.eat('{') {
            let w = self.word()?;
            match w.as_str() {
                "fastmath" => {
                    self.punct('=')?;
                    self.func.options.fastmath = self.int()?;
                }
                "parallel" => {
                    self.punct('=')?;
                    self.func.options.parallel = self.int()?;
                }
                "no_boundscheck" => self.func.options.boundscheck = false,
                "numpy_errors" => self.func.options.numpy_errors = true,
                "overflow_check" => self.func.options.overflow_check = true,
                "numba" => self.func.options.semantics = crate::func::Semantics::Numba,
                "debug" => self.func.options.debug = true,
                "device" => self.func.options.device = crate::func::Device::Function,
                "kernel" => self.func.options.device = crate::func::Device::Kernel,
                "gpu" => self.func.options.device = crate::func::Device::Gpu,
                "library" => self.func.is_library = true,
                "means" => {
                    self.punct('=')?;
                    let word = self.word()?;
                    let Some(meaning) = Meaning::of_word(&word) else {
                        return self.fail(format!("no meaning `{word}`"));
                    };
                    self.func.meaning = Some(meaning);
                }
                _ => return self.fail(format!("unknown option `{w}`")),
            }
        }
        Ok(())
    }
    fn block(&mut self) -> Parsed<()> {
        let number = self.entity("block")? as usize;
        if number != self.func.blocks.len() {
            return self.fail(format!("block{number} is out of order"));
        }
        self.func.new_block();
        let params = self.list(Parser::typed_value)?;
        let cold = self.eat_word("cold");
        let hint = self.hint(LoopHint::WORDS);
        let pragma = Pragma { unroll: self.number_of("unroll_by")?, lanes: self.number_of("lanes")? };
        let poll_free = self.eat_word("poll_free");
        let parallel = if self.eat_word("parallel") {
            Some(Parallel::Asked)
        } else {
            let known = self.eat_word("independent").then_some(Parallel::Known);
            known.or_else(|| self.eat_word("derived").then_some(Parallel::Derived))
        };
        let latch = self.hint(LatchHint::WORDS);
        let unwind = if self.eat_word("unwind") { Some(self.target()?) } else { None };
        self.punct(':')?;
        let data = &mut self.func.blocks[number];
        (data.params, data.cold, data.parallel, data.unwind) = (params, cold, parallel, unwind);
        (data.hint, data.pragma, data.poll_free, data.latch) = (hint, pragma, poll_free, latch);
        loop {
            if let Some(term) = self.term()? {
                let span = self.span()?;
                let data = &mut self.func.blocks[number];
                (data.term, data.term_span) = (Some(term), span);
                return Ok(());
            }
            let inst = self.inst_data()?;
            self.func.blocks[number].insts.push(inst);
        }
    }
    /// The number that follows a word, if the word is there.
    fn number_of(&mut self, word: &str) -> Parsed<u8> {
        if !self.eat_word(word) {
            return Ok(0);
        }
        self.punct('=')?;
        self.int()
    }
    fn hint<T: Copy + Default>(&mut self, words: &[(&str, T)]) -> T {
        words.iter().find(|(word, _)| self.eat_word(word)).map_or(T::default(), |(_, hint)| *hint)
    }
    fn target(&mut self) -> Parsed<Target> {
        let block = Block(self.entity("block")?);
        Ok(Target { block, args: self.list(Parser::value)? })
    }
    fn span(&mut self) -> Parsed<Span> {
        if !self.eat('@') {
            return Ok(Span::default());
        }
        let line = self.int()?;
        self.punct(':')?;
        let col = self.int()?;
        self.punct('-')?;
        let end_line = self.int()?;
        self.punct(':')?;
        Ok(Span { line, end_line, col, end_col: self.int()? })
    }
    fn term(&mut self) -> Parsed<Option<Term>> {
        Ok(Some(if self.eat_word("jump") {
            Term::Jump(self.target()?)
        } else if self.eat_word("branch") {
            let cond = self.value()?;
            self.punct(',')?;
            let then = self.target()?;
            self.punct(',')?;
            Term::Branch { cond, then, els: self.target()? }
        } else if self.eat_word("return") {
            Term::Return(self.value()?)
        } else if self.eat_word("raise") {
            let exc = ExcId(self.entity("exc")?);
            Term::Raise { exc, args: self.list(Parser::value)? }
        } else if self.eat_word("propagate") {
            Term::Propagate
        } else if self.eat_word("unreachable") {
            Term::Unreachable
        } else {
            return Ok(None);
        }))
    }
    fn inst_data(&mut self) -> Parsed<InstData> {
        let result = if self.lex.is_entity("v") { Some(self.value()?) } else { None };
        if result.is_some() {
            self.punct('=')?;
        }
        let mut inst = self.inst()?;
        if let Some(r) = result {
            self.punct(':')?;
            let ty = self.ty()?;
            self.func.values[r.index()] = ty;
            if let Inst::Const(c) = &mut inst {
                retype(c, ty);
            }
        }
        Ok(InstData { result, inst, span: self.span()? })
    }
    fn inst(&mut self) -> Parsed<Inst> {
        let name = self.word()?;
        let one: Option<fn(Value) -> Inst> = match name.as_str() {
            "cast" => Some(Inst::Cast),
            "some" => Some(Inst::Some),
            "is_some" => Some(Inst::IsSome),
            "unwrap" => Some(Inst::Unwrap),
            "array_owner" => Some(Inst::ArrayOwner),
            "array_data" => Some(Inst::ArrayData),
            "load" => Some(Inst::Load),
            "take" => Some(Inst::Take),
            "new" => Some(Inst::New),
            "items_len" => Some(Inst::ItemsLen),
            "items_data" => Some(Inst::ItemsData),
            "incref" => Some(Inst::IncRef),
            "decref" => Some(Inst::DecRef),
            _ => None,
        };
        match one {
            Some(make) => Ok(make(self.value()?)),
            None => self.wide_inst(&name),
        }
    }
    fn par_for(&mut self) -> Parsed<Inst> {
        let body = self.entity("body")?;
        Ok(Inst::ParFor(ParFor { body }, self.list(Parser::value)?))
    }
    fn external(&mut self) -> Parsed<Extern> {
        Ok(match &*self.word()? {
            "array" => Extern::Array(ObjId(self.entity("obj")?)),
            "class" => Extern::Class(ExcId(self.entity("exc")?)),
            "foreign" => Extern::Foreign(ObjId(self.entity("obj")?)),
            "function" => Extern::Function(ObjId(self.entity("obj")?)),
            "type" => Extern::Type(self.ty()?.number() as u32),
            other => return self.fail(format!("nothing extern is `{other}`")),
        })
    }
    fn foreign(&mut self) -> Parsed<Inst> {
        let abi = match &*self.word()? {
            "c" => ForeignAbi::C,
            "table" => ForeignAbi::Table,
            other => return self.fail(format!("nothing is called as `{other}`")),
        };
        match &*self.word()? {
            "writes" => Ok(Inst::Foreign(Foreign { abi, writes: self.int()? }, self.list(Parser::value)?)),
            other => self.fail(format!("`{other}` is not `writes`")),
        }
    }
    fn wide_inst(&mut self, name: &str) -> Parsed<Inst> {
        Ok(match name {
            "const" => Inst::Const(self.constant()?),
            "zero" => Inst::Zero,
            "extern" => Inst::Extern(self.external()?),
            "pack" => Inst::Pack(self.list(Parser::value)?),
            "field" => self.value_and_int(Inst::Field)?,
            "field_ptr" => self.value_and_int(Inst::FieldPtr)?,
            "array_shape" => self.value_and_int(Inst::ArrayShape)?,
            "array_stride" => self.value_and_int(Inst::ArrayStride)?,
            "par_for" => self.par_for()?,
            "foreign" => self.foreign()?,
            "call" => Inst::Call(SpecId(self.entity("spec")?), self.list(Parser::value)?),
            "runtime" => {
                let name = self.word()?;
                match (self.tables.runtime)(&name) {
                    Some(f) => Inst::Runtime(f, self.list(Parser::value)?),
                    None => return self.fail(format!("no run-time function `{name}`")),
                }
            }
            "slot_get" => Inst::SlotGet(Slot(self.entity("slot")?)),
            "slot_set" => {
                let slot = Slot(self.entity("slot")?);
                self.punct(',')?;
                Inst::SlotSet(slot, self.value()?)
            }
            "array_make" => {
                let owner = self.value()?;
                self.punct(',')?;
                let data = self.value()?;
                self.punct(',')?;
                let shape = self.list(Parser::value)?;
                self.punct(',')?;
                Inst::ArrayMake { owner, data, shape, strides: self.list(Parser::value)? }
            }
            "elem_ptr" => {
                let (check, wrap) = (self.eat_word("check"), self.eat_word("wrap"));
                let array = self.value()?;
                self.punct('[')?;
                let index = self.values()?;
                self.punct(']')?;
                Inst::ElemPtr { array, index, wrap, check }
            }
            "store" => self.two_values(Inst::Store)?,
            "ptr_add" => self.two_values(Inst::PtrAdd)?,
            "map" => {
                let args = self.list(Parser::value)?;
                Inst::Map(Box::new(self.expr()?), args)
            }
            "map_into" => {
                let args = self.list(Parser::value)?;
                Inst::MapInto(Box::new(self.expr()?), args)
            }
            _ => match (self.tables.row)(name) {
                Some(op) => Inst::Op(op, self.values()?),
                None => return self.fail(format!("no operation `{name}`")),
            },
        })
    }
    fn value_and_int(&mut self, make: fn(Value, u32) -> Inst) -> Parsed<Inst> {
        let v = self.value()?;
        self.punct(',')?;
        Ok(make(v, self.int()?))
    }
    fn two_values(&mut self, make: fn(Value, Value) -> Inst) -> Parsed<Inst> {
        let a = self.value()?;
        self.punct(',')?;
        Ok(make(a, self.value()?))
    }
    fn expr(&mut self) -> Parsed<MapExpr> {
        if self.eat('$') {
            let i = self.int()?;
            self.punct(':')?;
            return Ok(MapExpr::Arg(i, self.ty()?));
        }
        if self.eat_word("const") {
            let mut c = self.constant()?;
            self.punct(':')?;
            let ty = self.ty()?;
            retype(&mut c, ty);
            return Ok(MapExpr::Const(c));
        }
        if self.lex.is_entity("spec") {
            let s = SpecId(self.entity("spec")?);
            let args = self.list(Parser::expr)?;
            self.punct(':')?;
            return Ok(MapExpr::Call(s, self.ty()?, args));
        }
        let name = self.word()?;
        let mut args = self.list(Parser::expr)?;
        self.punct(':')?;
        let ty = self.ty()?;
        if name == "cast" && args.len() == 1 {
            return Ok(MapExpr::Cast(ty, Box::new(args.remove(0))));
        }
        match (self.tables.row)(&name) {
            Some(op) => Ok(MapExpr::Op(op, ty, args)),
            None => self.fail(format!("no operation `{name}`")),
        }
    }

    /// A literal, with `as type` or of a type that follows and is filled in by the caller.
    fn constant(&mut self) -> Parsed<Const> {
        let mut c = if matches!(self.lex.peek(), Some(Token::Str(_))) {
            Const::Str(self.lex.string()?)
        } else if matches!(self.lex.peek(), Some(Token::Punct('('))) {
            let parts = self.list(Parser::float)?;
            let [re, im] = parts[..] else { return self.fail("a complex number has two parts") };
            Const::Complex(re, im, Ty::never())
        } else if self.eat_word("none") {
            Const::None
        } else if self.eat_word("true") {
            Const::Bool(true)
        } else if self.eat_word("false") {
            Const::Bool(false)
        } else if self.lex.is_integer() {
            Const::Int(self.int()?, Ty::never())
        } else {
            Const::Float(self.float()?, Ty::never())
        };
        if self.eat_word("as") {
            let ty = self.ty()?;
            retype(&mut c, ty);
        }
        Ok(c)
    }
    fn float(&mut self) -> Parsed<f64> {
        if self.eat_word("nan") {
            if !self.lex.eat_hex_mark() {
                return Ok(f64::NAN);
            }
            let bits = self.word()?;
            return match u64::from_str_radix(bits.trim_start_matches("x"), 16) {
                Ok(b) => Ok(f64::from_bits(b)),
                Err(_) => self.fail("bits of a NaN expected"),
            };
        }
        if self.eat_word("inf") {
            return Ok(f64::INFINITY);
        }
        let text = self.lex.number()?;
        match text.parse() {
            Ok(x) => Ok(x),
            Err(_) => self.fail(format!("`{text}` is not a number")),
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table: one arm for each type")]
    fn ty(&mut self) -> Parsed<Ty> {
        if self.lex.is_entity("func") {
            return Ok(Ty::new(TyKind::Func(FuncId(self.entity("func")?))));
        }
        if self.lex.is_entity("obj") {
            return Ok(Ty::new(TyKind::Obj(ObjId(self.entity("obj")?))));
        }
        let mut name = self.word()?;
        if let Some((_, ty)) = self.names.iter().find(|(n, _)| *n == name) {
            return Ok(*ty);
        }
        if let Some(ty) = simple_type(&name) {
            return Ok(ty);
        }
        while self.eat('.') {
            name = format!("{name}.{}", self.word()?);
        }
        if name == "namedtuple" {
            return self.namedtuple();
        }
        if name == "tuple" {
            return Ok(Ty::tuple(self.list(Parser::ty)?));
        }
        self.punct('(')?;
        let kind = match name.as_str() {
            "array" => return self.array_type(),
            "optional" => TyKind::Optional(self.ty()?),
            "maybe_unbound" => TyKind::MaybeUnbound(self.ty()?),
            "range" => TyKind::Range(self.ty()?),
            "dtype" => TyKind::DType(self.ty()?),
            "iter" => TyKind::Iter(self.ty()?),
            "slice" => {
                let start = self.ty()?;
                self.punct(',')?;
                let stop = self.ty()?;
                self.punct(',')?;
                TyKind::Slice([start, stop, self.ty()?])
            }
            "closure" => {
                let func = FuncId(self.entity("func")?);
                self.punct(',')?;
                let captures = self.list(Parser::ty)?;
                self.punct(',')?;
                let defaults = self.list(Parser::ty)?;
                self.punct(',')?;
                let named = self.list(|p| p.lex.string())?;
                TyKind::Closure { func, captures, defaults, named }
            }
            "literal" if self.eat_word("true") => TyKind::Literal(Literal::Bool(true)),
            "literal" if self.eat_word("false") => TyKind::Literal(Literal::Bool(false)),
            "literal" => TyKind::Literal(match self.lex.string() {
                Ok(s) => Literal::Str(s),
                Err(_) => Literal::Int(self.int()?),
            }),
            "generator" => {
                let mut ty = || {
                    let t = self.ty()?;
                    self.punct(',').map(|()| t)
                };
                let (item, sent, ret) = (ty()?, ty()?, ty()?);
                let func = FuncId(self.entity("func")?);
                self.punct(',')?;
                TyKind::Generator(GeneratorTy { item, sent, ret, func, next: SpecId(self.entity("spec")?) })
            }
            "pointer" => return Ok(Ty::pointer(self.ty()?)),
            "choice" => TyKind::Choice(self.list(Parser::ty)?),
            "function" => {
                let of = self.ty()?;
                self.punct(',')?;
                let ret = self.ty()?;
                self.punct(',')?;
                TyKind::Instance { of, class: InstanceOf::Function { args: self.list(Parser::ty)?, ret } }
            }
            "enum" | "int_enum" | "str_enum" | "float_enum" => {
                let label = self.lex.string()?;
                self.punct(',')?;
                let class = ObjId(self.entity("obj")?);
                self.punct(',')?;
                let class = InstanceOf::Enum { name: label, class, values: name != "enum" };
                TyKind::Instance { of: self.ty()?, class }
            }
            _ if Buffer::ALL.iter().any(|b| b.name() == name) => {
                let class = Buffer::ALL.into_iter().find(|b| b.name() == name).expect("just found");
                TyKind::Instance { of: self.ty()?, class: InstanceOf::Buffer(class) }
            }
            "method" => {
                let recv = self.ty()?;
                self.punct(',')?;
                TyKind::BoundMethod { recv, name: self.lex.string()? }
            }
            _ => return self.class_type(&name),
        };
        self.punct(')')?;
        Ok(Ty::new(kind))
    }
    /// An instance of a declared class, perhaps with an unknown type of items; parses the part between parentheses.
    fn class_type(&mut self, name: &str) -> Parsed<Ty> {
        let pending = name.strip_prefix("pending_");
        let constant = name.strip_prefix("constant_");
        let Some(class) = Class::of_text(pending.or(constant).unwrap_or(name)) else {
            return self.fail(format!("no type `{name}`"));
        };
        if pending.is_some() {
            let site = self.int()?;
            self.punct(')')?;
            return Ok(Ty::new(TyKind::Pending(site, class)));
        }
        let mut args = Vec::new();
        while !self.eat(')') {
            if !args.is_empty() {
                self.punct(',')?;
            }
            args.push(self.ty()?);
        }
        if args.len() != class.declaration().parameters.len() {
            return self.fail(format!("`{name}` is of {} types", class.declaration().parameters.len()));
        }
        Ok(class.of(args, constant.is_some()))
    }
    fn array_type(&mut self) -> Parsed<Ty> {
        let dtype = self.ty()?;
        self.punct(',')?;
        let ndim = self.int()?;
        // As people write it, too: `1d`.
        self.eat_word("d");
        self.punct(',')?;
        let layout = match self.word()?.as_str() {
            "C" => Layout::C,
            "F" => Layout::F,
            "A" => Layout::A,
            other => return self.fail(format!("no layout `{other}`")),
        };
        let readonly = self.eat(',') && self.eat_word("readonly");
        self.punct(')')?;
        Ok(Ty::new(TyKind::Array { dtype, ndim, layout, readonly }))
    }
    fn namedtuple(&mut self) -> Parsed<Ty> {
        self.punct('(')?;
        let name = self.lex.string()?;
        self.punct(',')?;
        let class = ObjId(self.entity("obj")?);
        let (mut fields, mut elems) = (Vec::new(), Vec::new());
        self.punct(',')?;
        while !self.eat(')') {
            if !fields.is_empty() {
                self.punct(',')?;
            }
            fields.push(self.lex.string()?);
            self.punct(':')?;
            elems.push(self.ty()?);
        }
        Ok(Ty::new(TyKind::Tuple { elems, name: Some(NamedTuple { name, class, fields, meaning: None }) }))
    }
}

fn retype(c: &mut Const, ty: Ty) {
    match c {
        Const::Int(_, t) | Const::Float(_, t) | Const::Complex(_, _, t) if t.is_never() => *t = ty,
        Const::Int(..) | Const::Float(..) | Const::Complex(..) | Const::None | Const::Bool(_) | Const::Str(_) => {}
    }
}

fn simple_type(name: &str) -> Option<Ty> {
    Some(match name {
        "never" => Ty::never(),
        "none" => Ty::none(),
        "bool" => Ty::bool(),
        "int" => Ty::int(),
        "int8" => Ty::i8(),
        "int16" => Ty::i16(),
        "int32" => Ty::i32(),
        "int64" => Ty::i64(),
        "uint8" => Ty::u8(),
        "uint16" => Ty::u16(),
        "uint32" => Ty::u32(),
        "uint64" => Ty::u64(),
        "float" => Ty::float(),
        "float16" => Ty::f16(),
        "bfloat16" => Ty::bf16(),
        "float32" => Ty::f32(),
        "float64" => Ty::f64(),
        "complex" => Ty::complex(),
        "complex64" => Ty::c64(),
        "complex128" => Ty::c128(),
        "str" => Ty::str(),
        "unbound" => Ty::new(TyKind::Unbound),
        "exception" => Ty::exc(),
        "ptr" => Ty::ptr(),
        "pyobject" => Ty::pyobject(),
        "mem" => Ty::meminfo(),
        "ellipsis" => Ty::ellipsis(),
        _ => return None,
    })
}
