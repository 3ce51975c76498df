//! Short vectors, `float4` and its kin: named tuples that are made of numbers, of complex numbers and of each other,
//! have arithmetic of their own, and are read from arrays and written to them at once.

use crate::cx::Infer;
use crate::val::Val;
use crate::world::Object;
use lh_ir::Ty;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::types::{NamedTuple, TyKind};
use lh_ir::untyped::BinOp;

/// The type of the parts of a short vector: `float32` for `float32x4`.
pub(crate) fn vector_base(n: &NamedTuple) -> Option<Ty> {
    let (base, size) = n.name.rsplit_once('x')?;
    let is_vector = n.fields.iter().map(String::as_str).eq(["x", "y", "z", "w"].into_iter().take(size.parse().ok()?));
    let types = [
        Ty::i8(),
        Ty::i16(),
        Ty::i32(),
        Ty::i64(),
        Ty::u8(),
        Ty::u16(),
        Ty::u32(),
        Ty::u64(),
        Ty::f16(),
        Ty::f32(),
        Ty::f64(),
    ];
    types.into_iter().find(|t| is_vector && t.to_string() == base)
}

impl Infer<'_> {
    /// The type of short vectors that a class stands for.
    pub(crate) fn vector_class(&mut self, v: &Val) -> Option<Ty> {
        let TyKind::Obj(o) = v.ty.kind() else { return None };
        let Object::NamedTupleClass(n) = self.world.object(*o) else { return None };
        vector_base(&n).map(|base| Ty::new(TyKind::Tuple { elems: vec![base; n.fields.len()], name: Some(n) }))
    }

    /// A short vector of numbers and shorter ones, in order.
    pub(crate) fn vector(&mut self, n: &NamedTuple, base: Ty, args: &[Val]) -> Result<Val> {
        let mut parts = Vec::new();
        for a in args {
            for x in self.numbers_of(a) {
                if !x.ty.is_number() || x.ty.is_complex() {
                    let text = format!("`{}` is made of numbers, not of `{}`", n.name, x.ty);
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
                parts.push(self.cast(&x, base));
            }
        }
        if let ([x], [_]) = (parts.as_slice(), args) {
            parts = vec![x.clone(); n.fields.len()];
        }
        if parts.len() != n.fields.len() {
            let text = format!("`{}` takes {} numbers, {} were given", n.name, n.fields.len(), parts.len());
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("vectors count as their parts"));
        }
        let elems = vec![base; parts.len()];
        Ok(self.pack(parts, Ty::new(TyKind::Tuple { elems, name: Some(n.clone()) })))
    }

    /// The numbers of a short vector; `None` of other values.
    pub(crate) fn vector_parts(&mut self, v: &Val) -> Option<Vec<Val>> {
        let TyKind::Tuple { name: Some(n), .. } = v.ty.kind() else { return None };
        vector_base(n).and_then(|_| self.tuple_parts(v))
    }

    /// A short vector of the type of some numbers.
    pub(crate) fn vector_of(&mut self, parts: &[Val]) -> Result<Val> {
        let base = parts[0].ty.strong();
        let name = format!("{base}x{}", parts.len());
        let class = self.world.import("lancehead.cuda.vector_types", Some(&name)).map(|o| self.world.object(o));
        match class {
            Some(Object::NamedTupleClass(n)) => self.vector(&n, base, parts),
            _ => Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("there are no vectors of `{base}`"))),
        }
    }

    /// A short vector of other numbers, of the same type as another.
    pub(crate) fn vector_like(&mut self, v: &Val, parts: &[Val]) -> Result<Val> {
        match v.ty.kind() {
            TyKind::Tuple { elems, name: Some(n) } => self.vector(n, elems[0], parts),
            _ => lh_ir::bug!("`{}` is no vector", v.ty),
        }
    }

    /// A value that becomes an element: not missing, and a vector of two as a complex number or made of one.
    pub(crate) fn stored(&mut self, x: &Val, dtype: Ty) -> Result<Val> {
        match (dtype.kind(), x.ty.kind()) {
            (TyKind::Complex { .. }, TyKind::Tuple { name: Some(n), elems })
                if vector_base(n).is_some() && elems.len() == 2 =>
            {
                self.call_dtype(dtype, std::slice::from_ref(x))
            }
            (TyKind::Tuple { name: Some(n), elems }, TyKind::Complex { .. }) if vector_base(n).is_some() => {
                self.vector(n, elems[0], std::slice::from_ref(x))
            }
            _ => self.unwrap_optional(x),
        }
    }

    /// An operator between vectors, or a vector and a number: of each part. `None` without a vector.
    pub(crate) fn vector_binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        let pairs: Vec<_> = match (self.vector_parts(a), self.vector_parts(b)) {
            (None, None) => return Ok(None),
            (Some(x), Some(y)) if x.len() == y.len() && matches!(op, BinOp::Add | BinOp::Sub) => {
                x.into_iter().zip(y).collect()
            }
            (Some(x), None) if b.ty.is_number() => x.into_iter().map(|x| (x, b.clone())).collect(),
            (None, Some(y)) if a.ty.is_number() => y.into_iter().map(|y| (a.clone(), y)).collect(),
            (Some(_), Some(_)) => return Err(self.no_op(op.symbol(), a.ty, b.ty)),
            _ => return Ok(None),
        };
        let parts = pairs.iter().map(|(x, y)| self.binary(op, x, y, false)).collect::<Result<Vec<_>>>()?;
        self.vector_of(&parts).map(Some)
    }

    /// The numbers of a value that a vector is made of, in order.
    fn numbers_of(&mut self, v: &Val) -> Vec<Val> {
        match v.ty.kind() {
            TyKind::Tuple { .. } => {
                let parts = self.tuple_parts(v).expect("a tuple");
                parts.iter().flat_map(|x| self.numbers_of(x)).collect()
            }
            TyKind::Complex { .. } => vec![self.field(v, 0), self.field(v, 1)],
            _ => vec![v.clone()],
        }
    }

    /// `cuda.vector.load(array, index, shape)` and `cuda.vector.store(array, index, vector)`: the elements from an
    /// index on. That memory is aligned, as the keyword promises, is not relied on.
    pub(super) fn vector_access(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let wrong = |text: &str| Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{path}` {text}"));
        let (3 | 4, None) = (args.len(), kwargs.iter().find(|(name, _)| name != "alignment")) else {
            return Err(wrong("takes an array, an index, a shape or a vector, and an alignment"));
        };
        let rank = match args[0].ty.as_array() {
            Some((_, rank, ..)) => rank,
            None if args[0].ty.pointee().is_some() => 1,
            None => return Err(wrong("works on arrays")),
        };
        // One index of several dimensions counts elements.
        let (array, index) = match self.tuple_parts(&args[1]) {
            Some(index) => (args[0].clone(), index),
            None if rank == 1 => (args[0].clone(), vec![args[1].clone()]),
            None => (self.method(&args[0], "reshape", &[Val::int(-1)])?, vec![args[1].clone()]),
        };
        let is_load = path.ends_with("load");
        let extents = if is_load { self.extents(&args[2]) } else { extents_of(args[2].ty) };
        let Some(extents) = extents.filter(|n| n.len() <= index.len() && index.iter().all(|i| i.ty.is_int())) else {
            return Err(wrong("takes integers as an index, and a constant shape of no more dimensions"));
        };
        if is_load {
            return self.loaded(&array, &index, &extents);
        }
        self.scattered(&array, &index, &args[2])?;
        Ok(Val::of_type(Ty::none()))
    }

    fn extents(&mut self, shape: &Val) -> Option<Vec<usize>> {
        let parts = self.tuple_parts(shape).unwrap_or_else(|| vec![shape.clone()]);
        parts
            .iter()
            .map(|n| n.as_int().and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=64).contains(n)))
            .collect()
    }

    /// The elements of a block: a vector where there are such, else tuples.
    fn loaded(&mut self, array: &Val, at: &[Val], extents: &[usize]) -> Result<Val> {
        let Some((n, rest)) = extents.split_first() else { return self.get_item(array, &Val::tuple(at.to_vec())) };
        let axis = at.len() - extents.len();
        let parts = (0..*n).map(|k| self.moved(at, axis, k).and_then(|at| self.loaded(array, &at, rest)));
        let parts = parts.collect::<Result<Vec<_>>>()?;
        let is_vector = rest.is_empty() && *n <= 4 && !parts[0].ty.is_bool() && !parts[0].ty.is_complex();
        if is_vector { self.vector_of(&parts) } else { Ok(Val::tuple(parts)) }
    }

    fn scattered(&mut self, array: &Val, at: &[Val], x: &Val) -> Result<()> {
        let depth = extents_of(x.ty).map_or(0, |extents| extents.len());
        if depth == 0 {
            return self.set_item(array, &Val::tuple(at.to_vec()), x);
        }
        for (k, x) in self.tuple_parts(x).expect("a tuple").iter().enumerate() {
            let at = self.moved(at, at.len() - depth, k)?;
            self.scattered(array, &at, x)?;
        }
        Ok(())
    }

    fn moved(&mut self, at: &[Val], axis: usize, by: usize) -> Result<Vec<Val>> {
        let mut at = at.to_vec();
        at[axis] = self.binary(BinOp::Add, &at[axis], &Val::int(by as i128), false)?;
        Ok(at)
    }
}

/// The extents of a tuple of tuples, all of one shape.
fn extents_of(t: Ty) -> Option<Vec<usize>> {
    let Some(elems) = t.tuple_elems() else { return Some(Vec::new()) };
    let inner = extents_of(*elems.first()?)?;
    elems.iter().all(|t| extents_of(*t).as_ref() == Some(&inner)).then(|| [vec![elems.len()], inner].concat())
}
