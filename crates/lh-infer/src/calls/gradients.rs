//! `prim.adjoint` and `prim.tangent`: calls of a function together with its derivative, on which
//! `lib/lancehead/gradients.py` builds.

use crate::cx::Infer;
use crate::val::Val;
use hashbrown::HashMap;
use lh_ir::device::Device;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Inst, Options};
use lh_ir::types::TyKind;
use lh_ir::{SpecId, Ty, Value};

/// The types of what a function has captured, with its defaults.
fn captured(ty: Ty) -> Option<Vec<Ty>> {
    match ty.kind() {
        TyKind::Closure { captures, defaults, .. } => Some([captures.as_slice(), defaults].concat()),
        _ => None,
    }
}

/// A call that is replaced by one of a derivative.
struct Replaced {
    spec: SpecId,
    /// The type of its result.
    ret: Ty,
    /// Its operands.
    passed: Vec<Value>,
    /// Whether the derivative is with respect to an operand.
    asked: Vec<bool>,
    /// The arguments that these are made of, in the operands' order.
    order: Vec<Made>,
}

/// An operand of a call.
enum Made {
    /// An argument.
    Of(usize),
    /// A tuple of arguments, as for `*args`; `None` is a value that is not asked for.
    Tuple(Ty, Vec<(Value, Option<usize>)>),
}

