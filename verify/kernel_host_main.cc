// The process in which a kernel library runs, at the other end of verify/child_protocol.h. It holds
// nothing but this: what a library does to it, or takes from it, is its own affair.
//
// usage: posgauge-kernel-host LIBRARY, with the descriptors of child_protocol.h open
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "posgauge/kernel.h"
#include "posgauge/verify/child_protocol.h"
#include "posgauge/verify/kernel_list.h"

namespace posgauge::child {

namespace {

constexpr size_t kWhySize = 512;

// As far down as a kernel's arrays on the stack usually reach.
constexpr size_t kPaintedStack = 128 << 10;

struct MappedSlot {
  Slot slot;
  std::byte* base = nullptr;
};

// What the handler of faults reads, so plain arrays.
std::array<MappedSlot, kMostSlots> mapped;
volatile LastWords* last_words = nullptr;

[[noreturn]] void EndWith(Ending ending) {
  last_words->ending = ending;
  _exit(EXIT_FAILURE);
}

LastWords::Access AccessOf(void* context) {
#if defined(__x86_64__)
  constexpr auto kWrites = 2;  // of the page fault's error code
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return (registers[REG_ERR] & kWrites) != 0 ? LastWords::Access::write : LastWords::Access::read;
#else
  static_cast<void>(context);
  return LastWords::Access::unknown;
#endif
}

// Says where, then lets the signal have its way.
void OnFault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  last_words->address = address;
  // Where the hardware gives no address (one that is not canonical), or somebody sent the signal.
  const bool is_known = info->si_code > 0 && info->si_code != SI_KERNEL;
  last_words->address_is_known = is_known ? 1 : 0;
  if (is_known && (signal == SIGSEGV || signal == SIGBUS)) last_words->access = AccessOf(context);
  for (const MappedSlot& each : mapped) {
    if (!is_known || each.base == nullptr) continue;
    const auto base = reinterpret_cast<uintptr_t>(each.base);
    if (address < base - kGuard || address >= base + each.slot.bytes + kGuard) continue;
    last_words->slot = each.slot.index;
    last_words->offset = static_cast<int64_t>(address - base);
  }
  last_words->ending = Ending::faulted;
  raise(signal);  // blocked until here is left, then as it would have been
}

void WatchFaults() {
  // A kernel that uses up the stack leaves none for the handler.
  constexpr size_t kStack = 64 << 10;
  static std::array<std::byte, kStack> stack;
  const stack_t alternate = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(signal, &action, nullptr);
}

// A process that a kernel forks would otherwise go on writing into the calls that follow, of which
// another kernel is held responsible.
void KeepFromCopies(void* memory, size_t bytes) { madvise(memory, bytes, MADV_DONTFORK); }

// The slot as it is now, between guards. What was mapped for the index before goes.
std::byte* Map(const Slot& slot) {
  if (slot.index >= mapped.size()) throw MalformedMessage();
  MappedSlot& place = mapped[slot.index];
  if (place.base != nullptr && place.slot == slot) return place.base;
  if (place.base != nullptr) {
    std::byte* old = place.base;
    place.base = nullptr;
    munmap(old - kGuard, place.slot.bytes + 2 * kGuard);
  }
  void* reserved = mmap(nullptr, slot.bytes + 2 * kGuard, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) throw std::bad_alloc();
  std::byte* base = static_cast<std::byte*>(reserved) + kGuard;
  const int protection = slot.writable ? PROT_READ | PROT_WRITE : PROT_READ;
  if (mmap(base, slot.bytes, protection, MAP_SHARED | MAP_FIXED, kMemory,
           static_cast<off_t>(slot.offset)) == MAP_FAILED) {
    EndWith(Ending::lost_descriptors);
  }
  KeepFromCopies(base, slot.bytes);
  place = {slot, base};
  return base;
}

posgauge_tensor Argument(Tensor& tensor) {
  return {.size = sizeof(posgauge_tensor),
          .dtype = tensor.dtype,
          .name = tensor.name.c_str(),
          .tensor = {.data = Map(tensor.slot) + tensor.data,
                     .device = {kDLCPU, 0},
                     .ndim = static_cast<int32_t>(tensor.shape.size()),
                     .dtype = {tensor.code, tensor.bits, 1},
                     .shape = tensor.shape.data(),
                     .strides = tensor.strides.data(),
                     .byte_offset = tensor.byte_offset}};
}

// What a kernel finds in variables that it does not set.
[[gnu::noinline]] void PaintStack(int byte) {
  std::array<char, kPaintedStack> stack;
  std::memset(stack.data(), byte, stack.size());
  asm volatile("" ::"r"(stack.data()) : "memory");
}

// The same of the heap: glibc fills what it hands out with this, and what is freed with the
// complement. 0x7F.. and 0xFE.. are large numbers of either sign in every floating dtype.
void Poison(child::Poison poison) {
  const int fill = poison == child::Poison::first ? 0xFE : 0x7F;
  mallopt(M_PERTURB, fill ^ 0xFF);
  PaintStack(fill);
}

Answer Run(const std::vector<posgauge_kernel>& kernels, Call call, const std::fenv_t& environment) {
  if (call.kernel >= kernels.size()) throw MalformedMessage();
  const posgauge_kernel& kernel = kernels[call.kernel];
  std::vector<posgauge_scalar> scalars;
  for (const auto& [name, value] : call.scalars) scalars.push_back({name.c_str(), value});
  std::vector<posgauge_tensor> inputs, outputs;
  for (Tensor& tensor : call.inputs) inputs.push_back(Argument(tensor));
  for (Tensor& tensor : call.outputs) outputs.push_back(Argument(tensor));
  const posgauge_call arguments = {.size = sizeof(posgauge_call),
                                   .num_scalars = static_cast<uint32_t>(scalars.size()),
                                   .scheme = call.scheme.c_str(),
                                   .quantity = kernel.quantity,
                                   .scalars = scalars.data(),
                                   .inputs = inputs.data(),
                                   .outputs = outputs.data(),
                                   .num_inputs = static_cast<uint32_t>(inputs.size()),
                                   .num_outputs = static_cast<uint32_t>(outputs.size())};
  std::array<char, kWhySize> why{};
  Answer answer{.number = call.number};
  const pid_t self = getpid();
  try {
    Poison(call.poison);
    answer.status = kernel.run(&arguments, why.data(), why.size());
    why.back() = '\0';
    answer.why = why.data();
  } catch (const std::exception& exception) {
    answer.ending = Ending::threw;
    answer.why = std::string(exception.what()).substr(0, kWhySize);
  } catch (...) {
    answer.ending = Ending::threw;
  }
  mallopt(M_PERTURB, 0);
  std::fesetenv(&environment);
  if (getpid() != self) _exit(EXIT_SUCCESS);  // a copy, of which posgauge knows nothing
  if (fcntl(kMemory, F_GETFD) < 0) answer.ending = Ending::lost_descriptors;
  return answer;
}

void Send(const std::string& bytes) {
  ssize_t sent = 0;
  do {
    sent = send(kSocket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) EndWith(Ending::lost_descriptors);
}

std::string DescriptorBytes(const posgauge_kernel& kernel) {
  Writer writer;
  writer.Put(kernel.size);
  if (!IsDescriptorSize(kernel.size)) return writer.bytes();  // the rest cannot be read
  for (const char* text : {kernel.name, kernel.schemes, kernel.quantity, kernel.inputs,
                           kernel.outputs, kernel.pairings, kernel.contract, kernel.invariances}) {
    writer.Put(text != nullptr);
    writer.PutText(text == nullptr ? "" : text);
  }
  writer.Put(kernel.run != nullptr);
  writer.Put(kernel.in_place);
  writer.Put(kernel.largest_rotary_dim);
  writer.Put(kernel.largest_position);
  return writer.bytes();
}

struct Library {
  Loaded loaded;
  const posgauge_kernel* first = nullptr;
  size_t count = 0;
};

Library Load(const char* path) {
  Library library;
  try {
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      library.loaded = {LoadResult::no_library, 0, dlerror()};
      return library;
    }
    using Export = const posgauge_kernel* (*)(uint32_t, size_t*);
    // POSIX guarantees that a symbol's address converts to a function pointer.
    const auto kernels = reinterpret_cast<Export>(dlsym(handle, "posgauge_kernels"));
    if (kernels == nullptr) {
      library.loaded.result = LoadResult::no_symbol;
      return library;
    }
    library.first = kernels(POSGAUGE_ABI_VERSION, &library.count);
    if (library.first == nullptr || library.count == 0) {
      library.loaded.result = LoadResult::no_kernel;
    }
    library.loaded.count = static_cast<uint32_t>(library.count);
  } catch (const std::exception& exception) {
    library.loaded = {LoadResult::threw, 0, exception.what()};
  } catch (...) {
    library.loaded.result = LoadResult::threw;
  }
  return library;
}

int Serve(const char* path) {
  // No orphan loops on, no dump of core is left behind, and who runs out of memory is this process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    const ssize_t written = write(score, "1000", 4);
    static_cast<void>(written);  // advice, no more
    close(score);
  }
  void* page = mmap(nullptr, sizeof(LastWords), PROT_READ | PROT_WRITE, MAP_SHARED, kMemory, 0);
  if (page == MAP_FAILED) return EXIT_FAILURE;
  KeepFromCopies(page, sizeof(LastWords));
  last_words = static_cast<volatile LastWords*>(page);
  WatchFaults();
  std::fenv_t environment;
  std::fegetenv(&environment);
  const Library library = Load(path);
  std::fesetenv(&environment);
  Send(library.loaded.Bytes());
  if (library.loaded.result != LoadResult::kernels) return EXIT_SUCCESS;
  const std::vector<posgauge_kernel> list = ListOf(library.first, library.count);
  for (const posgauge_kernel& kernel : list) Send(DescriptorBytes(kernel));
  std::vector<char> message(kLargestMessage);
  for (;;) {
    const ssize_t size = recv(kSocket, message.data(), message.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) EndWith(Ending::lost_descriptors);
    if (size == 0) return EXIT_SUCCESS;
    Call call = Call::From({message.data(), static_cast<size_t>(size)});
    Send(Run(list, std::move(call), environment).Bytes());
  }
}

}  // namespace

}  // namespace posgauge::child

int main(int argc, char** argv) {
  return argc == 2 ? posgauge::child::Serve(argv[1]) : EXIT_FAILURE;
}
