// A model's config. Nothing writes configs, but every scheme that one means can be written and
// read.
#include "oracle.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/schemes/model/config.h"

namespace {

using namespace posgauge;

void ReadAgain(const Scheme& scheme) {
  const std::string json = ToJson(scheme).dump();
  const auto again = fuzz::Again([&] { return SchemeFromJson(ParseJson(json, "scheme")); });
  fuzz::Demand(again == scheme, "another scheme when read again", json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = fuzz::Parsed([&] { return ParseJson(fuzz::Text(data, size), "config.json"); });
  if (!json) return 0;
  const ConfigOverrides given{.pairing = Pairing::half, .length = 8192};
  for (const ConfigOverrides& overrides : {ConfigOverrides(), given}) {
    const auto model =
        fuzz::Parsed([&] { return ModelConfigFromJson(*json, "config.json", overrides); });
    if (!model) continue;
    fuzz::Demand(!model->groups.empty(), "a config without a group of layers");
    fuzz::Demand(model->Positions() > 0, "a config without positions");
    for (const LayerGroup& group : model->groups) ReadAgain(group.scheme);
    for (const UnrotatedLayers& layers : model->unrotated) {
      if (layers.scheme) ReadAgain(*layers.scheme);
    }
  }
  return 0;
}
