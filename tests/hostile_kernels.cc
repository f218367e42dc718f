// A library of kernels that each do one thing no kernel may do, beside an honest one. All of them
// rotate f32 rows by the table that they are handed. With POSGAUGE_TEST_LOADING in the environment
// loading it does the like.
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "posgauge/kernel.h"

namespace {

// The compiler must not know what cannot be.
volatile float sink = 0;
volatile bool forever = true;
volatile uintptr_t nowhere = 16;

const DLTensor& Input(const posgauge_call* call, std::string_view name) {
  for (uint32_t i = 0; i < call->num_inputs; ++i) {
    if (name == call->inputs[i].name) return call->inputs[i].tensor;
  }
  throw std::runtime_error("an input is missing");
}

float* At(const DLTensor& tensor, int64_t token, int64_t head) {
  return reinterpret_cast<float*>(static_cast<char*>(tensor.data) + tensor.byte_offset) +
         token * tensor.strides[0] + head * tensor.strides[1];
}

// The first element, and one past the last.
float* Begin(const DLTensor& tensor) { return At(tensor, 0, 0); }
float* End(const DLTensor& tensor) {
  return At(tensor, tensor.shape[0] - 1, tensor.shape[1] - 1) + tensor.shape[2];
}

// Whether it lies at the end of its memory, unless it fills whole pages.
bool IsMoved(const DLTensor& x) { return reinterpret_cast<uintptr_t>(Begin(x)) % 4096 != 0; }

void Rotate(const posgauge_call* call) {
  const DLTensor &x = Input(call, "x"), &out = call->outputs[0].tensor;
  const DLTensor &cos = Input(call, "cos"), &sin = Input(call, "sin");
  const int64_t pairs = cos.shape[1];
  for (int64_t token = 0; token < x.shape[0]; ++token) {
    const float* c = static_cast<float*>(cos.data) + token * pairs;
    const float* s = static_cast<float*>(sin.data) + token * pairs;
    for (int64_t head = 0; head < x.shape[1]; ++head) {
      const float* in = At(x, token, head);
      float* to = At(out, token, head);
      for (int64_t i = 0; i < pairs; ++i) {
        const float u = in[i], v = in[i + pairs];
        to[i] = u * c[i] - v * s[i];
        to[i + pairs] = u * s[i] + v * c[i];
      }
    }
  }
}

// A bit of memory decides about a last bit, which every contract allows.
void Nudge(const posgauge_call* call, bool upwards) {
  float* element = Begin(call->outputs[0].tensor);
  if (upwards && *element != 0) *element = std::nextafter(*element, HUGE_VALF);
}

[[gnu::noinline]] void NudgeByStack(const posgauge_call* call) {
  std::array<unsigned char, 4096> scratch;
  asm volatile("" : "=m"(scratch));  // read as it is, whatever the compiler thinks of that
  Nudge(call, scratch[100] % 2 != 0);
}

enum class Deed {
  none,
  crash,
  jump,
  overflow_stack,
  loop,
  leave,
  abort_,
  throw_,
  throw_number,
  write_beyond,
  write_before,
  read_beyond,
  read_before,
  scribble,
  leave_tail,
  use_heap,
  use_stack,
  alternate,
  move_results,
  close_files,
  print,
  allocate,
  return_twice,
  change_answer,
  want_alignment
};

template <Deed deed>
int32_t Run(const posgauge_call* call, char* why, size_t why_size) {
  const DLTensor &x = Input(call, "x"), &out = call->outputs[0].tensor;
  static int runs = 0;
  ++runs;
  switch (deed) {
    case Deed::crash:
      *reinterpret_cast<volatile int*>(nowhere) = 1;
      break;
    case Deed::jump:
      reinterpret_cast<void (*)()>(2 * nowhere)();
      break;
    case Deed::overflow_stack: {
      std::array<volatile char, 4096> deep;
      deep[0] = 1;
      if (forever) Run<deed>(call, why, why_size);
      sink = static_cast<float>(deep[0]);
      break;
    }
    case Deed::loop:
      while (forever) continue;
      break;
    case Deed::leave:
      std::exit(0);
    case Deed::abort_:
      std::fputs("something else\nno such luck\n", stderr);
      std::abort();
    case Deed::throw_:
      throw std::runtime_error("not here");
    case Deed::throw_number:
      throw 7;
    case Deed::read_beyond:
      sink = *End(x);
      break;
    case Deed::read_before:
      sink = *(Begin(x) - 1);
      break;
    case Deed::scribble:
      Begin(x)[1] += 1;
      break;
    case Deed::close_files:
      for (int file = 3; file < 64; ++file) close(file);
      break;
    case Deed::print:
      std::puts("{ this is no report");
      std::fflush(stdout);
      std::fputs("neither is this\n", stderr);
      break;
    case Deed::allocate:
      while (forever) {
        constexpr size_t kBytes = 1 << 24;
        std::memset(std::malloc(kBytes), 1, kBytes);
      }
      break;
    case Deed::return_twice:
      if (fork() < 0) return POSGAUGE_FAILED;
      break;
    case Deed::change_answer:
      if (runs % 2 == 0) {
        std::snprintf(why, why_size, "not again");
        return POSGAUGE_FAILED;
      }
      break;
    case Deed::want_alignment:
      if (IsMoved(x)) return POSGAUGE_UNSUPPORTED;
      break;
    default:
      break;
  }
  float* last = End(out) - 1;
  const float was = *last;
  Rotate(call);
  switch (deed) {
    case Deed::write_beyond:
      last[1] = 0;
      break;
    case Deed::write_before:
      Begin(out)[-1] = 0;
      break;
    case Deed::leave_tail:
      *last = was;
      break;
    case Deed::use_heap: {
      constexpr size_t kBytes = 100;
      auto* scratch = static_cast<volatile unsigned char*>(std::malloc(kBytes));
      Nudge(call, scratch[kBytes - 1] % 2 != 0);
      std::free(const_cast<unsigned char*>(scratch));
      break;
    }
    case Deed::use_stack:
      NudgeByStack(call);
      break;
    case Deed::alternate:
      Nudge(call, runs % 2 == 0);
      break;
    case Deed::move_results:
      Nudge(call, IsMoved(x));
      break;
    default:
      break;
  }
  return POSGAUGE_OK;
}

constexpr posgauge_kernel Kernel(const char* name,
                                 int32_t (*run)(const posgauge_call*, char*, size_t),
                                 const char* invariances = "") {
  return {.size = sizeof(posgauge_kernel),
          .name = name,
          .schemes = "rope",
          .quantity = "rotate",
          .inputs = "x:f32 cos:f32 sin:f32",
          .outputs = "out:f32",
          .pairings = "half",
          .contract = "table=f32 rotate=f32 store=f32:rne flush=no",
          .invariances = invariances,
          .in_place = 0,
          .largest_rotary_dim = 0,
          .largest_position = 0,
          .run = run};
}

constexpr posgauge_kernel kKernels[] = {
    Kernel("hostile.crash", Run<Deed::crash>),
    Kernel("hostile.jump", Run<Deed::jump>),
    Kernel("hostile.overflow_stack", Run<Deed::overflow_stack>),
    Kernel("hostile.loop", Run<Deed::loop>),
    Kernel("hostile.leave", Run<Deed::leave>),
    Kernel("hostile.abort", Run<Deed::abort_>),
    Kernel("hostile.throw", Run<Deed::throw_>),
    Kernel("hostile.throw_number", Run<Deed::throw_number>),
    Kernel("hostile.write_beyond", Run<Deed::write_beyond>),
    Kernel("hostile.write_before", Run<Deed::write_before>),
    Kernel("hostile.read_beyond", Run<Deed::read_beyond>),
    Kernel("hostile.read_before", Run<Deed::read_before>),
    Kernel("hostile.scribble", Run<Deed::scribble>),
    Kernel("hostile.leave_tail", Run<Deed::leave_tail>),
    Kernel("hostile.use_heap", Run<Deed::use_heap>),
    Kernel("hostile.use_stack", Run<Deed::use_stack>),
    Kernel("hostile.alternate", Run<Deed::alternate>),
    Kernel("hostile.move_results", Run<Deed::move_results>, "alignment"),
    Kernel("hostile.close_files", Run<Deed::close_files>),
    Kernel("hostile.allocate", Run<Deed::allocate>),
    Kernel("hostile.change_answer", Run<Deed::change_answer>),
    Kernel("odd.move_results", Run<Deed::move_results>),
    Kernel("odd.want_alignment", Run<Deed::want_alignment>),
    Kernel("odd.print", Run<Deed::print>),
    Kernel("odd.return_twice", Run<Deed::return_twice>),
    Kernel("honest.rotate", Run<Deed::none>),
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const posgauge_kernel* posgauge_kernels(
    uint32_t abi_version, size_t* count) {
  const char* wanted = std::getenv("POSGAUGE_TEST_LOADING");
  const std::string_view loading = wanted == nullptr ? "" : wanted;
  if (loading == "crash") std::abort();
  if (loading == "exit") std::exit(7);
  if (loading == "loop") {
    while (forever) continue;
  }
  if (loading == "throw") throw std::runtime_error("no kernels today");
  // Beyond the end of the list.
  *count = loading == "count" ? size_t{1} << 20 : std::size(kKernels);
  return abi_version == POSGAUGE_ABI_VERSION ? kKernels : nullptr;
}
