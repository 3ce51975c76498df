//! The inverse of [`crate::print_untyped`]: the text of untyped code, short or with places, as code.
//!
//! The text is read line by line: a function is a header, then blocks of one instruction a line, then the functions
//! inside it, each behind `inner` and its path. `;` starts a comment. The result is as good as its text: whether values
//! are defined where they are used is for `lh_frontend::verify` to say.

mod line;

use crate::entity::{Block, Value};
use crate::parse::Parsed;
use crate::print_untyped::is_plain_char;
use crate::untyped::{BinOp, BlockData, CmpOp, Code, Inst, InstData, Param, ParamKind, PyConst, Target, Term, UnOp};
use line::Line;
use std::sync::Arc;

/// How deep functions, and constants, may be nested.
const MAX_NESTING: usize = 64;
/// How many values a function may have: a text cannot ask for more memory than it is worth.
const MAX_VALUES: u32 = 1 << 20;

/// Functions of a text.
///
/// # Errors
/// The first line that says nothing.
pub fn parse(text: &str) -> Parsed<Vec<Code>> {
    let lines = text.lines().enumerate().map(|(i, line)| Line { rest: line.trim(), line: i + 1 });
    let lines = lines.filter(|l| !l.rest.is_empty() && !l.rest.starts_with(';')).collect();
    let mut parser = Parser { lines, at: 0 };
    let mut out = Vec::new();
    while let Some(header) = parser.next() {
        out.push(parser.function(header, "", 0)?);
    }
    Ok(out)
}

/// A constant as it is printed.
///
/// # Errors
/// Why it is none.
pub fn parse_constant(text: &str) -> Parsed<PyConst> {
    let mut cursor = Line { rest: text.trim(), line: 1 };
    let constant = cursor.constant(0)?;
    cursor.end()?;
    Ok(constant)
}

struct Parser<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<Line<'a>> {
        let line = self.lines.get(self.at).cloned();
        self.at += 1;
        line
    }

    /// The next line behind a word that it starts with.
    fn next_if(&mut self, word: &str) -> Option<Line<'a>> {
        let mut line = self.lines.get(self.at).cloned()?;
        let found = line.eat(word);
        self.at += usize::from(found);
        found.then_some(line)
    }

    fn function(&mut self, mut header: Line<'a>, path: &str, depth: usize) -> Parsed<Code> {
        if depth > MAX_NESTING {
            return header.fail(format!("functions are nested deeper than {MAX_NESTING}"));
        }
        let mut code = header.header()?;
        while let Some(line) = self.next_if("block") {
            self.block(line, &mut code)?;
        }
        while let Some(line) = self.next_if(&format!("inner {path}{}: ", code.inner.len())) {
            let path = format!("{path}{}.", code.inner.len());
            code.inner.push(Arc::new(self.function(line, &path, depth + 1)?));
        }
        Ok(code)
    }

    fn block(&mut self, mut line: Line<'a>, code: &mut Code) -> Parsed<()> {
        let number: usize = line.number()?;
        if number != code.blocks.len() {
            return line.fail(format!("block{number} is out of order"));
        }
        let mut block = BlockData::default();
        if line.eat("(") {
            block.params = line.list(")", |l| l.named_value(code))?;
        }
        line.expect(":")?;
        if line.eat_word("except") {
            block.unwind = Some(line.target(code)?);
        }
        line.end()?;
        loop {
            let Some(mut line) = self.next() else { return line.fail(format!("block{number} has no end")) };
            if let Some(term) = line.term(code)? {
                (block.term, block.term_span) = (term, line.end_with_place()?);
                code.blocks.push(block);
                return Ok(());
            }
            let result = line.result(code)?;
            let inst = line.inst(code)?;
            block.insts.push(InstData { result, inst, span: line.end_with_place()? });
        }
    }
}

