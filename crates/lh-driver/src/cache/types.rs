//! Types as bytes: the objects that they mention are numbered in order.

use super::entry::{Reader, Writer};
use crate::host::Host;
use lh_infer::Object;
use lh_ir::class::Class;
use lh_ir::types::{Buffer, InstanceOf, Literal, NamedTuple, TyKind};
use lh_ir::{Layout, ObjId, Ty};

/// Writes types and gathers the objects in them.
#[derive(Default)]
pub(super) struct Types {
    pub out: Writer,
    pub mentioned: Vec<ObjId>,
}

impl Types {
    fn mention(&mut self, o: ObjId) {
        let at = self.mentioned.iter().position(|m| *m == o).unwrap_or_else(|| {
            self.mentioned.push(o);
            self.mentioned.len() - 1
        });
        self.out.number(at as u32);
    }
    fn many(&mut self, host: &mut dyn Host, tys: &[Ty]) -> Option<()> {
        self.out.number(tys.len() as u32);
        tys.iter().try_for_each(|t| self.add(host, *t))
    }
    fn with_inner(&mut self, host: &mut dyn Host, tag: u8, inner: Ty) -> Option<()> {
        self.out.byte(tag);
        self.add(host, inner)
    }
    /// Adds a type; `None` for those which exist only inside one compilation.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each kind of type")]
    pub fn add(&mut self, host: &mut dyn Host, ty: Ty) -> Option<()> {
        let one = |s: &mut Self, tag: u8| s.out.byte(tag);
        match ty.kind() {
            TyKind::Never => one(self, 0),
            TyKind::None => one(self, 1),
            TyKind::Bool => one(self, 2),
            TyKind::Int { bits, signed, weak } => self.out.0.extend([3, *bits, u8::from(*signed), u8::from(*weak)]),
            TyKind::Float { bits, weak } => self.out.0.extend([4, *bits, u8::from(*weak)]),
            TyKind::Bfloat16 => one(self, 24),
            TyKind::Complex { bits, weak } => self.out.0.extend([5, *bits, u8::from(*weak)]),
            TyKind::Str => one(self, 6),
            TyKind::Tuple { elems, name: None } => {
                one(self, 7);
                self.many(host, elems)?;
            }
            TyKind::Tuple { elems, name: Some(n) } => {
                one(self, 8);
                self.mention(n.class);
                self.many(host, elems)?;
            }
            TyKind::Array { dtype, ndim, layout, readonly } => {
                self.out.0.extend([9, *ndim, *layout as u8, u8::from(*readonly)]);
                self.add(host, *dtype)?;
            }
            TyKind::Class(c) if let Some(user) = c.class.user() => {
                one(self, 26);
                self.mention(user.class);
                self.many(host, &c.args)?;
            }
            TyKind::Class(c) => {
                self.out.0.extend([10, u8::from(c.constant)]);
                self.out.text(c.class.path());
                self.many(host, &c.args)?;
            }
            TyKind::Optional(t) => return self.with_inner(host, 11, *t),
            TyKind::Range(t) => return self.with_inner(host, 12, *t),
            TyKind::Slice(parts) => {
                one(self, 13);
                parts.iter().try_for_each(|t| self.add(host, *t))?;
            }
            TyKind::DType(t) => return self.with_inner(host, 14, *t),
            TyKind::Func(f) => {
                one(self, 15);
                self.mention(host.function_object(*f));
            }
            TyKind::Obj(o) => {
                one(self, 16);
                self.mention(*o);
            }
            TyKind::Ellipsis => one(self, 17),
            TyKind::Literal(Literal::Initial(d)) => return self.add(host, d.ty),
            TyKind::Literal(l) => {
                one(self, 18);
                let o = host.object_of(&l.value());
                self.mention(o);
            }
            TyKind::Ptr => one(self, 19),
            TyKind::PyObject => one(self, 27),
            TyKind::Instance { class: InstanceOf::Enum { class, .. }, .. } => {
                one(self, 20);
                self.mention(*class);
            }
            TyKind::Instance { of, class: InstanceOf::Buffer(b) } => {
                one(self, 21);
                self.out.byte(Buffer::ALL.iter().position(|x| x == b).expect("all are listed") as u8);
                self.add(host, *of)?;
            }
            TyKind::Instance { class: InstanceOf::Pointer(to), .. } => return self.with_inner(host, 23, *to),
            TyKind::Instance { of, class: InstanceOf::Function { args, ret } } => {
                one(self, 22);
                self.add(host, *of)?;
                self.add(host, *ret)?;
                self.many(host, args)?;
            }
            TyKind::Record(r) => {
                one(self, 25);
                self.out.bytes(&postcard::to_allocvec(r).ok()?);
            }
            TyKind::Pending(..)
            | TyKind::Instance { class: InstanceOf::Deferred(_) | InstanceOf::Error { .. }, .. }
            | TyKind::Unbound
            | TyKind::Extension { .. }
            | TyKind::Choice(_)
            | TyKind::MaybeUnbound(_)
            | TyKind::Closure { .. }
            | TyKind::Generator(_)
            | TyKind::BoundMethod { .. }
            | TyKind::Exc
            | TyKind::Iter(_)
            | TyKind::MemInfo => return None,
        }
        Some(())
    }
}