impl Infer<'_> {
    /// The prims of `lib/lancehead/gradients.py`.
    pub(crate) fn prim_derivative(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        Ok(Some(match (name, args) {
            ("adjoint", [f, given, shadows]) => self.adjoint(f, given, shadows)?,
            ("tangent", [f, given, tangents]) => self.tangent(f, given, tangents)?,
            ("with_captured", [f, name, x]) => self.with_captured(f, name.as_str().unwrap_or_default(), x)?,
            ("fields_of", [x]) => {
                if let Some(of) = captured(x.ty) {
                    return Ok(Some(Val::tuple((0..of.len()).map(|i| self.field(x, i as u32)).collect())));
                }
                let fields: Vec<Val> =
                    x.ty.fields().iter().map(|f| self.get_attr(x, &f.name)).collect::<Result<_>>()?;
                Val::tuple(fields)
            }
            ("of_fields", [x, fields]) => {
                let given = self.tuple_parts(fields).unwrap_or_default();
                self.instance_like(x.ty, captured(x.ty), &given)?
            }
            ("set_fields", [x, fields]) => {
                for (field, v) in x.ty.fields().to_vec().iter().zip(self.tuple_parts(fields).unwrap_or_default()) {
                    self.store_field(x, &field.name, &v)?;
                }
                Val::of_type(Ty::none())
            }
            _ => return Ok(None),
        }))
    }

    /// The result of `f(*given)`, and a tuple with the adjoint of each argument for an adjoint of 1 of the result's
    /// first float. Where `shadows` has `None`, the derivative is not asked for; else it has the memory that adjoints
    /// of an array's elements are added to, of the argument's type.
    pub(crate) fn adjoint(&mut self, f: &Val, given: &Val, shadows: &Val) -> Result<Val> {
        let (given, shadows) = self.argument_pairs("adjoint", given, shadows)?;
        let Some(call) = self.taken_back(Derivative::Adjoint, f, &given, &shadows)? else {
            return Ok(Val::of_type(Ty::never()));
        };
        let owners = (self.options.device == Device::Host).then(|| Ty::list(Ty::meminfo()));
        let adjoint = self.world.adjoint(call.spec, &call.asked, owners)?;
        self.check_apart(&call, adjoint.writes, adjoint.active)?;
        let mut values = call.passed;
        for (made, shadowed) in call.order.iter().zip(&adjoint.shadowed) {
            if *shadowed {
                values.push(self.beside(made, &shadows)?);
            }
        }
        if let Some(owners) = owners {
            let list = self.new_container(owners, &Val::int(0));
            values.push(self.value(&list));
        }
        for ty in &adjoint.lists {
            let list = self.new_container(*ty, &Val::int(0));
            values.push(self.value(&list));
        }
        let both = self.push(Inst::Call(adjoint.id, values), adjoint.ret);
        let value = if call.ret.flatten().is_empty() { Val::of_type(call.ret) } else { self.field(&both, 0) };
        let found = self.field(&both, 1);
        let mut adjoints = vec![Val::of_type(Ty::none()); given.len()];
        for (n, made) in call.order.iter().enumerate() {
            let own = self.field(&found, n as u32);
            match made {
                Made::Of(i) => adjoints[*i] = own,
                Made::Tuple(_, parts) => {
                    for (at, (_, i)) in parts.iter().enumerate() {
                        if let Some(i) = i {
                            adjoints[*i] = self.field(&own, at as u32);
                        }
                    }
                }
            }
        }
        Ok(Val::tuple(vec![value, Val::tuple(adjoints)]))
    }

    /// The result of `f(*given)` and its tangent for the tangents of the arguments, of their types; `None` stands for
    /// that of a constant.
    pub(crate) fn tangent(&mut self, f: &Val, given: &Val, tangents: &Val) -> Result<Val> {
        let (given, tangents) = self.argument_pairs("tangent", given, tangents)?;
        let Some(call) = self.taken_back(Derivative::Tangent, f, &given, &tangents)? else {
            return Ok(Val::of_type(Ty::never()));
        };
        let tangent = self.world.tangent(call.spec, &call.asked)?;
        let mut values = call.passed;
        let fitting: Vec<Val> = given.iter().zip(&tangents).map(|(a, t)| self.fitting(a, t)).collect::<Result<_>>()?;
        for made in &call.order {
            values.push(self.beside(made, &fitting)?);
        }
        let both = self.push(Inst::Call(tangent.id, values), tangent.ret);
        if call.ret.flatten().is_empty() {
            return Ok(Val::tuple(vec![Val::of_type(call.ret), Val::of_type(call.ret)]));
        }
        Ok(Val::tuple(vec![self.field(&both, 0), self.field(&both, 1)]))
    }

    /// Raises ValueError if an array through which derivatives flow shares memory with another one and one of them is
    /// written: the adjoint takes them to be apart.
    fn check_apart(&mut self, call: &Replaced, writes: u32, active: u32) -> Result<()> {
        let arrays: Vec<(usize, Value)> = call.passed.iter().copied().enumerate().collect();
        let arrays: Vec<(usize, Value)> = arrays.into_iter().filter(|(_, v)| self.out.ty(*v).is_array()).collect();
        let has = |bits: u32, i: usize| bits >> i.min(31) & 1 != 0;
        for (n, (i, a)) in arrays.iter().enumerate() {
            for (j, b) in &arrays[n + 1..] {
                if has(writes, *i) | has(writes, *j) && has(active, *i) | has(active, *j) {
                    let both = [*a, *b].map(|v| Val::new(self.out.ty(v), v));
                    self.call_library("derivatives.check_apart", &both)?;
                }
            }
        }
        Ok(())
    }

    /// The function with another value of a variable that it has captured.
    fn with_captured(&mut self, f: &Val, name: &str, x: &Val) -> Result<Val> {
        let TyKind::Func(id) = f.ty.kind() else { return Err(self.no_op("with_captured", f.ty, x.ty)) };
        let (code, info) = (self.world.code(*id)?, self.world.info(*id));
        let mut parts = Vec::new();
        for (n, own) in code.freevars.iter().enumerate() {
            let found = if own == name { Some(x.clone()) } else { self.free_value(*id, n as u32)? };
            let none = || Diagnostic::new(diag::UNKNOWN_NAME, format!("the captured variable `{own}` has no value"));
            parts.push(found.ok_or_else(none)?);
        }
        let captures = parts.iter().map(|p| p.ty).collect();
        let defaults = info.defaults.iter().chain(info.kwdefaults.iter().map(|(_, o)| o));
        let defaults: Vec<Val> = defaults.map(|o| self.object(*o)).collect::<Result<_>>()?;
        let (named, types) =
            (info.kwdefaults.iter().map(|(n, _)| n.clone()).collect(), defaults.iter().map(|d| d.ty).collect());
        parts.extend(defaults);
        Ok(self.pack(parts, Ty::new(TyKind::Closure { func: *id, captures, defaults: types, named })))
    }

    /// The value of a variable that a function of Python's has captured.
    fn free_value(&mut self, f: lh_ir::FuncId, n: u32) -> Result<Option<Val>> {
        self.world.free(f, n).map(|o| self.object(o)).transpose()
    }

    /// A tangent as a value of its argument's type.
    fn fitting(&mut self, a: &Val, t: &Val) -> Result<Val> {
        if t.ty.is_none() { Ok(t.clone()) } else { self.convert(t, a.ty) }
    }

    /// The shadow or tangent of an operand, made of those of arguments; parts that are not asked for have zeros.
    fn beside(&mut self, made: &Made, others: &[Val]) -> Result<Value> {
        match made {
            Made::Of(i) => Ok(self.value(&others[*i])),
            Made::Tuple(ty, parts) => {
                let elems = ty.tuple_elems().unwrap_or_default();
                let mut of = Vec::new();
                for ((v, i), t) in parts.iter().zip(elems) {
                    let part = match i {
                        Some(i) => others[*i].clone(),
                        None => self.call_library("derivatives.zeros", &[Val::new(*t, *v)])?,
                    };
                    of.push(self.value(&part));
                }
                let packed = self.push(Inst::Pack(of), *ty);
                Ok(self.value(&packed))
            }
        }
    }

    fn argument_pairs(&mut self, name: &str, given: &Val, others: &Val) -> Result<(Vec<Val>, Vec<Val>)> {
        let mut args = self.tuple_parts(given).ok_or_else(|| self.no_op(name, given.ty, given.ty))?;
        let others = self.tuple_parts(others).ok_or_else(|| self.no_op(name, others.ty, others.ty))?;
        for (a, s) in args.iter_mut().zip(&others) {
            if !s.ty.is_none() {
                // The argument is known by its name in the call.
                *a = Val::new(a.ty, self.value(a));
            }
        }
        Ok((args, others))
    }

    /// Makes a call and takes it back; `None` if it never returns.
    fn taken_back(&mut self, kind: Derivative, f: &Val, args: &[Val], others: &[Val]) -> Result<Option<Replaced>> {
        let own = self.options;
        self.options = Options { derivative: kind, ..own };
        let made = self.call(f, args, &[]);
        self.options = own;
        let made = made?;
        if made.ty.is_never() {
            return Ok(None);
        }
        let insts = &mut self.out.blocks[self.cur.index()].insts;
        let Some(Inst::Call(spec, passed)) = insts.last().map(|d| d.inst.clone()) else {
            return Err(Diagnostic::new(diag::NO_DERIVATIVE, "this callable has no derivative")
                .note("wrap it in a function: `lambda x: f(x)`"));
        };
        insts.pop();
        let packs = insts.iter().filter_map(|d| match &d.inst {
            Inst::Pack(of) => Some((d.result?, of.clone())),
            _ => None,
        });
        let packed: HashMap<Value, Vec<Value>> = packs.collect();
        let named = args.iter().zip(others).enumerate().filter(|(_, (_, s))| !s.ty.is_none());
        let mut wanted: Vec<(usize, Value)> = named.filter_map(|(i, (a, _))| Some((i, a.v?))).collect();
        let (mut asked, mut order) = (vec![false; passed.len()], Vec::new());
        for (at, v) in passed.iter().enumerate() {
            if let Some(i) = wanted.iter().position(|(_, w)| w == v) {
                asked[at] = true;
                order.push(Made::Of(wanted.remove(i).0));
            } else if let Some(parts) = packed.get(v) {
                let mut take = |p: &Value| {
                    let i = wanted.iter().position(|(_, w)| w == p)?;
                    Some(wanted.remove(i).0)
                };
                let parts: Vec<(Value, Option<usize>)> = parts.iter().map(|p| (*p, take(p))).collect();
                if parts.iter().any(|(_, i)| i.is_some()) {
                    asked[at] = true;
                    order.push(Made::Tuple(self.out.ty(*v), parts));
                }
            }
        }
        match wanted.first() {
            Some((i, _)) => {
                let text = format!("there is no derivative with respect to argument {i}: the call converts it");
                Err(Diagnostic::new(diag::NO_DERIVATIVE, text).note("pass a value of the parameter's type"))
            }
            None => Ok(Some(Replaced { spec, ret: made.ty, passed, asked, order })),
        }
    }
}
