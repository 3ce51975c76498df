//! Runs the file tests of inference, `tests/infer/**/*.uir`.
//!
//! A file begins with a sentence, as a comment, about the rule that it shows. Then come directives, as comments
//! too, the Python text behind `|` if there is one, and untyped functions. Behind `; ===` stands the answer of
//! inference, which `LH_BLESS=1` rewrites.
//!
//! ```text
//! ; A product of Python's numbers is of Python's types.
//! ; infer f(int, float)
//! def f(a, b):
//! block0(v0 a, v1 b):
//!     v2 x = v0 * v1
//!     return v2
//! ; ===
//! ; f(int, float) -> float
//! ;     x: float
//! ```
//!
//! - `infer f(int, array(float64, 1d, C))` types a function and shows its result and its variables, or the
//!   diagnostic. Types are those of typed text; `P(int, int)` is an instance of the namedtuple class bound to `P`,
//!   `g` the function.
//! - `typed f(int)` shows the typed function, too. Options such as `parallel` may follow behind `with`.
//! - `global NAME = VALUE` binds a global name, `default f.x = VALUE` gives a parameter its default, `local f.x =
//!   TYPE` a variable its type, and `signature f(int) -> float` limits a function; see [`setup`].
//!
//! Every function that is typed on the way, the library's among them, passes the verifier, and its text parses back.

pub mod setup;

use crate::files::{MARK, checked, settle};
use crate::world::World;
use lh_infer::World as _;
use lh_ir::diag::Diagnostic;
use lh_ir::func::Function;
use lh_ir::print::{TypeText, print};
use lh_ir::untyped::Code;
use lh_ir::{FuncId, ObjId, Span, SpecId};
use setup::{Directive, Question};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Runs a file; the message says what is wrong.
///
/// # Errors
/// That message.
pub fn run_file(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (source, expected) = text.split_once(MARK).unwrap_or((&text, ""));
    let first = source.lines().next().and_then(|l| l.strip_prefix("; ")).unwrap_or_default();
    if Directive::parse(first)?.is_some() || !first.starts_with(|c: char| c.is_uppercase() || c == '`') {
        return Err("the first line must be a sentence about the rule that the file shows".to_owned());
    }
    let mut got = String::new();
    for line in answers(source)?.lines() {
        got.push_str(format!("; {line}").trim_end());
        got.push('\n');
    }
    settle(path, source, expected, &got)
}

/// Answers the questions of a text: types its functions, and says what came of it.
///
/// # Errors
/// Why the text is no test.
pub fn answers(source: &str) -> Result<String, String> {
    crate::library::declare_classes();
    let mut functions = lh_ir::parse_untyped::parse(source).map_err(|e| e.to_string())?;
    let mut lines = source.lines().enumerate().map(|(i, line)| (i as u32 + 1, line.trim()));
    for code in &mut functions {
        lh_frontend::verify(code)?;
        place(code, &mut lines);
    }
    let directives = setup::directives(source)?;
    let mut out = String::new();
    let mut asked = false;
    for directive in &directives {
        let Directive::Ask(question) = directive else { continue };
        let mut world = World::new(functions.clone());
        for directive in &directives {
            setup::apply(&mut world, directive)?;
        }
        out.push_str(&answer(&mut world, question, source)?);
        asked = true;
    }
    if asked { Ok(out) } else { Err("nothing is asked: `; infer f(...)` is missing".to_owned()) }
}

/// Gives functions and instructions their lines in the text as places.
fn place<'a>(code: &mut Code, lines: &mut impl Iterator<Item = (u32, &'a str)>) {
    code.file = "test".to_owned();
    let is_part = |line: &str| !line.is_empty() && !line.starts_with(';') && !line.starts_with("block");
    let mut lines_of_parts = lines.by_ref().filter(|(_, line)| is_part(line));
    let mut next = || {
        let line = lines_of_parts.next().map_or(0, |(i, _)| i);
        Span { line, end_line: line, ..Span::default() }
    };
    code.first_line = next().line;
    for block in &mut code.blocks {
        block.insts.iter_mut().for_each(|i| i.span = next());
        block.term_span = next();
    }
    for inner in &mut code.inner {
        place(Arc::make_mut(inner), lines);
    }
}