/// Values, and what is made of them.
impl Line<'_> {
    /// `v` and a number, if they are next.
    fn try_value(&mut self, code: &mut Code) -> Parsed<Option<Value>> {
        let from = self.clone();
        if !self.eat("v") || !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            *self = from;
            return Ok(None);
        }
        let number: u32 = self.number()?;
        if self.rest.starts_with(is_plain_char) {
            *self = from;
            return Ok(None);
        }
        if number >= MAX_VALUES {
            return from.fail(format!("a function has at most {MAX_VALUES} values"));
        }
        code.value_count = code.value_count.max(number as usize + 1);
        code.value_names.resize(code.value_count, None);
        Ok(Some(Value(number)))
    }

    fn value(&mut self, code: &mut Code) -> Parsed<Value> {
        match self.try_value(code)? {
            Some(value) => Ok(value),
            None => self.expected("a value"),
        }
    }

    /// A value where it is defined: with the name of its variable, if it has one.
    fn named_value(&mut self, code: &mut Code) -> Parsed<Value> {
        let value = self.value(code)?;
        if self.rest.trim_start().starts_with(|c: char| c == '"' || is_plain_char(c)) {
            code.value_names[value.index()] = Some(self.name()?.into());
        }
        Ok(value)
    }

    /// `v1 x =`, if the line starts so.
    fn result(&mut self, code: &mut Code) -> Parsed<Option<Value>> {
        let mut ahead = self.clone();
        let Some(value) = ahead.try_value(code)? else { return Ok(None) };
        let name = ahead.name().ok();
        if !ahead.eat("=") || ahead.rest.starts_with('=') {
            return Ok(None);
        }
        *self = ahead;
        code.value_names[value.index()] = name.map(Into::into);
        Ok(Some(value))
    }

    fn values(&mut self, start: &str, end: &str, code: &mut Code) -> Parsed<Vec<Value>> {
        self.expect(start)?;
        self.list(end, |l| l.value(code))
    }

    /// Values, each behind its text.
    fn operands<const N: usize>(&mut self, before: [&str; N], code: &mut Code) -> Parsed<[Value; N]> {
        let mut out = [Value(0); N];
        for (text, v) in before.iter().zip(&mut out) {
            self.expect(text)?;
            *v = self.value(code)?;
        }
        Ok(out)
    }

    fn target(&mut self, code: &mut Code) -> Parsed<Target> {
        self.expect("block")?;
        let block = Block(self.number()?);
        let args = if self.rest.starts_with('(') { self.values("(", ")", code)? } else { Vec::new() };
        Ok(Target { block, args })
    }

    /// Two targets behind a colon.
    fn targets(&mut self, code: &mut Code) -> Parsed<(Target, Target)> {
        self.expect(":")?;
        let first = self.target(code)?;
        self.expect(",")?;
        Ok((first, self.target(code)?))
    }

    /// `name=value`
    fn named(&mut self, code: &mut Code) -> Parsed<(String, Value)> {
        let name = self.name()?;
        self.expect("=")?;
        Ok((name, self.value(code)?))
    }
}

/// Functions and terminators.
impl Line<'_> {
    fn header(&mut self) -> Parsed<Code> {
        let is_generator = self.eat_word("generator");
        if !is_generator && !self.eat_word("def") {
            return self.expected("`def` or `generator`");
        }
        let name = self.name()?;
        self.expect("(")?;
        let (mut params, mut posonly) = (Vec::new(), 0);
        while !self.eat(")") {
            if !params.is_empty() {
                self.expect(",")?;
            }
            if !params.is_empty() && self.eat("/") {
                posonly = params.len();
            } else {
                params.push(self.param()?);
            }
        }
        let freevars = if self.eat_word("captures") { self.items(Self::name)? } else { Vec::new() };
        let (mut qualname, mut file, mut first_line) = (name.clone(), String::new(), 0);
        if self.eat_word("source") {
            qualname = self.string()?;
            self.expect(",")?;
            file = self.string()?;
            self.expect(",")?;
            first_line = self.number()?;
        }
        self.expect(":")?;
        self.end()?;
        Ok(Code { name, qualname, file, first_line, params, posonly, freevars, is_generator, ..Code::default() })
    }

    fn param(&mut self) -> Parsed<Param> {
        let kind = if self.eat("**") {
            ParamKind::VarKeywords
        } else if self.eat("*") {
            ParamKind::VarArgs
        } else if self.eat_word("kw") {
            ParamKind::KeywordOnly
        } else {
            ParamKind::Positional
        };
        Ok(Param { name: self.name()?, kind })
    }

    /// The terminator, if the line is one; it is `None` in a block that is not finished.
    fn term(&mut self, code: &mut Code) -> Parsed<Option<Option<Term>>> {
        let term = if self.eat_word("jump") {
            Term::Jump(self.target(code)?)
        } else if self.eat_word("if") {
            let cond = self.value(code)?;
            let (then, els) = self.targets(code)?;
            Term::Branch { cond, then, els }
        } else if self.eat_word("for") {
            let iter = self.value(code)?;
            let (body, done) = self.targets(code)?;
            Term::ForIter { iter, body, done }
        } else if self.eat_word("return") {
            Term::Return(self.value(code)?)
        } else if self.eat_word("raise") {
            let exc = self.value(code)?;
            let cause = if self.eat_word("from") { Some(self.value(code)?) } else { None };
            Term::Raise { exc, cause }
        } else if self.eat_word("reraise") {
            Term::Reraise(self.value(code)?)
        } else if self.eat_word("unreachable") {
            Term::Unreachable
        } else {
            return Ok(self.eat("(unfinished)").then_some(None));
        };
        Ok(Some(Some(term)))
    }
}