/// The next type; `objects` are those that the types mention.
pub(super) fn read(r: &mut Reader<'_>, host: &mut dyn Host, objects: &[ObjId]) -> Option<Ty> {
    Some(match r.byte()? {
        0 => Ty::never(),
        1 => Ty::none(),
        2 => Ty::bool(),
        3 => {
            let [bits, signed, weak] = *r.take(3)? else { return None };
            Ty::new(TyKind::Int { bits, signed: signed != 0, weak: weak != 0 })
        }
        tag @ (4 | 5) => {
            let [bits, weak] = *r.take(2)? else { return None };
            let weak = weak != 0;
            Ty::new(if tag == 4 { TyKind::Float { bits, weak } } else { TyKind::Complex { bits, weak } })
        }
        6 => Ty::str(),
        24 => Ty::bf16(),
        27 => Ty::pyobject(),
        25 => Ty::new(TyKind::Record(postcard::from_bytes(r.bytes()?).ok()?)),
        7 => Ty::tuple(many(r, host, objects)?),
        8 => {
            let name = named(host, *objects.get(r.number()? as usize)?)?;
            Ty::new(TyKind::Tuple { elems: many(r, host, objects)?, name: Some(name) })
        }
        9 => {
            let [ndim, layout, readonly] = *r.take(3)? else { return None };
            let layout = [Layout::C, Layout::F, Layout::A].into_iter().find(|l| *l as u8 == layout)?;
            Ty::new(TyKind::Array { dtype: read(r, host, objects)?, ndim, layout, readonly: readonly != 0 })
        }
        10 => instance(r, host, objects)?,
        26 => users_instance(r, host, objects)?,
        11 => Ty::optional(read(r, host, objects)?),
        12 => Ty::new(TyKind::Range(read(r, host, objects)?)),
        13 => Ty::new(TyKind::Slice([read(r, host, objects)?, read(r, host, objects)?, read(r, host, objects)?])),
        14 => Ty::dtype(read(r, host, objects)?),
        15 => match host.object(*objects.get(r.number()? as usize)?) {
            Object::Func(f) => Ty::new(TyKind::Func(f)),
            _ => return None,
        },
        16 => Ty::new(TyKind::Obj(*objects.get(r.number()? as usize)?)),
        17 => Ty::ellipsis(),
        18 => match host.object(*objects.get(r.number()? as usize)?) {
            Object::Const(c) => Ty::new(TyKind::Literal(Literal::of(&c)?)),
            _ => return None,
        },
        19 => Ty::ptr(),
        20 => match host.object(*objects.get(r.number()? as usize)?) {
            Object::EnumClass(e) => e.ty(),
            _ => return None,
        },
        23 => Ty::pointer(read(r, host, objects)?),
        21 => {
            let class = *Buffer::ALL.get(usize::from(r.byte()?))?;
            Ty::buffer(read(r, host, objects)?, class)
        }
        22 => {
            let (of, ret) = (read(r, host, objects)?, read(r, host, objects)?);
            Ty::function(many(r, host, objects)?, ret).with_functions(of)
        }
        _ => return None,
    })
}

fn instance(r: &mut Reader<'_>, host: &mut dyn Host, objects: &[ObjId]) -> Option<Ty> {
    let constant = r.byte()? != 0;
    let class = Class::find(&r.text()?)?;
    of(class, many(r, host, objects)?, constant)
}

fn users_instance(r: &mut Reader<'_>, host: &mut dyn Host, objects: &[ObjId]) -> Option<Ty> {
    match host.object(*objects.get(r.number()? as usize)?) {
        Object::Class(c) => of(c.class, many(r, host, objects)?, false),
        _ => None,
    }
}

/// Instances of a class, if it is of so many types.
fn of(class: Class, args: Vec<Ty>, constant: bool) -> Option<Ty> {
    (args.len() == class.declaration().parameters.len()).then(|| class.of(args, constant))
}

fn many(r: &mut Reader<'_>, host: &mut dyn Host, objects: &[ObjId]) -> Option<Vec<Ty>> {
    let n = r.number()?;
    (0..n).map(|_| read(r, host, objects)).collect()
}

fn named(host: &mut dyn Host, class: ObjId) -> Option<NamedTuple> {
    match host.object(class) {
        Object::NamedTupleClass(n) => Some(n),
        _ => None,
    }
}
