//! What compiled code needs to know of the interpreter's strings.

unsafe extern "C" {
    /// CPython's key for hashes of strings and bytes: for SipHash, its first two words.
    static _Py_HashSecret: [u64; 3];
}

/// Hands the interpreter's key to the run-time library, so that compiled code hashes strings alike.
pub fn share_hash_key() {
    // SAFETY: the interpreter has set it before any module is imported, and never changes it.
    let key = unsafe { _Py_HashSecret };
    lh_runtime::hash::set_key(key[0], key[1]);
}
