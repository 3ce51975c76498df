//! Types of instances of declared classes, whose fields and items are declared as text.

use super::parse_class_types;
use crate::class::{Class, layout};
use crate::types::{Buffer, ClassTy, InstanceOf, Layout, Ty, TyKind};
use hashbrown::HashMap;
use std::sync::{LazyLock, Mutex, OnceLock};

/// A field of an instance.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Bytes from the beginning of the object.
    pub offset: usize,
}

/// A field of a class that a program defines: its name, and its type if it is the same for all instances.
pub type UserField = (String, Option<Ty>);

static USER_FIELDS: LazyLock<Mutex<HashMap<Class, &'static [UserField]>>> = LazyLock::new(Mutex::default);
static DEFERRED: Mutex<Vec<Option<Ty>>> = Mutex::new(Vec::new());
static LAID_OUT: LazyLock<Mutex<HashMap<Ty, &'static LaidOut>>> = LazyLock::new(Mutex::default);

/// The fields of the instances of a type, and what [`Ty::object_layout`] says of them.
struct LaidOut {
    fields: Vec<Field>,
    layout: Option<(usize, u64)>,
}

impl Class {
    /// Gives a class of the user's its fields, before anything asks for them. Later calls have no effect.
    pub fn set_fields(self, fields: Vec<UserField>) {
        USER_FIELDS.lock().expect("no panic while declaring").entry(self).or_insert_with(|| fields.leak());
    }
    /// The fields of a class of the user's.
    pub fn user_fields(self) -> &'static [UserField] {
        USER_FIELDS.lock().expect("no panic while declaring").get(&self).copied().unwrap_or_default()
    }
    /// The class behind the name of a typed container, which Python shares.
    pub fn of_shared(path: &str) -> Option<Class> {
        match path.strip_prefix("lancehead.typed.")? {
            "List" => Some(Class::list()),
            "Dict" => Some(Class::dict()),
            "Set" => Some(Class::set()),
            _ => None,
        }
    }
    /// The type of an instance from Python that has no items, which say its type arguments.
    pub fn undecided(self) -> Ty {
        Ty::new(TyKind::Pending(u32::MAX, self))
    }
    /// The type of instances with some type arguments.
    ///
    /// # Panics
    /// If their number differs from that of the class' parameters.
    pub fn of(self, args: Vec<Ty>, constant: bool) -> Ty {
        assert_eq!(args.len(), self.declaration().parameters.len(), "type arguments of {}", self.path());
        let stored = |text: &Option<String>| text.as_ref().map(|text| self.parsed(text, &args, None));
        let (items, entries) = (stored(&self.declaration().items), stored(&self.declaration().entries));
        let fields = &self.declaration().fields;
        let parts = || fields.iter().map(|(_, text)| self.parsed(text, &args, None)).collect();
        let parts = self.declaration().by_value.then(parts);
        Ty::new(TyKind::Class(ClassTy { class: self, args, items, entries, parts, constant }))
    }
    /// A type of its declaration, for some type arguments.
    pub fn parsed(self, text: &str, args: &[Ty], own: Option<Ty>) -> Ty {
        let mut names: Vec<(&str, Ty)> =
            self.declaration().parameters.iter().map(String::as_str).zip(args.iter().copied()).collect();
        names.extend(own.map(|t| ("Self", t)));
        match parse_class_types(text, &names).as_deref() {
            Ok([t]) => *t,
            Ok(_) => crate::bug!("{}: `{text}` is not one type", self.path()),
            Err(e) => crate::bug!("{}: `{text}`: {}", self.path(), e.message),
        }
    }
}

