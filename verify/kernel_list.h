#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "posgauge/kernel.h"

namespace posgauge {

/// Bytes of a descriptor as version 1 began, `run` its last field. Every one has them.
inline constexpr uint32_t kFirstDescriptorSize = offsetof(posgauge_kernel, run) + sizeof(void*);

/// A descriptor of any size as posgauge knows it: fields that its library did not know are 0, those
/// that posgauge does not know are left out. Of one that is too short its size alone.
inline posgauge_kernel KnownPart(const posgauge_kernel* descriptor) {
  uint32_t size = 0;
  std::memcpy(&size, descriptor, sizeof size);
  posgauge_kernel known = {};
  if (size >= kFirstDescriptorSize) {
    std::memcpy(&known, descriptor, size < sizeof known ? size : sizeof known);
  }
  known.size = size;
  return known;
}

/// Whether another descriptor can begin where one of this size ends.
inline bool IsDescriptorSize(uint32_t size) {
  return size >= kFirstDescriptorSize && size % alignof(posgauge_kernel) == 0;
}

/// The descriptors of a library, each where the size of the one before it says. The list ends early
/// with one whose size cannot be.
inline std::vector<posgauge_kernel> ListOf(const posgauge_kernel* first, size_t count) {
  std::vector<posgauge_kernel> list;
  const auto* at = reinterpret_cast<const std::byte*>(first);
  for (size_t i = 0; i < count; ++i) {
    list.push_back(KnownPart(reinterpret_cast<const posgauge_kernel*>(at)));
    if (!IsDescriptorSize(list.back().size)) break;
    at += list.back().size;
  }
  return list;
}

}  // namespace posgauge
