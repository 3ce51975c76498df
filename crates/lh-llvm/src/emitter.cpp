// Code generation with a list of passes that is made once, for one module after the other.
//
// LLVM's C interface makes the list anew for each module, which takes a fifth of the time in which a small function
// compiles. That one list may serve several modules is what `llc -compile-twice` tests.

#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {
struct Emitter {
  TargetMachine &machine;
  SmallVector<char, 0> object;
  raw_svector_ostream stream{object};
  legacy::PassManager passes;

  explicit Emitter(TargetMachine &machine) : machine(machine) {}
};
} // namespace

extern "C" {

/// Code generation for a machine, which must outlive it; null if the machine writes no objects.
Emitter *lh_emitter_new(LLVMTargetMachineRef machine) {
  auto *emitter = new Emitter(*reinterpret_cast<TargetMachine *>(machine));
  if (emitter->machine.addPassesToEmitFile(emitter->passes, emitter->stream, nullptr, CodeGenFileType::ObjectFile)) {
    delete emitter;
    return nullptr;
  }
  return emitter;
}

void lh_emitter_free(Emitter *emitter) { delete emitter; }

/// The module as an object file; its bytes live until the next call with this emitter. The module is changed.
const char *lh_emitter_object(Emitter *emitter, LLVMModuleRef module, size_t *size) {
  Module &m = *unwrap(module);
  m.setDataLayout(emitter->machine.createDataLayout());
  emitter->object.clear();
  emitter->passes.run(m);
  *size = emitter->object.size();
  return emitter->object.data();
}

} // extern "C"
