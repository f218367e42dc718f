#include "posgauge/schemes/model/added_rows.h"

#include <array>

#include "posgauge/schemes/model/known_type.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;
using Groups = std::vector<LayerGroup>;

// wpe of models/gpt2/modeling_gpt2.py and its kin; gpt_neo.
Groups ReadGpt(const Section& config, Notes&) {
  return OneGroup(
      TableOf(config, {"n_embd", "hidden_size"}, {"n_positions", "max_position_embeddings"}));
}

// models/distilbert/modeling_distilbert.py, create_sinusoidal_embeddings.
Groups ReadDistilbert(const Section& config, Notes&) {
  const learned::Params table = TableOf(config, {"dim"}, {"max_position_embeddings"});
  if (!config.Find<bool>("sinusoidal_pos_embds").value_or(false)) return OneGroup(table);
  return OneGroup(sinusoidal::Params{.width = table.width});
}

// create_position_ids_from_input_ids of models/roberta/modeling_roberta.py.
Groups ReadRoberta(const Section& config, Notes& notes) {
  learned::Params table = TableOf(config, {"hidden_size"}, {"max_position_embeddings"});
  const int64_t padding = config.Find<int64_t>("pad_token_id").value_or(1);
  table.offset = padding + 1;
  notes.push_back(
      fmt::format("positions count the tokens that are no padding; padding has the row "
                  "{}: {} positions are left of {} rows",
                  padding, table.rows - table.offset, table.rows));
  return OneGroup(table);
}

// models/opt/modeling_opt.py and models/bart/modeling_bart.py: two rows before position 0.
Groups ReadOpt(const Section& config, Notes&) {
  constexpr int64_t kOffset = 2;
  learned::Params table = TableOf(config, {"hidden_size", "d_model"}, {"max_position_embeddings"});
  table.rows += kOffset;
  table.offset = kOffset;
  return OneGroup(table);
}

// models/whisper/modeling_whisper.py: `sinusoids` in the encoder, a table in the decoder.
Groups ReadWhisper(const Section& config, Notes&) {
  const learned::Params decoder = TableOf(config, {"d_model"}, {"max_target_positions"});
  const sinusoidal::Params encoder{
      .width = decoder.width, .layout = sinusoidal::Layout::halves, .frequency_shift = 1};
  Groups groups = EncoderAndDecoder(encoder, decoder);
  groups[0].positions = config.Get<int64_t>("max_source_positions");
  Require(*groups[0].positions >= 1, "{} must be at least 1, got {}",
          config.Name("max_source_positions"), *groups[0].positions);
  return groups;
}

// transformers models/marian, models/pegasus: all sines, then all cosines, one more sine where the
// width is odd.
Groups ReadMarian(const Section& config, Notes&) {
  return OneGroup(sinusoidal::Params{.width = config.Get<int64_t>("d_model"),
                                     .layout = sinusoidal::Layout::halves,
                                     .odd_width = sinusoidal::OddWidth::extra_sine});
}

// fairseq's table, as transformers models/m2m_100 and models/xglm have it: row padding_index + 1
// for the first token, row padding_index all zeros.
Groups ReadFairseqTable(const Section& config, Notes& notes) {
  const int64_t padding = config.Find<int64_t>("pad_token_id").value_or(1);
  notes.emplace_back("positions count the tokens that are no padding; padding has a row of zeros");
  return OneGroup(sinusoidal::Params{.width = config.Get<int64_t>("d_model"),
                                     .layout = sinusoidal::Layout::halves,
                                     .frequency_shift = 1,
                                     .odd_width = sinusoidal::OddWidth::zero,
                                     .start = padding + 1,
                                     .padding_index = padding});
}

constexpr auto kKnown = std::to_array<KnownType>({
    {"bart", ReadOpt},
    {"camembert", ReadRoberta},
    {"distilbert", ReadDistilbert},
    {"gpt2", ReadGpt},
    {"gpt_bigcode", ReadGpt},
    {"gpt_neo", ReadGpt},
    {"m2m_100", ReadFairseqTable},
    {"marian", ReadMarian},
    {"openai-gpt", ReadGpt},
    {"opt", ReadOpt},
    {"pegasus", ReadMarian},
    {"roberta", ReadRoberta},
    {"whisper", ReadWhisper},
    {"xglm", ReadFairseqTable},
    {"xlm-roberta", ReadRoberta},
});

}  // namespace

learned::Params TableOf(const Section& config, std::initializer_list<std::string_view> width_keys,
                        std::initializer_list<std::string_view> rows_keys) {
  return {.width = config.Get<int64_t>(config.FirstOf(width_keys)),
          .rows = config.Get<int64_t>(config.FirstOf(rows_keys))};
}

Groups OneGroup(Scheme scheme) { return {{"all", {}, std::move(scheme)}}; }

Groups EncoderAndDecoder(Scheme encoder, Scheme decoder) {
  return {{"encoder", {}, std::move(encoder)}, {"decoder", {}, std::move(decoder)}};
}

Groups ReadAddedRows(const Section& config, std::string_view model_type, Notes& notes) {
  const KnownType* known = FindKnown(kKnown, model_type);
  return known ? known->read(config, notes) : Groups{};
}

}  // namespace posgauge
