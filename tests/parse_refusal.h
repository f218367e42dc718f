#pragma once

#include <string>

#include <gtest/gtest.h>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

/// The one-line FormatError that reading bytes as the content of "some/file" gives, without that
/// name; "accepted" where it gives none.
template <class Parse>
std::string ParseRefusal(const Parse& parse, const std::string& bytes) {
  try {
    parse(bytes, "some/file");
  } catch (const FormatError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("some/file: ")) << message;
    return message.substr(std::string("some/file: ").size());
  }
  return "accepted";
}

}  // namespace posgauge
