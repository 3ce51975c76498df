//! `cuda.*` in kernels: geometry, memory and atomics. The other functions are in the library, `lib/cuda`.

use crate::cx::Infer;
use crate::emit::ArrayParts;
use crate::val::Val;
use crate::world::Object;
use lh_ir::algebra::Algebra;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Inst};
use lh_ir::runtime::{Axis, Geometry, Rmw, RuntimeFn};
use lh_ir::types::{Prim, TyKind};
use lh_ir::{Const, FuncId, Layout, Ty, Value};
use lh_ops::families::{atomic, atomic_of_word};
use lh_ops::runtime as rt;

/// Whether a path stands for a value that depends on the thread, instead of a function.
pub(crate) fn is_value(path: &str) -> bool {
    matches!(path, "cuda.laneid" | "cuda.warpsize") || geometry(path).is_some()
}

/// The part of the geometry that a path names.
fn geometry(path: &str) -> Option<(Geometry, Axis)> {
    let (what, axis) = path.strip_prefix("cuda.")?.split_once('.')?;
    let what = match what {
        "threadIdx" => Geometry::Thread,
        "blockIdx" => Geometry::Block,
        "blockDim" => Geometry::BlockDim,
        "gridDim" => Geometry::GridDim,
        _ => return None,
    };
    Some((what, Axis::of_name(axis)?))
}

