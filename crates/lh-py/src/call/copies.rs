//! Native copies of instances of dataclasses. `lists.rs` makes them before a call and writes changed fields back after
//! it.

use crate::call::tags::Refused;
use crate::object::strong_ref::StrongRef;
use hashbrown::HashMap;
use lh_ir::Ty;
use lh_runtime::MemInfo;
use lh_runtime::alloc::decref;
use lh_runtime::object::new_object;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// A Python instance and its native copy.
pub struct Copy {
    /// The reference is needed: another thread may remove it from what contains it.
    pub object: StrongRef,
    /// The copy.
    pub native: *mut MemInfo,
    /// Its type.
    pub ty: Ty,
    /// The tags of the fields whose types the values decide.
    pub tags: SmallVec<[u64; 4]>,
    /// The bytes of the fields before the call.
    pub before: Vec<u8>,
}

impl Drop for Copy {
    fn drop(&mut self) {
        // SAFETY: the reference is the copy's.
        unsafe { decref(self.native) };
    }
}

/// The instances among the arguments of one call.
#[derive(Default)]
pub struct Copies {
    /// All of them.
    pub all: Vec<Copy>,
    by_object: HashMap<usize, usize>,
    by_native: HashMap<usize, usize>,
    /// Copies whose fields are not there yet. Only the outermost import fills them, so that a long chain of instances
    /// takes no stack.
    pub unfilled: Vec<usize>,
    /// Whether the outermost import is at it.
    pub is_filling: bool,
}

impl Copies {
    /// The Python instance whose native copy an object is.
    pub fn object_of(&self, native: *mut MemInfo) -> Option<*mut ffi::PyObject> {
        self.by_native.get(&(native as usize)).map(|i| self.all[*i].object.as_ptr())
    }

    /// The copy of an instance, if there is one.
    pub fn of(&self, o: &Bound<'_, PyAny>) -> Option<&Copy> {
        self.by_object.get(&(o.as_ptr() as usize)).map(|at| &self.all[*at])
    }

    /// Adds a copy whose fields are zeros.
    pub fn add(&mut self, o: &Bound<'_, PyAny>, ty: Ty, tags: &[u64]) -> Result<usize, Refused> {
        let (size, mask) = ty.object_layout().ok_or(Refused::Type)?;
        let native = new_object(size, mask);
        if native.is_null() {
            return Err(Refused::Memory);
        }
        Ok(self.know(o, native, ty, tags))
    }

    /// Records that a native object, of which a reference is given away, stands for an instance.
    pub fn know(&mut self, o: &Bound<'_, PyAny>, native: *mut MemInfo, ty: Ty, tags: &[u64]) -> usize {
        let at = self.all.len();
        self.all.push(Copy { object: StrongRef::new(o), native, ty, tags: tags.into(), before: Vec::new() });
        self.by_object.insert(o.as_ptr() as usize, at);
        self.by_native.insert(native as usize, at);
        at
    }
}

impl Copy {
    /// The bytes of the fields.
    pub fn bytes(&self) -> &[u8] {
        let (size, _) = self.ty.object_layout().unwrap_or_default();
        // SAFETY: the object was made with that many bytes of fields.
        unsafe { std::slice::from_raw_parts(self.native.cast::<u8>().add(lh_ir::class::layout::FIELDS), size) }
    }
}
