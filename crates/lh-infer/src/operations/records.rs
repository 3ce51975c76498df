//! Records: items of structured dtypes. A record is an address with the owner of its memory, so that writing its fields
//! writes to the array that it came from.

use crate::cx::Infer;
use crate::emit::ArrayParts;
use crate::val::Val;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Inst};
use lh_ir::types::{Buffer, Chars, Layout, Prim, Record, RecordField, TyKind};
use lh_ir::{Ty, Value};

/// Words that a record is copied by at once; longer ones are copied in a loop.
const MAX_WORDS: usize = 64;

impl Infer<'_> {
    /// The element at an address: a number is read, a short vector's numbers are, a record is where it is.
    pub(crate) fn element_at(&mut self, array: &Val, at: Value, dtype: Ty) -> Val {
        if let TyKind::Tuple { elems, .. } = dtype.kind() {
            let read = |(i, t): (usize, &Ty)| {
                let at = self.bytes_on(at, i * t.itemsize());
                self.push(Inst::Load(at), *t)
            };
            let parts = elems.iter().enumerate().map(read).collect();
            return self.pack(parts, dtype);
        }
        let Some(r) = dtype.as_record() else { return self.push(Inst::Load(at), dtype) };
        if r.chars.is_some() {
            return self.load_text(&Val::new(Ty::ptr(), at), r);
        }
        let a = self.value(array);
        let owner = self.push(Inst::ArrayOwner(a), Ty::meminfo());
        self.pack(vec![owner, Val::new(Ty::ptr(), at)], dtype)
    }

    /// `record["name"]`, `record[0]`
    pub(crate) fn record_item(&mut self, v: &Val, k: &Val) -> Result<Val> {
        let name = self.record_key(v, k)?;
        let r = v.ty.as_record().expect("a record");
        self.record_field(v, r, known_field(r, v.ty, &name)?)
    }

    /// The name of the field that a subscript means.
    pub(crate) fn record_key(&self, v: &Val, k: &Val) -> Result<String> {
        let r = v.ty.as_record().expect("a record");
        if let Some(name) = k.as_str() {
            return Ok(name.to_owned());
        }
        let n = r.fields.len() as i128;
        match k.as_int().map(|i| if i < 0 { i + n } else { i }) {
            Some(i) if (0..n).contains(&i) => Ok(r.fields[i as usize].name.clone()),
            Some(i) => Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("`{}` has {n} fields, not {}", v.ty, i + 1))),
            None => Err(Diagnostic::new(
                diag::NEEDS_CONSTANT,
                format!("the field of a record must be known while compiling, not `{}`", k.ty),
            )
            .note("write its name, or loop over a tuple of names with `literal_unroll`")),
        }
    }

    /// The text at an address.
    fn load_text(&mut self, at: &Val, r: &Record) -> Val {
        let (name, class) = match r.chars {
            Some(Chars::Bytes) => ("chars.bytes_at", Some(Buffer::Bytes)),
            _ => ("chars.text_at", None),
        };
        let made = self.call_library(name, &[at.clone(), Val::int(r.text_len() as i128)]);
        let made = made.and_then(|made| if class.is_some() { self.bytes_of(&made, Buffer::Bytes) } else { Ok(made) });
        made.unwrap_or_else(|d| lh_ir::bug!("the library reads texts: {}", d.headline))
    }

    /// Stores a text, or what is left of it where it is too long.
    pub(crate) fn store_text(&mut self, at: &Val, x: &Val, r: &Record) -> Result<()> {
        let name = match (r.chars, x.ty.as_buffer()) {
            _ if x.ty == Ty::str() && r.chars == Some(Chars::Bytes) => "chars.put_ascii",
            (Some(Chars::CodePoints), Some(Buffer::Bytes | Buffer::ByteArray)) => "chars.put_bytes_as_text",
            (Some(Chars::CodePoints), None) => "chars.put_text",
            (Some(Chars::Bytes), Some(Buffer::Bytes | Buffer::ByteArray)) => "chars.put_bytes",
            _ => {
                let text = format!("`{}` cannot be stored where `{}` is", x.ty, record_type(r.clone()));
                return Err(Diagnostic::new(diag::NO_MATCHING_OP, text));
            }
        };
        let x = if x.ty.as_buffer().is_some() { self.memory(x)? } else { x.clone() };
        self.call_library(name, &[at.clone(), Val::int(r.text_len() as i128), x]).map(|_| ())
    }

    /// A field's value: a number, a record, or an array over the memory of the record.
    pub(crate) fn record_field(&mut self, v: &Val, r: &Record, f: &RecordField) -> Result<Val> {
        let at = self.field_address(v, f);
        if !f.shape.is_empty() {
            return self.nested_array(v, &at, r, f);
        }
        if let Some(inner) = f.ty.as_record() {
            if inner.chars.is_some() {
                return Ok(self.load_text(&at, inner));
            }
            let owner = self.field(v, 0);
            return Ok(self.pack(vec![owner, at], record_type(inner.at(f.offset, r.align))));
        }
        if f.ty.is_none() {
            return Err(without_form(f));
        }
        let at = self.value(&at);
        Ok(self.load_packed(at, f.ty, self.is_aligned(r, f)))
    }

    fn field_address(&mut self, v: &Val, f: &RecordField) -> Val {
        let data = self.field(v, 1);
        self.offset(&data, &Val::int(f.offset as i128))
    }

    /// Whether the address of a field is a multiple of what is needed to read it at once. CPUs need nothing.
    fn is_aligned(&self, r: &Record, f: &RecordField) -> bool {
        let size = f.ty.real_part().itemsize();
        self.options.device != Device::Gpu || r.align.is_multiple_of(size) && f.offset.is_multiple_of(size)
    }

    /// The type of the elements of a field as an array.
    fn element_type(&self, r: &Record, f: &RecordField) -> Result<Ty> {
        if f.ty.is_none() {
            return Err(without_form(f));
        }
        if let Some(inner) = f.ty.as_record() {
            return Ok(record_type(inner.at(f.offset, r.align)));
        }
        if self.is_aligned(r, f) {
            return Ok(f.ty);
        }
        let of = record_type(r.clone());
        let text = format!("the field `{}` of `{of}` is not aligned, so that a GPU has no arrays of it", f.name);
        Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text)
            .note("make the dtype with `align=True`, or read the field of one record"))
    }

    fn nested_array(&mut self, v: &Val, at: &Val, r: &Record, f: &RecordField) -> Result<Val> {
        let elem = self.element_type(r, f)?;
        let owner = self.field(v, 0);
        let (shape, strides) = extents(f);
        let parts = ArrayParts { owner, data: at.clone(), shape, strides };
        Ok(self.make_array(&parts, Ty::array(elem, f.shape.len(), Layout::C)))
    }

    /// `record.name = x`
    pub(crate) fn set_record_field(&mut self, v: &Val, name: &str, x: &Val) -> Result<()> {
        let r = v.ty.as_record().expect("a record");
        let f = known_field(r, v.ty, name)?;
        let x = &self.unwrap_optional(x)?;
        if !f.shape.is_empty() {
            let dst = self.record_field(v, r, f)?;
            return self.assign(&dst, x);
        }
        if f.ty.is_record() && x.ty.is_tuple() {
            let to = self.record_field(v, r, f)?;
            return self.store_tuple(&to, x);
        }
        let at = self.field_address(v, f);
        if let Some(r) = f.ty.as_record().filter(|r| r.chars.is_some()) {
            return self.store_text(&at, x, r);
        }
        let at = self.value(&at);
        if let (Some(to), Some(from)) = (f.ty.as_record(), x.ty.as_record()) {
            return self.copy_record(at, &to.at(f.offset, r.align), x, from);
        }
        if f.ty.is_none() {
            return Err(without_form(f));
        }
        if !x.ty.is_scalar() || !f.ty.is_scalar() {
            return Err(Diagnostic::new(
                diag::NO_MATCHING_OP,
                format!("`{}` cannot be stored in the field `{name}`, which is `{}`", x.ty, f.ty),
            ));
        }
        let x = self.element_value(x, f.ty)?;
        self.store_packed(at, &x, self.is_aligned(r, f));
        Ok(())
    }

    /// `array["name"]`: the field of all records, over the same memory.
    pub(crate) fn field_of_records(&mut self, a: &Val, name: &str) -> Result<Val> {
        let (dtype, ndim, _, ro) = a.ty.as_array().expect("an array");
        let r = dtype.as_record().expect("records");
        let f = known_field(r, dtype, name)?;
        let elem = self.element_type(r, f)?;
        let mut parts = self.array_parts(a);
        parts.data = self.offset(&parts.data.clone(), &Val::int(f.offset as i128));
        let (shape, strides) = extents(f);
        parts.shape.extend(shape);
        parts.strides.extend(strides);
        let rank = ndim + f.shape.len();
        let layout = crate::emit::any_layout(rank);
        Ok(self.make_array(&parts, Ty::array_ro(elem, rank, layout, ro)))
    }

    /// Copies a record to an address.
    pub(crate) fn copy_record(&mut self, to: Value, target: &Record, x: &Val, source: &Record) -> Result<()> {
        let same = |a: &RecordField, b: &RecordField| {
            (&a.name, a.offset, &a.format, &a.shape) == (&b.name, b.offset, &b.format, &b.shape)
        };
        if target.size != source.size || !target.fields.iter().zip(&source.fields).all(|(a, b)| same(a, b)) {
            let text = format!("`{}` cannot be stored where `{}` is", x.ty, record_type(target.clone()));
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, text).note("assign field by field"));
        }
        let from = self.field(x, 1);
        let from = self.value(&from);
        let align = if self.options.device == Device::Gpu { target.align.min(source.align) } else { 8 };
        let word = [8, 4, 2, 1].into_iter().find(|w| align.is_multiple_of(*w) && target.size.is_multiple_of(*w));
        let word = word.unwrap_or(1);
        let ty = [Ty::u8(), Ty::u16(), Ty::u32(), Ty::u64()][word.trailing_zeros() as usize];
        let n = target.size / word;
        if n > MAX_WORDS {
            let (to, from) = (Val::new(Ty::ptr(), to), Val::new(Ty::ptr(), from));
            self.call_library("records.copy", &[to, from, Val::int(n as i128), Val::of_type(Ty::dtype(ty))])?;
            return Ok(());
        }
        // All is read first: the two may overlap.
        let words: Vec<Value> = (0..n)
            .map(|i| {
                let p = self.bytes_on(from, i * word);
                self.push(Inst::Load(p), ty).v.expect("just pushed")
            })
            .collect();
        for (i, w) in words.into_iter().enumerate() {
            let p = self.bytes_on(to, i * word);
            self.push_void(Inst::Store(p, w));
        }
        Ok(())
    }

    /// `dst[...] = x` where there are records.
    pub(crate) fn assign_records(&mut self, dst: &Val, x: &Val) -> Result<()> {
        let of = |t: Ty| t.as_array().map_or(t, |(d, ..)| d);
        let fills = of(dst.ty).is_record() && (of(x.ty).is_scalar() || x.ty.class() == Some(Class::list()));
        if of(dst.ty) == of(x.ty) || x.ty.is_tuple() || fills || of(dst.ty).chars().is_some() {
            return self.call_library("record_values.assign", &[dst.clone(), x.clone()]).map(|_| ());
        }
        Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("`{}` cannot be assigned to elements of `{}`", x.ty, dst.ty))
            .note("assign field by field"))
    }

    /// Stores the numbers of a short vector.
    pub(crate) fn store_vector(&mut self, at: Value, x: &Val) {
        for (i, part) in self.tuple_parts(x).expect("a tuple").iter().enumerate() {
            let at = self.bytes_on(at, i * part.ty.itemsize());
            self.store_packed(at, part, true);
        }
    }

    /// A number at an address that may be a multiple of nothing; bytes are what LLVM makes one access of.
    fn load_packed(&mut self, at: Value, ty: Ty, aligned: bool) -> Val {
        if aligned {
            return self.push(Inst::Load(at), ty);
        }
        if ty.is_complex() {
            let part = ty.real_part();
            let re = self.load_packed(at, part, false);
            let next = self.bytes_on(at, part.itemsize());
            let im = self.load_packed(next, part, false);
            return self.pack(vec![re, im], ty);
        }
        if ty.is_time() {
            let ticks = self.load_packed(at, Ty::int(), false);
            return self.pack(vec![ticks], ty);
        }
        let wide = unsigned(ty.itemsize());
        let mut word = Val::int(0);
        word = self.cast(&word, wide);
        for i in 0..ty.itemsize() {
            let p = self.bytes_on(at, i);
            let byte = self.push(Inst::Load(p), Ty::u8());
            let byte = self.cast(&byte, wide);
            let places = self.cast(&Val::int(8 * i as i128), wide);
            let byte = self.op("shl", &[byte, places]);
            word = self.op("or", &[word, byte]);
        }
        self.of_bits(&word, ty)
    }

    fn store_packed(&mut self, at: Value, x: &Val, aligned: bool) {
        if aligned {
            let x = self.value(x);
            return self.push_void(Inst::Store(at, x));
        }
        if x.ty.is_complex() {
            let (re, im) = (self.field(x, 0), self.field(x, 1));
            let next = self.bytes_on(at, re.ty.itemsize());
            self.store_packed(at, &re, false);
            return self.store_packed(next, &im, false);
        }
        if x.ty.is_time() {
            let ticks = self.field(x, 0);
            return self.store_packed(at, &ticks, false);
        }
        let word = self.bits_of(x);
        for i in 0..x.ty.itemsize() {
            let places = self.cast(&Val::int(8 * i as i128), word.ty);
            let byte = self.op("shr", &[word.clone(), places]);
            let byte = self.cast(&byte, Ty::u8());
            let (p, byte) = (self.bytes_on(at, i), self.value(&byte));
            self.push_void(Inst::Store(p, byte));
        }
    }

    /// The number of these bits.
    pub(crate) fn of_bits(&mut self, word: &Val, ty: Ty) -> Val {
        match ty.flatten()[..] {
            [Prim::F64] => {
                let word = self.cast(word, Ty::i64());
                let x = self.op("f64_of_bits", &[word]);
                self.cast(&x, ty)
            }
            [Prim::F32] => {
                let word = self.cast(word, Ty::i32());
                self.op("f32_of_bits", &[word])
            }
            [Prim::F16] => {
                let word = self.cast(word, Ty::i16());
                self.op("f16_of_bits", &[word])
            }
            [Prim::I16] if ty == Ty::bf16() => {
                let word = self.cast(word, Ty::i16());
                self.op("bf16_of_bits", &[word])
            }
            _ => self.cast(word, ty),
        }
    }

    /// The bits of a number.
    pub(crate) fn bits_of(&mut self, x: &Val) -> Val {
        let bits = match x.ty.flatten()[..] {
            [Prim::F64] => self.op("bits_of_f64", std::slice::from_ref(x)),
            [Prim::F32] => self.op("bits_of_f32", std::slice::from_ref(x)),
            [Prim::F16] => self.op("bits_of_f16", std::slice::from_ref(x)),
            [Prim::I16] if x.ty == Ty::bf16() => self.op("bits_of_bf16", std::slice::from_ref(x)),
            _ => x.clone(),
        };
        self.cast(&bits, unsigned(x.ty.itemsize()))
    }

    fn bytes_on(&mut self, at: Value, bytes: usize) -> Value {
        if bytes == 0 {
            return at;
        }
        let bytes = self.value(&Val::int(bytes as i128));
        self.push(Inst::PtrAdd(at, bytes), Ty::ptr()).v.expect("just pushed")
    }

    /// Accepts the other attributes of arrays of records.
    pub(crate) fn check_record_attribute(&self, name: &str) -> Result<()> {
        const KNOWN: [&str; 18] = [
            "copy",
            "ctypes",
            "fill",
            "tolist",
            "flatten",
            "take",
            "shape",
            "strides",
            "ndim",
            "dtype",
            "size",
            "itemsize",
            "nbytes",
            "T",
            "reshape",
            "ravel",
            "transpose",
            "flat",
        ];
        if KNOWN.contains(&name) || name.starts_with("getitem_") || name.starts_with("setitem_") {
            return Ok(());
        }
        Err(Diagnostic::new(
            diag::UNKNOWN_ATTRIBUTE,
            format!("an array of records has neither a field nor, in compiled code, an attribute `{name}`"),
        )
        .note("work on its fields: `a[\"x\"]` is an array"))
    }
}

