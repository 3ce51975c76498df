//! The surroundings of inference in tests: functions of a text and of the stored library, and objects by name. There is
//! no interpreter and no code generator behind it.

use crate::library::library;
use crate::objects;
use lh_infer::{ArgTy, FuncInfo, Object, Offsets, Output, Overload, Overloaded, Spec, Stack, Taught};
use lh_ir::class::Binding;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, Options};
use lh_ir::types::NamedTuple;
use lh_ir::untyped::{Code, PyConst};
use lh_ir::{Block, Const, ExcId, FuncId, ObjId, SpecId, Ty};
use lh_library::Meaning;
use std::collections::HashMap;
use std::sync::Arc;

/// A function of the text, or one inside another function.
pub struct Known {
    /// Its code.
    pub code: Arc<Code>,
    /// The function that it is inside of, whose globals it sees.
    pub parent: Option<FuncId>,
    /// Defaults of its last positional parameters.
    pub defaults: Vec<ObjId>,
    /// Defaults of keyword-only parameters.
    pub kwdefaults: Vec<(String, ObjId)>,
    /// The signatures that it is limited to.
    pub signatures: Vec<(Vec<Ty>, Option<Ty>)>,
    /// Types that its decorator gives to variables.
    pub locals: Vec<(String, Ty)>,
}

/// A function of the stored library.
struct Stored {
    code: Arc<Code>,
    function: lh_library::Function<()>,
}

/// A specialisation is found by the types of its arguments, and by their values where it is typed for these.
type Key = (FuncId, Vec<(Ty, Option<String>)>, Options);

fn key_of(func: FuncId, args: &[ArgTy], options: Options) -> Key {
    let known = |a: &ArgTy| a.is_known().then(|| format!("{:?} {:?}", a.value, a.items));
    (func, args.iter().map(|a| (a.ty, known(a))).collect(), options)
}

/// A specialisation; `out` is missing while it is being typed.
pub struct Typed {
    /// The function.
    pub func: FuncId,
    /// Its result type, as far as it is known.
    pub ret: Ty,
    /// The output of inference.
    pub out: Option<Output>,
    /// The number is that of a generator's other half.
    pub is_next: bool,
}

/// The surroundings.
#[derive(Default)]
pub struct World {
    /// Functions by number, except those of the stored library.
    functions: Vec<Known>,
    inner: HashMap<(FuncId, u32), FuncId>,
    stored: HashMap<u32, Arc<Stored>>,
    globals: HashMap<String, ObjId>,
    /// Objects by number, with names for messages.
    objects: Vec<(Object, String)>,
    numbers: HashMap<String, ObjId>,
    specs: Vec<Typed>,
    by_key: HashMap<Key, SpecId>,
    stack: Stack<Key, ()>,
}

impl World {
    /// A world of functions, each of which is a global name.
    pub fn new(functions: Vec<Code>) -> World {
        let mut world = World::default();
        for code in functions {
            let name = code.name.clone();
            let func = world.add(Arc::new(code), None);
            let object = world.number(Object::Func(func), &name);
            world.globals.insert(name, object);
        }
        world
    }

    fn add(&mut self, code: Arc<Code>, parent: Option<FuncId>) -> FuncId {
        let (defaults, kwdefaults, signatures, locals) = Default::default();
        self.functions.push(Known { code, parent, defaults, kwdefaults, signatures, locals });
        FuncId::new(self.functions.len() - 1)
    }

    /// The function of a name.
    pub fn function(&self, name: &str) -> Option<FuncId> {
        if let Some(Object::Func(f)) = self.global_object(name) { Some(*f) } else { None }
    }

    /// The object bound to a global name.
    pub fn global(&self, name: &str) -> Option<ObjId> {
        self.globals.get(name).copied()
    }

    /// The same, as what it is.
    pub fn global_object(&self, name: &str) -> Option<&Object> {
        self.global(name).map(|o| &self.objects[o.index()].0)
    }

    /// A function of the text.
    pub fn known(&mut self, f: FuncId) -> &mut Known {
        &mut self.functions[f.index()]
    }

    /// Binds a global name of the text's functions.
    pub fn bind(&mut self, name: &str, object: ObjId) {
        self.globals.insert(name.to_owned(), object);
    }

    /// The number of an object: equal ones of one name have the same.
    pub fn number(&mut self, object: Object, name: &str) -> ObjId {
        let key = format!("{name} {object:?}");
        *self.numbers.entry(key).or_insert_with(|| {
            self.objects.push((object, name.to_owned()));
            ObjId::new(self.objects.len() - 1)
        })
    }

    /// The number of a class whose object says its own number.
    pub fn class(&mut self, name: &str, make: impl FnOnce(ObjId) -> Object) -> ObjId {
        let id = ObjId::new(self.objects.len());
        self.objects.push((make(id), name.to_owned()));
        id
    }

