// Stands for cuda_runtime.h where the test compiles a program of `advise --emit cuda` as plain C++: each call does its
// work at once and prints what it was, so that the order of issue can be read. `kernel<<<…>>>(` reads `launch(stream,
// kernel, ` then.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#define __host__
#define __device__
#define __global__

using cudaError_t = int;
using cudaStream_t = int;  // created ones count from 0
using cudaEvent_t = int;
enum { cudaSuccess, cudaEventDisableTiming, cudaStreamCaptureModeGlobal };
enum Way { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
constexpr cudaStream_t cudaStreamLegacy = -1;

using Calls = std::vector<std::function<void()>>;
using cudaGraph_t = Calls*;
using cudaGraphExec_t = Calls*;

struct Index {
  unsigned x;
};
constexpr Index gridDim{1}, blockDim{1}, blockIdx{0}, threadIdx{0};  // one thread does everything

inline Calls* captured = nullptr;                       // calls go there while a graph is captured
inline const float *host_arrays[2], *device_arrays[2];  // input and output, in the order of their allocation
inline int on_host = 0, on_device = 0, streams_made = 0, events_made = 0;

inline cudaError_t call(std::function<void()> what) {
  captured != nullptr ? captured->push_back(std::move(what)) : what();
  return cudaSuccess;
}

inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

inline cudaError_t cudaMalloc(float** to, std::size_t bytes) {
  device_arrays[on_device++] = *to = static_cast<float*>(std::malloc(bytes));
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(float** to, std::size_t bytes) {
  host_arrays[on_host++] = *to = static_cast<float*>(std::malloc(bytes));
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(float* to, const float* from, std::size_t bytes, Way way, cudaStream_t stream) {
  return call([=] {
    if (way == cudaMemcpyHostToDevice) {
      std::printf("in %td to %td stream %d\n", from - host_arrays[0], to - device_arrays[0], stream);
    } else {
      std::printf("out %td from %td stream %d\n", to - host_arrays[1], from - device_arrays[1], stream);
    }
    std::memcpy(to, from, bytes);
  });
}
inline cudaError_t cudaMemcpy(float* to, const float* from, std::size_t bytes, Way way) {
  return cudaMemcpyAsync(to, from, bytes, way, cudaStreamLegacy);
}
using Kernel = void(const float*, std::size_t, float*, std::size_t);
inline void launch(cudaStream_t stream, Kernel* kernel, const float* in, std::size_t in_items, float* out,
                   std::size_t out_items) {
  call([=] {
    std::printf("kernel %td to %td stream %d\n", in - device_arrays[0], out - device_arrays[1], stream);
    kernel(in, in_items, out, out_items);
  });
}

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = streams_made++;
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, int) {
  *event = events_made++;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([=] { std::printf("record %d stream %d\n", event, stream); });
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, int) {
  return call([=] { std::printf("wait %d stream %d\n", event, stream); });
}
inline cudaError_t cudaDeviceSynchronize() {
  std::printf("synchronize\n");
  return cudaSuccess;
}

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, int) {
  captured = new Calls;
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = std::exchange(captured, nullptr);
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, int) {
  *executable = graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const auto& each : *executable) each();
  return cudaSuccess;
}
