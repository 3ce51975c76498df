//! Derivatives of specialisations: `lh-grad` makes the function, from the code that inference has built for the function
//! and for all that it calls.

use super::Compiler;
use super::session::Session;
use crate::spec::{Body, Dep, Spec, callees};
use lh_grad::{Callees, Request, Rule, has_memory};
use lh_infer::{Adjoint, ArgTy, World};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Function, Inst, Options};
use lh_ir::{FuncId, SpecId, Ty, TyKind};
use std::collections::HashSet;
use std::sync::Arc;

/// Where the library states how functions of its own are differentiated: `numpy.reductions.sum` by
/// `derivatives.numpy.reductions.sum_forward` and `sum_backward`.
const RULES: &str = "derivatives";

impl Callees for Compiler {
    fn rule(&self, spec: SpecId) -> Option<Rule> {
        self.rules.get(&spec).cloned()
    }
    fn writes(&self, spec: SpecId) -> u32 {
        self.specs[spec.index()].body.as_ref().map_or(u32::MAX, |b| b.summary.writes())
    }
}

impl Session<'_> {
    /// Makes the derivative of a specialisation.
    pub(super) fn make_adjoint(&mut self, s: SpecId, asked: &[bool], owners: Ty) -> Result<Adjoint> {
        let key = (s, asked.to_vec());
        if let Some(known) = self.compiler.adjoints.get(&key) {
            return Ok(known.clone());
        }
        let spec = &self.compiler.specs[s.index()];
        let Some(primal) = spec.body.as_ref().and_then(|b| b.primal.clone()) else {
            return Err(Diagnostic::new(diag::NO_DERIVATIVE, "a recursive function has no derivative yet"));
        };
        let (value, of, is_library) = (spec.ret, spec.func, spec.is_library);
        let params: Vec<Ty> =
            primal.params().iter().zip(asked).filter(|(_, a)| **a).map(|(p, _)| primal.ty(*p)).collect();
        let ret = Ty::tuple(vec![value, Ty::tuple(params.clone())]);
        let (mut func, inlined) = self.lowered(s, &primal)?;
        let request = Request { asked, owners, ret };
        func = lh_grad::adjoint(&func, &request, &*self.compiler)?;
        let id = SpecId::new(self.compiler.specs.len());
        func.name = format!("{}.adjoint.{}", primal.name, id.index());
        func.options = Options { differentiated: false, ..func.options };
        let name = func.name.clone();
        self.compiler.specs.push(Spec { name, func: of, ret, body: None, is_library });
        let body = self.adjoint_body(s, id, func, &inlined)?;
        self.compiler.specs[id.index()].body = Some(body);
        let shadowed = params.iter().map(|t| has_memory(*t)).collect();
        let made = Adjoint { id, ret, shadowed };
        self.compiler.adjoints.insert(key, made.clone());
        Ok(made)
    }

    /// The function in the form that is differentiated, and the specialisations whose code it has.
    fn lowered(&self, s: SpecId, primal: &Function) -> Result<(Function, HashSet<SpecId>)> {
        let specs = &self.compiler.specs;
        let inlined: HashSet<SpecId> = self.compiler.inlined(s);
        let primal_of = |c: SpecId| {
            let body = specs[c.index()].body.as_ref()?;
            inlined.contains(&c).then(|| body.primal.clone()).flatten()
        };
        let known = lh_opt::pipeline::Known {
            bodies: &|c: SpecId| specs[c.index()].body.as_ref().and_then(|b| b.inlinable.clone()),
            summaries: &|c: SpecId| specs[c.index()].body.as_ref().map(|b| b.summary.clone()),
            spec: s,
        };
        let mut func = primal.clone();
        lh_opt::pipeline::before_adjoint(&mut func, &known, &primal_of)?;
        Ok((func, inlined))
    }

    fn adjoint_body(&mut self, s: SpecId, id: SpecId, mut func: Function, inlined: &HashSet<SpecId>) -> Result<Body> {
        let primal = Arc::new(func.clone());
        let specs = &self.compiler.specs;
        let known = lh_opt::pipeline::Known {
            bodies: &|c: SpecId| specs[c.index()].body.as_ref().and_then(|b| b.inlinable.clone()),
            summaries: &|c: SpecId| specs[c.index()].body.as_ref().map(|b| b.summary.clone()),
            spec: id,
        };
        let outcome = lh_opt::run(&mut func, &known)?;
        let mut deps: Vec<Dep> = Vec::new();
        for c in inlined.iter().chain([&s]) {
            let of = specs[c.index()].body.iter().flat_map(|b| &b.deps);
            deps.extend(of.cloned());
        }
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

    /// Types the rule by which the library differentiates a function that has been typed for arguments.
    pub(super) fn type_rule(&mut self, f: FuncId, args: &[ArgTy], options: Options, s: SpecId) -> Result<()> {
        let Some((forward, backward)) = self.rule_functions(f)? else { return Ok(()) };
        let ret = self.compiler.specs[s.index()].ret;
        let made = self.specialise(forward, args, options)?;
        let saved = made.ret.tuple_elems().and_then(|t| t.get(1).copied());
        let Some(saved) = saved else { lh_ir::bug!("a forward function gives a value and what it saves") };
        let is_passed = |a: &ArgTy| !a.is_known() && !a.ty.flatten().is_empty();
        let all = Ty::tuple(args.iter().map(|a| if is_passed(a) { a.ty } else { Ty::none() }).collect());
        let pull = self.of_library(&format!("{RULES}.pull"))?;
        let of: Vec<ArgTy> = [Ty::new(TyKind::Func(backward)), Ty::int(), saved, ret, all].map(ArgTy::from).into();
        let back = self.specialise(pull, &of, options)?;
        let zero = if has_memory(ret) {
            let zeros = self.of_library(&format!("{RULES}.zeros"))?;
            Some(self.specialise(zeros, &[ArgTy::from(ret)], options)?.id)
        } else {
            None
        };
        let params = args.iter().enumerate().filter(|(_, a)| is_passed(a)).map(|(i, _)| i).collect();
        let rule = Rule {
            forward: made.id,
            forward_ret: made.ret,
            backward: back.id,
            backward_ret: back.ret,
            args: all,
            zero,
            params,
        };
        self.compiler.rules.insert(s, rule);
        Ok(())
    }

    fn of_library(&mut self, path: &str) -> Result<FuncId> {
        Ok(self.library(path).map_or_else(|| lh_ir::bug!("no `{path}` in the library"), |(f, _)| f))
    }

    /// The functions by which a function of the library is differentiated, if it has such.
    pub(super) fn rule_functions(&mut self, f: FuncId) -> Result<Option<(FuncId, FuncId)>> {
        if !self.info(f).is_library || self.compiler.parents.contains_key(&f) {
            return Ok(None);
        }
        let code = self.code(f)?;
        let Some((_, file)) = code.file.rsplit_once("lancehead/lib/") else { return Ok(None) };
        let module = file.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
        let name = |part: &str| format!("{RULES}.{module}.{}_{part}", code.name);
        let forward = self.library(&name("forward"));
        let backward = self.library(&name("backward"));
        Ok(forward.zip(backward).map(|((f, _), (b, _))| (f, b)))
    }
}

