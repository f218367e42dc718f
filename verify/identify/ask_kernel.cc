#include <algorithm>
#include <set>

#include "posgauge/verify/identify/answers.h"
#include "posgauge/verify/subject.h"

namespace posgauge {

namespace {

// 0, 2^k and their neighbours: angles at 2^k are exact products in every floating format, those at
// the neighbours are not.
std::vector<double> Ladder(const KernelInfo& info, double largest) {
  if (info.kernel->largest_position > 0) {
    largest = std::min(largest, info.kernel->largest_position);
  }
  std::set<double> positions = {0};
  for (double power = 1; power <= largest; power *= 2) {
    for (double near : {-1.0, 0.0, 1.0}) {
      if (power + near <= largest) positions.insert(power + near);
    }
  }
  return {positions.begin(), positions.end()};
}

// A head for every channel, in which that channel is 1: [tokens, head_dim, head_dim].
Tensor UnitVectors(Dtype dtype, size_t tokens, int64_t head_dim) {
  Tensor x(dtype, {static_cast<int64_t>(tokens), head_dim, head_dim});
  const auto width = static_cast<size_t>(head_dim);
  for (size_t token = 0; token < tokens; ++token) {
    for (size_t head = 0; head < width; ++head) x.Set((token * width + head) * width + head, 1);
  }
  return x;
}

ExactTensor Zeros(std::vector<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return {std::move(shape), std::vector<double>(static_cast<size_t>(count))};
}

ExactTensor List(const std::vector<double>& values) {
  return {{static_cast<int64_t>(values.size())}, values};
}

// What attention gives for q = 0 and values that are unit vectors are the softmax of the biases,
// whose logarithms are the biases up to a number a row.
Tensor BiasOfAttention(const Tensor& attention, int64_t keys) {
  const int64_t queries = attention.shape()[0], heads = attention.shape()[1],
                head_dim = attention.shape()[2];
  Tensor bias(Dtype::f64, {heads, queries, keys});
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t query = 0; query < queries; ++query) {
      for (int64_t key = 0; key < keys; ++key) {
        const double share =
            attention.Value(static_cast<size_t>((query * heads + head) * head_dim + key));
        bias.Set(static_cast<size_t>((head * queries + query) * keys + key), std::log(share));
      }
    }
  }
  return bias;
}

// The distances that buckets and slopes are told apart by: all near ones, then ever sparser ones.
std::vector<double> KeyPositions(double middle, double largest, bool few) {
  std::set<double> keys;
  const double near = few ? 3 : 160;
  for (double step = 0; step <= near; ++step) {
    for (double key : {middle - step, middle + step}) {
      if (key >= 0) keys.insert(key);
    }
  }
  if (!few) {
    for (double step = near; step <= largest; step = std::ceil(step * 1.02)) {
      if (middle - step >= 0) keys.insert(middle - step);
      keys.insert(middle + step);
    }
    keys.insert(middle + largest);
  }
  return {keys.begin(), keys.end()};
}