impl Infer<'_> {
    /// `threadIdx` and the like as a whole, as a tuple.
    pub(crate) fn geometry_parts(&mut self, v: &Val) -> Result<Option<Val>> {
        let TyKind::Obj(o) = v.ty.kind() else { return Ok(None) };
        match self.world.object(*o) {
            Object::Path(p) if geometry(&format!("{p}.x")).is_some() => ["x", "y", "z"]
                .iter()
                .map(|a| self.get_attr(v, a))
                .collect::<Result<_>>()
                .map(|parts| Some(Val::tuple(parts))),
            _ => Ok(None),
        }
    }

    /// A value that depends on the thread.
    pub(crate) fn cuda_value(&mut self, path: &str) -> Result<Val> {
        self.check_device(path)?;
        match geometry(path) {
            Some((what, axis)) => self.read_geometry(what, axis),
            None => self.call_library(path, &[]),
        }
    }

    fn check_device(&self, path: &str) -> Result<()> {
        if self.options.device == Device::Host {
            let text = format!("`{path}` has a meaning in kernels only");
            return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, text)
                .note("decorate the function with `cuda.jit`, and what it calls with `cuda.jit(device=True)`"));
        }
        Ok(())
    }

    fn read_geometry(&mut self, what: Geometry, axis: Axis) -> Result<Val> {
        let f = lh_ops::families::geometry(what, axis);
        let args = if f.args.is_empty() { vec![] } else { vec![self.context()?] };
        self.runtime(f, &args, Ty::int())
    }

    /// Whether a range is a grid-stride loop: it starts at a quantity of the launch and advances by an extent of it.
    /// The index would overflow after years, so that the iterations need not be counted.
    pub(crate) fn is_stride(&self, start: &Val, step: &Val) -> bool {
        let low = |v: &Val| self.limits(v, 0).filter(|(_, most)| *most < 1 << 44).map(|(least, _)| least);
        self.options.device != Device::Host && low(start).is_some() && low(step).is_some_and(|least| least > 0)
    }

    /// Limits of sums and products of small numbers and numbers of the launch.
    fn limits(&self, v: &Val, depth: usize) -> Option<(i128, i128)> {
        if let Some(n) = v.as_int() {
            return small(n);
        }
        let mut insts = self.out.blocks.iter().flat_map(|b| &b.insts);
        let d = insts.find(|d| depth < 8 && v.v.is_some() && d.result == v.v)?;
        let of = |x: Value| self.limits(&Val::new(self.out.ty(x), x), depth + 1);
        match &d.inst {
            Inst::Const(Const::Int(n, _)) => small(*n),
            Inst::Runtime(f, _) => f.limits.map(|(a, b)| (a.into(), b.into())),
            Inst::Cast(x) if self.out.ty(*x).strong() == v.ty.strong() => of(*x),
            Inst::Op(op, args) if op.is(Algebra::Add) => {
                of(args[0]).zip(of(args[1])).map(|(x, y)| (x.0 + y.0, x.1 + y.1))
            }
            Inst::Op(op, args) if op.is(Algebra::Mul) => {
                of(args[0]).zip(of(args[1])).map(|(x, y)| (x.0 * y.0, x.1 * y.1))
            }
            _ => None,
        }
    }

    fn context(&mut self) -> Result<Val> {
        self.runtime(&rt::lh_cuda_context, &[], Ty::ptr())
    }

    /// A call of something in `lancehead.cuda`.
    pub(crate) fn cuda_call(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        self.check_device(path)?;
        match path {
            "cuda.grid" | "cuda.gridsize" => self.grid(path, args),
            "cuda.shared.array" | "cuda.local.array" => self.device_array(path, args, kwargs),
            "cuda.syncthreads" if args.is_empty() => {
                let cx = self.context()?;
                self.runtime(&rt::lh_cuda_sync, &[cx], Ty::none())
            }
            "cuda.grid_group.sync" if args.is_empty() => {
                let cx = self.context()?;
                self.runtime(&rt::lh_cuda_grid_sync, &[cx], Ty::none())?;
                Ok(Val::int(1))
            }
            "cuda.syncthreads_count" | "cuda.syncthreads_and" | "cuda.syncthreads_or" if args.len() == 1 => {
                let (cx, set) = (self.context()?, self.truth(&args[0])?);
                let set = self.cast(&set, Ty::int());
                let barrier = match path.rsplit('_').next() {
                    Some("count") => &rt::lh_cuda_sync_count,
                    Some("and") => &rt::lh_cuda_sync_and,
                    _ => &rt::lh_cuda_sync_or,
                };
                self.runtime(barrier, &[cx, set], Ty::int())
            }
            "cuda.vector.load" | "cuda.vector.store" => self.vector_access(path, args, kwargs),
            "cuda.const.array_like" if args.len() == 1 => Ok(args[0].clone()),
            "cuda.cg.this_grid" => match self.world.import("lancehead.cuda.names", Some("grid_group")) {
                Some(o) => self.object(o),
                None => lh_ir::bug!("lancehead.cuda.names is not loaded"),
            },
            _ if kwargs.is_empty() && path.starts_with("cuda.libdevice.") => self.libdevice(path, args),
            _ if kwargs.is_empty() && path.starts_with("cuda.bf16.") => self.half(path, Ty::bf16(), args),
            _ if kwargs.is_empty() && path.starts_with("cuda.fp16.") => self.half(path, Ty::f16(), args),
            _ => match path.strip_prefix("cuda.atomic.") {
                Some(op) => self.atomic(op, args),
                None => match self.world.library(path) {
                    Some((f, _)) => self.call_func(f, args, kwargs),
                    None => {
                        Err(Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`{path}` is not supported in kernels")))
                    }
                },
            },
        }
    }

    /// A function of `float16` or `bfloat16`: the library has it for both.
    fn half(&mut self, path: &str, ty: Ty, args: &[Val]) -> Result<Val> {
        let name = path.rsplit('.').next().unwrap_or(path);
        let mut args: Vec<Val> = std::iter::once(Val::of_type(Ty::dtype(ty))).chain(args.iter().cloned()).collect();
        let (f, mode) = match (self.world.library(&format!("cuda.halves.{name}")), self.rounded(name)) {
            (Some((f, _)), _) => (f, None),
            (None, Some((f, mode))) => (f, Some(mode)),
            (None, None) => lh_ir::bug!("the library has no `{name}`"),
        };
        args.splice(0..0, mode);
        self.call_func(f, &args, &[])
    }

    /// A function whose name says how it rounds, and what it takes for that.
    fn rounded(&mut self, name: &str) -> Option<(FuncId, Val)> {
        let (mode, base) = (0..)
            .zip(["_rn", "_rd", "_ru", "_rz"])
            .find_map(|(mode, suffix)| Some((mode, name.strip_suffix(suffix)?)))?;
        Some((self.world.library(&format!("cuda.rounding.{base}"))?.0, Val::int(mode)))
    }

    /// A function of NVIDIA's math library. `_sin` of the library is `sin` on `float64` and `sinf` on `float32`;
    /// functions with a suffix such as `_rd` are in `rounding.py` and take the rounding mode first.
    fn libdevice(&mut self, path: &str, args: &[Val]) -> Result<Val> {
        if let Some((f, _)) = self.world.library(path) {
            return self.call_func(f, args, &[]);
        }
        let name = path.strip_prefix("cuda.libdevice.").unwrap_or(path);
        if let Some((f, mode)) = self.rounded(name) {
            let args: Vec<Val> = std::iter::once(mode).chain(args.iter().cloned()).collect();
            return self.call_func(f, &args, &[]);
        }
        let single = name.strip_suffix('f').map(|n| (n, Ty::f32()));
        for (base, ty) in std::iter::once((name, Ty::f64())).chain(single) {
            let Some((f, _)) = self.world.library(&format!("cuda.libdevice._{base}")) else { continue };
            if let Some(bad) = args.iter().find(|a| !a.ty.is_number() || a.ty.is_complex()) {
                let text = format!("`libdevice.{name}` takes real numbers, not `{}`", bad.ty);
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
            }
            // Exponents are integers, and come second.
            let cast =
                |s: &mut Self, (i, a): (usize, &Val)| if i == 0 || a.ty.is_float() { s.cast(a, ty) } else { a.clone() };
            let args: Vec<Val> = args.iter().enumerate().map(|a| cast(self, a)).collect();
            return self.call_func(f, &args, &[]);
        }
        Err(Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`cuda.libdevice` has no function `{name}`")))
    }

    /// `cuda.grid(n)` and `cuda.gridsize(n)`.
    fn grid(&mut self, path: &str, args: &[Val]) -> Result<Val> {
        let n = match args {
            [n] => n.as_int().filter(|n| (1..=3).contains(n)),
            _ => None,
        };
        let Some(n) = n else {
            return Err(Diagnostic::new(
                diag::NEEDS_CONSTANT,
                format!("`{path}` takes 1, 2 or 3, written as a number"),
            ));
        };
        let mut parts = Vec::new();
        for a in Axis::ALL.into_iter().take(n as usize) {
            let dim = self.read_geometry(Geometry::BlockDim, a)?;
            parts.push(if path == "cuda.grid" {
                let block = self.read_geometry(Geometry::Block, a)?;
                let thread = self.read_geometry(Geometry::Thread, a)?;
                let start = self.op("mul", &[block, dim]);
                self.op("add", &[start, thread])
            } else {
                let grid = self.read_geometry(Geometry::GridDim, a)?;
                self.op("mul", &[grid, dim])
            });
        }
        Ok(if n == 1 { parts.remove(0) } else { Val::tuple(parts) })
    }

    /// `cuda.shared.array(shape, dtype, alignment)` and `cuda.local.array`.
    fn device_array(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let given = |i: usize, name: &str| args.get(i).or(kwargs.iter().find(|(k, _)| k == name).map(|(_, v)| v));
        const KNOWN: [&str; 3] = ["shape", "dtype", "alignment"];
        if let Some((name, _)) = kwargs.iter().find(|(k, _)| !KNOWN.contains(&k.as_str())) {
            let text = format!("`{path}` has no argument `{name}`");
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).instead_of(KNOWN));
        }
        let (Some(shape), Some(dtype)) = (given(0, "shape").cloned(), given(1, "dtype").cloned()) else {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{path}` takes a shape and a dtype")));
        };
        if path == "cuda.local.array" && self.code.is_generator {
            let text = "`cuda.local.array` in a generator: its memory ends when the generator gives an item";
            return Err(Diagnostic::new(diag::NOT_ON_DEVICE, text)
                .note("make the array where the generator is used, and pass it"));
        }
        let align = given(2, "alignment").cloned();
        let dtype = self.named_dtype(&dtype)?.strong();
        let dims = if shape.ty.is_tuple() { self.tuple_parts(&shape).expect("a tuple") } else { vec![shape] };
        let Some(dims) = dims.iter().map(Val::as_int).collect::<Option<Vec<i128>>>() else {
            return Err(Diagnostic::new(diag::NEEDS_CONSTANT, format!("the shape of `{path}` must be constant"))
                .note("write numbers, or names of constants outside of the kernel"));
        };
        if dims.iter().any(|d| *d < 0) {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, "negative dimensions are not allowed"));
        }
        let align = self.alignment(align.as_ref(), dtype)?;
        let size = dtype.itemsize() as i128;
        let bytes = dims.iter().product::<i128>() * size;
        if path == "cuda.shared.array" && dims == [0] {
            return self.dynamic_array(dtype);
        }
        let (bytes, align) = (Val::int(bytes), Val::int(align));
        let data = if path == "cuda.shared.array" {
            let (cx, site) = (self.context()?, Val::int(i128::from(self.site())));
            self.runtime(&rt::lh_cuda_shared, &[cx, site, bytes, align], Ty::ptr())?
        } else {
            self.runtime(&rt::lh_cuda_local, &[bytes, align], Ty::ptr())?
        };
        let mut strides = vec![size; dims.len()];
        for i in (1..dims.len()).rev() {
            strides[i - 1] = strides[i] * dims[i];
        }
        let ints = |v: Vec<i128>| v.into_iter().map(Val::int).collect();
        self.array_over(data, ints(dims), ints(strides), dtype)
    }

    fn alignment(&self, given: Option<&Val>, dtype: Ty) -> Result<i128> {
        let own = match dtype.kind() {
            TyKind::Record(r) => r.align,
            // As in CUDA C: four numbers are read and written at once where they fit into 16 bytes.
            TyKind::Tuple { elems, .. } if elems.len() != 3 => dtype.itemsize().min(16),
            TyKind::Tuple { elems, .. } => elems[0].itemsize(),
            _ => dtype.real_part().itemsize(),
        };
        let own = own.max(1) as i128;
        match given.filter(|v| !v.ty.is_none()) {
            None => Ok(own),
            Some(v) => match v.as_int() {
                Some(a) if a > 0 && a & (a - 1) == 0 && a % own == 0 => Ok(a),
                _ => Err(Diagnostic::new(
                    diag::NO_MATCHING_CALL,
                    format!("an alignment must be a constant power of two and a multiple of {own}"),
                )),
            },
        }
    }

    /// The shared memory whose size the launch gives.
    fn dynamic_array(&mut self, dtype: Ty) -> Result<Val> {
        let cx = self.context()?;
        let data = self.runtime(&rt::lh_cuda_dynamic, std::slice::from_ref(&cx), Ty::ptr())?;
        let bytes = self.runtime(&rt::lh_cuda_dynamic_bytes, &[cx], Ty::int())?;
        let size = Val::int(dtype.itemsize() as i128);
        let n = self.op("sdiv", &[bytes, size.clone()]);
        self.array_over(data, vec![n], vec![size], dtype)
    }

    fn array_over(&mut self, data: Val, shape: Vec<Val>, strides: Vec<Val>, dtype: Ty) -> Result<Val> {
        let owner = self.push(Inst::Zero, Ty::meminfo());
        let ty = Ty::array(dtype, shape.len(), Layout::C);
        Ok(self.make_array(&ArrayParts { owner, data, shape, strides }, ty))
    }

    /// A number for the place being typed: each has memory of its own.
    fn site(&self) -> i64 {
        let text = format!("{} {:?}", self.out.name, self.span);
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        // Not a number that a kernel would compute with by chance.
        (hash >> 2 | 1 << 61) as i64
    }

    /// `cuda.atomic.<op>(array, index, value)`: the value before.
    fn atomic(&mut self, op: &str, args: &[Val]) -> Result<Val> {
        let name = format!("cuda.atomic.{op}");
        let wrong = |text: &str| Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{name}` {text}"));
        let (array, index, values) = match (op, args) {
            ("compare_and_swap", [a, old, new]) => (a, None, vec![old, new]),
            ("cas", [a, i, old, new]) => (a, Some(i), vec![old, new]),
            ("cas" | "compare_and_swap", _) => {
                return Err(wrong("takes an array, an index, the old and the new value"));
            }
            (_, [a, i, x]) => (a, Some(i), vec![x]),
            _ => return Err(wrong("takes an array, an index and a value")),
        };
        let Some((dtype, ndim, ..)) = array.ty.as_array() else { return Err(wrong("works on arrays")) };
        self.check_writable(array.ty)?;
        let index = match index {
            None => vec![Val::int(0); ndim],
            Some(i) if i.ty.is_tuple() => self.tuple_parts(i).expect("a tuple"),
            Some(i) => vec![i.clone()],
        };
        if index.len() != ndim || index.iter().any(|i| !i.ty.is_int()) {
            return Err(wrong(&format!("needs {ndim} integers to index `{}`", array.ty)));
        }
        let Some(function) = function(op, dtype) else {
            let refused = wrong(&format!("is not defined for `{dtype}`"));
            return Err(match dtype.bits() {
                8 | 16 if dtype.is_number() => refused.note("atomics are for 32 and 64 bits: use an array of those"),
                _ => refused,
            });
        };
        let mut result = dtype;
        let swaps_bits = op == "exch" && dtype.is_float();
        let at = self.element_address(array, &index);
        let mut operands = vec![at];
        for x in values {
            if !x.ty.is_number() {
                return Err(wrong(&format!("cannot take `{}`", x.ty)));
            }
            let mut x = self.element_value(x, dtype)?;
            if op == "sub" {
                let zero = self.cast(&Val::int(0), dtype);
                x = if dtype.is_float() { self.op("neg", &[x]) } else { self.op("sub", &[zero, x]) };
            }
            if swaps_bits {
                x = self.bits_of(&x);
                result = x.ty;
            }
            operands.push(self.value(&x));
        }
        let old = self.push(Inst::Runtime(function, operands), result);
        Ok(if swaps_bits { self.of_bits(&old, dtype) } else { old })
    }
}

/// The limits of a number, if that is small.
fn small(n: i128) -> Option<(i128, i128)> {
    (0..=1024).contains(&n).then_some((n, n))
}

/// The run-time function for an operation on a type.
fn function(op: &str, dtype: Ty) -> Option<&'static RuntimeFn> {
    let (unsigned, float) = match dtype.kind() {
        TyKind::Int { signed, .. } => (!signed, false),
        TyKind::Float { .. } => (false, true),
        _ => return None,
    };
    let rmw = atomic_of_word(if op == "sub" { "add" } else { op }, unsigned, float)?;
    let prim = match (rmw, dtype.flatten()[0]) {
        // The meaning of a number does not matter.
        (Rmw::Exchange, Prim::F32) => Prim::I32,
        (Rmw::Exchange, Prim::F64) => Prim::I64,
        (_, prim) => prim,
    };
    atomic(rmw, prim)
}
