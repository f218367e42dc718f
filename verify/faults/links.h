#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace posgauge {

/// Threads on GitHub, "owner/name/issues/1", as addresses.
inline std::vector<std::string> On(std::initializer_list<const char*> threads) {
  std::vector<std::string> links;
  for (const char* thread : threads) links.push_back(std::string("https://github.com/") + thread);
  return links;
}

}  // namespace posgauge