fn answer(world: &mut World, question: &Question, source: &str) -> Result<String, String> {
    let func = world.function(&question.name).ok_or_else(|| format!("there is no function `{}`", question.name))?;
    let args = question.args.iter().map(|a| setup::argument(world, a)).collect::<Result<Vec<_>, _>>()?;
    let inferred = world.specialise(func, &args.iter().map(|t| (*t).into()).collect::<Vec<_>>(), question.options);
    for s in (0..world.count()).map(SpecId::new) {
        let Some(out) = &world.typed(s).out else { continue };
        checked(&out.func)?;
        out.next.iter().try_for_each(|(_, next)| checked(next))?;
    }
    let args: Vec<String> = args.iter().map(|t| TypeText(*t).to_string()).collect();
    let mut text = format!("{}({}){}", question.name, args.join(", "), question.with);
    match inferred {
        Ok(spec) => {
            writeln!(text, " -> {}", TypeText(spec.ret)).expect("strings take any text");
            text.push_str(&variables(world, spec.id));
            if question.is_whole {
                text.push_str(&typed_text(world, spec.id));
            }
            Ok(named(world, &text))
        }
        Err(d) => Ok(named(world, &format!("{text}\n{}", refusal(&d, source)))),
    }
}

/// Variables with the types that they have, in the order in which they are assigned.
fn variables(world: &World, spec: SpecId) -> String {
    let annotations = world.typed(spec).out.iter().flat_map(|out| &out.annotations);
    let mut lines: Vec<String> = Vec::new();
    for (_, name, ty) in annotations {
        let line = format!("    {name}: {}\n", TypeText(*ty));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.concat()
}

fn typed_text(world: &mut World, spec: SpecId) -> String {
    let name = world.spec_name(spec);
    let out = world.typed(spec).out.iter();
    let halves = out.flat_map(|out| std::iter::once(&out.func).chain(out.next.as_ref().map(|(_, next)| next)));
    halves.map(|half| print(&without_places(half.clone(), &name))).collect()
}

fn without_places(mut func: Function, name: &str) -> Function {
    (func.name, func.qualname, func.file) = (name.to_owned(), String::new(), String::new());
    for block in &mut func.blocks {
        block.term_span = Span::default();
        block.insts.iter_mut().for_each(|i| i.span = Span::default());
    }
    func
}

/// A diagnostic: instead of numbers of lines it shows the lines.
fn refusal(d: &Diagnostic, source: &str) -> String {
    let line = |file: &str, span: Span| match source.lines().nth((span.line as usize).wrapping_sub(1)) {
        Some(line) if file == "test" => format!("`{}`", line.trim()),
        _ => format!("a place in {file}"),
    };
    let mut out = format!("error[{}]: {}\n", d.id.0, d.headline);
    let mut add = |text: String| writeln!(out, "    {text}").expect("strings take any text");
    if !d.file.is_empty() {
        add(format!("at {}", line(&d.file, d.span)));
    }
    if !d.label.is_empty() {
        add(format!("here: {}", d.label));
    }
    for (file, span, text) in d.also.iter().chain(&d.trail) {
        add(format!("at {}: {text}", line(file, *span)));
    }
    d.notes.iter().for_each(|note| add(format!("help: {note}")));
    if let Some(parameter) = d.literal {
        add(format!("parameter {parameter} may be given as a literal"));
    }
    out
}

/// A text in which functions, specialisations and objects have names instead of numbers.
fn named(world: &mut World, text: &str) -> String {
    let mut out = String::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let number = |prefix: &str| word.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
        if let Some(n) = number("func") {
            out.push_str(&world.name(FuncId(n)));
        } else if let Some(n) = number("spec") {
            out.push_str(&world.spec_name(SpecId(n)));
        } else if let Some(n) = number("obj") {
            out.push_str(world.object_name(ObjId(n)));
        } else {
            out.push_str(word);
        }
        rest = after;
    }
    out + rest
}
