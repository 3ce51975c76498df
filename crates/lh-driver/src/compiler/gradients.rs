//! Derivatives of specialisations: `lh-grad` makes the function, from the code that inference has built for the
//! function and for all that it calls.

use super::Compiler;
use super::session::Session;
use crate::spec::{Body, Dep, Spec, callees};
use lh_grad::{Callees, Push, Remark, Request, Rule, Snapshot, has_memory, has_snapshot};
use lh_infer::{Adjoint, ArgTy, Object, World};
use lh_ir::device::Device;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Function, Inst, InstData, Options, Term};
use lh_ir::runtime::{Memory as Mem, Role};
use lh_ir::verify::agree;
use lh_ir::{FuncId, Span, SpecId, Ty, TyKind};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Where the library states how functions of its own are differentiated: `numpy.reductions.sum` by
/// `derivatives.numpy.reductions.sum_forward` and `sum_backward`.
const RULES: &str = "derivatives";

impl Callees for Compiler {
    fn rule(&self, spec: SpecId) -> Option<Rule> {
        self.rules.get(&spec).cloned()
    }
    fn push(&self, spec: SpecId) -> Option<Push> {
        self.pushes.get(self.texts.get(&(spec, Derivative::Tangent)).unwrap_or(&spec)).cloned()
    }
    fn copy_back(&self, float: Ty) -> Option<SpecId> {
        self.copies_back.get(&float).copied()
    }
    fn snapshot(&self, ty: Ty) -> Option<Snapshot> {
        self.snapshots.get(&ty).copied()
    }
    fn fills(&self, options: Options) -> Option<[SpecId; 2]> {
        self.fills.get(&Options { derivative: Derivative::None, ..options }).copied()
    }
    fn taken(&self, options: Options, float: Ty) -> Option<SpecId> {
        self.takers.get(&(Options { derivative: Derivative::None, ..options }, float)).copied()
    }
    fn recursive(&self, spec: SpecId, asked: &[bool], kind: Derivative) -> Option<(SpecId, Ty)> {
        self.recursive.get(&(spec, asked.to_vec(), kind)).copied()
    }
    fn name(&self, spec: SpecId) -> String {
        let spec = &self.specs[spec.index()];
        spec.body.as_ref().map_or_else(|| spec.name.clone(), |b| b.func.qualname.clone())
    }
    fn writes(&self, spec: SpecId) -> u32 {
        self.specs[spec.index()].body.as_ref().map_or(u32::MAX, |b| b.summary.writes())
    }
}

