#pragma once

#include <string_view>

namespace posgauge::cli {

/// The parts of a minimal program that are the same in all (cli/minimal_program.h). It is a text:
/// it has no part in posgauge itself, and depends on nothing but the C++ library and POSIX.
inline constexpr std::string_view kProgramStructs = R"program(#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// DLPack's and posgauge/kernel.h's, as they are in memory.
extern "C" {
struct DLDevice {
  int32_t device_type, device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct posgauge_scalar {
  const char* name;
  double value;
};
struct posgauge_tensor {
  uint32_t size;
  int32_t dtype;
  const char* name;
  DLTensor tensor;
};
struct posgauge_call {
  uint32_t size, num_scalars;
  const char *scheme, *quantity;
  const posgauge_scalar* scalars;
  const posgauge_tensor *inputs, *outputs;
  uint32_t num_inputs, num_outputs;
};
struct posgauge_kernel {
  uint32_t size;
  const char *name, *schemes, *quantity, *inputs, *outputs, *pairings, *contract, *invariances;
  int32_t in_place;
  int64_t largest_rotary_dim;
  double largest_position;
  int32_t (*run)(const posgauge_call* call, char* why, size_t why_size);
};
}

enum Dtype { f64, f32, bf16, f16, i64, i32, u8, f8e4m3, f8e5m2 };

struct Values {
  const char* name;
  Dtype dtype;
  std::vector<int64_t> shape;
  std::vector<uint64_t> bits;  // of each element, in C order
};

// Which results are right: those from `lowest` to `highest`, both included.
struct Accepted {
  size_t output, index;
  uint64_t lowest, highest;  // bits
};

// A frequency that is the sum of the outputs frequency and frequency_low, one a pair.
struct Sum {
  double high, low, allowed;
};

)program";

inline constexpr std::string_view kProgramMain = R"program(
size_t SizeOf(Dtype dtype) {
  const size_t sizes[] = {8, 4, 2, 2, 8, 4, 1, 1, 1};
  return sizes[dtype];
}

int DigitsOf(Dtype dtype) {  // stored bits of the significand; 0 of integers
  const int digits[] = {52, 23, 7, 10, 0, 0, 0, 3, 2};
  return digits[dtype];
}

// Place among the numbers of a dtype, ascending; -0 is just below +0.
int64_t OrderOf(Dtype dtype, uint64_t bits) {
  const int width = 8 * static_cast<int>(SizeOf(dtype));
  if (DigitsOf(dtype) == 0) {
    return dtype == u8 ? static_cast<int64_t>(bits)
                       : static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
  }
  const uint64_t sign = uint64_t{1} << (width - 1);
  return (bits & sign) != 0 ? -1 - static_cast<int64_t>(bits ^ sign) : static_cast<int64_t>(bits);
}

double ValueOf(Dtype dtype, uint64_t bits) {
  const int digits = DigitsOf(dtype), width = 8 * static_cast<int>(SizeOf(dtype));
  if (digits == 0) return static_cast<double>(OrderOf(dtype, bits));
  const int exponent_bits = width - 1 - digits, bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits >> (width - 1)) != 0 ? -1 : 1;
  const auto exponent = static_cast<int>(bits >> digits & ((uint64_t{1} << exponent_bits) - 1));
  const uint64_t fraction = bits & ((uint64_t{1} << digits) - 1);
  const bool all_ones = exponent == (1 << exponent_bits) - 1;
  if (all_ones && dtype != f8e4m3) return fraction == 0 ? sign * INFINITY : NAN;
  if (all_ones && fraction == 7) return NAN;
  const auto hidden = exponent == 0 ? 0 : std::ldexp(1.0, digits);
  return sign * std::ldexp(hidden + static_cast<double>(fraction),
                           (exponent == 0 ? 1 : exponent) - bias - digits);
}