/// The default of the parameters by position, and those of the keyword-only ones.
type Defaults = (Option<Value>, Vec<(String, Value)>);

/// Instructions.
impl Line<'_> {
    fn inst(&mut self, code: &mut Code) -> Parsed<Inst> {
        if let Some(v) = self.try_value(code)? {
            return self.infix(v, code);
        }
        let from = self.clone();
        let word = self.take_while(is_plain_char);
        Ok(match word {
            "const" => Inst::Const(self.constant(0)?),
            "global" => Inst::Global(self.name()?),
            "free" => Inst::Free(self.number()?),
            "import" => {
                let first = self.name()?;
                match self.eat_word("from") {
                    true => Inst::Import { name: self.name()?, attr: Some(first) },
                    false => Inst::Import { name: first, attr: None },
                }
            }
            "check_bound" => Inst::CheckBound { value: self.value(code)?, name: self.name()? },
            "neg" => Inst::Unary(UnOp::Neg, self.value(code)?),
            "pos" => Inst::Unary(UnOp::Pos, self.value(code)?),
            "invert" => Inst::Unary(UnOp::Invert, self.value(code)?),
            "not" => Inst::Unary(UnOp::Not, self.value(code)?),
            "del" => {
                let [v, key] = self.operands(["", "["], code)?;
                self.expect("]")?;
                Inst::DelItem(v, key)
            }
            "call" => self.call(code)?,
            "function" => self.make_function(code)?,
            "iter" => Inst::Iter(self.value(code)?),
            "catch" => Inst::CatchExc,
            "chain" => {
                let [a, b] = self.operands(["", ","], code)?;
                Inst::Chain(a, b)
            }
            "end_catch" => Inst::EndCatch(self.value(code)?),
            "cell" => Inst::Cell(self.name()?),
            "cell_get" => Inst::CellGet { cell: self.value(code)?, name: self.name()? },
            "cell_set" => self.two(code, Inst::CellSet)?,
            "cell_delete" => Inst::CellDelete { cell: self.value(code)?, name: self.name()? },
            "sibling" => self.sibling(code)?,
            "match_class" => {
                let [subject, class] = self.operands(["", ","], code)?;
                self.expect(",")?;
                let count = self.number()?;
                let names = if self.eat(",") { self.items(Self::name)? } else { Vec::new() };
                Inst::MatchClass { subject, class, count, names }
            }
            "match_keys" => {
                let [subject, keys] = self.operands(["", ","], code)?;
                Inst::MatchKeys { subject, keys }
            }
            "yield" if self.eat_word("from") => Inst::YieldFrom(self.value(code)?),
            "yield" => Inst::Yield(self.value(code)?),
            _ => match self.container(word, code)? {
                Some(inst) => inst,
                None => return from.expected("an instruction"),
            },
        })
    }

    /// An instruction that begins with an operand.
    fn infix(&mut self, a: Value, code: &mut Code) -> Parsed<Inst> {
        if self.eat(".") {
            let name = self.name()?;
            return Ok(if self.eat("=") { Inst::SetAttr(a, name, self.value(code)?) } else { Inst::GetAttr(a, name) });
        }
        if self.eat("[") {
            let key = self.value(code)?;
            self.expect("]")?;
            return Ok(if self.eat("=") { Inst::SetItem(a, key, self.value(code)?) } else { Inst::GetItem(a, key) });
        }
        if self.eat_word("is") {
            let negate = self.eat_word("not");
            return Ok(Inst::Is { a, b: self.value(code)?, negate });
        }
        if self.eat_word("matches") {
            return Ok(Inst::ExcMatch(a, self.value(code)?));
        }
        let negate = self.eat_word("not");
        if self.eat_word("in") {
            return Ok(Inst::Contains { item: a, container: self.value(code)?, negate });
        }
        let from = self.clone();
        let symbol = if negate { "" } else { self.take_while(|c| "+-*/%@&|^<>=!".contains(c)) };
        let arithmetic = |symbol: &str| BinOp::ALL.into_iter().find(|op| op.symbol() == symbol);
        if let Some(op) = CmpOp::ALL.into_iter().find(|op| op.symbol() == symbol) {
            return Ok(Inst::Compare(op, a, self.value(code)?));
        }
        let (op, inplace) = match symbol.strip_suffix('=') {
            Some(symbol) => (arithmetic(symbol), true),
            None => (arithmetic(symbol), false),
        };
        match op {
            Some(op) => Ok(Inst::Binary { op, a, b: self.value(code)?, inplace }),
            None => from.expected("an operator"),
        }
    }

    /// Instructions about containers and texts.
    fn container(&mut self, word: &str, code: &mut Code) -> Parsed<Option<Inst>> {
        Ok(Some(match word {
            "tuple" => Inst::Tuple(self.values("(", ")", code)?),
            "list" => Inst::List(self.values("[", "]", code)?),
            "set" => Inst::Set(self.values("{", "}", code)?),
            "dict" => {
                self.expect("{")?;
                Inst::Dict(self.list("}", |l| l.operands(["", ":"], code).map(|[k, v]| (k, v)))?)
            }
            "slice" => Inst::Slice(self.operands(["", ":", ":"], code)?),
            "append" => self.two(code, Inst::ListAppend)?,
            "extend" => self.two(code, Inst::ListExtend)?,
            "add" => self.two(code, Inst::SetAdd)?,
            "put" => {
                let [map, key, v] = self.operands(["", ",", ":"], code)?;
                Inst::MapAdd(map, key, v)
            }
            "list_to_tuple" => Inst::ListToTuple(self.value(code)?),
            "format" => {
                let value = self.value(code)?;
                let conversion = if self.eat("!") { self.rest.chars().next() } else { None };
                self.rest = &self.rest[conversion.map_or(0, char::len_utf8)..];
                let spec = if self.eat(":") { Some(self.value(code)?) } else { None };
                Inst::Format { value, conversion, spec }
            }
            "concat" => Inst::ConcatStr(self.values("(", ")", code)?),
            "unpack" => {
                let seq = self.value(code)?;
                self.expect(",")?;
                let before = self.number()?;
                let after = if self.eat(", *,") { Some(self.number()?) } else { None };
                Inst::Unpack { seq, before, after }
            }
            "item" => {
                let v = self.value(code)?;
                self.expect(",")?;
                Inst::UnpackItem(v, self.number()?)
            }
            _ => return Ok(None),
        }))
    }

    fn two(&mut self, code: &mut Code, make: fn(Value, Value) -> Inst) -> Parsed<Inst> {
        let [a, b] = self.operands(["", ","], code)?;
        Ok(make(a, b))
    }

    fn call(&mut self, code: &mut Code) -> Parsed<Inst> {
        let func = self.value(code)?;
        self.expect("(")?;
        if self.eat("*") {
            let args = self.value(code)?;
            let kwargs = if self.eat(", **") { Some(self.value(code)?) } else { None };
            self.expect(")")?;
            return Ok(Inst::CallStar { func, args, kwargs });
        }
        let (mut args, mut kwargs) = (Vec::new(), Vec::new());
        while !self.eat(")") {
            if !args.is_empty() || !kwargs.is_empty() {
                self.expect(",")?;
            }
            let mut ahead = self.clone();
            let is_named = ahead.name().is_ok() && ahead.eat("=");
            if is_named || !kwargs.is_empty() {
                kwargs.push(self.named(code)?);
            } else {
                args.push(self.value(code)?);
            }
        }
        Ok(Inst::Call { func, args, kwargs })
    }

    fn make_function(&mut self, outer: &mut Code) -> Parsed<Inst> {
        let code = self.number()?;
        let captures = self.values("(", ")", outer)?;
        let (defaults, kwdefaults) = self.defaults(outer)?;
        Ok(Inst::MakeFunction { code, defaults, kwdefaults, captures })
    }

    fn sibling(&mut self, outer: &mut Code) -> Parsed<Inst> {
        let code = self.number()?;
        let (defaults, kwdefaults) = self.defaults(outer)?;
        Ok(Inst::Sibling { code, defaults, kwdefaults })
    }

    fn defaults(&mut self, outer: &mut Code) -> Parsed<Defaults> {
        let defaults = if self.eat_word("defaults") { Some(self.value(outer)?) } else { None };
        let kwdefaults = if self.eat_word("kwdefaults") { self.items(|l| l.named(outer))? } else { Vec::new() };
        Ok((defaults, kwdefaults))
    }
}
