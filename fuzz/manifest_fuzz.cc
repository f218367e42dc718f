// The two files of a golden manifest: its JSON, a zero byte (which no JSON has), its payload.
#include <algorithm>

#include "oracle.h"
#include "posgauge/golden/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace posgauge;
  const std::string_view bytes = fuzz::Text(data, size);
  const size_t zero = std::min(bytes.find('\0'), size);
  const golden::Files files{std::string(bytes.substr(0, zero)),
                            std::string(bytes.substr(std::min(zero + 1, size)))};
  fuzz::Parsed([&] { return golden::PayloadHash(files, "m.json"); });
  if (const auto read = fuzz::Parsed([&] { return golden::Decode(files, "m.json"); })) {
    const golden::Files written = golden::Encode(*read, "m.safetensors");
    const auto again = fuzz::Again(
        [&] { return golden::Encode(golden::Decode(written, "m.json"), "m.safetensors"); });
    fuzz::Demand(again.manifest == written.manifest && again.payload == written.payload,
                 "another manifest when read again");
  }
  return 0;
}
