//! Derivatives of functions, as far as they are known.

use hashbrown::HashMap;
use lh_ir::func::{Derivative, Options};
use lh_ir::spec::{Adjoint, ArgTy, Spec};
use lh_ir::{FuncId, SpecId, Ty};

/// The function that gives copies of a value's memory, and the one that takes both and puts the copies back.
pub(crate) type Snapshot = [Spec; 2];

/// The derivative of a function as the library or the program states it.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Takes the arguments, gives the result and what the other one needs.
    pub forward: Spec,
    /// Whether it takes a bit for each argument before, which says that the memory of the argument stays what it is.
    pub takes_lasting: bool,
    /// Takes a bit for each argument that has an adjoint, what `forward` saved, the shadow of the result, and those of
    /// the arguments. It adds to the memory of the latter, and gives a tuple of the adjoints of the arguments' floats.
    pub backward: Spec,
    /// Type of the tuple of arguments: `none` for those that calls do not have.
    pub args: Ty,
    /// Makes the shadow of a result that has memory.
    pub zero: Option<SpecId>,
    /// The place among all arguments of each that calls have.
    pub params: Vec<usize>,
    /// Whether elements of the arguments may be left unused.
    pub selects: bool,
}

/// The tangent of a function as the library or the program states it.
#[derive(Clone, Debug)]
pub struct Push {
    /// Gives the result and its tangent. It takes a bit for each argument that has a tangent, a tuple of tangents, and
    /// the arguments or, if the program states the rule, a tuple of them.
    pub function: Spec,
    /// Whether the program states the rule.
    pub is_stated: bool,
    /// The place among all arguments of each that calls have.
    pub params: Vec<usize>,
    /// Type of the tuple of arguments: `none` for those that calls do not have.
    pub args: Ty,
}

/// Everything that is known of derivatives.
#[derive(Default)]
pub struct Derivatives {
    /// Those of specialisations, by the arguments asked for.
    pub(crate) made: HashMap<(SpecId, Vec<bool>, Derivative), Adjoint>,
    /// Those of functions that call themselves, with their results' types. In reverse mode they take the arguments,
    /// shadows, the list of owners and the adjoint of the result; in forward mode the arguments and their tangents.
    pub(crate) recursive: HashMap<(SpecId, Vec<bool>, Derivative), (SpecId, Ty)>,
    /// The rules by which specialisations are differentiated.
    pub rules: HashMap<SpecId, Rule>,
    /// The same in forward mode.
    pub pushes: HashMap<SpecId, Push>,
    /// Functions of the library, by name, type and options.
    pub(crate) parts: HashMap<(&'static str, Ty, Options), Spec>,
    /// Functions with rules and functions of rules as they were typed, and specialisations of their texts for
    /// derivatives.
    pub(crate) retypable: HashMap<SpecId, (FuncId, Vec<ArgTy>, Options)>,
    pub(crate) texts: HashMap<(SpecId, Derivative), SpecId>,
}

impl Derivatives {
    /// The rule of a function that is differentiated by one in forward mode.
    pub(crate) fn push(&self, spec: SpecId) -> Option<&Push> {
        self.pushes.get(self.texts.get(&(spec, Derivative::Tangent)).unwrap_or(&spec))
    }
    /// Whether a function is differentiated by a rule.
    pub(crate) fn is_ruled(&self, spec: SpecId) -> bool {
        self.rules.contains_key(&spec) || self.push(spec).is_some()
    }
    /// The functions of the rule by which a specialisation is differentiated.
    pub fn functions_of_rule(&self, spec: SpecId) -> impl Iterator<Item = SpecId> {
        let rule = self.rules.get(&spec).map(|r| [Some(r.forward.id), Some(r.backward.id), r.zero]);
        let push = self.pushes.get(&spec).map(|p| p.function.id);
        rule.into_iter().flatten().flatten().chain(push)
    }
    /// Forgets derivatives of specialisations that are gone, and those that are gone themselves. Rules stay as long as
    /// their functions: those would be differentiated without them.
    pub fn forget(&mut self, is_gone: impl Fn(SpecId) -> bool) {
        self.made.retain(|(s, ..), made| !is_gone(*s) && !is_gone(made.id));
        self.recursive.retain(|(s, ..), (made, _)| !is_gone(*s) && !is_gone(*made));
        self.rules.retain(|s, _| !is_gone(*s));
        self.pushes.retain(|s, _| !is_gone(*s));
        self.parts.retain(|_, part| !is_gone(part.id));
        self.retypable.retain(|s, _| !is_gone(*s));
        self.texts.retain(|(s, _), text| !is_gone(*s) && !is_gone(*text));
    }
    fn part(&self, name: &'static str, ty: Ty, options: Options) -> Option<&Spec> {
        self.parts.get(&(name, ty, plain(options)))
    }
    /// The function that takes back the adjoint of a copy, for memory of a float type: it takes the shadow of the copy,
    /// its stride, the shadow of what was copied, the number and size of items, and whether that has a shadow.
    pub(crate) fn copy_back(&self, float: Ty) -> Option<SpecId> {
        Some(self.part("copy_back", float, Options::default())?.id)
    }
    /// The function that makes zeros like a parameter.
    pub(crate) fn zeros(&self, ty: Ty) -> Option<SpecId> {
        Some(self.part("zeros", ty, Options::default())?.id)
    }
    /// The functions that copy memory of a type, for functions that call themselves and change it.
    pub(crate) fn snapshot(&self, ty: Ty) -> Option<Snapshot> {
        let part = |name| self.part(name, ty, Options::default()).cloned();
        Some([part("snapshot")?, part("put_back")?])
    }
    /// The derivative of a function that calls itself, with respect to the arguments asked for, and its result's type.
    pub(crate) fn recursive(&self, spec: SpecId, asked: &[bool], kind: Derivative) -> Option<(SpecId, Ty)> {
        self.recursive.get(&(spec, asked.to_vec(), kind)).copied()
    }
    /// The functions that fill shared and thread-local memory of a device with zeros: they take its address and size.
    pub(crate) fn fills(&self, options: Options) -> Option<[SpecId; 2]> {
        let part = |name| self.part(name, Ty::none(), options).map(|f| f.id);
        Some([part("zero_shared")?, part("zero_local")?])
    }
    /// The function that takes an adjoint out of memory of a float type if a condition holds, for code for a device.
    pub(crate) fn taken(&self, options: Options, float: Ty) -> Option<SpecId> {
        Some(self.part("taken", float, options)?.id)
    }
}

/// The options of a function that is not differentiated itself.
pub(crate) fn plain(options: Options) -> Options {
    Options { derivative: Derivative::None, ..options }
}
