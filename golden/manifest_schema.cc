#include "posgauge/golden/manifest_schema.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace posgauge::golden {

namespace {

// A schema cannot be copied.
struct ParsedSchema {
  ParsedSchema() {
    const nlohmann::json json = nlohmann::json::parse(ManifestSchema());
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(json), schema);
  }
  valijson::Schema schema;
};

}  // namespace

std::optional<std::string> SchemaViolation(const nlohmann::json& manifest) {
  static const ParsedSchema parsed;
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(parsed.schema, valijson::adapters::NlohmannJsonAdapter(manifest),
                         &results)) {
    return std::nullopt;
  }
  // The first error is the innermost.
  valijson::ValidationResults::Error error;
  results.popError(error);
  std::string place;
  for (const std::string& step : error.context) place += step;
  return place + ": " + error.description;
}

}  // namespace posgauge::golden
