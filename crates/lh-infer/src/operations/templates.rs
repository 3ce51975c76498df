//! Templates that are known while compiling: `"%d of %s" % (i, s)` and `"{} of {}".format(i, s)` become the parts that
//! an f-string has. A template with anything else (a star, a mapping, a field of a field, too few values) is left to
//! the library, which reads it at run time and raises as Python does.

use crate::cx::Infer;
use crate::val::Val;
use lh_ir::Ty;
use lh_ir::diag::Result;
use lh_ir::types::TyKind;
use std::iter::Peekable;
use std::str::Chars;

/// One part of a template.
enum Part<'v> {
    Text(String),
    /// A value with its conversion, such as `r` for `repr`, and its format.
    Value {
        value: &'v Val,
        conversion: Option<char>,
        spec: String,
    },
}

/// Parts in the order of the template, with the text that is not yet one of them.
#[derive(Default)]
struct Parts<'v> {
    parts: Vec<Part<'v>>,
    text: String,
}

impl<'v> Parts<'v> {
    fn value(&mut self, value: &'v Val, conversion: Option<char>, spec: String) {
        self.end_text();
        self.parts.push(Part::Value { value, conversion, spec });
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Vec<Part<'v>> {
        self.end_text();
        self.parts
    }
}

impl Infer<'_> {
    /// `template % values`; `None` where the library has to read the template.
    pub(crate) fn percent(&mut self, template: &Val, values: &Val) -> Result<Option<Val>> {
        let (Some(text), false) = (template.as_str(), values.ty.is_never()) else { return Ok(None) };
        let values = match values.ty.kind() {
            TyKind::Tuple { .. } => self.tuple_parts(values),
            _ if has_one_text(values.ty) => Some(vec![values.clone()]),
            _ => None,
        };
        let Some(values) = values else { return Ok(None) };
        match percent_parts(text, &values) {
            Some(parts) => self.joined(&parts).map(Some),
            None => Ok(None),
        }
    }

    /// `template.format(*args, **kwargs)`; `None` where the library has to read the template.
    pub(crate) fn filled(&mut self, template: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        let Some(parts) = template.as_str().and_then(|text| format_parts(text, args, kwargs)) else { return Ok(None) };
        self.joined(&parts).map(Some)
    }

    fn joined(&mut self, parts: &[Part<'_>]) -> Result<Val> {
        let texts = parts.iter().map(|part| match part {
            Part::Text(text) => Ok(Val::str(text.as_str())),
            Part::Value { value, conversion, spec } => self.format(value, *conversion, Some(&Val::str(spec.as_str()))),
        });
        let texts = texts.collect::<Result<Vec<_>>>()?;
        self.concatenated(&texts)
    }
}

/// Whether a value other than a tuple is the only one of a template: a mapping is asked for its keys.
fn has_one_text(t: Ty) -> bool {
    t.is_number() || t == Ty::str() || t.is_none() || t.is_array()
}

/// The parts of an old-style template, if each conversion is one that a format of the new style says.
fn percent_parts<'v>(template: &str, values: &'v [Val]) -> Option<Vec<Part<'v>>> {
    let mut chars = template.chars().peekable();
    let (mut parts, mut values) = (Parts::default(), values.iter());
    while let Some(c) = chars.next() {
        if c != '%' {
            parts.text.push(c);
        } else if chars.next_if_eq(&'%').is_some() {
            parts.text.push('%');
        } else {
            let flags = taken(&mut chars, |c| "-+ 0#".contains(c));
            let width = taken(&mut chars, |c| c.is_ascii_digit());
            let precision = chars.next_if_eq(&'.').map(|_| taken(&mut chars, |c| c.is_ascii_digit()));
            taken(&mut chars, |c| "hlL".contains(c));
            let (letter, value) = (chars.next()?, values.next()?);
            let spec = new_spec(value.ty, letter, &flags, &width, precision.as_deref())?;
            parts.value(value, "sra".contains(letter).then_some(letter), spec);
        }
    }
    values.next().is_none().then(|| parts.finish())
}

/// The format of the new style for a conversion of the old one.
fn new_spec(t: Ty, letter: char, flags: &str, width: &str, precision: Option<&str>) -> Option<String> {
    // `%.f` has no digits.
    let precision = precision.map(|digits| format!(".{}", if digits.is_empty() { "0" } else { digits }));
    let has = |flag: char| flags.contains(flag);
    let sign = if has('+') {
        "+"
    } else if has(' ') {
        " "
    } else {
        ""
    };
    let alternate = if has('#') { "#" } else { "" };
    let (align, zero) = match (has('-'), has('0')) {
        _ if width.is_empty() => ("", ""),
        (true, _) => ("<", ""),
        (false, true) => ("", "0"),
        (false, false) => (">", ""),
    };
    let precision = match (letter, precision) {
        ('s' | 'r' | 'a', digits) => {
            return (zero.is_empty() && sign.is_empty() && alternate.is_empty())
                .then(|| format!("{align}{width}{}", digits.unwrap_or_default()));
        }
        ('e' | 'E' | 'f' | 'F' | 'g' | 'G', digits) if t.is_float() || t.is_int() => digits.unwrap_or_default(),
        ('d' | 'i' | 'u', None) if t.is_int() && alternate.is_empty() => String::new(),
        ('x' | 'X' | 'o', None) if t.is_int() => String::new(),
        _ => return None,
    };
    let letter = if matches!(letter, 'i' | 'u') { 'd' } else { letter };
    Some(format!("{align}{sign}{alternate}{zero}{width}{precision}{letter}"))
}

/// The parts of a template for `str.format`, if its fields are whole values and their formats are known.
fn format_parts<'v>(template: &str, args: &'v [Val], kwargs: &'v [(String, Val)]) -> Option<Vec<Part<'v>>> {
    let mut chars = template.chars().peekable();
    let (mut parts, mut numbered) = (Parts::default(), 0);
    // Whether fields have numbers: none may be without, then.
    let mut has_numbers = None;
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.next_if_eq(&c).is_some() => parts.text.push(c),
            '{' => {
                let name = taken(&mut chars, |c| c.is_alphanumeric() || c == '_');
                let conversion = chars.next_if_eq(&'!').map(|_| chars.next());
                let spec = chars.next_if_eq(&':').map(|_| taken(&mut chars, |c| c != '{' && c != '}'));
                chars.next_if_eq(&'}')?;
                let value = if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                    if *has_numbers.get_or_insert(!name.is_empty()) == name.is_empty() {
                        return None;
                    }
                    numbered += 1;
                    args.get(if name.is_empty() { numbered - 1 } else { name.parse().ok()? })?
                } else {
                    &kwargs.iter().find(|(n, _)| *n == name)?.1
                };
                let conversion = match conversion {
                    Some(c) => Some(c.filter(|c| "sra".contains(*c))?),
                    None => None,
                };
                parts.value(value, conversion, spec.unwrap_or_default());
            }
            '}' => return None,
            _ => parts.text.push(c),
        }
    }
    Some(parts.finish())
}

/// The characters from here on that are of a kind.
fn taken(chars: &mut Peekable<Chars<'_>>, is_one: impl Fn(char) -> bool) -> String {
    std::iter::from_fn(|| chars.next_if(|c| is_one(*c))).collect()
}
