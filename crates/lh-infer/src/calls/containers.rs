//! Containers whose types are found by their use: what a call of their class makes, and what it says of the types.

use super::getters::OF_LIBRARY;
use crate::convert::has_pending;
use crate::cx::Infer;
use crate::val::Val;
use lh_ir::class::{Class, MIXED};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::types::TyKind;
use lh_ir::{FuncId, Ty, Value, untyped};
use std::collections::HashMap;

/// The method whose declaration names the one that takes the items of a new instance.
const FILLS: &str = "__init__";
/// The one whose declaration has the types that are taken if no use says others.
const GUESS: &str = "__guess__";
/// The type parameter of classes whose instances make missing values.
const FACTORY: &str = "F";

/// Numbers of values are below this; sites of what factories make are above.
const FACTORY_LEVEL: u32 = 1 << 26;

/// The site of what the factory of an instance makes, by that of the instance. It is no value of the function.
pub(crate) fn beside(site: Value) -> Value {
    Value(site.0.wrapping_add(FACTORY_LEVEL))
}

/// The value where the container is made whose factory, or the factory of whose values, makes something at a site.
pub(crate) fn made_for(site: Value) -> Value {
    Value(site.0 % FACTORY_LEVEL)
}

impl Infer<'_> {
    /// A call with a container whose type arguments are undecided, which the callee may decide.
    pub(crate) fn call_of_undecided(
        &mut self,
        path: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Val>> {
        if asks_for_class(path) || !args.iter().chain(kwargs.iter().map(|(_, v)| v)).any(|v| has_pending(v.ty)) {
            return Ok(None);
        }
        if path.starts_with("numpy.") {
            self.pending.taken_by_numpy(args.iter().chain(kwargs.iter().map(|(_, v)| v)).map(|v| v.ty));
        }
        match self.world.library(path) {
            Some((f, _)) if self.asks_callees => self.call_func(f, args, kwargs).map(Some),
            _ => Ok(Some(Val::of_type(Ty::never()))),
        }
    }

    /// Keywords of `np.nditer` with one more if its flags, which are a display, have `external_loop`.
    pub(crate) fn with_external_loop(
        &self,
        path: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Option<Vec<(String, Val)>> {
        let by_name = || kwargs.iter().find(|(name, _)| name == "flags").map(|(_, v)| v);
        let flags = args.get(1).or_else(by_name).filter(|_| path == "numpy.nditer")?;
        let known = flags.v.and_then(|v| self.initial.get(&v)).map(|(_, items)| &items[..]);
        let has_it = known.or(flags.parts())?.iter().any(|flag| flag.as_str() == Some("external_loop"));
        has_it.then(|| [kwargs, &[("external_loop".to_owned(), Val::bool(true))]].concat())
    }

    /// The site of an instance, whose types are those that its class guesses if nothing says them.
    pub(crate) fn guess_types(&mut self, class: Class, site: Value) -> u32 {
        let number = self.display_site(site, class);
        for (at, text) in class.teaching(GUESS).into_iter().flat_map(|t| t.words().enumerate()) {
            if text != "_" {
                self.pending.guess(number, at, class.parsed(text, &[], None));
            }
        }
        number
    }

    /// `deque(xs)`, `defaultdict(list)` and the like: an instance that is made empty, so that its uses may say its
    /// type, and then filled. `None` if the path is that of something else, or if the library makes it at once.
    pub(crate) fn empty_and_filled(
        &mut self,
        path: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Val>> {
        let is_open = args.first().is_some_and(|x| matches!(x.ty.kind(), TyKind::Pending(..)));
        let Some(site) = self.result else { return Ok(None) };
        let is_wanted = match path {
            "builtins.list" | "builtins.dict" | "builtins.set" => is_open || self.sites.contains_key(&site),
            "builtins.frozenset" => args.is_empty() && kwargs.is_empty(),
            _ => path.starts_with("collections."),
        };
        let Some(class) = is_wanted.then(|| Class::find(path)).flatten() else { return Ok(None) };
        let fills = class.teaching(FILLS).and_then(|t| t.words().next()).unwrap_or_default();
        let number = self.guess_types(class, site);
        let (mut args, mut kwargs) = (args.to_vec(), kwargs.to_vec());
        let factory = match class.parameter(FACTORY) {
            Some(at) => {
                let factory = if args.is_empty() { Val::of_type(Ty::none()) } else { args.remove(0) };
                self.learn_factory(number, site, at, &factory)?;
                Some(factory)
            }
            None => None,
        };
        let options = if self.has_method(class, FILLS) { options_of(&mut args, &mut kwargs)? } else { Vec::new() };
        if args.len() > 1 {
            let text = format!("`{}` takes one iterable", class.name());
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        }
        let object = self.display(class, site, "", &[])?;
        if !has_pending(object.ty) {
            if !options.is_empty() {
                self.class_method(&object, FILLS, &options)?;
            }
            if let Some(factory) = factory.filter(|f| !f.ty.flatten().is_empty()) {
                self.store_field(&object, "default_factory", &factory)?;
            }
        }
        args.retain(|x| x.parts().is_none_or(|p| !p.is_empty()) || !x.ty.is_tuple());
        if !args.is_empty() || !kwargs.is_empty() {
            self.teaching_method(fills, &object, &args, &kwargs)?;
        }
        Ok(Some(object))
    }

    /// A list display of values of several types. Its items are those of a tuple.
    pub(crate) fn mixed_list(&mut self, items: &[Val]) -> Result<Val> {
        let items = Val::tuple(items.to_vec());
        let fields = Val::tuple(vec![items.clone()]);
        self.instance_of_parts(&Val::str(MIXED), &fields, &[items])
    }

    /// The items of such a list, as a tuple.
    pub(crate) fn mixed_items(&mut self, v: &Val) -> Option<Val> {
        v.ty.class().is_some_and(Class::is_mixed).then(|| self.field(v, 0))
    }

    /// Why such a list has no attribute of a name.
    pub(crate) fn no_mixed_attr(name: &str) -> Box<Diagnostic> {
        let text =
            format!("list.{name} is unsupported for literal lists: a list of values of several types is constant");
        Diagnostic::new(diag::UNKNOWN_ATTRIBUTE, text).note("a list cannot hold both: use one type, or a tuple")
    }

    /// An item of such a list.
    pub(crate) fn mixed_item(&mut self, items: &Val, k: &Val) -> Result<Val> {
        if k.as_int().is_some() {
            return self.get_item(items, k);
        }
        let text = "Cannot __getitem__ on a literal list: an index into values of several types must be a constant";
        Err(Diagnostic::new(diag::NEEDS_CONSTANT, text)
            .note("make the items of one type, or loop over a tuple of them"))
    }

    /// The result of a function without parameters, if that is an empty container about whose items the function says
    /// nothing: it is made here, where its uses are seen.
    pub(crate) fn made_here(&mut self, f: FuncId) -> Result<Option<Val>> {
        let code = self.world.code(f)?;
        let ([block], Some(site)) = (&code.blocks[..], self.result) else { return Ok(None) };
        let Some(untyped::Term::Return(result)) = &block.term else { return Ok(None) };
        if !code.params.is_empty() || code.is_generator {
            return Ok(None);
        }
        let mut vals: HashMap<Value, Val> = HashMap::new();
        for i in &block.insts {
            let known = |all: &[Value]| all.iter().map(|v| vals.get(v).cloned()).collect::<Option<Vec<Val>>>();
            let made = match &i.inst {
                untyped::Inst::Const(c) => self.constant(c)?,
                untyped::Inst::Global(name) => match self.world.global(f, name) {
                    Some(o) => self.object(o)?,
                    None => return Ok(None),
                },
                untyped::Inst::GetAttr(of, name) => match vals.get(of).cloned() {
                    Some(of) => self.get_attr(&of, name)?,
                    None => return Ok(None),
                },
                untyped::Inst::List(items) if items.is_empty() => self.display(Class::list(), site, "append", &[])?,
                untyped::Inst::Dict(pairs) if pairs.is_empty() => {
                    self.display(Class::dict(), site, "__setitem__", &[])?
                }
                untyped::Inst::Call { func, args, kwargs } if kwargs.is_empty() && i.result == Some(*result) => {
                    let (Some(callee), Some(args)) = (vals.get(func).cloned(), known(args)) else { return Ok(None) };
                    self.call(&callee, &args, &[])?
                }
                _ => return Ok(None),
            };
            vals.extend(i.result.map(|r| (r, made)));
        }
        Ok(vals.remove(result))
    }

    /// The factory of an instance says the type of its values: that of what it makes.
    fn learn_factory(&mut self, number: u32, site: Value, at: usize, factory: &Val) -> Result<()> {
        self.pending.learn(number, at, factory.ty);
        if factory.ty.is_none() {
            return Ok(());
        }
        // The call stands in a block that is thrown away; what it makes has a site of its own.
        let (saved, dead) = (self.cur, self.dead);
        self.cur = self.new_block();
        self.result = Some(beside(site));
        let made = self.call(factory, &[], &[]);
        self.result = Some(site);
        if !self.dead {
            self.set_term(lh_ir::func::Term::Unreachable);
        }
        (self.cur, self.dead) = (saved, dead);
        self.pending.learn(number, at - 1, made?.ty);
        Ok(())
    }

    /// Containers that methods add to each other learn of each other's items: `xs.extend([])`.
    pub(crate) fn learn_back(&mut self, recv: Ty, word: &str, x: &Val) {
        let TyKind::Pending(site, class) = x.ty.kind() else { return };
        let known: Vec<Ty> = match recv.kind() {
            TyKind::Class(c) => c.args.clone(),
            TyKind::Pending(own, _) => self.pending.sites[*own as usize].1.clone(),
            _ => return,
        };
        if known.iter().any(|t| t.is_never()) || self.pending.is_decided(*site) {
            return;
        }
        let own = class.declaration().parameters.len();
        let Some(of) = recv.class() else { return };
        let items = match word.strip_prefix('*').and_then(|name| of.parameter(name)) {
            Some(at) => known[at],
            None if word == "Self" => Ty::tuple(known.clone()),
            None => return,
        };
        if own == 1 {
            self.pending.learn(*site, 0, items);
        } else if word == "Self" && known.len() >= own {
            self.pending.learn_all(*site, &known[..own]);
        }
    }
}

/// Arguments beside the iterable: the second one, or one by name.
fn options_of(args: &mut Vec<Val>, kwargs: &mut Vec<(String, Val)>) -> Result<Vec<Val>> {
    let mut options: Vec<Val> = args.drain(args.len().min(1)..).collect();
    for (name, x) in kwargs.drain(..) {
        match name.as_str() {
            "iterable" if args.is_empty() => args.push(x),
            "maxlen" if options.is_empty() => options.push(x),
            _ => return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("there is no argument `{name}` here"))),
        }
    }
    Ok(options)
}

/// Whether a function can answer about a container whose type arguments are undecided, or only holds it.
fn asks_for_class(path: &str) -> bool {
    matches!(path, "builtins.len" | "prim.is_a") || OF_LIBRARY.contains(&path)
}