impl Session<'_> {
    /// Makes the derivative of a specialisation.
    pub(super) fn make_adjoint(&mut self, s: SpecId, asked: &[bool], owners: Option<Ty>) -> Result<Adjoint> {
        let key = (s, asked.to_vec());
        if let Some(known) = self.compiler.adjoints.get(&key) {
            return Ok(known.clone());
        }
        let value = self.compiler.specs[s.index()].ret;
        let primal = self.primal_or_call(s)?;
        let params: Vec<Ty> =
            primal.params().iter().zip(asked).filter(|(_, a)| **a).map(|(p, _)| primal.ty(*p)).collect();
        let ret = Ty::tuple(vec![value, Ty::tuple(params.clone())]);
        let id = self.reserved(s, &primal.name, "adjoint", ret);
        let request = Request { asked, owners, ret, seed: None };
        let (writes, lists) = self.build_adjoint(s, id, &primal, &request)?;
        let shadowed = params.iter().map(|t| has_memory(*t)).collect();
        let made = Adjoint { id, ret, shadowed, writes, lists };
        self.compiler.adjoints.insert(key, made.clone());
        Ok(made)
    }

    /// The code of a function before all passes; of one with a rule, a function that calls it.
    fn primal_or_call(&self, s: SpecId) -> Result<Arc<Function>> {
        let refused = || Diagnostic::new(diag::NO_DERIVATIVE, "a recursive function has no derivative yet");
        let body = self.compiler.specs[s.index()].body.as_ref().ok_or_else(refused)?;
        let has_rule = self.compiler.rules.contains_key(&s) || self.compiler.pushes.contains_key(&s);
        if !has_rule {
            return body.primal.clone().ok_or_else(refused);
        }
        let own = &body.func;
        let mut func = Function {
            name: own.name.clone(),
            qualname: own.qualname.clone(),
            file: own.file.clone(),
            first_line: own.first_line,
            ret: own.ret,
            options: own.options,
            is_library: own.is_library,
            ..Function::default()
        };
        let block = func.new_block();
        let args: Vec<_> = own.params().iter().map(|p| own.ty(*p)).map(|t| func.new_param(block, t)).collect();
        let result = func.new_value(self.compiler.specs[s.index()].ret);
        let span = Span { line: own.first_line, end_line: own.first_line, ..Span::default() };
        let data = &mut func.blocks[block.index()];
        data.insts.push(InstData { result: Some(result), inst: Inst::Call(s, args), span });
        (data.term, data.term_span) = (Some(Term::Return(result)), span);
        Ok(Arc::new(func))
    }

    /// Types the functions that take back copies of memory, if a function makes such.
    fn type_copies(&mut self, func: &Function, options: Options) -> Result<()> {
        let is_copy = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if matches!(f.role, Role::Memory(Mem::Move | Mem::CopyRow)));
        if !func.blocks.iter().flat_map(|b| &b.insts).any(is_copy) {
            return Ok(());
        }
        let copy_back = self.of_library(&format!("{RULES}.copy_back"))?;
        for t in [Ty::f64(), Ty::f32()] {
            if !self.compiler.copies_back.contains_key(&t) {
                let (p, n) = (Ty::ptr(), Ty::int());
                let args = [Ty::dtype(t), p, n, p, n, n, n].map(ArgTy::from);
                let made = self.type_part(copy_back, &args, options)?;
                self.compiler.copies_back.insert(t, made.id);
            }
        }
        Ok(())
    }

    /// Types the functions that fill shared and thread-local memory with zeros, for code for a device.
    fn type_fills(&mut self, options: Options) -> Result<()> {
        if options.device == Device::Host || Callees::fills(&*self.compiler, options).is_some() {
            return Ok(());
        }
        let mut made = Vec::new();
        for name in ["zero_shared", "zero_local"] {
            let f = self.of_library(&format!("{RULES}.{name}"))?;
            made.push(self.type_part(f, &[Ty::ptr(), Ty::int()].map(ArgTy::from), options)?.id);
        }
        self.compiler.fills.insert(Options { derivative: Derivative::None, ..options }, [made[0], made[1]]);
        Ok(())
    }

    /// Types the functions that take adjoints of extremes, for functions that atomically store such.
    fn type_takers(&mut self, func: &Function, options: Options) -> Result<()> {
        let is_extreme = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if lh_grad::is_extreme(f));
        let options = Options { derivative: Derivative::None, ..options };
        if !func.blocks.iter().flat_map(|b| &b.insts).any(is_extreme) {
            return Ok(());
        }
        for t in [Ty::f64(), Ty::f32()] {
            if !self.compiler.takers.contains_key(&(options, t)) {
                let taken = self.of_library(&format!("{RULES}.taken"))?;
                let made = self.type_part(taken, &[Ty::dtype(t), Ty::bool(), Ty::ptr()].map(ArgTy::from), options)?;
                self.compiler.takers.insert((options, t), made.id);
            }
        }
        Ok(())
    }

    /// Makes the tangent of a specialisation.
    pub(super) fn make_tangent(&mut self, s: SpecId, asked: &[bool]) -> Result<Adjoint> {
        let key = (s, asked.to_vec());
        if let Some(known) = self.compiler.tangents.get(&key) {
            return Ok(known.clone());
        }
        let value = self.compiler.specs[s.index()].ret;
        let primal = self.primal_or_call(s)?;
        let zeros = if has_memory(value) {
            let zeros = self.of_library(&format!("{RULES}.zeros"))?;
            Some(self.type_part(zeros, &[ArgTy::from(value)], primal.options)?.id)
        } else {
            None
        };
        let ret = Ty::tuple(vec![value, value]);
        let id = self.reserved(s, &primal.name, "tangent", ret);
        self.compiler.recursive.insert((s, asked.to_vec(), Derivative::Tangent), (id, ret));
        let (func, inlined) = self.lowered(s, &primal, Derivative::Tangent)?;
        self.make_recursions(&func, asked, Derivative::Tangent)?;
        let func = lh_grad::tangent(&func, asked, ret, zeros, &*self.compiler)?;
        self.add((s, Derivative::Tangent), id, func, &inlined)?;
        let shadowed = vec![true; asked.iter().filter(|a| **a).count()];
        let made = Adjoint { id, ret, shadowed, writes: 0, lists: Vec::new() };
        self.compiler.tangents.insert(key, made.clone());
        Ok(made)
    }

    /// Builds a derivative in reverse mode; gives the parameters that the function itself writes, and the types of
    /// lists that the derivative takes.
    fn build_adjoint(
        &mut self,
        s: SpecId,
        id: SpecId,
        primal: &Function,
        request: &Request<'_>,
    ) -> Result<(u32, Vec<Ty>)> {
        let (func, inlined) = self.lowered(s, primal, Derivative::Adjoint)?;
        self.type_copies(&func, primal.options)?;
        self.type_fills(primal.options)?;
        self.type_takers(&func, primal.options)?;
        self.make_recursions(&func, request.asked, Derivative::Adjoint)?;
        let made = lh_grad::adjoint(&func, request, &*self.compiler)?;
        self.add((s, Derivative::Adjoint), id, made.func, &inlined)?;
        if let Some(body) = &mut self.compiler.specs[id.index()].body {
            Arc::make_mut(&mut body.source).derivative = by_line(&made.remarks);
        }
        Ok((made.writes, made.lists))
    }

    /// Makes the derivatives of the functions that call themselves which a function calls.
    fn make_recursions(&mut self, func: &Function, asked: &[bool], kind: Derivative) -> Result<()> {
        let compiler = &*self.compiler;
        let recurs = |s: SpecId| compiler.reaches(s, s, kind);
        if !callees(func).into_iter().any(recurs) {
            return Ok(());
        }
        for (c, tys, wanted) in lh_grad::recursions(func, asked, compiler, &recurs)? {
            if kind == Derivative::Adjoint {
                self.type_snapshots(&tys, func.options)?;
            }
            if self.compiler.recursive.contains_key(&(c, wanted.clone(), kind)) {
                continue;
            }
            match kind {
                Derivative::Adjoint => self.make_seeded(c, wanted)?,
                Derivative::Tangent => _ = self.make_tangent(c, &wanted)?,
                Derivative::None => {}
            }
        }
        Ok(())
    }

    /// Types the functions that copy memory of some types and make it what it was.
    fn type_snapshots(&mut self, tys: &[Ty], options: Options) -> Result<()> {
        for ty in tys.iter().copied().filter(|t| has_snapshot(*t)) {
            if self.compiler.snapshots.contains_key(&ty) {
                continue;
            }
            let take = self.of_library(&format!("{RULES}.snapshot"))?;
            let put_back = self.of_library(&format!("{RULES}.put_back"))?;
            let take = self.type_part(take, &[ArgTy::from(ty)], options)?;
            let put_back = self.type_part(put_back, &[ty, take.ret].map(ArgTy::from), options)?;
            let made = Snapshot { take: take.id, kept: take.ret, put_back: put_back.id };
            self.compiler.snapshots.insert(ty, made);
        }
        Ok(())
    }

    /// Makes the derivative of a function that calls itself, for an adjoint of its result.
    fn make_seeded(&mut self, s: SpecId, asked: Vec<bool>) -> Result<()> {
        let value = self.compiler.specs[s.index()].ret;
        let primal = self.primal_or_call(s)?;
        // Adjoints in memory are those of the shadows that it is given.
        let given = |t: Ty| if lh_grad::has_floats(t) { t } else { Ty::none() };
        let asked_for = primal.params().iter().zip(&asked).filter(|(_, a)| **a);
        let params = asked_for.map(|(p, _)| given(primal.ty(*p))).collect();
        let ret = Ty::tuple(vec![value, Ty::tuple(params)]);
        let id = self.reserved(s, &primal.name, "adjoint", ret);
        self.compiler.recursive.insert((s, asked.clone(), Derivative::Adjoint), (id, ret));
        let owners = (primal.options.device == Device::Host).then(|| Ty::list(Ty::meminfo()));
        let request = Request { asked: &asked, owners, ret, seed: Some(value) };
        let (_, lists) = self.build_adjoint(s, id, &primal, &request)?;
        if !lists.is_empty() {
            let text = format!("`{}` calls itself and makes objects in loops", primal.qualname);
            let span = Span { line: primal.first_line, end_line: primal.first_line, ..Span::default() };
            return Err(Diagnostic::new(diag::NO_DERIVATIVE, text)
                .note("make them in a function of their own, or use arrays")
                .at(&primal.file, span));
        }
        Ok(())
    }

    /// A number for the derivative of a specialisation.
    fn reserved(&mut self, s: SpecId, name: &str, what: &str, ret: Ty) -> SpecId {
        let Spec { func, is_library, .. } = self.compiler.specs[s.index()];
        let id = SpecId::new(self.compiler.specs.len());
        let name = format!("{name}.{what}.{}", id.index());
        self.compiler.specs.push(Spec { name, func, ret, body: None, is_library });
        id
    }

    /// Gives a derivative of a specialisation its code.
    fn add(
        &mut self,
        (s, kind): (SpecId, Derivative),
        id: SpecId,
        mut func: Function,
        inlined: &HashSet<SpecId>,
    ) -> Result<()> {
        func.name.clone_from(&self.compiler.specs[id.index()].name);
        func.options = Options { derivative: Derivative::None, ..func.options };
        let body = self.body_of((s, kind), id, func, inlined)?;
        self.compiler.specs[id.index()].body = Some(body);
        Ok(())
    }

    /// The function in the form that is differentiated, and the specialisations whose code it has.
    fn lowered(&mut self, s: SpecId, primal: &Function, kind: Derivative) -> Result<(Function, HashSet<SpecId>)> {
        self.type_texts(s, kind)?;
        let compiler = &*self.compiler;
        let inlined: HashSet<SpecId> = compiler.inlined(s, kind);
        let primal_of = |c: SpecId| inlined.contains(&c).then(|| compiler.primal(c, kind)).flatten();
        let mut func = primal.clone();
        compiler.with_known(s, |known| lh_opt::pipeline::before_adjoint(&mut func, known, &primal_of))?;
        Ok((func, inlined))
    }

    /// Types the functions that a function calls, and those call, whose code before all passes is missing: those with
    /// rules in forward mode, which has others, and functions of rules that a derivative of a derivative meets.
    fn type_texts(&mut self, s: SpecId, kind: Derivative) -> Result<()> {
        let (mut seen, mut work) = (HashSet::new(), vec![s]);
        while let Some(c) = work.pop() {
            let by_rule = kind == Derivative::Adjoint && self.compiler.rules.contains_key(&c);
            if let Some((f, args, options)) = self.compiler.retypable.get(&c).cloned()
                && !by_rule
                && !self.compiler.texts.contains_key(&(c, kind))
            {
                let text = self.specialise(f, &args, Options { derivative: kind, ..options })?;
                self.compiler.texts.insert((c, kind), text.id);
            }
            let Some(primal) = self.compiler.primal(c, kind) else { continue };
            work.extend(callees(&primal).into_iter().filter(|c| seen.insert(*c)));
        }
        Ok(())
    }

    /// Types a function of a rule. Its own derivative is rarely asked for.
    fn type_part(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<lh_infer::Spec> {
        let options = Options { derivative: Derivative::None, ..options };
        let made = self.specialise(f, args, options)?;
        self.compiler.retypable.insert(made.id, (f, args.to_vec(), options));
        Ok(made)
    }

    fn body_of(
        &mut self,
        (s, kind): (SpecId, Derivative),
        id: SpecId,
        mut func: Function,
        inlined: &HashSet<SpecId>,
    ) -> Result<Body> {
        let primal = Arc::new(func.clone());
        let outcome = self.compiler.with_known(id, |known| lh_opt::run(&mut func, known))?;
        let specs = &self.compiler.specs;
        // Functions with rules are not called any more, but have read their rules.
        let own = inlined.iter().copied().chain([s]);
        let called = own.clone().filter_map(|c| self.compiler.primal(c, kind)).flat_map(|f| callees(&f));
        let all: HashSet<SpecId> = own.chain(called).collect();
        let of = |c: SpecId| specs[c.index()].body.iter().flat_map(|b| b.deps.clone());
        let deps: Vec<Dep> = all.into_iter().flat_map(of).collect();
        let source = specs[s.index()].body.as_ref().map(|b| b.source.clone()).unwrap_or_default();
        Ok(Body {
            callees: callees(&func),
            func: Arc::new(func),
            inlinable: None,
            deps,
            source,
            summary: outcome.summary,
            offsets: Vec::new(),
            primal: Some(primal),
        })
    }

    /// Types the rule by which a function is differentiated that has been typed for arguments.
    pub(super) fn type_rule(&mut self, f: FuncId, args: &[ArgTy], options: Options, s: SpecId) -> Result<()> {
        match self.rule_of(f, options.derivative) {
            Some(Found::Adjoint { forward, takes_lasting, backward, pull }) => {
                self.type_adjoint(f, args, options, s, (forward, takes_lasting, backward, pull))
            }
            Some(Found::Tangent(function)) => self.type_tangent((f, function), args, options, s),
            None => Ok(()),
        }
    }

    fn type_tangent(
        &mut self,
        (f, function): (FuncId, FuncId),
        args: &[ArgTy],
        options: Options,
        s: SpecId,
    ) -> Result<()> {
        let all = passed(args);
        let is_stated = !self.info(f).is_library;
        let made = if is_stated {
            let push = self.of_library(&format!("{RULES}.push_stated"))?;
            let of: Vec<ArgTy> = [Ty::new(TyKind::Func(function)), Ty::int(), all, all].map(ArgTy::from).into();
            self.type_part(push, &of, options)?
        } else {
            let first = [Ty::int(), all].map(ArgTy::from);
            let of: Vec<ArgTy> = first.into_iter().chain(args.iter().cloned()).collect();
            self.type_part(function, &of, options)?
        };
        let own = self.compiler.specs[s.index()].ret;
        self.check_given(function, made.ret, &[own, own], "its result and the tangent of that")?;
        let params = places(args);
        self.compiler.pushes.insert(s, Push { function: made.id, is_stated, params, ret: made.ret, args: all });
        Ok(())
    }

    fn type_adjoint(
        &mut self,
        f: FuncId,
        args: &[ArgTy],
        options: Options,
        s: SpecId,
        (forward, takes_lasting, backward, pull): (FuncId, bool, FuncId, &str),
    ) -> Result<()> {
        let ret = self.compiler.specs[s.index()].ret;
        let bits = takes_lasting.then(|| ArgTy::from(Ty::int()));
        let given: Vec<ArgTy> = bits.into_iter().chain(args.iter().cloned()).collect();
        let made = self.type_part(forward, &given, options)?;
        let saved = made.ret.tuple_elems().filter(|t| t.len() == 2).map_or(Ty::none(), |t| t[1]);
        self.check_given(forward, made.ret, &[ret, saved], "the result and what the other function needs")?;
        let all = passed(args);
        let pull = self.of_library(&format!("{RULES}.{pull}"))?;
        let of: Vec<ArgTy> = [Ty::new(TyKind::Func(backward)), Ty::int(), saved, ret, all].map(ArgTy::from).into();
        let back = self.type_part(pull, &of, options)?;
        let zero = if has_memory(ret) {
            let zeros = self.of_library(&format!("{RULES}.zeros"))?;
            Some(self.type_part(zeros, &[ArgTy::from(ret)], options)?.id)
        } else {
            None
        };
        let params = places(args);
        let rule = Rule {
            forward: made.id,
            takes_lasting,
            forward_ret: made.ret,
            backward: back.id,
            backward_ret: back.ret,
            args: all,
            zero,
            params,
        };
        self.compiler.rules.insert(s, rule);
        self.compiler.retypable.insert(s, (f, args.to_vec(), options));
        Ok(())
    }

    /// Checks what a function of a rule gives.
    fn check_given(&mut self, f: FuncId, got: Ty, wanted: &[Ty], what: &str) -> Result<()> {
        let elems = got.tuple_elems().unwrap_or_default();
        if elems.len() == wanted.len() && elems.iter().zip(wanted).all(|(a, b)| agree(*a, *b)) {
            return Ok(());
        }
        let code = self.code(f)?;
        let span = Span { line: code.first_line, end_line: code.first_line, ..Span::default() };
        let text =
            format!("`{}` gives `{got}`, and states a derivative of a function that gives `{}`", code.name, wanted[0]);
        Err(Diagnostic::new(diag::NO_DERIVATIVE, text)
            .note(format!("it has to give a pair: {what}"))
            .at(&code.file, span))
    }

    fn of_library(&mut self, path: &str) -> Result<FuncId> {
        Ok(self.library(path).map_or_else(|| lh_ir::bug!("no `{path}` in the library"), |(f, _)| f))
    }

    /// Whether a function is differentiated by a rule, for the derivative that the options ask for.
    pub(super) fn has_rule(&mut self, f: FuncId, options: Options) -> bool {
        options.derivative != Derivative::None && self.rule_of(f, options.derivative).is_some()
    }

    /// The functions by which a function is differentiated, if it has such.
    fn rule_of(&mut self, f: FuncId, kind: Derivative) -> Option<Found> {
        if self.compiler.parents.contains_key(&f) {
            return None;
        }
        if !self.info(f).is_library {
            return self.stated(f, kind);
        }
        let place = self.place_of_rule(f)?;
        let mut named = |part: &str| Some(self.library(&format!("{place}_{part}"))?.0);
        match kind {
            Derivative::None => None,
            Derivative::Tangent => named("tangent").map(Found::Tangent),
            Derivative::Adjoint => {
                let kept = named("kept");
                let takes_lasting = kept.is_some();
                let both = kept.or_else(|| named("forward")).zip(named("backward"));
                both.map(|(forward, backward)| Found::Adjoint { forward, takes_lasting, backward, pull: "pull" })
            }
        }
    }

    /// The path by which the library states how a function of its own is differentiated, without the last part.
    fn place_of_rule(&mut self, f: FuncId) -> Option<String> {
        let code = self.code(f).ok()?;
        let (_, file) = code.file.rsplit_once("lancehead/lib/")?;
        let module = file.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
        Some(format!("{RULES}.{module}.{}", code.name))
    }

    /// The function whose text is differentiated in place of a function's own, if the library has one.
    pub(super) fn differentiated(&mut self, f: FuncId, options: Options) -> FuncId {
        let is_asked = options.derivative != Derivative::None && !self.compiler.parents.contains_key(&f);
        if !is_asked || !self.info(f).is_library {
            return f;
        }
        let found = self.place_of_rule(f).and_then(|place| self.library(&format!("{place}_text")));
        found.map_or(f, |(text, _)| text)
    }

    /// The rule that the program states for a function of its own: `custom_vjp` and `custom_jvp` note it there.
    fn stated(&mut self, f: FuncId, kind: Derivative) -> Option<Found> {
        let o = self.host.function_object(f);
        let mut named = |name: &str| {
            let found = self.attr(o, name)?;
            match self.object(found) {
                Object::Func(f) => Some(f),
                _ => None,
            }
        };
        match kind {
            Derivative::None => None,
            Derivative::Tangent => named("__tangent__").map(Found::Tangent),
            Derivative::Adjoint => named("__forward__").zip(named("__backward__")).map(|(forward, backward)| {
                Found::Adjoint { forward, takes_lasting: false, backward, pull: "pull_stated" }
            }),
        }
    }
}