// A tensor between two pages that nobody may touch, at the first or at the last byte of its own.
class Placed {
 public:
  Placed(const Values& values, bool at_end, unsigned char rest) : values_(values), rest_(rest) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = SizeOf(values.dtype) * values.bits.size();
    room_ = (size_ + page - 1) / page * page;
    void* all = mmap(nullptr, room_ + 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::exit(2);
    own_ = static_cast<unsigned char*>(all) + page;
    mprotect(all, page, PROT_NONE);
    mprotect(own_ + room_, page, PROT_NONE);
    std::memset(own_, rest, room_);
    first_ = own_ + (at_end ? room_ - size_ : 0);
    shape_ = strides_ = values.shape;
    int64_t step = 1;
    for (size_t i = shape_.size(); i-- > 0; step *= shape_[i]) strides_[i] = step;
  }
  void Fill() {
    for (size_t i = 0; i < values_.bits.size(); ++i) {
      std::memcpy(first_ + i * SizeOf(values_.dtype), &values_.bits[i], SizeOf(values_.dtype));
    }
  }
  uint64_t Bits(size_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, first_ + i * SizeOf(values_.dtype), SizeOf(values_.dtype));
    return bits;
  }
  bool RestIsUntouched() const {
    for (unsigned char* byte = own_; byte < own_ + room_; ++byte) {
      if ((byte < first_ || byte >= first_ + size_) && *byte != rest_) return false;
    }
    return true;
  }
  posgauge_tensor Argument() {
    const auto bits = static_cast<uint8_t>(8 * SizeOf(values_.dtype));
    const bool floating = DigitsOf(values_.dtype) != 0;
    const auto code = static_cast<uint8_t>(bits == 8                ? 1
                                           : values_.dtype == bf16 ? 4
                                           : floating              ? 2
                                                                   : 0);
    return {sizeof(posgauge_tensor), values_.dtype, values_.name,
            {first_, {1, 0}, static_cast<int32_t>(shape_.size()), {code, bits, 1}, shape_.data(),
             strides_.data(), 0}};
  }

 private:
  const Values& values_;
  unsigned char rest_;
  size_t size_ = 0, room_ = 0;
  unsigned char *own_ = nullptr, *first_ = nullptr;
  std::vector<int64_t> shape_, strides_;
};

bool in_kernel = false;

void Died(int number) {
  char text[] = "FAILS: signal .. in the kernel\n";
  text[14] = static_cast<char>('0' + number / 10);
  text[15] = static_cast<char>('0' + number % 10);
  (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
  _exit(in_kernel ? 1 : 2);
}

void Exited() {
  constexpr char kText[] = "FAILS: the kernel ended the process\n";
  if (!in_kernel) return;
  (void)!write(STDOUT_FILENO, kText, sizeof(kText) - 1);
  _exit(1);
}

// Calls the kernel; the bits of every output.
std::vector<std::vector<uint64_t>> Call(const posgauge_kernel& kernel, bool at_end, bool& fails) {
  const unsigned char poison = at_end ? 0x55 : 0xFF;
  std::vector<Placed> inputs, outputs;
  std::vector<posgauge_tensor> in, out;
  inputs.reserve(kInputs.size());
  outputs.reserve(kOutputs.size());
  for (const Values& values : kInputs) {
    inputs.emplace_back(values, at_end, 0x7F).Fill();
    in.push_back(inputs.back().Argument());
  }
  for (const Values& values : kOutputs) {
    out.push_back(outputs.emplace_back(values, at_end, poison).Argument());
  }
  const posgauge_call call = {sizeof(posgauge_call),
                              static_cast<uint32_t>(kScalars.size()),
                              kScheme,
                              kernel.quantity,
                              kScalars.data(),
                              in.data(),
                              out.data(),
                              static_cast<uint32_t>(in.size()),
                              static_cast<uint32_t>(out.size())};
  char why[512] = "";
  std::fflush(stdout);
  in_kernel = true;
  const int32_t status = kernel.run(&call, why, sizeof(why));
  in_kernel = false;
  why[sizeof(why) - 1] = '\0';
  if (status == 1) {
    std::printf("the kernel does not offer this call: %s\n", why);
    std::exit(2);
  }
  if (status != 0) {
    std::printf("FAILS: the kernel answered %d: %s\n", status, why);
    std::exit(1);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool same = true;
    for (size_t at = 0; at < kInputs[i].bits.size(); ++at) {
      same = same && inputs[i].Bits(at) == kInputs[i].bits[at];
    }
    if (same && inputs[i].RestIsUntouched()) continue;
    std::printf("FAILS: the kernel wrote %s its input %s\n", same ? "beside" : "to",
                kInputs[i].name);
    fails = true;
  }
  std::vector<std::vector<uint64_t>> got;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].RestIsUntouched()) {
      std::printf("FAILS: the kernel wrote beside its output %s\n", kOutputs[i].name);
      fails = true;
    }
    std::vector<uint64_t>& bits = got.emplace_back();
    for (size_t at = 0; at < kOutputs[i].bits.size(); ++at) bits.push_back(outputs[i].Bits(at));
  }
  return got;
}

