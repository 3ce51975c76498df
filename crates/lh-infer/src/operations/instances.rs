//! Native values that a Python class gives their meaning: members of enumerations, `bytes` and other memory.
//!
//! A member of an enumeration is its position, or its value where members are integers, texts or floats: these act as
//! such in everything but identity. Memory is an array whose items are Python's numbers.

use crate::cx::Infer;
use crate::emit::exc;
use crate::val::{Known, Val};
use crate::world::{EnumClass, Object};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Inst;
use lh_ir::types::{Buffer, Layout, TyKind};
use lh_ir::untyped::{BinOp, CmpOp};
use lh_ir::{Const, ObjId, Ty, Value};

/// The longest display of bytes.
const MAX_BYTES: usize = 4096;

/// The type of Python's numbers as which an element is read. An `int` has 63 bits and a sign: elements that may need
/// the 64th keep their type.
pub(crate) fn python_number(dtype: Ty) -> Ty {
    if dtype.is_int() {
        if dtype == Ty::u64() { dtype } else { Ty::int() }
    } else if dtype.is_float() {
        Ty::float()
    } else if dtype.is_complex() {
        Ty::complex()
    } else {
        dtype
    }
}

/// The format of the items of a `memoryview`, as NumPy's arrays say it.
fn format_letters(dtype: Ty) -> Option<&'static str> {
    const INTEGERS: [(&str, &str); 4] = [("b", "B"), ("h", "H"), ("i", "I"), ("l", "L")];
    if dtype.is_bool() {
        return Some("?");
    }
    let size = dtype.is_number().then(|| dtype.itemsize())?;
    if dtype.is_int() {
        let (signed, unsigned) = INTEGERS[size.trailing_zeros() as usize];
        return Some(if dtype.is_signed() { signed } else { unsigned });
    }
    match (dtype.is_complex(), size) {
        (true, 8) => Some("Zf"),
        (true, _) => Some("Zd"),
        (false, 2) => (dtype.kind() != &TyKind::Bfloat16).then_some("e"),
        (false, 4) => Some("f"),
        (false, _) => Some("d"),
    }
}