    /// The object of a name in a module.
    pub fn find(&mut self, module: &str, name: &str) -> Option<ObjId> {
        if let Some((fields, meaning)) = objects::named_tuple(module, name) {
            let key = format!("{module}.{name}");
            if let Some(known) = self.numbers.get(&key) {
                return Some(*known);
            }
            let tuple = |class| NamedTuple { name: name.to_owned(), class, fields, meaning };
            let class = self.class(name, |id| Object::NamedTupleClass(tuple(id)));
            self.numbers.insert(key, class);
            return Some(class);
        }
        let object = objects::find(module, name)?;
        let path = if name.is_empty() { module.to_owned() } else { format!("{module}.{name}") };
        Some(self.number(object, &path))
    }

    /// The object of a constant in code.
    ///
    /// # Panics
    /// If there is none.
    pub fn constant(&mut self, c: &PyConst) -> ObjId {
        let object = match c {
            PyConst::None => Object::Const(Const::None),
            PyConst::Bool(b) => Object::Const(Const::Bool(*b)),
            PyConst::Int(i) => Object::Const(Const::Int(*i, Ty::int())),
            PyConst::Float(x) => Object::Const(Const::Float(*x, Ty::float())),
            PyConst::Complex(re, im) => Object::Const(Const::Complex(*re, *im, Ty::complex())),
            PyConst::Str(s) => Object::Const(Const::Str(s.clone())),
            PyConst::Bytes(b) => Object::Bytes(b.clone()),
            PyConst::Ellipsis => Object::Ellipsis,
            PyConst::Tuple(items) => Object::Tuple(items.iter().map(|i| self.constant(i)).collect(), None),
            PyConst::Slice(parts) => Object::Slice([0, 1, 2].map(|i| self.constant(&parts[i]))),
            PyConst::BigInt(_) | PyConst::Unbound => panic!("{c} is no object"),
        };
        self.number(object, &c.to_string())
    }

    /// How many specialisations there are.
    pub fn count(&self) -> usize {
        self.specs.len()
    }

    /// A specialisation.
    pub fn typed(&self, s: SpecId) -> &Typed {
        &self.specs[s.index()]
    }

    /// The name of a function for people: that of the text, or the path of the stored library's.
    pub fn name(&mut self, f: FuncId) -> String {
        match f.as_stored() {
            Some(n) => {
                let stored = self.stored(n);
                let (module, name) = &stored.function.home;
                let module = module.trim_start_matches("lancehead.lib").trim_start_matches('.');
                if module.is_empty() { name.clone() } else { format!("{module}.{name}") }
            }
            None => self.functions[f.index()].code.name.clone(),
        }
    }

    /// The name of a specialisation's function for people.
    pub fn spec_name(&mut self, s: SpecId) -> String {
        let Typed { func, is_next, .. } = self.specs[s.index()];
        let name = self.name(func);
        if is_next { format!("{name}.next") } else { name }
    }

    /// The name of an object for people.
    pub fn object_name(&self, o: ObjId) -> &str {
        &self.objects[o.index()].1
    }

    fn stored(&mut self, n: u32) -> Arc<Stored> {
        let read = || {
            let f = library().function(n, "lancehead");
            let (code, function) = f.split();
            Arc::new(Stored { code: Arc::new(code), function })
        };
        self.stored.entry(n).or_insert_with(read).clone()
    }

    fn meant(&mut self, m: &Meaning) -> Option<ObjId> {
        match m {
            Meaning::Function(n) => {
                let f = FuncId::stored(*n);
                let name = self.name(f);
                Some(self.number(Object::Func(f), &name))
            }
            Meaning::Prims => self.find("lancehead.lib.prim", ""),
            Meaning::Const(c) => Some(self.constant(c)),
            Meaning::Import(module, name) => self.find(module, name),
        }
    }

    /// The outermost function around a function.
    fn outermost(&self, mut f: FuncId) -> FuncId {
        while let (None, Some(parent)) = (f.as_stored(), self.functions.get(f.index()).and_then(|k| k.parent)) {
            f = parent;
        }
        f
    }

    /// Begins to type a function.
    fn begin(&mut self, key: Key) -> SpecId {
        let id = lh_infer::World::reserve(self, key.0, "");
        self.specs[id.index()].is_next = false;
        self.by_key.insert(key.clone(), id);
        self.stack.enter(id, key, ());
        id
    }

    fn forget(&mut self, frame: &lh_infer::Frame<Key, ()>) {
        frame.forgotten().for_each(|key| _ = self.by_key.remove(key));
    }
}

