//! PTX text to a [`Module`].

use crate::ast::*;
use crate::lex::{Token, lex};
use lh_ir::diag::{self, Diagnostic};
use std::collections::HashMap;

pub(crate) type Parsed<T> = lh_ir::diag::Result<T>;

/// Reads a module.
pub(crate) fn parse(text: &str) -> Parsed<Module> {
    let mut p = Parser { tokens: lex(text)?, at: 0, tables: HashMap::new(), module: Module::default() };
    while p.at < p.tokens.len() {
        p.item()?;
    }
    Ok(p.module)
}

struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    /// The labels that `brx.idx` chooses among, by the name of their list.
    tables: HashMap<String, Operand>,
    module: Module,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|t| &t.0)
    }
    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |t| t.1)
    }
    fn next(&mut self) -> Parsed<Token> {
        let Some((t, _)) = self.tokens.get(self.at) else { return self.fail("the text ends too early") };
        self.at += 1;
        Ok(t.clone())
    }
    fn fail<T>(&self, what: &str) -> Parsed<T> {
        Err(Diagnostic::new(diag::BAD_PTX, format!("line {} of the PTX: {what}", self.line())))
    }
    fn is_sign(&self, c: char) -> bool {
        self.peek() == Some(&Token::Sign(c))
    }
    /// Takes a sign if it is next.
    fn took(&mut self, c: char) -> bool {
        let found = self.is_sign(c);
        self.at += usize::from(found);
        found
    }
    fn expect(&mut self, c: char) -> Parsed<()> {
        if self.took(c) { Ok(()) } else { self.fail(&format!("`{c}` was expected")) }
    }
    fn word(&mut self) -> Parsed<String> {
        match self.next()? {
            Token::Word(w) => Ok(w),
            other => self.fail(&format!("a name was expected, not {other:?}")),
        }
    }
    fn int(&mut self) -> Parsed<i128> {
        let minus = self.took('-');
        match self.next()? {
            Token::Int(n) => Ok(if minus { -n } else { n }),
            other => self.fail(&format!("a number was expected, not {other:?}")),
        }
    }
    fn skip_line(&mut self) {
        let line = self.line();
        while self.at < self.tokens.len() && self.line() == line {
            self.at += 1;
        }
    }

    /// Something at the top of a module.
    fn item(&mut self) -> Parsed<()> {
        let start = self.at;
        match self.word()?.as_str() {
            ".version" | ".target" | ".address_size" | ".file" | ".pragma" => {
                self.at = start;
                self.skip_line();
                Ok(())
            }
            // Debug information: to the end of its braces.
            ".section" => self.skip_braces(),
            ".visible" | ".extern" | ".weak" | ".common" => Ok(()),
            ".entry" => self.func(true),
            ".func" => self.func(false),
            ".alias" => self.fail("aliases are not supported"),
            _ => {
                self.at = start;
                let var = self.var()?;
                self.expect(';')?;
                self.module.vars.push(var);
                Ok(())
            }
        }
    }

    fn skip_braces(&mut self) -> Parsed<()> {
        while !self.took('{') {
            self.next()?;
        }
        while !self.took('}') {
            self.next()?;
        }
        Ok(())
    }

    fn func(&mut self, is_entry: bool) -> Parsed<()> {
        let rets = if !is_entry && self.is_sign('(') { self.params()? } else { Vec::new() };
        let name = self.word()?;
        let params = if self.is_sign('(') { self.params()? } else { Vec::new() };
        // Directives such as `.maxntid 256, 1, 1` and `.noreturn`.
        while !self.is_sign('{') && !self.is_sign(';') {
            self.next()?;
        }
        let body = if self.took(';') { None } else { Some(self.body()?) };
        self.module.funcs.push(Func { name, is_entry, rets, params, body });
        Ok(())
    }

    fn params(&mut self) -> Parsed<Vec<Var>> {
        let mut out = Vec::new();
        self.expect('(')?;
        while !self.took(')') {
            let mut var = self.var()?;
            var.space = Space::Param;
            out.push(var);
            self.took(',');
        }
        Ok(out)
    }

    /// `.global .align 8 .b8 name[32] = {1, 2}` and the like, to before what ends it.
    fn var(&mut self) -> Parsed<Var> {
        let (mut space, mut align, mut ty, mut lanes) = (Space::Param, 0, None, 1);
        let name = loop {
            let w = self.word()?;
            let Some(directive) = w.strip_prefix('.') else { break w };
            match directive {
                "align" => align = self.int()? as usize,
                "v2" => lanes = 2,
                "v4" => lanes = 4,
                // Properties of a pointer parameter's target are ignored.
                "ptr" | "attribute" | "managed" | "reg" => {}
                "visible" | "extern" | "weak" | "common" => {}
                _ => match (PtxTy::parse(directive), Space::parse(directive)) {
                    (Some(t), _) => ty = Some(t),
                    (_, Some(s)) => space = s,
                    _ => return self.fail(&format!("`{w}` is not supported")),
                },
            }
        };
        let Some(ty) = ty else { return self.fail("a type was expected") };
        let item = ty.bits() as usize / 8 * lanes;
        let mut count = Some(1);
        while self.took('[') {
            count = if self.is_sign(']') { None } else { count.zip(self.int().ok()).map(|(c, n)| c * n as usize) };
            self.expect(']')?;
        }
        let (mut init, mut addresses) = (Vec::new(), Vec::new());
        if self.took('=') {
            self.initialiser(ty, &mut init, &mut addresses)?;
        }
        let size = count.map_or(init.len(), |c| c * item);
        Ok(Var { space, name, align: align.max(ty.bits() as usize / 8), size, init, addresses })
    }

    fn initialiser(&mut self, ty: PtxTy, init: &mut Vec<u8>, addresses: &mut Vec<(usize, String)>) -> Parsed<()> {
        if self.took('{') {
            while !self.took('}') {
                self.initialiser(ty, init, addresses)?;
                self.took(',');
            }
            return Ok(());
        }
        let bytes = ty.bits() as usize / 8;
        let bits = match self.operand()? {
            Operand::Int(n) => n as u64,
            Operand::Float(b, 64) if bytes == 4 => u64::from((f64::from_bits(b) as f32).to_bits()),
            Operand::Float(b, _) => b,
            Operand::Name(name) => {
                // `generic(variable)`: addresses are generic here.
                let name = if name == "generic" {
                    self.expect('(')?;
                    let inner = self.word()?;
                    self.expect(')')?;
                    inner
                } else {
                    name
                };
                addresses.push((init.len(), name));
                0
            }
            other => return self.fail(&format!("a variable cannot begin as {other:?}")),
        };
        init.extend_from_slice(&bits.to_le_bytes()[..bytes]);
        Ok(())
    }

    fn body(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect('{')?;
        // Registers of inner scopes, which hide those of the same name around them, by the names that they get instead.
        let (mut out, mut scopes) = (Vec::new(), vec![HashMap::new()]);
        while !scopes.is_empty() {
            let line = self.line();
            if self.took('{') {
                scopes.push(HashMap::new());
            } else if self.took('}') {
                scopes.pop();
            } else if !self.took(';')
                && let Some(mut kind) = self.statement()?
            {
                in_scope(&mut kind, &mut scopes, line);
                out.push(Stmt { line, kind });
            }
        }
        Ok(out)
    }

    fn statement(&mut self) -> Parsed<Option<StmtKind>> {
        if self.took('@') {
            let on = !self.took('!');
            let register = self.word()?;
            let op = self.word()?;
            return self.inst(Some((register, on)), &op).map(Some);
        }
        let start = self.at;
        let w = self.word()?;
        if self.took(':') {
            if self.peek() != Some(&Token::Word(".branchtargets".to_owned())) {
                return Ok(Some(StmtKind::Label(w)));
            }
            self.at += 1;
            let labels = Operand::List(self.operands()?);
            self.tables.insert(w, labels);
            return Ok(None);
        }
        match w.as_str() {
            ".reg" => self.regs().map(Some),
            ".loc" | ".file" | ".pragma" => {
                self.at = start;
                self.skip_line();
                Ok(None)
            }
            ".callprototype" | ".calltargets" => self.fail("indirect calls are not supported"),
            _ if w.starts_with('.') => {
                self.at = start;
                let var = self.var()?;
                self.expect(';')?;
                Ok(Some(StmtKind::Var(var)))
            }
            _ => self.inst(None, &w).map(Some),
        }
    }

    /// `.reg .b32 %r<5>;` or `.reg .pred p, q;`
    fn regs(&mut self) -> Parsed<StmtKind> {
        let w = self.word()?;
        let Some(ty) = w.strip_prefix('.').and_then(PtxTy::parse) else {
            return self.fail(&format!("registers of type `{w}` are not supported"));
        };
        let mut names = Vec::new();
        while !self.took(';') {
            let name = self.word()?;
            if self.took('<') {
                names.extend((0..self.int()?).map(|i| format!("{name}{i}")));
                self.expect('>')?;
            } else {
                names.push(name);
            }
            self.took(',');
        }
        Ok(StmtKind::Regs(ty, names))
    }

    fn inst(&mut self, guard: Option<(String, bool)>, op: &str) -> Parsed<StmtKind> {
        let mut args = self.operands()?;
        if let ("brx.idx", [_, Operand::Name(table)]) = (op.trim_end_matches(".uni"), &args[..])
            && let Some(labels) = self.tables.get(table)
        {
            args[1] = labels.clone();
        }
        Ok(StmtKind::Inst(Inst { guard, op: op.split('.').map(str::to_owned).collect(), args }))
    }

    /// Operands up to the end of an instruction.
    fn operands(&mut self) -> Parsed<Vec<Operand>> {
        let mut args = Vec::new();
        while !self.took(';') {
            args.push(self.operand()?);
            self.took(',');
        }
        Ok(args)
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let close = match self.peek() {
            Some(Token::Sign('{')) => '}',
            Some(Token::Sign('(')) => ')',
            _ => return self.simple_operand(),
        };
        self.at += 1;
        let mut items = Vec::new();
        while !self.took(close) {
            items.push(self.operand()?);
            self.took(',');
        }
        Ok(Operand::List(items))
    }

    fn simple_operand(&mut self) -> Parsed<Operand> {
        if self.took('[') {
            let base = match self.peek() {
                Some(Token::Word(_)) => Some(self.word()?),
                _ => None,
            };
            let offset = if base.is_none() { self.int()? } else { self.offset()?.unwrap_or(0) };
            self.expect(']')?;
            return Ok(Operand::Memory(base, offset as i64));
        }
        if self.took('!') {
            return Ok(Operand::Not(self.word()?));
        }
        if self.is_sign('-') {
            return match self.tokens.get(self.at + 1) {
                Some((Token::Float(b, n), _)) => {
                    let flipped = Operand::Float(b ^ (1 << (n - 1)), *n);
                    self.at += 2;
                    Ok(flipped)
                }
                _ => Ok(Operand::Int(self.int()?)),
            };
        }
        Ok(match self.next()? {
            Token::Int(n) => Operand::Int(n),
            Token::Float(b, n) => Operand::Float(b, n),
            Token::Word(w) if self.took('|') => Operand::Pair(w, self.word()?),
            Token::Word(w) => match self.offset()? {
                Some(n) => Operand::Offset(w, n as i64),
                None => Operand::Name(w),
            },
            other => return self.fail(&format!("an operand was expected, not {other:?}")),
        })
    }

    /// `+8` or `-8`.
    fn offset(&mut self) -> Parsed<Option<i128>> {
        if self.took('+') {
            return self.int().map(Some);
        }
        if self.is_sign('-') { self.int().map(Some) } else { Ok(None) }
    }
}

/// Gives registers that an inner scope declares names of their own, which are unlike all others, and finds those of a
/// name.
fn in_scope(kind: &mut StmtKind, scopes: &mut [HashMap<String, String>], line: u32) {
    match (kind, scopes) {
        (StmtKind::Regs(_, names), [_, .., scope]) => {
            for name in names {
                let own = format!("{name}@{line}");
                scope.insert(std::mem::replace(name, own.clone()), own);
            }
        }
        (StmtKind::Inst(inst), scopes) => inst.each_name(&mut |name| {
            if let Some(own) = scopes.iter().rev().find_map(|s| s.get(name)) {
                name.clone_from(own);
            }
        }),
        (StmtKind::Regs(..) | StmtKind::Var(_) | StmtKind::Label(_), _) => {}
    }
}