/// NumPy's functions work on numbers, but for those that only look at the shape.
pub(crate) fn check_arguments(path: &str, args: &[Val]) -> Result<()> {
    const KNOWN: [&str; 33] = [
        "append",
        "array",
        "array_split",
        "asarray",
        "ascontiguousarray",
        "atleast_1d",
        "atleast_2d",
        "broadcast_to",
        "concatenate",
        "copy",
        "delete",
        "empty_like",
        "expand_dims",
        "flip",
        "fliplr",
        "flipud",
        "full_like",
        "hstack",
        "ndim",
        "ones_like",
        "ravel",
        "repeat",
        "reshape",
        "roll",
        "shape",
        "size",
        "split",
        "squeeze",
        "stack",
        "take",
        "transpose",
        "vstack",
        "zeros_like",
    ];
    let Some(name) = path.strip_prefix("numpy.").filter(|n| !KNOWN.contains(n)) else { return Ok(()) };
    let is_record = |a: &&Val| a.ty.as_array().is_some_and(|(d, ..)| d.as_record().is_some_and(|r| r.chars.is_none()));
    match args.iter().find(is_record) {
        Some(a) => Err(Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`numpy.{name}` does not take `{}`", a.ty))
            .note("work on the fields of records: `a[\"x\"]` is an array")),
        None => Ok(()),
    }
}