impl Infer<'_> {
    /// A member by its position.
    pub(crate) fn enum_member(&mut self, e: &EnumClass, at: usize) -> Result<Val> {
        let is_value = e.values.is_some() || e.flags;
        let word = if is_value { self.object(e.members[at].1)? } else { Val::int(at as i128) };
        Ok(self.enum_of_word(e, &word))
    }

    /// A member that is an object of Python's: its position, or the value of flags.
    pub(crate) fn enum_constant(&mut self, e: &EnumClass, at: usize) -> Result<Val> {
        if e.flags { Ok(self.enum_of_word(e, &Val::int(at as i64 as i128))) } else { self.enum_member(e, at) }
    }

    fn enum_of_word(&mut self, e: &EnumClass, word: &Val) -> Val {
        let word = if word.ty.is_number() { self.cast(word, e.values.unwrap_or(Ty::int())) } else { word.clone() };
        Val::known(e.ty(), Known::Parts(vec![word]))
    }

    /// The flags of which a value is one; `None` of anything else.
    fn flags_of(&mut self, v: &Val) -> Option<EnumClass> {
        let (_, class, _) = v.ty.as_enum()?;
        Some(self.enum_of(class)).filter(|e| e.flags)
    }

    /// All flags of an enumeration.
    fn flags_mask(&mut self, e: &EnumClass) -> Result<i128> {
        let mut mask = 0;
        for (_, value) in e.members.iter().chain(&e.aliases) {
            mask |= self.object(*value)?.as_int().unwrap_or(0);
        }
        Ok(mask)
    }

    /// `a | b`, `a & b`, `a ^ b` of flags; `None` of anything else.
    pub(crate) fn flags_binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
        if !bits || (a.ty.as_enum().is_none() && b.ty.as_enum().is_none()) {
            return Ok(None);
        }
        let (Some(e), others) = (match self.flags_of(a) {
            Some(e) => (Some(e), b),
            None => (self.flags_of(b), a),
        }) else {
            return Ok(None);
        };
        let is_number = others.ty.is_int() || others.ty.is_bool();
        if others.ty != e.ty() && !(e.values.is_some() && is_number) {
            return Ok(None);
        }
        let word = |cx: &mut Self, v: &Val| if v.ty == e.ty() { cx.field(v, 0) } else { cx.cast(v, Ty::int()) };
        let (x, y) = (word(self, a), word(self, b));
        let word = self.binary(op, &x, &y, false)?;
        Ok(Some(self.enum_of_word(&e, &word)))
    }

    /// `~a` of flags: those that it has not.
    pub(crate) fn flags_inverted(&mut self, a: &Val) -> Result<Option<Val>> {
        let Some(e) = self.flags_of(a) else { return Ok(None) };
        let mask = Val::int(self.flags_mask(&e)?);
        let word = self.field(a, 0);
        let without = self.unary(lh_ir::untyped::UnOp::Invert, &word)?;
        let word = self.binary(BinOp::And, &mask, &without, false)?;
        Ok(Some(self.enum_of_word(&e, &word)))
    }

    /// The name of flags: `None` of no flags.
    fn flags_name(&mut self, e: &EnumClass, v: &Val) -> Result<Val> {
        let word = self.field(v, 0);
        let mut columns = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for (of, (names, values)) in [(&e.members, (0, 1)), (&e.aliases, (2, 3))] {
            for (name, value) in of {
                columns[names].push(Val::str(name.as_str()));
                let value = self.object(*value)?;
                columns[values].push(self.cast(&value, Ty::int()));
            }
        }
        let given = std::iter::once(word).chain(columns.into_iter().map(Val::tuple)).collect::<Vec<_>>();
        self.call_library("text.flags_name", &given)
    }

    /// An attribute that the class defines, or that its members have.
    fn enum_own(&mut self, v: &Val, e: &EnumClass, name: &str) -> Result<Option<Val>> {
        if name == "__class__" {
            return self.object(e.class).map(Some);
        }
        if self.world.attr(e.class, name).is_some() {
            // A class answers for its metaclass too: `len` of a class is not `len` of its members.
            let first = e.members.first().and_then(|(member, _)| self.world.attr(e.class, member));
            let is_special = name.starts_with("__") && name.ends_with("__");
            if is_special && first.is_some_and(|member| self.world.attr(member, name).is_none()) {
                return Ok(None);
            }
            return self.user_attr(v, e.class, name);
        }
        let mut parts = Vec::new();
        for (member, _) in &e.members {
            let Some(member) = self.world.attr(e.class, member) else { return Ok(None) };
            let Some(x) = self.world.attr(member, name) else { return Ok(None) };
            parts.push(self.object(x)?);
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let at = self.position(e, v)?;
        self.of_position(&parts, &at).map(Some)
    }

    fn enum_of(&mut self, class: ObjId) -> EnumClass {
        match self.world.object(class) {
            Object::EnumClass(e) => e,
            other => lh_ir::bug!("no enumeration: {other:?}"),
        }
    }

    /// All members of an enumeration as a tuple.
    pub(crate) fn enum_members(&mut self, e: &EnumClass) -> Result<Val> {
        Ok(Val::tuple((0..e.members.len()).map(|i| self.enum_member(e, i)).collect::<Result<Vec<_>>>()?))
    }

    /// A member of an enumeration whose members are gone through.
    pub(crate) fn enum_item(&mut self, class: &Val, k: usize) -> Result<Val> {
        match class.ty.kind() {
            TyKind::Obj(o) => {
                let e = self.enum_of(*o);
                self.enum_member(&e, k)
            }
            other => lh_ir::bug!("no class: {other:?}"),
        }
    }

    /// The position of a member, -1 if its value is none of the enumeration's.
    fn position(&mut self, e: &EnumClass, member: &Val) -> Result<Val> {
        let word = self.field(member, 0);
        if e.values.is_some() || e.flags { self.position_of_value(e, &word) } else { Ok(word) }
    }

    fn position_of_value(&mut self, e: &EnumClass, value: &Val) -> Result<Val> {
        let mut at = Val::int(-1);
        for (i, (_, member)) in e.members.iter().enumerate().rev() {
            let own = self.object(*member)?;
            let same = self.compare(CmpOp::Eq, value, &own)?;
            at = match same.as_bool() {
                Some(true) => Val::int(i as i128),
                Some(false) => at,
                None => self.op("select", &[same, Val::int(i as i128), at]),
            };
        }
        Ok(at)
    }

    fn of_position(&mut self, parts: &[Val], at: &Val) -> Result<Val> {
        match at.as_int() {
            Some(i) if i >= 0 => Ok(parts[i as usize].clone()),
            _ => self.tuple_item_at(parts, at),
        }
    }

    /// `Color(value)`
    pub(crate) fn call_enum(&mut self, e: &EnumClass, args: &[Val]) -> Result<Val> {
        let [x] = args else {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` takes one value", e.name)));
        };
        if x.ty == e.ty() {
            return Ok(x.clone());
        }
        let x = &self.unwrap_optional(x)?;
        if e.flags && x.ty.is_int() {
            return self.call_flags(e, x);
        }
        let at = self.position_of_value(e, x)?;
        let missing = self.less(&at, &Val::int(0))?;
        self.refuse_value(e, x, &missing)?;
        if self.dead {
            return Ok(Val::of_type(Ty::never()));
        }
        let word = if e.values.is_some() { x.clone() } else { at };
        Ok(self.enum_of_word(e, &word))
    }

    /// `Access(3)`: flags that no member has are kept by those that are integers.
    fn call_flags(&mut self, e: &EnumClass, x: &Val) -> Result<Val> {
        let mut word = self.cast(x, Ty::int());
        if e.values.is_none() {
            let mask = self.flags_mask(e)?;
            // A negative number is the complement of flags.
            let all = (1_i128 << (128 - mask.leading_zeros())) - 1;
            let low = self.compare(CmpOp::Ge, &word, &Val::int(!all))?;
            let negative = self.less(&word, &Val::int(0))?;
            let turned = self.both(&low, &negative);
            let low = self.binary(BinOp::And, &word, &Val::int(all), false)?;
            word = match turned.as_bool() {
                Some(true) => low,
                Some(false) => word,
                None => self.op("select", &[turned, low, word]),
            };
            let others = self.binary(BinOp::And, &word, &Val::int(!mask), false)?;
            let bad = self.compare(CmpOp::Ne, &others, &Val::int(0))?;
            self.refuse_value(e, x, &bad)?;
            if self.dead {
                return Ok(Val::of_type(Ty::never()));
            }
        }
        Ok(self.enum_of_word(e, &word))
    }

    /// ValueError if a value is none of an enumeration.
    fn refuse_value(&mut self, e: &EnumClass, x: &Val, missing: &Val) -> Result<()> {
        let good = match missing.as_bool() {
            Some(false) => return Ok(()),
            Some(true) => None,
            None => {
                let (bad, good) = self.branch(missing);
                self.cur = bad;
                Some(good)
            }
        };
        let text = if e.flags && e.values.is_none() {
            let title = Val::str(format!("<flag '{}'>", e.name));
            let (word, mask) = (self.cast(x, Ty::int()), Val::int(self.flags_mask(e)?));
            self.call_library("text.flags_refused", &[title, word, mask])?
        } else {
            let value = self.call_library("text.text_repr", std::slice::from_ref(x))?;
            let rest = Val::str(format!(" is not a valid {}", self.qualified_name(e.class)));
            self.binary(BinOp::Add, &value, &rest, false)?
        };
        let text = self.value(&text);
        self.set_term(lh_ir::func::Term::Raise { exc: exc::VALUE_ERROR, args: vec![text] });
        match good {
            Some(good) => self.cur = good,
            None => self.dead = true,
        }
        Ok(())
    }

    /// `Color["red"]`
    pub(crate) fn enum_by_name(&mut self, class: ObjId, name: &Val) -> Result<Val> {
        let what = self.world.describe(class);
        if let Object::EnumClass(e) = self.world.object(class)
            && name.ty == Ty::str()
        {
            let found = name.as_str().map(|wanted| e.members.iter().position(|(n, _)| n == wanted));
            match (found, name.as_str().and_then(|wanted| e.aliases.iter().find(|(n, _)| n == wanted))) {
                (Some(Some(at)), _) => return self.enum_member(&e, at),
                (_, Some((_, value))) => {
                    let value = self.object(*value)?;
                    return self.call_enum(&e, &[value]);
                }
                _ => return self.enum_by_text(&e, name),
            }
        }
        Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("`{what}` cannot be indexed with `{}`", name.ty))
            .note("take the item outside of the function: `N = CONFIG[\"n\"]`, and use `N`, or pass it as an argument"))
    }

    /// A member whose name is known at run time.
    fn enum_by_text(&mut self, e: &EnumClass, name: &Val) -> Result<Val> {
        let mut at = Val::int(-1);
        for (i, (own, _)) in e.members.iter().enumerate() {
            let same = self.compare(CmpOp::Eq, name, &Val::str(own.as_str()))?;
            at = match same.as_bool() {
                Some(true) => Val::int(i as i128),
                Some(false) => at,
                None => self.op("select", &[same, Val::int(i as i128), at]),
            };
        }
        let missing = self.less(&at, &Val::int(0))?;
        let key = self.value(name);
        let raise = |cx: &mut Self| cx.set_term(lh_ir::func::Term::Raise { exc: exc::KEY_ERROR, args: vec![key] });
        if missing.as_bool() == Some(true) {
            raise(self);
            self.dead = true;
            return Ok(Val::of_type(Ty::never()));
        }
        let (bad, good) = self.branch(&missing);
        self.cur = bad;
        raise(self);
        self.cur = good;
        if e.values.is_none() && !e.flags {
            return Ok(self.enum_of_word(e, &at));
        }
        let values = e.members.iter().map(|(_, o)| self.object(*o)).collect::<Result<Vec<_>>>()?;
        let word = self.of_position(&values, &at)?;
        Ok(self.enum_of_word(e, &word))
    }

    /// Attributes of members and of memory.
    pub(crate) fn instance_attr(&mut self, v: &Val, name: &str) -> Result<Option<Val>> {
        let Some((_, class, values)) = v.ty.as_enum() else { return self.buffer_attr(v, name) };
        let e = self.enum_of(class);
        match name {
            "value" | "_value_" if values || e.flags => Ok(Some(self.field(v, 0))),
            "value" | "_value_" => {
                let values = e.members.iter().map(|(_, o)| self.object(*o)).collect::<Result<Vec<_>>>()?;
                let at = self.position(&e, v)?;
                self.of_position(&values, &at).map(Some)
            }
            "name" | "_name_" if e.flags => self.flags_name(&e, v).map(Some),
            "name" | "_name_" => {
                let names: Vec<Val> = e.members.iter().map(|(n, _)| Val::str(n.as_str())).collect();
                let at = self.position(&e, v)?;
                self.of_position(&names, &at).map(Some)
            }
            _ => match self.enum_own(v, &e, name)? {
                None if values => {
                    let word = self.field(v, 0);
                    self.get_attr(&word, name).map(Some)
                }
                found => Ok(found),
            },
        }
    }

    fn buffer_attr(&mut self, v: &Val, name: &str) -> Result<Option<Val>> {
        if v.ty.as_buffer() == Some(Buffer::ByteArray) {
            return Ok(None);
        }
        let array = self.field(v, 0);
        match (v.ty.as_buffer(), name) {
            (Some(Buffer::MemoryView), "contiguous" | "c_contiguous" | "f_contiguous") => {
                let flags = self.get_attr(&array, "flags")?;
                self.get_attr(&flags, if name == "contiguous" { "forc" } else { name }).map(Some)
            }
            (Some(Buffer::MemoryView), "readonly") => {
                Ok(Some(Val::bool(array.ty.as_array().is_some_and(|(.., readonly)| readonly))))
            }
            (Some(Buffer::MemoryView), "format") => {
                let dtype = array.ty.as_array().map(|(dtype, ..)| dtype);
                Ok(dtype.and_then(format_letters).map(Val::str))
            }
            (Some(Buffer::MemoryView), "suboffsets") => Ok(Some(Val::tuple(Vec::new()))),
            (Some(Buffer::MemoryView), "nbytes" | "itemsize" | "ndim" | "shape" | "strides" | "tolist")
            | (Some(Buffer::Array), "itemsize" | "tolist") => self.get_attr(&array, name).map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn instance_truth(&mut self, v: &Val) -> Result<Val> {
        match v.ty.as_enum() {
            Some((_, _, true)) => {
                let word = self.field(v, 0);
                self.truth(&word)
            }
            Some(_) if self.flags_of(v).is_some() => {
                let word = self.field(v, 0);
                self.truth(&word)
            }
            Some(_) => Ok(Val::bool(true)),
            None => {
                let n = self.len(v)?;
                Ok(self.cast(&n, Ty::bool()))
            }
        }
    }

    pub(crate) fn compare_instances(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
        match (a.ty.as_enum(), b.ty.as_enum()) {
            (Some((_, x, _)), Some((_, y, _))) if x == y && equality => {
                let (x, y) = (self.field(a, 0), self.field(b, 0));
                self.compare(op, &x, &y)
            }
            (None, None) => {
                let (x, y) = (self.memory(a)?, self.memory(b)?);
                let name = match op {
                    CmpOp::Eq | CmpOp::Ne => "buffers.equal",
                    CmpOp::Lt | CmpOp::Ge => "buffers.before",
                    CmpOp::Gt | CmpOp::Le => "buffers.after",
                };
                let v = self.call_library(name, &[x, y])?;
                let negate = matches!(op, CmpOp::Ne | CmpOp::Ge | CmpOp::Le);
                if negate { self.unary(lh_ir::untyped::UnOp::Not, &v) } else { Ok(v) }
            }
            _ if equality => Ok(Val::bool(op == CmpOp::Ne)),
            _ => Err(self.no_op(op.symbol(), a.ty, b.ty)),
        }
    }

    /// The array over the memory of bytes and the like. That of a `bytearray` is replaced where it grows.
    pub(crate) fn memory(&mut self, v: &Val) -> Result<Val> {
        let own = self.field(v, 0);
        let is_object = v.ty.as_buffer() == Some(Buffer::ByteArray);
        if is_object { self.call_library("bytearrays.held", &[own]) } else { Ok(own) }
    }

    /// The same for something that refers to it as long as it likes: a `bytearray` does not grow any more.
    pub(crate) fn exported(&mut self, v: &Val) -> Result<Val> {
        if v.ty.as_buffer() != Some(Buffer::ByteArray) {
            return Ok(self.field(v, 0));
        }
        let own = self.field(v, 0);
        self.call_library("bytearrays.exported", &[own])
    }

    /// `v[k]` of memory: a Python number, or a part as the same class.
    pub(crate) fn instance_item(&mut self, v: &Val, k: &Val) -> Result<Val> {
        if let Some((to, at)) = self.pointed_at(v, k) {
            return Ok(self.push(Inst::Load(at), to));
        }
        let Some(class) = v.ty.as_buffer() else {
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("`{}` cannot be indexed with `{}`", v.ty, k.ty)));
        };
        let array = self.memory(v)?;
        let is_table = class == Buffer::MemoryView && array.ty.as_array().is_some_and(|(_, ndim, ..)| ndim > 1);
        if is_table && k.ty.is_int() {
            let text = "multi-dimensional sub-views are not implemented";
            self.raise_text(exc::NOT_IMPLEMENTED_ERROR, text);
            self.dead = true;
            return Ok(Val::of_type(Ty::never()));
        }
        let item = self.get_item(&array, k)?;
        if item.ty.is_number() {
            return Ok(self.cast(&item, python_number(item.ty)));
        }
        if !item.ty.is_array() {
            return Ok(item);
        }
        // Parts of what can change are copies, but for views.
        let copied = matches!(class, Buffer::ByteArray | Buffer::Array);
        let part = if copied { self.method(&item, "copy", &[])? } else { item };
        if class == Buffer::ByteArray {
            return self.bytes_of(&part, class);
        }
        let ty = Ty::buffer(part.ty, class);
        Ok(self.pack(vec![part], ty))
    }

    /// The number that is some numbers after an address, as C counts them: nothing says how many there are.
    fn pointed_at(&mut self, v: &Val, k: &Val) -> Option<(Ty, Value)> {
        let to = v.ty.pointee().filter(|t| t.is_number() && k.ty.is_int())?;
        let k = self.cast(k, Ty::int());
        let offset = self.op("mul", &[k, Val::int(to.itemsize() as i128)]);
        let (address, offset) = (self.field(v, 0), self.value(&offset));
        let address = self.value(&address);
        Some((to, self.push(Inst::PtrAdd(address, offset), Ty::ptr()).v?))
    }

    /// `v[k] = x` of memory.
    pub(crate) fn set_instance_item(&mut self, v: &Val, k: &Val, x: &Val) -> Result<()> {
        if let Some((to, at)) = self.pointed_at(v, k) {
            let x = self.element_value(x, to)?;
            let x = self.value(&x);
            self.push_void(Inst::Store(at, x));
            return Ok(());
        }
        let Some(class) = v.ty.as_buffer() else {
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("items of `{}` cannot be assigned", v.ty)));
        };
        let array = self.memory(v)?;
        if !x.ty.is_number() {
            if class == Buffer::ByteArray {
                return self.call_library("bytearrays.put_part", &[v.clone(), k.clone(), x.clone()]).map(drop);
            }
            if class != Buffer::MemoryView {
                let text = format!("a part of a `{}` cannot be assigned", class.name());
                return Err(
                    Diagnostic::new(diag::NO_MATCHING_OP, text).note("assign item by item, or to a memoryview of it")
                );
            }
            if x.ty.as_buffer().is_some() {
                self.check_writable(array.ty)?;
                let x = self.memory(x)?;
                return self.call_library("memoryviews.put_view", &[array, k.clone(), x]).map(drop);
            }
            return self.set_item(&array, k, x);
        }
        self.check_writable(array.ty)?;
        let (dtype, ..) = array.ty.as_array().expect("an array");
        let limit = Val::of_type(Ty::dtype(dtype));
        let text = Val::str(match class {
            Buffer::MemoryView => "memoryview: invalid value for the format",
            Buffer::Bytes | Buffer::ByteArray | Buffer::Array => "byte must be in range(0, 256)",
        });
        let text = if class == Buffer::Array { Val::constant(Const::None) } else { text };
        let x = self.call_library("buffers.item_value", &[x.clone(), limit, text])?;
        self.set_item(&array, k, &x)
    }

    /// A member in its enumeration, or flags among flags; `None` of anything else.
    pub(crate) fn enum_contains(&mut self, x: &Val, container: &Val) -> Result<Option<Val>> {
        if x.ty.as_enum().is_none() {
            return Ok(None);
        }
        if let TyKind::Obj(o) = container.ty.kind() {
            let is_own = matches!(self.world.object(*o), Object::EnumClass(e) if e.ty() == x.ty);
            return Ok(is_own.then(|| Val::bool(true)));
        }
        if x.ty != container.ty || self.flags_of(container).is_none() {
            return Ok(None);
        }
        let (own, all) = (self.field(x, 0), self.field(container, 0));
        let common = self.binary(BinOp::And, &own, &all, false)?;
        self.compare(CmpOp::Eq, &common, &own).map(Some)
    }

    /// `x in v`
    pub(crate) fn instance_contains(&mut self, v: &Val, x: &Val) -> Result<Val> {
        if v.ty.as_buffer().is_none() {
            return Err(self.no_op("in", x.ty, v.ty));
        }
        let array = self.memory(v)?;
        if x.ty.as_buffer().is_some() {
            let part = self.memory(x)?;
            return self.call_library("buffers.contains", &[array, part]);
        }
        if x.ty.is_int() && matches!(v.ty.as_buffer(), Some(Buffer::Bytes | Buffer::ByteArray)) {
            return self.call_library("bytestrings.has_byte", &[array, x.clone()]);
        }
        if x.ty == Ty::str() {
            return Err(self.no_op("in", x.ty, v.ty));
        }
        self.contains(x, &array, false)
    }

    /// `a + b` of bytes.
    pub(crate) fn join_buffers(&mut self, a: &Val, b: &Val) -> Result<Val> {
        match (a.ty.as_buffer(), b.ty.as_buffer()) {
            (Some(class @ (Buffer::Bytes | Buffer::ByteArray)), Some(Buffer::Bytes | Buffer::ByteArray)) => {
                let (x, y) = (self.memory(a)?, self.memory(b)?);
                let joined = self.call_library("buffers.joined", &[x, y])?;
                self.bytes_of(&joined, class)
            }
            _ => Err(self.no_op(BinOp::Add.symbol(), a.ty, b.ty)),
        }
    }

    /// A new array of bytes as an instance.
    pub(crate) fn bytes_of(&mut self, array: &Val, class: Buffer) -> Result<Val> {
        let of = Ty::array_ro(Ty::u8(), 1, Layout::C, class == Buffer::Bytes);
        let array = self.convert(array, of)?;
        if class == Buffer::ByteArray {
            let own = self.call_library("bytearrays.stored", &[array])?;
            return Ok(self.pack(vec![own], Ty::bytearray()));
        }
        Ok(self.pack(vec![array], Ty::buffer(of, class)))
    }

    /// `b"..."`: its bytes are stored eight at a time.
    pub(crate) fn bytes_display(&mut self, bytes: &[u8]) -> Result<Val> {
        if bytes.len() > MAX_BYTES {
            return Err(
                Diagnostic::new(diag::TOO_LARGE, "this display of bytes is too long").note("pass it as an argument")
            );
        }
        let word = |c: &[u8]| {
            let mut w = [0u8; 8];
            w[..c.len()].copy_from_slice(c);
            Val::constant(Const::Int(i128::from(i64::from_le_bytes(w)), Ty::int()))
        };
        let made = self.call_library("buffers.new", &[Val::int(bytes.len() as i128)])?;
        for (i, c) in bytes.chunks(8).enumerate() {
            self.call_library("buffers.put_word", &[made.clone(), Val::int(i as i128), word(c)])?;
        }
        self.bytes_of(&made, Buffer::Bytes)
    }

    /// Builtins that treat instances in their own way; `None` where they act as native values.
    pub(crate) fn instance_builtin(&mut self, path: &str, args: &[Val]) -> Result<Option<Val>> {
        let [x] = args else { return Ok(None) };
        match (path, x.ty.as_enum()) {
            ("builtins.str", _) => self.instance_text(x),
            ("builtins.repr", Some((_, class, _))) if self.enum_of(class).own_texts[1] => {
                self.enum_method(x, class, "__repr__")
            }
            ("builtins.repr", Some(_)) => self.call_library("text.member_repr", std::slice::from_ref(x)).map(Some),
            ("builtins.hash", Some((_, _, false))) => {
                let name = self.get_attr(x, "name")?;
                self.call_library("text.name_hash", &[name]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `Color.__members__`, whose names are known while compiling; of an enumeration with further names it is not,
    /// since their places are not known.
    pub(crate) fn members_by_name(&mut self, class: ObjId) -> Result<Option<Val>> {
        let Object::EnumClass(e) = self.world.object(class) else { return Ok(None) };
        if !e.aliases.is_empty() {
            return Ok(None);
        }
        let named = (0..e.members.len()).map(|i| Ok((e.members[i].0.clone(), self.enum_member(&e, i)?)));
        let named = named.collect::<Result<Vec<_>>>()?;
        Ok(Some(self.named_entries(named)))
    }

    /// The members of an enumeration as a tuple, where a builtin goes through it.
    pub(crate) fn members_gone_through(&mut self, path: &str, x: &Val) -> Result<Option<Val>> {
        let goes = matches!(
            path.strip_prefix("builtins."),
            Some("enumerate" | "zip" | "map" | "filter" | "reversed" | "max" | "min" | "sum" | "tuple" | "any" | "all")
        );
        match x.ty.kind() {
            TyKind::Obj(o) if goes => match self.world.object(*o) {
                Object::EnumClass(e) => self.enum_members(&e).map(Some),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The value that a builtin or a library function gets for an instance.
    pub(crate) fn as_native(&mut self, path: &str, x: &Val) -> Result<Val> {
        // Numbers are computed of the value; what hands its arguments on, or asks for their class, gets the member.
        const COMPUTE: &str = "abs bin bool bytearray bytes chr complex divmod float format hash hex int oct ord pow range \
                               round slice str";
        let computes = path.strip_prefix("builtins.").is_some_and(|name| COMPUTE.split(' ').any(|one| one == name));
        let hands_on =
            ["builtins.", "itertools.", "functools.", "collections.", "copy.", "heapq.", "bisect.", "random."];
        let kept = !computes && hands_on.iter().any(|module| path.starts_with(module));
        match (x.ty.as_enum(), x.ty.as_buffer()) {
            // Its text is what a format fills in.
            (Some((_, class, values)), _)
                if path == "builtins.format" && (!values || self.enum_of(class).formatted) =>
            {
                self.instance_text(x).map(|text| text.unwrap_or_else(|| x.clone()))
            }
            (Some((_, _, true)), _) if !kept => Ok(self.field(x, 0)),
            (_, Some(b)) if path.starts_with("numpy.") && (b != Buffer::Bytes || path == "numpy.frombuffer") => {
                self.exported(x)
            }
            _ => Ok(x.clone()),
        }
    }

    /// The result of a method that the program's class of a member defines itself; `None` if there is none.
    fn enum_method(&mut self, v: &Val, class: ObjId, name: &str) -> Result<Option<Val>> {
        let Some(method) = self.world.attr(class, name) else { return Ok(None) };
        match self.world.object(method) {
            Object::Func(f) => self.call_func(f, std::slice::from_ref(v), &[]).map(Some),
            _ => Ok(None),
        }
    }

    /// The members that flags are joined of, as a list.
    pub(crate) fn flags_in(&mut self, v: &Val) -> Result<Option<Val>> {
        let Some(e) = self.flags_of(v) else { return Ok(None) };
        let (members, word) = (self.enum_members(&e)?, self.field(v, 0));
        let values = e.members.iter().map(|(_, o)| self.object(*o)).collect::<Result<Vec<_>>>()?;
        self.call_library("text.flags_in", &[word, members, Val::tuple(values)]).map(Some)
    }

    /// `str(member)`; `None` of anything else.
    pub(crate) fn instance_text(&mut self, v: &Val) -> Result<Option<Val>> {
        let Some((class, object, values)) = v.ty.as_enum() else { return Ok(None) };
        let e = self.enum_of(object);
        if e.own_texts[0] {
            return self.enum_method(v, object, "__str__");
        }
        if values && !e.named {
            let word = self.field(v, 0);
            return self.call_library("text.text_of", &[word]).map(Some);
        }
        let name = self.get_attr(v, "name")?;
        if self.flags_of(v).is_some() {
            let word = self.field(v, 0);
            return self.call_library("text.flags_text", &[Val::str(class), name, word]).map(Some);
        }
        self.binary(BinOp::Add, &Val::str(format!("{class}.")), &name, false).map(Some)
    }
}
