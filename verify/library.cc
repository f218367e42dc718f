#include "posgauge/verify/library.h"

#include <dlfcn.h>

#include <set>

#include "posgauge/verify/foreign_code.h"

namespace posgauge {

std::vector<KernelInfo> LoadKernels(const std::filesystem::path& library) {
  const ForeignCode guard;  // its constructors run, and its list of kernels
  // Without a slash dlopen searches the system's folders; a file is meant here.
  void* handle = dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw FileError(fmt::format("cannot load kernel library {}", dlerror()));
  using Export = const posgauge_kernel* (*)(uint32_t, size_t*);
  // POSIX guarantees that a symbol's address converts to a function pointer.
  const auto kernels = reinterpret_cast<Export>(dlsym(handle, "posgauge_kernels"));
  if (kernels == nullptr) {
    throw FormatError(fmt::format(
        "{}: exports no function posgauge_kernels (declare it extern \"C\", see posgauge/kernel.h)",
        library.string()));
  }
  size_t count = 0;
  const posgauge_kernel* descriptors = kernels(POSGAUGE_ABI_VERSION, &count);
  if (descriptors == nullptr || count == 0) {
    throw FormatError(fmt::format("{}: offers no kernel for ABI version {}", library.string(),
                                  POSGAUGE_ABI_VERSION));
  }
  std::vector<KernelInfo> infos;
  std::set<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    infos.emplace_back(descriptors[i]);
    if (!names.insert(infos.back().name).second) {
      throw FormatError(
          fmt::format("{}: two kernels are called {}", library.string(), infos.back().name));
    }
  }
  return infos;
}

}  // namespace posgauge