/// Specialisations that a function calls.
fn callees(out: &Output) -> Vec<SpecId> {
    let insts = out.func.blocks.iter().flat_map(|b| &b.insts);
    insts.filter_map(|i| if let Inst::Call(s, _) = i.inst { Some(s) } else { None }).collect()
}

impl lh_infer::World for World {
    fn code(&mut self, f: FuncId) -> Result<Arc<Code>> {
        Ok(match f.as_stored() {
            Some(n) => self.stored(n).code.clone(),
            None => self.functions[f.index()].code.clone(),
        })
    }

    fn info(&mut self, f: FuncId) -> FuncInfo {
        let is_library = self.outermost(f).as_stored().is_some();
        let options = Options::default();
        let Some(n) = f.as_stored() else {
            let Known { defaults, kwdefaults, locals, .. } = &self.functions[f.index()];
            let (defaults, kwdefaults, locals) = (defaults.clone(), kwdefaults.clone(), locals.clone());
            return FuncInfo { is_library, meaning: None, options, defaults, kwdefaults, locals, sent: None };
        };
        let stored = self.stored(n);
        let mut value = |m: &Meaning| self.meant(m).unwrap_or_else(|| panic!("a default is not found: {m:?}"));
        let defaults = stored.function.defaults.iter().map(&mut value).collect();
        let kwdefaults = stored.function.kwdefaults.iter().map(|(name, m)| (name.clone(), value(m))).collect();
        let meaning = lh_ir::Meaning::of_word(&stored.function.means);
        FuncInfo { is_library, meaning, options, defaults, kwdefaults, locals: Vec::new(), sent: None }
    }

    fn signatures(&mut self, f: FuncId) -> Vec<(Vec<Ty>, Option<Ty>)> {
        if f.as_stored().is_some() { Vec::new() } else { self.functions[f.index()].signatures.clone() }
    }

    fn inner(&mut self, f: FuncId, index: u32) -> FuncId {
        if let Some(known) = self.inner.get(&(f, index)) {
            return *known;
        }
        let code = self.code(f).expect("it has code").inner[index as usize].clone();
        let inner = self.add(code, Some(f));
        self.inner.insert((f, index), inner);
        inner
    }

    fn sibling(&mut self, f: FuncId, index: u32) -> FuncId {
        let parent = self.functions[f.index()].parent.expect("an inner function");
        self.inner(parent, index)
    }

    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId> {
        let found = match self.outermost(f).as_stored() {
            Some(n) => {
                let stored = self.stored(n);
                let meaning = stored.function.globals.iter().find(|(g, _)| g == name);
                let unknown = |w: &mut World| w.number(Object::Other("object".to_owned()), name);
                // A name of the module hides the builtin one, known here or not.
                meaning.map(|(_, m)| self.meant(m).unwrap_or_else(|| unknown(self)))
            }
            None => self.globals.get(name).copied(),
        };
        found.or_else(|| self.find("builtins", name))
    }

    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId> {
        let code = self.code(f).ok()?;
        self.globals.get(code.freevars.get(index as usize)?).copied()
    }

    fn import(&mut self, name: &str, attr: Option<&str>) -> Option<ObjId> {
        self.find(name, attr.unwrap_or_default())
    }

    fn object(&mut self, o: ObjId) -> Object {
        self.objects[o.index()].0.clone()
    }

    fn attr(&mut self, o: ObjId, name: &str) -> Option<ObjId> {
        match self.object(o) {
            Object::Module(module) => self.find(&module, name),
            Object::EnumClass(class) => {
                let at = class.members.iter().position(|(n, _)| n == name)?;
                let path = format!("{}.{name}", class.name);
                Some(self.number(Object::EnumMember(class, at), &path))
            }
            _ => None,
        }
    }

    fn is_static(&mut self, _class: ObjId, _name: &str) -> bool {
        false
    }

    fn library(&mut self, path: &str) -> Option<(FuncId, Binding)> {
        library().find(path).map(|(n, binding)| (FuncId::stored(n), binding))
    }

    fn fold_call(&mut self, _: ObjId, _: &[ObjId]) -> Option<ObjId> {
        None
    }

    fn overload(&mut self, _: &Overload<'_>) -> Result<Overloaded> {
        Ok(Overloaded::No)
    }

    fn object_of(&mut self, c: &Const) -> ObjId {
        self.number(Object::Const(c.clone()), &format!("{c:?}"))
    }

    fn exc_is_subclass(&mut self, a: ExcId, b: ExcId) -> bool {
        objects::is_subclass(a, b)
    }

    fn exc_object(&mut self, _: ExcId) -> Option<ObjId> {
        None
    }

