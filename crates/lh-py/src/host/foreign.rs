//! Functions that were compiled elsewhere: exported by extension modules that `lancehead build` has made, and C
//! functions as `ctypes` and `cffi` have them.

use crate::host::decorated;
use crate::host::types::as_ty;
use crate::object::class_names::{is_a, short_text};
use crate::object::numpy;
use lh_infer::world::{Foreign, ForeignSignature};
use lh_ir::func::ForeignAbi;
use lh_ir::types::TyKind;
use lh_ir::{Layout, Ty};
use lh_runtime::foreign::{CAPSULE, Export, Type};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};
use pyo3::{ffi, intern};
use std::ffi::{CStr, c_char};

/// A function that was compiled elsewhere, as the compiler sees it.
pub fn classify(o: &Bound<'_, PyAny>) -> PyResult<Option<Foreign>> {
    if is_c_function(o) {
        return c_function(o).map(Some);
    }
    Ok(match capsule(o) {
        None => None,
        Some(Err(())) => Some(Foreign {
            refused: Some(format!("{} was built by another version of lancehead; build it again", name_of(o)?)),
            ..foreign(name_of(o)?)
        }),
        // SAFETY: a capsule of that name has a row of the table of a loaded module, which stays loaded.
        Some(Ok(first)) => Some(unsafe { exported(&*first) }),
    })
}

/// An object that refuses itself to compiled code and says why.
pub fn refused(o: &Bound<'_, PyAny>) -> PyResult<Option<Foreign>> {
    if decorated::of(o).is_some_and(|d| d.is_interpreted()) {
        let why = "a function with `forceobj=True` runs in the interpreter: call it in a block of `objmode`";
        return Ok(Some(Foreign { refused: Some(why.to_owned()), ..foreign(short_text(o)) }));
    }
    let why = o.getattr_opt(intern!(o.py(), "__lancehead_refused__"))?.and_then(|w| w.extract().ok());
    Ok(why.map(|w| Foreign { refused: Some(w), ..foreign(short_text(o)) }))
}

/// The address of the code, or of the table that describes it.
pub fn address(o: &Bound<'_, PyAny>) -> usize {
    match (capsule(o), description(o)) {
        (Some(Ok(first)), _) => first.expose_provenance(),
        (_, Ok(d)) if d.1 != 0 => d.1,
        (_, Ok(_)) => lh_ir::bug!("the code of {o} is at no address any more"),
        (_, Err(_)) => lh_ir::bug!("the code of {o} is nowhere"),
    }
}

fn is_c_function(o: &Bound<'_, PyAny>) -> bool {
    let registered = || -> PyResult<bool> {
        let known = o.py().import("lancehead.cfuncs")?.getattr("addresses")?;
        known.cast_into::<PyDict>()?.contains(o)
    };
    is_a(o, "ctypes", "_FuncPtr")
        || is_a(o, "ctypes", "CFunctionType")
        || is_a(o, "_cffi_backend", "_CDataBase")
        || o.is_instance_of::<PyCFunction>() && registered().unwrap_or(false)
        || o.get_type().hasattr(intern!(o.py(), "__wrapper_address__")).unwrap_or(false)
}

/// Whether an object is a C function of which all is known.
pub fn is_known_c_function(o: &Bound<'_, PyAny>) -> bool {
    is_c_function(o) && description(o).is_ok_and(|d| d.1 != 0)
}

/// The exception for an argument that is a C function of which not all is known.
pub fn why_unknown(o: &Bound<'_, PyAny>) -> Option<PyErr> {
    if !is_c_function(o) {
        return None;
    }
    o.py().import("lancehead.cfuncs").and_then(|m| m.getattr("checked")?.call1((o,))).err()
}

/// Name, address, types of parameters and of the result.
type Description<'py> = (String, usize, Vec<Bound<'py, PyAny>>, Bound<'py, PyAny>);

fn description<'py>(o: &Bound<'py, PyAny>) -> PyResult<Description<'py>> {
    o.py().import("lancehead.cfuncs")?.getattr("described")?.call1((o,))?.extract()
}