impl Ty {
    /// A new type that is defined later.
    pub fn deferred() -> Ty {
        let mut all = DEFERRED.lock().expect("no panic while counting");
        all.push(None);
        Ty::new(TyKind::Instance { of: Ty::never(), class: InstanceOf::Deferred(all.len() as u32 - 1) })
    }
    /// Defines a deferred type; false if it is none, or if it is defined already.
    pub fn define(self, as_type: Ty) -> bool {
        let TyKind::Instance { class: InstanceOf::Deferred(n), .. } = self.kind() else { return false };
        let place = &mut DEFERRED.lock().expect("no panic while defining")[*n as usize];
        let is_new = place.is_none();
        *place = place.or(Some(as_type));
        is_new
    }
    /// The same type with what its deferred types have been defined as.
    pub fn defined(self) -> Ty {
        let many = |of: &[Ty]| of.iter().map(|t| t.defined()).collect::<Vec<_>>();
        match self.kind() {
            TyKind::Instance { class: InstanceOf::Deferred(n), .. } => {
                DEFERRED.lock().expect("no panic while defining")[*n as usize].unwrap_or(self)
            }
            TyKind::Extension { .. } => self.modelled(),
            TyKind::Optional(t) => Ty::optional(t.defined()),
            TyKind::Tuple { elems, name } => Ty::new(TyKind::Tuple { elems: many(elems), name: name.clone() }),
            TyKind::Class(c) if !c.args.is_empty() => c.class.of(many(&c.args), c.constant),
            _ => self,
        }
    }
    /// An instance of a class of memory.
    pub fn buffer(of: Ty, class: Buffer) -> Ty {
        Ty::new(TyKind::Instance { of, class: InstanceOf::Buffer(class) })
    }
    /// An address of values of a type.
    pub fn pointer(to: Ty) -> Ty {
        Ty::new(TyKind::Instance { of: Ty::ptr(), class: InstanceOf::Pointer(to) })
    }
    /// A `bytearray`: an object of the library that holds its memory, which is replaced where it grows.
    pub fn bytearray() -> Ty {
        Ty::buffer(Ty::storage(), Buffer::ByteArray)
    }
    /// A generator of random numbers of NumPy.
    pub fn random_generator() -> Ty {
        Class::random_generator().of(Vec::new(), false)
    }
    /// A bit generator of NumPy, of any kind.
    pub fn bit_generator() -> Ty {
        Class::bit_generator().of(Vec::new(), false)
    }
    /// The object that holds the memory of a `bytearray`.
    pub fn storage() -> Ty {
        static FOUND: OnceLock<Ty> = OnceLock::new();
        *FOUND.get_or_init(|| Class::storage().of(vec![Ty::array(Ty::u8(), 1, Layout::C)], false))
    }
    /// A list.
    pub fn list(item: Ty) -> Ty {
        Class::list().of(vec![item], false)
    }
    /// The object of a generator with a frame.
    pub fn generator_object(frame: Ty) -> Ty {
        Class::generator().of(vec![frame], false)
    }
    /// The object of a generator whose frame only its own functions know. Its first word says where it goes on.
    pub fn suspended() -> Ty {
        Ty::generator_object(Ty::int())
    }
    /// An empty list given as an argument: uses determine the type of its items.
    pub fn undecided_list() -> Ty {
        Class::list().undecided()
    }
    /// Type of the items, if it is a Python `list`.
    pub fn as_list(self) -> Option<Ty> {
        self.as_class().filter(|c| c.class == Class::list()).and_then(|c| c.items)
    }
    /// The class and type arguments, if it is an instance of a class.
    pub fn as_class(self) -> Option<&'static ClassTy> {
        match self.kind() {
            TyKind::Class(c) => Some(c),
            _ => None,
        }
    }
    /// Whether values are structs of `structref`.
    pub fn is_struct(self) -> bool {
        self.class().and_then(Class::user).is_some_and(|user| user.is_struct)
    }
    /// Type of the items or entries that an instance of a class stores.
    pub fn items(self) -> Option<Ty> {
        self.as_class().and_then(|c| c.items.or(c.entries))
    }
    /// Whether its values store items of one type, which may be unknown yet.
    pub fn is_container(self) -> bool {
        self.items().is_some() || matches!(self.kind(), TyKind::Pending(..))
    }
    /// The class of instances, also if the type of items is unknown yet.
    pub fn class(self) -> Option<Class> {
        match self.kind() {
            TyKind::Class(c) => Some(c.class),
            TyKind::Pending(_, class) => Some(*class),
            _ => None,
        }
    }
    /// The same class with other items.
    pub fn with_items(self, items: Ty) -> Ty {
        let class = self.class().unwrap_or_else(|| crate::bug!("{self} has no items"));
        class.of(vec![items], false)
    }
    /// A field of an instance of a class, by its name.
    pub fn field(self, name: &str) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.name == name)
    }
    /// Fields of an instance of a class.
    pub fn fields(self) -> &'static [Field] {
        self.laid_out().map_or(&[], |laid| &laid.fields)
    }
    fn laid_out(self) -> Option<&'static LaidOut> {
        let c = self.as_class()?;
        if let Some(known) = LAID_OUT.lock().expect("no panic while laying out").get(&self) {
            return Some(known);
        }
        let (mut fields, mut at) = (Vec::new(), self.first_field());
        for (name, ty) in self.declared_fields(c) {
            let (_, size, align) = ty.mem_layout();
            let offset = at.next_multiple_of(align);
            at = offset + size;
            fields.push(Field { name, ty, offset });
        }
        let layout = self.layout_of(&fields);
        let made: &'static LaidOut = Box::leak(Box::new(LaidOut { fields, layout }));
        Some(LAID_OUT.lock().expect("no panic while laying out").entry(self).or_insert(made))
    }
    /// Names and types of the fields, in order.
    fn declared_fields(self, c: &ClassTy) -> Vec<(String, Ty)> {
        if c.class.user().is_some() {
            let mut open = c.args.iter();
            let mut ty = |t: &Option<Ty>| t.map(Ty::defined).or_else(|| open.next().copied());
            let of = c.class.user_fields().iter().map(|(name, t)| (name.clone(), ty(t).unwrap_or(Ty::never())));
            return of.collect();
        }
        let parsed = |text: &str| c.class.parsed(text, &c.args, Some(self));
        c.class.declaration().fields.iter().map(|(name, text)| (name.clone(), parsed(text))).collect()
    }
    /// Offset of the first field of an instance.
    fn first_field(self) -> usize {
        if self.as_class().is_some_and(|c| c.entries.is_some()) { layout::ENTRIES_FIELDS } else { layout::FIELDS }
    }
    /// Size of the fields of an instance, and the mask of its counted 8-byte words; `None` if it is too large for the
    /// mask.
    pub fn object_layout(self) -> Option<(usize, u64)> {
        self.laid_out().map_or(Some((0, 0)), |laid| laid.layout)
    }
    fn layout_of(self, fields: &[Field]) -> Option<(usize, u64)> {
        let (mut end, mut mask) = (self.first_field(), 0u64);
        for f in fields {
            let (offsets, size, _) = f.ty.mem_layout();
            for (_, o) in f.ty.flatten().iter().zip(offsets).filter(|(p, _)| p.is_counted()) {
                mask |= 1u64.checked_shl(((f.offset + o - self.first_field()) / 8) as u32)?;
            }
            end = f.offset + size;
        }
        Some((end - self.first_field(), mask))
    }
    /// Types of the items, entries and fields of an instance of a class.
    pub fn held(self) -> Vec<Ty> {
        self.items().into_iter().chain(self.fields().iter().map(|f| f.ty)).collect()
    }
}