    fn specialise(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Spec> {
        let key = key_of(f, args, options);
        if let Some(id) = self.by_key.get(&key).copied() {
            let (ret, is_unfinished) = (self.specs[id.index()].ret, self.specs[id.index()].out.is_none());
            let is_assumed = is_unfinished || self.stack.note_call(&key);
            if is_unfinished {
                self.stack.note_recursion(id);
            }
            return Ok(Spec { id, ret, is_open: is_assumed && ret.is_never() });
        }
        self.stack.check_depth()?;
        let name = format!("{}.{}", self.code(f)?.name, self.specs.len());
        let id = self.begin(key);
        let inferred = lh_infer::infer(self, f, args, options, &name);
        let frame = self.stack.leave();
        match inferred {
            Ok(out) => {
                let (ret, is_final) = (out.ret, self.stack.is_final(&frame));
                self.stack.settle(frame);
                let state = &mut self.specs[id.index()];
                (state.ret, state.out) = (ret, Some(out));
                Ok(Spec { id, ret, is_open: ret.is_never() && !is_final })
            }
            Err(d) => {
                self.forget(&frame);
                Err(d)
            }
        }
    }

    fn taught(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Taught> {
        let key = key_of(f, args, options);
        if let Some(id) = self.by_key.get(&key).copied() {
            self.stack.note_recursion(id);
            return Ok(Taught { args: Vec::new(), ret: self.specs[id.index()].ret });
        }
        self.stack.check_depth()?;
        let name = format!("{}.taught", self.code(f)?.name);
        self.begin(key);
        let taught = lh_infer::taught(self, f, args, options, &name);
        let frame = self.stack.leave();
        self.forget(&frame);
        taught
    }

    fn is_outermost(&mut self) -> bool {
        self.stack.is_outermost()
    }

    fn adjoint(&mut self, _: SpecId, _: &[bool], _: Option<Ty>) -> Result<lh_infer::Adjoint> {
        Err(Diagnostic::new(diag::NO_DERIVATIVE, "functions of a text have no derivatives"))
    }
    fn tangent(&mut self, _: SpecId, _: &[bool]) -> Result<lh_infer::Adjoint> {
        Err(Diagnostic::new(diag::NO_DERIVATIVE, "functions of a text have no derivatives"))
    }
    fn reserve(&mut self, func: FuncId, _: &str) -> SpecId {
        self.specs.push(Typed { func, ret: Ty::never(), out: None, is_next: true });
        SpecId::new(self.specs.len() - 1)
    }

    fn provisional(&mut self, ret: Ty) -> bool {
        let Some(id) = self.stack.innermost().map(|f| f.spec) else { return false };
        let assumed = std::mem::replace(&mut self.specs[id.index()].ret, ret);
        let (used, stale) = self.stack.swept(assumed != ret);
        stale.iter().for_each(|key| _ = self.by_key.remove(key));
        used
    }

    fn unroll(&mut self, code: &Code, header: Block, times: u32) -> Option<Arc<Code>> {
        lh_frontend::unroll(code, header, times).map(Arc::new)
    }

    fn offsets(&mut self, s: SpecId) -> Vec<Offsets> {
        let (mut all, mut order, mut at) = (Vec::new(), vec![s], 0);
        while at < order.len() {
            let out = self.specs[order[at].index()].out.as_ref();
            at += 1;
            let Some(out) = out else { continue };
            all.extend(out.offsets.iter().cloned());
            let new: Vec<SpecId> = callees(out).into_iter().filter(|c| !order.contains(c)).collect();
            order.extend(new);
        }
        all
    }

    fn functions(&mut self, specs: &[SpecId]) -> Vec<Arc<lh_ir::Function>> {
        let (mut all, mut order, mut at) = (Vec::new(), specs.to_vec(), 0);
        while at < order.len() {
            let out = self.specs[order[at].index()].out.as_ref();
            at += 1;
            let Some(out) = out else { continue };
            all.push(Arc::new(out.func.clone()));
            let new: Vec<SpecId> = callees(out).into_iter().filter(|c| !order.contains(c)).collect();
            order.extend(new);
        }
        all
    }

    fn link(&mut self, _: ObjId, name: &str, _: Options) -> Result<Option<(SpecId, usize)>> {
        Err(Diagnostic::new(diag::BAD_PTX, format!("`{name}` cannot be linked: there is no device")))
    }

    fn describe(&mut self, o: ObjId) -> String {
        self.objects[o.index()].1.clone()
    }

    fn type_object(&mut self, ty: Ty) -> ObjId {
        lh_ir::bug!("no test asks for the object of `{ty}`")
    }

    fn function_object(&mut self, f: FuncId) -> Option<ObjId> {
        self.objects.iter().position(|(o, _)| matches!(o, Object::Func(own) if *own == f)).map(ObjId::new)
    }
}