Answers AskAttention(const Subject& subject, double largest) {
  const KernelInfo& info = subject.info();
  const Scheme& told = subject.scheme();
  const Attention& attention = AttentionOf(told);
  const ExactEquations exact(told);
  const auto quantity = ParseVariant<EquationQuantity>("quantity", info.quantity);
  Answers answers{.source = info.name, .quantity = info.quantity};
  answers.head_dim = attention.head_dim;
  answers.handed_over = subject.NotCovered();
  NamedInputs inputs;
  const bool few = info.quantity == "attention";
  const double middle = few ? 3 : std::min(largest, 65536.0);
  answers.query_positions = {middle};
  answers.key_positions = KeyPositions(middle, largest, few);
  if (few && static_cast<int64_t>(answers.key_positions.size()) > attention.head_dim) {
    answers.key_positions.resize(static_cast<size_t>(attention.head_dim));
  }
  const auto queries = static_cast<int64_t>(answers.query_positions.size());
  const auto keys = static_cast<int64_t>(answers.key_positions.size());
  for (const Weight& input : exact.InputsOf(quantity)) {
    ExactTensor& tensor = inputs.tensors[std::string(input.name)];
    if (input.name == "query_positions") {
      tensor = List(answers.query_positions);
    } else if (input.name == "key_positions") {
      tensor = List(answers.key_positions);
    } else if (input.name == "q") {
      tensor = Zeros({queries, attention.heads, attention.head_dim});
    } else if (input.name == "k" || input.name == "v") {
      tensor = Zeros({keys, attention.heads, attention.head_dim});
      if (input.name == "v") {
        for (int64_t key = 0; key < keys; ++key) {
          for (int64_t head = 0; head < attention.heads; ++head) {
            tensor.values[static_cast<size_t>((key * attention.heads + head) * attention.head_dim +
                                              key)] = 1;
          }
        }
      }
    } else {
      tensor = Zeros(input.shape);
      // A table that numbers its rows: the bias is then the bucket. Softmax needs it small.
      if (input.name == "table" && input.shape.size() == 2) {
        answers.num_buckets = input.shape[0];
        for (size_t i = 0; i < tensor.values.size(); ++i) {
          const auto row = static_cast<double>(static_cast<int64_t>(i) / input.shape[1]);
          tensor.values[i] = few ? row / 64 : row;
        }
      }
    }
  }
  Tensor result = subject.Evaluate(inputs);
  if (info.quantity == "attention") {
    answers.row_shift = true;
    answers.quantity = "bias";
    answers.tensors["bias"] = BiasOfAttention(result, keys);
  } else if (info.quantity == "scores") {
    answers.quantity = "bias";  // q is 0
    answers.tensors["bias"] = std::move(result);
  } else {
    answers.tensors[info.quantity] = std::move(result);
  }
  answers.row_shift = answers.row_shift || info.Declares("rowshift");
  return answers;
}

Answers AskRotation(const Subject& subject, double largest) {
  const KernelInfo& info = subject.info();
  Answers answers{.source = info.name, .quantity = info.quantity};
  answers.handed_over = subject.NotCovered();
  answers.positions = Ladder(info, largest);
  if (info.quantity == "table") {
    TablePair table = subject.Table(answers.positions);
    answers.tensors["cos"] = std::move(table.cos);
    answers.tensors["sin"] = std::move(table.sin);
    return answers;
  }
  Tensor x = UnitVectors(info.io(), answers.positions.size(), subject.layout().head_dim);
  answers.tensors["out"] = subject.Rotate(answers.positions, x);
  answers.tensors["x"] = std::move(x);
  return answers;
}

}  // namespace

Answers AskKernel(const KernelInfo& info, const Scheme& told, double largest) {
  Require(AxesOf(told).count == 1, "{} counts positions on several axes, which identify does not",
          Name(told));
  const Subject subject(info, told);
  if (ActsInAttention(told)) return AskAttention(subject, largest);
  if (info.quantity == "frequencies") {
    const Subject::FrequencyOutput output = subject.Frequencies();
    Answers answers{.source = info.name, .quantity = info.quantity};
    const auto pairs = static_cast<int64_t>(output.high.size());
    Dtype dtype = info.outputs[0].dtypes.front();
    std::vector<double> sums;
    for (size_t i = 0; i < output.high.size(); ++i) sums.push_back(output.high[i] + output.low[i]);
    answers.tensors["frequency"] = Tensor::FromValues(dtype, {pairs}, sums);
    answers.tensors["magnitude"] =
        Tensor::FromValues(Dtype::f64, {1}, std::vector<double>{output.magnitude});
    return answers;
  }
  if (IsRotary(told)) return AskRotation(subject, largest);
  Answers answers{.source = info.name, .quantity = "rows"};
  answers.handed_over = subject.NotCovered();
  answers.positions = Ladder(info, largest);
  answers.tensors["rows"] =
      info.quantity == "table"
          ? subject.Rows(answers.positions)
          : subject.Embed(
                answers.positions,
                Tensor(info.io(), {static_cast<int64_t>(answers.positions.size()), WidthOf(told)}));
  return answers;
}

}  // namespace posgauge
