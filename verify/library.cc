#include "posgauge/verify/library.h"

#include <dlfcn.h>

#include <memory>
#include <set>
#include <span>

#include "posgauge/verify/foreign_code.h"
#include "posgauge/verify/kernel_list.h"

namespace posgauge {

namespace {

std::vector<KernelInfo> ReadDescriptors(const std::filesystem::path& library,
                                        std::span<const posgauge_kernel> descriptors) {
  std::vector<KernelInfo> infos;
  std::set<std::string> names;
  for (const posgauge_kernel& descriptor : descriptors) {
    infos.emplace_back(descriptor);
    if (!names.insert(infos.back().name).second) {
      throw FormatError(
          fmt::format("{}: two kernels are called {}", library.string(), infos.back().name));
    }
  }
  return infos;
}

}  // namespace

void RequireKernels(const std::filesystem::path& library, child::LoadResult result,
                    std::string_view text) {
  switch (result) {
    case child::LoadResult::kernels:
      return;
    case child::LoadResult::no_library:
      throw FileError(fmt::format("cannot load kernel library {}", text));
    case child::LoadResult::no_symbol:
      throw FormatError(
          fmt::format("{}: exports no function posgauge_kernels (declare it extern \"C\", see "
                      "posgauge/kernel.h)",
                      library.string()));
    case child::LoadResult::no_kernel:
      throw FormatError(fmt::format("{}: offers no kernel for ABI version {}", library.string(),
                                    POSGAUGE_ABI_VERSION));
    case child::LoadResult::threw:
      break;
  }
  throw FileError(fmt::format("cannot load kernel library {}: loading it threw an exception: {}",
                              library.string(), text));
}

std::vector<KernelInfo> LoadKernels(const std::filesystem::path& library) {
  const ForeignCode guard;  // its constructors run, and its list of kernels
  // Without a slash dlopen searches the system's folders; a file is meant here.
  void* handle = dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) RequireKernels(library, child::LoadResult::no_library, dlerror());
  using Export = const posgauge_kernel* (*)(uint32_t, size_t*);
  // POSIX guarantees that a symbol's address converts to a function pointer.
  const auto kernels = reinterpret_cast<Export>(dlsym(handle, "posgauge_kernels"));
  if (kernels == nullptr) RequireKernels(library, child::LoadResult::no_symbol, "");
  size_t count = 0;
  const posgauge_kernel* descriptors = kernels(POSGAUGE_ABI_VERSION, &count);
  if (descriptors == nullptr || count == 0) {
    RequireKernels(library, child::LoadResult::no_kernel, "");
  }
  return ReadDescriptors(library, ListOf(descriptors, count));
}

std::vector<KernelInfo> LoadKernels(const std::filesystem::path& library,
                                    const Isolation& isolation) {
  const auto isolated = std::make_shared<IsolatedLibrary>(library, isolation);
  std::vector<KernelInfo> infos = ReadDescriptors(library, isolated->descriptors());
  for (size_t i = 0; i < infos.size(); ++i) {
    infos[i].isolated = isolated;
    infos[i].index = static_cast<uint32_t>(i);
  }
  return infos;
}

}  // namespace posgauge