int main(int count, char** arguments) {
  if (count != 2) {
    std::printf("usage: %s LIBRARY, a path with a slash\n", arguments[0]);
    return 2;
  }
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 2;
  }
  const auto list = reinterpret_cast<const posgauge_kernel* (*)(uint32_t, size_t*)>(
      dlsym(library, "posgauge_kernels"));
  size_t kernels = 0;
  const posgauge_kernel* all = list == nullptr ? nullptr : list(kAbiVersion, &kernels);
  const std::string name = std::getenv("KERNEL") == nullptr ? kKernel : std::getenv("KERNEL");
  const posgauge_kernel* kernel = nullptr;
  for (size_t i = 0; all != nullptr && i < kernels; ++i) {
    if (name == all[i].name) kernel = &all[i];
  }
  if (kernel == nullptr) {
    std::printf("%s has no kernel %s (KERNEL=NAME asks for another)\n", arguments[1], name.c_str());
    return 2;
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    std::signal(number, Died);
  }
  std::atexit(Exited);
  alarm(60);
  bool fails = false;
  const auto first = Call(*kernel, false, fails), second = Call(*kernel, true, fails);
  if (first != second) {
    std::printf("FAILS: two identical calls differ, or a result is left unwritten\n");
    fails = true;
  }
  for (const Accepted& accepted : kAccepted) {
    const Values& output = kOutputs[accepted.output];
    const Dtype dtype = output.dtype;
    const uint64_t got = first[accepted.output][accepted.index];
    const int64_t order = OrderOf(dtype, got);
    const bool holds = order >= OrderOf(dtype, accepted.lowest) &&
                       order <= OrderOf(dtype, accepted.highest);
    const uint64_t want = output.bits[accepted.index];
    std::printf("%s %s[%zu]  got %.17g (0x%llx)  want %.17g (0x%llx), %.17g to %.17g\n",
                holds ? "holds" : "FAILS", output.name, accepted.index, ValueOf(dtype, got),
                static_cast<unsigned long long>(got), ValueOf(dtype, want),
                static_cast<unsigned long long>(want), ValueOf(dtype, accepted.lowest),
                ValueOf(dtype, accepted.highest));
    fails = fails || !holds;
  }
  for (size_t i = 0; i < kSums.size(); ++i) {
    double part[2] = {0, 0};
    for (size_t output = 0; output < kOutputs.size(); ++output) {
      const std::string part_name = kOutputs[output].name;
      if (part_name == "magnitude") continue;
      part[part_name == "frequency" ? 0 : 1] = ValueOf(kOutputs[output].dtype, first[output][i]);
    }
    const double error = (part[0] - kSums[i].high) + (part[1] - kSums[i].low);
    const bool holds = std::fabs(error) <= kSums[i].allowed;
    std::printf("%s frequency[%zu]  got %.17g + %.17g  want %.17g + %.17g, off by %.3g of %.3g\n",
                holds ? "holds" : "FAILS", i, part[0], part[1], kSums[i].high, kSums[i].low,
                std::fabs(error), kSums[i].allowed);
    fails = fails || !holds;
  }
  std::printf("%s\n", fails ? "FAILS" : "HOLDS");
  return fails ? 1 : 0;
}
)program";

}  // namespace posgauge::cli
