#pragma once

#include <string>

namespace posgauge::cli {

/// Markdown: a table of what stands for each scheme in every room (quantities and dtypes of our
/// kernels, variants, laws, golden vectors in that folder, models of the configs beside it), then a
/// section a scheme with equation, source and fields. Throws FileError if the folder is missing.
std::string SchemeTable(const std::string& golden_folder);

}  // namespace posgauge::cli
