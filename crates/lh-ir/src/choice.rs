//! Values that are instances of one of several classes with a common base: which one is chosen at run time.

use crate::ObjId;
use crate::class::{Class, User};
use crate::types::{Ty, TyKind};

/// Most classes of which a value may be an instance. Items of lists have room for 64 words.
const MAX: usize = 24;

impl Ty {
    /// The types of which a value is, if it is an instance of one of several classes.
    pub fn several(self) -> Option<&'static [Ty]> {
        match self.kind() {
            TyKind::Choice(of) if of.iter().all(|t| t.as_class().is_some()) => Some(of),
            _ => None,
        }
    }

    /// The type of values that are of one of these types: instances of classes that share a base. The order of its
    /// alternatives depends on the classes alone, so that all such values have one type.
    pub fn one_of(types: &[Ty]) -> Option<Ty> {
        let is_known = |t: &Ty| t.several().is_some() || t.as_class().is_some_and(|c| c.class.user().is_some());
        if !types.iter().all(is_known) {
            return None;
        }
        let mut of: Vec<Ty> = types.iter().flat_map(|t| t.several().map_or_else(|| vec![*t], <[Ty]>::to_vec)).collect();
        of.sort_by_key(|t| place(*t));
        of.dedup();
        let users: Vec<User> = of.iter().filter_map(|t| t.class()?.user()).collect();
        let shared = |base: &ObjId| users.iter().all(|user| user.bases.contains(base));
        let differ = of.windows(2).all(|two| two[0].class() != two[1].class());
        let fits = differ && of.len() <= MAX && users.first()?.bases.iter().any(shared);
        (fits && of.len() > 1).then(|| Ty::new(TyKind::Choice(of)))
    }
}

fn place(t: Ty) -> (&'static str, u32) {
    let class = t.class();
    (class.map_or("", Class::path), class.and_then(Class::user).map_or(0, |user| user.class.0))
}