fn c_function(o: &Bound<'_, PyAny>) -> PyResult<Foreign> {
    let (name, address, args, ret) = match description(o) {
        Ok(found) => found,
        Err(why) => {
            let refused = Some(why.value(o.py()).to_string());
            return Ok(Foreign { refused, ..foreign("C function".to_owned()) });
        }
    };
    let args = args.iter().map(as_ty).collect::<PyResult<_>>()?;
    let signatures = vec![ForeignSignature { args, ret: as_ty(&ret)?, offset: 0, writes: u32::MAX }];
    Ok(Foreign { abi: ForeignAbi::C, signatures, is_null: address == 0, ..foreign(name) })
}

fn name_of(o: &Bound<'_, PyAny>) -> PyResult<String> {
    o.getattr("__name__")?.extract()
}

fn foreign(name: String) -> Foreign {
    let (params, signatures) = (Vec::new(), Vec::new());
    Foreign { name, abi: ForeignAbi::Table, identity: None, params, signatures, refused: None, is_null: false }
}

/// The first row of an exported function in its module's table; an error if that is another version's.
fn capsule(o: &Bound<'_, PyAny>) -> Option<Result<*const Export, ()>> {
    // SAFETY: attached; the object is looked at as what it has been found to be.
    unsafe {
        if ffi::PyCFunction_Check(o.as_ptr()) == 0 {
            return None;
        }
        let own = ffi::PyCFunction_GetSelf(o.as_ptr());
        if own.is_null() || ffi::PyCapsule_CheckExact(own) == 0 {
            return None;
        }
        let name = ffi::PyCapsule_GetName(own);
        if name.is_null() || !CStr::from_ptr(name).to_bytes().starts_with(b"lancehead.export") {
            return None;
        }
        if CStr::from_ptr(name) != CAPSULE {
            return Some(Err(()));
        }
        Some(Ok(ffi::PyCapsule_GetPointer(own, name).cast::<Export>().cast_const()))
    }
}

/// # Safety
/// The row is one of a loaded module's table.
unsafe fn exported(first: &Export) -> Foreign {
    // SAFETY: tables have texts with an end, and as many of everything as they say.
    unsafe {
        let text = |at: *const c_char| CStr::from_ptr(at).to_string_lossy().into_owned();
        let name = text(first.name);
        let rows = first.following().iter().take_while(|e| CStr::from_ptr(e.name) == CStr::from_ptr(first.name));
        let signature = |(i, e): (usize, &Export)| {
            Some(ForeignSignature {
                args: e.types().iter().map(ty_of).collect::<Option<_>>()?,
                ret: ty_of(e.result())?,
                offset: i * size_of::<Export>(),
                writes: e.writes,
            })
        };
        Foreign {
            identity: Some(text((*first.library).identity)),
            params: (0..first.count as usize).map(|i| text(*first.parameters.add(i))).collect(),
            signatures: rows.enumerate().filter_map(signature).collect(),
            ..foreign(name)
        }
    }
}

fn ty_of(t: &Type) -> Option<Ty> {
    let bits = u8::try_from(t.size).ok()?;
    Some(match t.kind.cast_unsigned() {
        b'b' => Ty::bool(),
        kind @ (b'i' | b'u') => Ty::new(TyKind::Int { bits, signed: kind == b'i', weak: false }),
        b'f' => Ty::new(TyKind::Float { bits, weak: false }),
        b'c' => Ty::new(TyKind::Complex { bits, weak: false }),
        b'n' => Ty::none(),
        b's' => Ty::str(),
        b'a' => {
            let layout = match t.layout.cast_unsigned() {
                b'C' => Layout::C,
                b'F' => Layout::F,
                _ => Layout::A,
            };
            Ty::array_ro(numpy::ty_of_num(t.number.into())?, t.size as usize, layout, t.readonly != 0)
        }
        b'o' => Ty::optional(ty_of(t.parts().first()?)?),
        b't' => Ty::tuple(t.parts().iter().map(ty_of).collect::<Option<_>>()?),
        _ => return None,
    })
}