impl Compiler {
    /// The specialisations that are inlined into one before it is differentiated: those that it calls, and those call,
    /// but for the ones with rules, those that call themselves, and those that compute nothing with floats.
    fn inlined(&self, s: SpecId) -> HashSet<SpecId> {
        let mut found = HashSet::new();
        let mut work = vec![s];
        while let Some(c) = work.pop() {
            let Some(primal) = self.specs[c.index()].body.as_ref().and_then(|b| b.primal.clone()) else { continue };
            for callee in callees(&primal) {
                let body = self.specs[callee.index()].body.as_ref().and_then(|b| b.primal.clone());
                let Some(body) = body else { continue };
                if !self.rules.contains_key(&callee) && computes(&body) && found.insert(callee) {
                    work.push(callee);
                }
            }
        }
        let recursive: Vec<SpecId> = found.iter().copied().filter(|c| self.reaches(*c, *c)).collect();
        for c in recursive {
            found.remove(&c);
        }
        found.remove(&s);
        found
    }

    fn reaches(&self, from: SpecId, to: SpecId) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![from]);
        while let Some(c) = work.pop() {
            let Some(primal) = self.specs[c.index()].body.as_ref().and_then(|b| b.primal.clone()) else { continue };
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
    let returns = func.blocks.iter().any(|b| matches!(b.term, Some(lh_ir::func::Term::Return(_))));
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    returns && (func.values.iter().any(is_float) || insts.into_iter().any(|d| matches!(d.inst, Inst::Map(..))))
}
