/* Two kernels that turn f32 rows by the table they are handed, in a library that has its own idea
 * of a descriptor: that of version 1 as it began, with MORE bytes behind it. It does not include
 * posgauge's header, as a library would not that was built with another one. */
#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef MORE
#define MORE 0
#endif
#ifndef INPUTS
#define INPUTS "x:f32 cos:f32 sin:f32"
#endif
#ifndef SCHEMES
#define SCHEMES "rope"
#endif

typedef struct {
  const char* name;
  double value;
} scalar;

typedef struct {
  uint32_t size;
  int32_t dtype;
  const char* name;
  DLTensor tensor;
} tensor;

typedef struct {
  uint32_t size, num_scalars;
  const char *scheme, *quantity;
  const scalar* scalars;
  const tensor *inputs, *outputs;
  uint32_t num_inputs, num_outputs;
} call;

typedef struct {
  uint32_t size;
  const char *name, *schemes, *quantity, *inputs, *outputs, *pairings, *contract, *invariances;
  int32_t in_place;
  int64_t largest_rotary_dim;
  double largest_position;
  int32_t (*run)(const call*, char*, size_t);
#if MORE > 0
  unsigned char more[MORE];
#endif
} descriptor;

static const tensor* Find(const call* arguments, const char* name) {
  for (uint32_t i = 0; i < arguments->num_inputs; ++i) {
    if (strcmp(arguments->inputs[i].name, name) == 0) return &arguments->inputs[i];
  }
  return NULL;
}

static float* Row(const DLTensor* x, int64_t token, int64_t head) {
  return (float*)((char*)x->data + x->byte_offset) + token * x->strides[0] + head * x->strides[1];
}

static int32_t Run(const call* arguments, char* why, size_t why_size) {
  const DLTensor* x = &Find(arguments, "x")->tensor;
  const DLTensor* out = &arguments->outputs[0].tensor;
  const DLTensor* table = &Find(arguments, "cos")->tensor;
  const float* c = (const float*)table->data;
  const float* s = (const float*)Find(arguments, "sin")->tensor.data;
  const int64_t pairs = table->shape[1];
#ifdef SECTION
  /* Named in the descriptor, a list comes where and as it is named there, and once. */
  const tensor* section = &arguments->inputs[1];
  int64_t sum = 0;
  if (strcmp(section->name, "section") == 0 && section->dtype == 4 && arguments->num_inputs == 4) {
    for (int64_t i = 0; i < section->tensor.shape[0]; ++i) {
      sum += ((const int64_t*)section->tensor.data)[i];
    }
  }
  if (sum != pairs) {
    strncpy(why, "the list section is not what it should be", why_size);
    return 2;
  }
#else
  (void)why;
  (void)why_size;
#endif
  for (int64_t token = 0; token < x->shape[0]; ++token) {
    for (int64_t head = 0; head < x->shape[1]; ++head) {
      for (int64_t i = 0; i < pairs; ++i) {
        const float u = Row(x, token, head)[i], v = Row(x, token, head)[i + pairs];
        Row(out, token, head)[i] = u * c[token * pairs + i] - v * s[token * pairs + i];
        Row(out, token, head)[i + pairs] = u * s[token * pairs + i] + v * c[token * pairs + i];
      }
    }
  }
  return 0;
}

#if MORE > 0
#define REST \
  , { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF }
#else
#define REST
#endif
#define KERNEL(kernel_name)                                                           \
  {                                                                                   \
    sizeof(descriptor), kernel_name, SCHEMES, "rotate", INPUTS, "out:f32", "half",    \
        "table=f32 rotate=f32 store=f32:rne flush=no", "alignment", 0, 0, 0, Run REST \
  }

static const descriptor kKernels[2] = {KERNEL("table.first"), KERNEL("table.second")};

const descriptor* posgauge_kernels(uint32_t abi_version, size_t* count);
const descriptor* posgauge_kernels(uint32_t abi_version, size_t* count) {
  *count = 2;
  return abi_version == 1 ? kKernels : NULL;
}