/// Remarks about a derivative as texts, by line.
fn by_line(remarks: &[(Span, Remark)]) -> Vec<(u32, String)> {
    let mut lines: BTreeMap<u32, (u64, u64, usize, BTreeSet<&str>)> = BTreeMap::new();
    for (span, remark) in remarks {
        let (once, each, again, ends) = lines.entry(span.line).or_default();
        match remark {
            Remark::Kept { bytes, each_iteration: false } => *once += bytes,
            Remark::Kept { bytes, each_iteration: true } => *each += bytes,
            Remark::Again => *again += 1,
            Remark::Ends(name) => _ = ends.insert(name),
        }
    }
    let mut out = Vec::new();
    for (line, (once, each, again, ends)) in lines {
        let mut say = |holds: bool, text: String| out.extend(holds.then_some((line, text)));
        say(each > 0, format!("keeps {each} bytes of each iteration"));
        say(once > 0, format!("keeps {once} bytes"));
        say(again == 1, "computes a value again".to_owned());
        say(again > 1, format!("computes {again} values again"));
        ends.into_iter().for_each(|name| say(true, format!("ends at `{name}`")));
    }
    out
}

/// The rule of a function.
enum Found {
    /// For reverse mode, with the name of the library's function that calls `backward`.
    Adjoint { forward: FuncId, takes_lasting: bool, backward: FuncId, pull: &'static str },
    /// For forward mode.
    Tangent(FuncId),
}

/// Whether calls pass an argument at run time.
fn is_passed(a: &ArgTy) -> bool {
    !a.is_known() && !a.ty.flatten().is_empty()
}

/// The places of the arguments that calls pass at run time.
fn places(args: &[ArgTy]) -> Vec<usize> {
    args.iter().enumerate().filter(|(_, a)| is_passed(a)).map(|(i, _)| i).collect()
}

/// The type of the tuple of a function's arguments, with `none` for those that calls do not pass.
fn passed(args: &[ArgTy]) -> Ty {
    Ty::tuple(args.iter().map(|a| if is_passed(a) { a.ty } else { Ty::none() }).collect())
}

impl Compiler {
    /// The code of a function before all passes, in the form that is inlined for a derivative.
    fn primal(&self, s: SpecId, kind: Derivative) -> Option<Arc<Function>> {
        let text = self.texts.get(&(s, kind)).copied();
        self.specs[text.unwrap_or(s).index()].body.as_ref()?.primal.clone()
    }

