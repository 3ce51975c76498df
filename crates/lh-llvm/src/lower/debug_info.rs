//! Line tables: for debuggers, profilers and LLVM's remarks.

use crate::ir::walk::name_of;
use crate::ir::{Module, Val};
use lh_ir::Span;
use lh_ir::func::Function;
use llvm_sys::LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorWarning;
use llvm_sys::core::{LLVMAddModuleFlag, LLVMSetCurrentDebugLocation2, LLVMValueAsMetadata};
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::{LLVMDIBuilderRef, LLVMMetadataRef};
use std::ptr::null_mut;

/// Debug information under construction.
pub(crate) struct DebugInfo {
    builder: LLVMDIBuilderRef,
    scope: LLVMMetadataRef,
    unit: LLVMMetadataRef,
}

impl Drop for DebugInfo {
    fn drop(&mut self) {
        // SAFETY: made by `new`, used by nobody else.
        unsafe { LLVMDisposeDIBuilder(self.builder) }
    }
}

impl DebugInfo {
    pub(crate) fn new(m: &Module) -> DebugInfo {
        // SAFETY: the module is alive; texts are read by length.
        unsafe {
            let version = LLVMValueAsMetadata(m.int(m.t.i32, i64::from(LLVMDebugMetadataVersion())));
            let name = "Debug Info Version";
            LLVMAddModuleFlag(m.module, LLVMModuleFlagBehaviorWarning, name.as_ptr().cast(), name.len(), version);
            DebugInfo { builder: LLVMCreateDIBuilder(m.module), scope: null_mut(), unit: null_mut() }
        }
    }

    fn file(&self, path: &str) -> LLVMMetadataRef {
        // SAFETY: texts are read by length; the directory is part of the path.
        unsafe { LLVMDIBuilderCreateFile(self.builder, path.as_ptr().cast(), path.len(), c"".as_ptr(), 0) }
    }

    /// Begins a function.
    pub(crate) fn enter(&mut self, m: &Module, function: Val, func: &Function) {
        let file = self.file(&func.file);
        let symbol = name_of(function);
        let producer = "lancehead";
        // SAFETY: texts are read by length; no parameter types are passed.
        unsafe {
            if self.unit.is_null() {
                self.unit = LLVMDIBuilderCreateCompileUnit(
                    self.builder,
                    LLVMDWARFSourceLanguage::LLVMDWARFSourceLanguagePython,
                    file,
                    producer.as_ptr().cast(),
                    producer.len(),
                    1,
                    null_mut(),
                    0,
                    0,
                    null_mut(),
                    0,
                    LLVMDWARFEmissionKind::LLVMDWARFEmissionKindLineTablesOnly,
                    0,
                    0,
                    0,
                    null_mut(),
                    0,
                    null_mut(),
                    0,
                );
            }
            let ty = LLVMDIBuilderCreateSubroutineType(self.builder, file, null_mut(), 0, 0);
            self.scope = LLVMDIBuilderCreateFunction(
                self.builder,
                file,
                func.qualname.as_ptr().cast(),
                func.qualname.len(),
                symbol.as_ptr().cast(),
                symbol.len(),
                file,
                func.first_line,
                ty,
                1,
                1,
                func.first_line,
                0,
                0,
            );
            LLVMSetSubprogram(function, self.scope);
        }
        self.place(m, Span { line: func.first_line, ..Span::default() });
    }

    /// Sets the place of the following instructions.
    pub(crate) fn place(&self, m: &Module, span: Span) {
        // SAFETY: the scope is a node of this module.
        unsafe {
            let at = LLVMDIBuilderCreateDebugLocation(m.context, span.line, span.col + 1, self.scope, null_mut());
            LLVMSetCurrentDebugLocation2(m.builder, at);
        }
    }

    /// Clears the place of the following instructions.
    pub(crate) fn leave(&self, m: &Module) {
        // SAFETY: a null location means none.
        unsafe { LLVMSetCurrentDebugLocation2(m.builder, null_mut()) }
    }

    /// Completes the module's debug information.
    pub(crate) fn finish(&self) {
        // SAFETY: called once, before the builder is disposed of.
        unsafe { LLVMDIBuilderFinalize(self.builder) }
    }
}
