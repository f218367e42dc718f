#include "posgauge/golden/notes.h"

namespace posgauge::golden {

namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsFlag(const std::string& text) {
  return !text.empty() && IsUpper(text[0]) &&
         std::ranges::all_of(text, [](char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); });
}

bool IsId(const std::string& text) {
  bool in_word = false;
  for (char c : text) {
    const bool legal = IsLower(c) || IsDigit(c);
    if (!legal && !(c == '-' && in_word)) return false;
    in_word = legal;
  }
  return in_word && text.size() <= 64;
}

}  // namespace

std::map<std::string, Note> NotesFromJson(const JsonReader& reader) {
  reader.Demand(reader.value().is_object(), "must be an object, got {}", Shown(reader.value()));
  std::map<std::string, Note> notes;
  for (const auto& [flag, unused] : reader.value().items()) {
    reader.Demand(IsFlag(flag), "must name flags in camel case, got {}", Shown(flag));
    const JsonReader note = reader[flag];
    note.Keys({"bug_type", "description", "links"});
    notes[flag] = {note["bug_type"].Text(), note["description"].Text(), note["links"].Texts()};
  }
  return notes;
}

nlohmann::ordered_json NotesToJson(const std::map<std::string, Note>& notes) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [flag, note] : notes) {
    object[flag] = {
        {"bug_type", note.bug_type}, {"description", note.description}, {"links", note.links}};
  }
  return object;
}

std::vector<std::string> FlagsFromJson(const JsonReader& reader,
                                       const std::map<std::string, Note>& notes) {
  const std::vector<std::string> flags = reader.Texts();
  for (auto flag = flags.begin(); flag != flags.end(); ++flag) {
    reader.Demand(notes.contains(*flag), "has {}, which no note defines", Shown(*flag));
    reader.Demand(std::find(flags.begin(), flag, *flag) == flag, "must have {} once", *flag);
  }
  return flags;
}

std::string IdFromJson(const JsonReader& reader) {
  std::string id = reader.Text();
  reader.Demand(IsId(id),
                "must be words of a-z and 0-9 joined by '-', at most 64 characters, got {}",
                Shown(id));
  return id;
}

}  // namespace posgauge::golden
