// Code generation with a list of passes that is made once, for one module after the other.
//
// LLVM's C interface makes the list anew for each module, which takes a fifth of the time in which a small function
// compiles. That one list may serve several modules is what `llc -compile-twice` tests. The C interface has no list of
// processors and their features either.

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <string>

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

/// The names of the processors, or of their features, of a machine's target, one a line; freed by LLVMDisposeMessage.
char *lh_target_names(LLVMTargetMachineRef machine, bool features) {
  const MCSubtargetInfo &info = *reinterpret_cast<TargetMachine *>(machine)->getMCSubtargetInfo();
  std::string names;
  for (const SubtargetSubTypeKV &processor : info.getAllProcessorDescriptions())
    if (!features)
      names += std::string(processor.Key) + "\n";
  for (const SubtargetFeatureKV &feature : info.getAllProcessorFeatures())
    if (features)
      names += std::string(feature.Key) + "\n";
  return LLVMCreateMessage(names.c_str());
}

} // extern "C"
