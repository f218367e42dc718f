// Rotation with a table by CUDA, behind pointers to host memory: x and the table are copied to the
// device, x is rotated there, and the result copied back.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "posgauge/kernel.h"

namespace {

// A block rotates one token of x [tokens, heads, head_dim] in place.
__global__ void Rotate(float* x, const float* cos, const float* sin, int64_t heads,
                       int64_t head_dim, int64_t pairs, int64_t offset, bool half) {
  const int64_t token = blockIdx.x;
  for (int64_t i = threadIdx.x; i < heads * pairs; i += blockDim.x) {
    const int64_t head = i / pairs, pair = i % pairs;
    float* first = x + (token * heads + head) * head_dim + offset + (half ? pair : 2 * pair);
    float* second = first + (half ? pairs : 1);
    const float c = cos[token * pairs + pair], s = sin[token * pairs + pair];
    const float u = *first, v = *second;
    *first = fmaf(u, c, -v * s);
    *second = fmaf(u, s, v * c);
  }
}

size_t Bytes(const DLTensor& host) {
  size_t bytes = sizeof(float);
  for (int axis = 0; axis < host.ndim; ++axis) bytes *= static_cast<size_t>(host.shape[axis]);
  return bytes;
}

void* Data(const DLTensor& host) { return static_cast<char*>(host.data) + host.byte_offset; }

struct Free {
  void operator()(float* data) const { cudaFree(data); }
};
using DeviceArray = std::unique_ptr<float, Free>;

// Null where the device refuses; the last error then says why.
DeviceArray CopyToDevice(const DLTensor& host) {
  float* data = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&data), Bytes(host)) != cudaSuccess) return nullptr;
  cudaMemcpy(data, Data(host), Bytes(host), cudaMemcpyHostToDevice);
  return DeviceArray(data);
}

bool IsCompact(const DLTensor& x) {
  return x.strides[2] == 1 && x.strides[1] == x.shape[2] && x.strides[0] == x.shape[1] * x.shape[2];
}

int64_t Scalar(const posgauge_call& call, const char* name) {
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    if (std::strcmp(call.scalars[i].name, name) == 0) return int64_t(call.scalars[i].value);
  }
  return 0;
}

int32_t Run(const posgauge_call* call, char* why, size_t why_size) {
  const DLTensor &x = call->inputs[0].tensor, &out = call->outputs[0].tensor;
  if (!IsCompact(x) || !IsCompact(out) || Scalar(*call, "direction") != 0) {
    std::snprintf(why, why_size, "rotates compact tensors, counterclockwise");
    return POSGAUGE_UNSUPPORTED;
  }
  const DeviceArray rows = CopyToDevice(x), cos = CopyToDevice(call->inputs[1].tensor),
                    sin = CopyToDevice(call->inputs[2].tensor);
  if (rows && cos && sin) {
    const auto tokens = static_cast<unsigned>(x.shape[0]);
    Rotate<<<tokens, 128>>>(rows.get(), cos.get(), sin.get(), x.shape[1], x.shape[2],
                            call->inputs[1].tensor.shape[1], Scalar(*call, "rotary_offset"),
                            Scalar(*call, "pairing") == 0);
    cudaMemcpy(Data(out), rows.get(), Bytes(out), cudaMemcpyDeviceToHost);
  }
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    std::snprintf(why, why_size, "%s", cudaGetErrorString(error));
    return POSGAUGE_FAILED;
  }
  return POSGAUGE_OK;
}

const posgauge_kernel kKernel = {sizeof(posgauge_kernel),
                                 "cuda.rotate.f32",
                                 "*",
                                 "rotate",
                                 "x:f32 cos:f32 sin:f32",
                                 "out:f32",
                                 "half interleaved",
                                 "table=f32 rotate=f32:fma store=f32:rne flush=no",
                                 "chunking batch alignment pairing",
                                 1,  // in place
                                 0,  // no largest rotary_dim
                                 0,  // no largest position
                                 Run};

}  // namespace

extern "C" const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
  *count = 1;
  return abi_version == POSGAUGE_ABI_VERSION ? &kKernel : nullptr;
}
