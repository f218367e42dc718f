#include "posgauge/golden/export_onnx.h"

#include <algorithm>
#include <cmath>

#include "posgauge/golden/protobuf_message.h"
#include "posgauge/golden/tensor_name.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge::golden {

namespace {

using ExportedFiles = std::map<std::string, std::string>;

// TensorProto.DataType of onnx.proto.
int64_t OnnxType(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return 11;
    case Dtype::f32:
      return 1;
    case Dtype::bf16:
      return 16;
    case Dtype::f16:
      return 10;
    case Dtype::i64:
      return 7;
    case Dtype::i32:
      return 6;
    case Dtype::u8:
      return 2;
    case Dtype::f8e4m3:
      return 17;
    case Dtype::f8e5m2:
      return 19;
  }
  return 0;
}

// Field numbers here and below are those of onnx.proto.
std::string TensorProto(const std::string& name, const Tensor& tensor) {
  ProtobufMessage message;
  for (int64_t extent : tensor.shape()) message.Integer(1, extent);  // dims
  message.Integer(2, OnnxType(tensor.dtype()));                      // data_type
  message.Bytes(8, name);
  const auto bytes = tensor.bytes();  // raw_data is little-endian, in C order
  message.Bytes(9, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return message.bytes();
}

ProtobufMessage ValueInfo(const std::string& name, const Tensor& tensor) {
  ProtobufMessage shape;
  for (int64_t extent : tensor.shape()) {
    shape.Message(1, ProtobufMessage().Integer(1, extent));  // dim { dim_value }
  }
  ProtobufMessage tensor_type;
  tensor_type.Integer(1, OnnxType(tensor.dtype())).Message(2, shape);
  return ProtobufMessage().Bytes(1, name).Message(2, ProtobufMessage().Message(1, tensor_type));
}

ProtobufMessage IntegerAttribute(const std::string& name, int64_t value) {
  constexpr int64_t kInt = 2;  // AttributeProto.INT
  return ProtobufMessage().Bytes(1, name).Integer(3, value).Integer(20, kInt);
}

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

std::string RotaryModel(const Rotary& layout, const std::vector<NamedTensor>& inputs,
                        const NamedTensor& output) {
  constexpr int64_t kIrVersion = 11, kOpset = 23;
  ProtobufMessage node;
  for (const NamedTensor& input : inputs) node.Bytes(1, input.name);
  node.Bytes(2, output.name).Bytes(4, "RotaryEmbedding");
  node.Message(5, IntegerAttribute("interleaved", layout.pairing == Pairing::interleaved ? 1 : 0));
  node.Message(5, IntegerAttribute("rotary_embedding_dim", layout.rotary_dim));
  ProtobufMessage graph;
  graph.Message(1, node).Bytes(2, "rotary_embedding");
  for (const NamedTensor& input : inputs) graph.Message(11, ValueInfo(input.name, input.tensor));
  graph.Message(12, ValueInfo(output.name, output.tensor));
  ProtobufMessage model;
  model.Integer(1, kIrVersion).Bytes(2, kGeneratorName).Message(7, graph);
  model.Message(8, ProtobufMessage().Bytes(1, "").Integer(2, kOpset));
  return model.bytes();
}

// [tokens, heads, head_dim] as [1, heads, tokens, head_dim].
Tensor HeadsFirst(const Tensor& rows) {
  const int64_t tokens = rows.shape()[0], heads = rows.shape()[1], width = rows.shape()[2];
  Tensor turned(rows.dtype(), {1, heads, tokens, width});
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t channel = 0; channel < width; ++channel) {
        turned.SetBits(static_cast<size_t>((head * tokens + token) * width + channel),
                       rows.Bits(static_cast<size_t>((token * heads + head) * width + channel)));
      }
    }
  }
  return turned;
}

bool IsRotaryEmbedding(const Scheme& scheme, const Case& golden_case, Dtype dtype) {
  if (golden_case.quantity != Quantity::rotate || !IsRotary(scheme)) return false;
  if (dtype != Dtype::f32 && dtype != Dtype::f16 && dtype != Dtype::bf16) return false;
  const Rotary& layout = RotaryOf(scheme);
  const bool paired = layout.pairing == Pairing::half || layout.pairing == Pairing::interleaved;
  return paired && layout.rotary_offset == 0 &&
         std::ranges::all_of(golden_case.inputs.at("x").Values(), [&](double value) {
           return !std::isfinite(value) || RoundTo(FormatOf(dtype), value) == value;
         });
}

void AddRotaryEmbedding(const Scheme& scheme, const Case& golden_case, Dtype dtype,
                        const std::string& folder, ExportedFiles& files) {
  const Tensor& x = golden_case.inputs.at("x");
  const RoundedTable table =
      ExactRotation(scheme).Table(golden_case.inputs.at("positions").Values(), dtype);
  const std::vector<int64_t> shape = {1, x.shape()[0], FrequencyCount(scheme)};
  const std::vector<NamedTensor> inputs = {
      {"X", HeadsFirst(Tensor::FromValues(dtype, x.shape(), x.Values()))},
      {"cos_cache", Tensor::FromValues(dtype, shape, table.cos.values)},
      {"sin_cache", Tensor::FromValues(dtype, shape, table.sin.values)}};
  const NamedTensor output = {"Y", HeadsFirst(golden_case.outputs.at("out").at(dtype).values)};
  files[folder + "/model.onnx"] = RotaryModel(RotaryOf(scheme), inputs, output);
  for (size_t i = 0; i < inputs.size(); ++i) {
    files[fmt::format("{}/test_data_set_0/input_{}.pb", folder, i)] =
        TensorProto(inputs[i].name, inputs[i].tensor);
  }
  files[folder + "/test_data_set_0/output_0.pb"] = TensorProto(output.name, output.tensor);
}

void AddCase(const Scheme& scheme, const Case& golden_case, Dtype dtype, const std::string& folder,
             ExportedFiles& files) {
  if (IsRotaryEmbedding(scheme, golden_case, dtype)) {
    return AddRotaryEmbedding(scheme, golden_case, dtype, folder, files);
  }
  int index = 0;
  for (const std::string& name : InputsOf(scheme, golden_case.quantity)) {
    files[fmt::format("{}/test_data_set_0/input_{}.pb", folder, index++)] =
        TensorProto(name, golden_case.inputs.at(name));
  }
  index = 0;
  for (const std::string& name : OutputsOf(scheme, golden_case.quantity)) {
    files[fmt::format("{}/test_data_set_0/output_{}.pb", folder, index++)] =
        TensorProto(name, golden_case.outputs.at(name).at(dtype).values);
  }
}

}  // namespace

ExportedFiles OnnxTests(const PlacedManifest& placed) {
  ExportedFiles files;
  std::string name = placed.place;
  std::ranges::replace(name, '/', '_');
  for (const Case& golden_case : placed.manifest.cases) {
    if (golden_case.result != Result::valid) continue;
    for (Dtype dtype : golden_case.dtypes) {
      const std::string folder =
          fmt::format("test_{}_{}_{}", name, golden_case.id, posgauge::Name(dtype));
      AddCase(placed.manifest.scheme, golden_case, dtype, folder, files);
    }
  }
  return files;
}

}  // namespace posgauge::golden