    /// The specialisations that are inlined into one before it is differentiated: those that it calls, and those call,
    /// but for the ones with rules, those that call themselves, and those that compute nothing with floats.
    fn inlined(&self, s: SpecId, kind: Derivative) -> HashSet<SpecId> {
        let mut found = HashSet::new();
        let mut work = vec![s];
        while let Some(c) = work.pop() {
            let Some(primal) = self.primal(c, kind) else { continue };
            for callee in callees(&primal) {
                let Some(body) = self.primal(callee, kind) else { continue };
                let by_rule = match kind {
                    Derivative::Adjoint => self.rules.contains_key(&callee),
                    Derivative::Tangent | Derivative::None => self.push(callee).is_some(),
                };
                if !by_rule && computes(&body) && found.insert(callee) {
                    work.push(callee);
                }
            }
        }
        let recursive: Vec<SpecId> = found.iter().copied().filter(|c| self.reaches(*c, *c, kind)).collect();
        for c in recursive {
            found.remove(&c);
        }
        found.remove(&s);
        found
    }

    fn reaches(&self, from: SpecId, to: SpecId, kind: Derivative) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![from]);
        while let Some(c) = work.pop() {
            let Some(primal) = self.primal(c, kind) else { continue };
            for callee in callees(&primal) {
                if callee == to {
                    return true;
                }
                if seen.insert(callee) {
                    work.push(callee);
                }
            }
        }
        false
    }
}

/// Whether a function computes with floats or with memory that may hold some.
fn computes(func: &Function) -> bool {
    let is_float = |t: &Ty| t.flatten().iter().any(|p| p.is_float()) || has_memory(*t);
    let returns = func.blocks.iter().any(|b| matches!(b.term, Some(Term::Return(_))));
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    returns && (func.values.iter().any(is_float) || insts.into_iter().any(|d| matches!(d.inst, Inst::Map(..))))
}
