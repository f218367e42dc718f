#include "posgauge/verify/tensor_file.h"

#include <cstring>
#include <utility>

#include "posgauge/verify/npy.h"
#include "posgauge/verify/npz.h"

namespace posgauge {

Safetensors ReadTensorFile(const std::filesystem::path& path) {
  const std::filesystem::path ending = path.extension();
  if (ending == ".npz") return {.tensors = ReadNpz(path), .metadata = {}};
  if (ending == ".npy") return {.tensors = {{"", ReadNpy(path)}}, .metadata = {}};
  return ReadSafetensors(path);
}

void WriteTensorFile(const std::filesystem::path& path, const Safetensors& content) {
  if (path.extension() != ".npz") return WriteSafetensors(path, content);
  std::map<std::string, Tensor> tensors = content.tensors;
  for (const auto& [key, text] : content.metadata) {
    Tensor bytes(Dtype::u8, {static_cast<int64_t>(text.size())});
    if (!text.empty()) std::memcpy(bytes.bytes().data(), text.data(), text.size());
    tensors[key] = std::move(bytes);
  }
  WriteNpz(path, tensors);
}

}  // namespace posgauge