fn known_field<'r>(r: &'r Record, ty: Ty, name: &str) -> Result<&'r RecordField> {
    r.field(name).ok_or_else(|| {
        Diagnostic::new(diag::UNKNOWN_ATTRIBUTE, format!("`{ty}` has no field `{name}`"))
            .instead_of(r.fields.iter().map(|f| &*f.name))
    })
}

fn without_form(f: &RecordField) -> Box<Diagnostic> {
    let text = format!("the field `{}` is of dtype `{}`, which has no native form", f.name, f.format);
    Diagnostic::new(diag::UNSUPPORTED_TYPE, text).note("keep such fields outside of compiled code")
}

fn record_type(r: Record) -> Ty {
    Ty::new(lh_ir::TyKind::Record(r))
}

fn unsigned(size: usize) -> Ty {
    [Ty::u8(), Ty::u16(), Ty::u32(), Ty::u64()][size.trailing_zeros() as usize]
}

/// Extents and strides of an array in a record.
fn extents(f: &RecordField) -> (Vec<Val>, Vec<Val>) {
    let mut stride = f.ty.itemsize() as i128;
    let mut strides = Vec::new();
    for n in f.shape.iter().rev() {
        strides.insert(0, Val::int(stride));
        stride *= *n as i128;
    }
    (f.shape.iter().map(|n| Val::int(*n as i128)).collect(), strides)
}
