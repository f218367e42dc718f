#pragma once

#include <map>
#include <string>

#include "posgauge/golden/json_reader.h"
#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// {"FlagInCamelCase": {"bug_type": ..., "description": ..., "links": [...]}, ...}.
std::map<std::string, Note> NotesFromJson(const JsonReader& reader);
nlohmann::ordered_json NotesToJson(const std::map<std::string, Note>& notes);

/// Requires unique flags, all defined in the notes.
std::vector<std::string> FlagsFromJson(const JsonReader& reader,
                                       const std::map<std::string, Note>& notes);

/// Requires words of a-z and 0-9 joined by '-', at most 64 characters: they name tensors and files.
std::string IdFromJson(const JsonReader& reader);

}  // namespace posgauge::golden
