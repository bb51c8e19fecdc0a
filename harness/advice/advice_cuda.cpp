#include "harness/advice/advice_cuda.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/host/status.hpp"

namespace scanlab::simulator {

namespace {

/// How a schedule is written down in CUDA: what stands in the template's places of these names.
struct Form {
  const char* schedule;
  const char* idea;   ///< a comment
  const char* state;  ///< beside the streams
  const char* make;   ///< makes it, once
  const char* issue;  ///< issues all chunks, once a run
};

constexpr Form kForms[] = {
    {"serial_pinned", "H2D copy, kernel, D2H copy, one step after another.", "", "",
     "  for (int i = 0; i < kChunks; ++i) step_by_step(chunk_of(i));\n"},
    {"depth_first", "H2D copy, kernel, D2H copy, chunk after chunk, round-robin over the streams.", "", "",
     R"(  for (int i = 0; i < kChunks; ++i) {
    const Chunk chunk = chunk_of(i);
    const cudaStream_t stream = streams[i % kStreams];
    copy_in(chunk, stream);
    compute(chunk, stream);
    copy_out(chunk, stream);
  }
)"},
    {"breadth_first", "All H2D copies, then all kernels, then all D2H copies, round-robin over the streams.", "", "",
     R"(  for (int i = 0; i < kChunks; ++i) copy_in(chunk_of(i), streams[i % kStreams]);
  for (int i = 0; i < kChunks; ++i) compute(chunk_of(i), streams[i % kStreams]);
  for (int i = 0; i < kChunks; ++i) copy_out(chunk_of(i), streams[i % kStreams]);
)"},
    {"skewed", "As depth first, but the next H2D copy and kernel are issued before this D2H copy.", "", "",
     R"(  for (int i = 0; i <= kChunks; ++i) {
    if (i < kChunks) copy_in(chunk_of(i), streams[i % kStreams]);
    if (i < kChunks) compute(chunk_of(i), streams[i % kStreams]);
    if (i > 0) copy_out(chunk_of(i - 1), streams[(i - 1) % kStreams]);
  }
)"},
    {"three_streams", "One stream for H2D copies, one for kernels, one for D2H copies. Events order them.",
     "cudaEvent_t copied_in[kChunks], computed[kChunks];\n",
     R"(  for (cudaEvent_t& event : copied_in) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (cudaEvent_t& event : computed) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
)",
     R"(  const cudaStream_t in = streams[0], kernels = streams[1], out = streams[2];
  for (int i = 0; i < kChunks; ++i) {
    const Chunk chunk = chunk_of(i);
    copy_in(chunk, in);
    CHECK(cudaEventRecord(copied_in[i], in));
    CHECK(cudaStreamWaitEvent(kernels, copied_in[i], 0));
    compute(chunk, kernels);
    CHECK(cudaEventRecord(computed[i], kernels));
    CHECK(cudaStreamWaitEvent(out, computed[i], 0));
    copy_out(chunk, out);
  }
)"},
    {"double_buffered",
     "As three streams, in device buffers of a chunk each, used in turn: events say when one is free.",
     "cudaEvent_t copied_in[kBuffers], computed[kBuffers], copied_out[kBuffers];  // of each buffer, recorded anew\n",
     R"(  for (cudaEvent_t* events : {copied_in, computed, copied_out}) {
    for (int b = 0; b < kBuffers; ++b) CHECK(cudaEventCreateWithFlags(&events[b], cudaEventDisableTiming));
  }
)",
     R"(  const cudaStream_t in = streams[0], kernels = streams[1], out = streams[2];
  for (int i = 0; i < kChunks; ++i) {
    const Chunk chunk = chunk_of(i);
    const int buffer = i % kBuffers, used_before = i >= kBuffers;
    if (used_before) CHECK(cudaStreamWaitEvent(in, computed[buffer], 0));  // has read the input
    copy_in(chunk, in);
    CHECK(cudaEventRecord(copied_in[buffer], in));
    CHECK(cudaStreamWaitEvent(kernels, copied_in[buffer], 0));
    if (used_before) CHECK(cudaStreamWaitEvent(kernels, copied_out[buffer], 0));  // has read the output
    compute(chunk, kernels);
    CHECK(cudaEventRecord(computed[buffer], kernels));
    CHECK(cudaStreamWaitEvent(out, computed[buffer], 0));
    copy_out(chunk, out);
    CHECK(cudaEventRecord(copied_out[buffer], out));
  }
)"},
    {"graph", "Depth first over the streams, captured once into a graph that is launched as one.",
     "cudaGraphExec_t executable;\n",
     R"(  cudaEvent_t joined[kStreams];  // that of stream 0 forks
  for (cudaEvent_t& event : joined) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(joined[0], streams[0]));
  for (int s = 1; s < kStreams; ++s) CHECK(cudaStreamWaitEvent(streams[s], joined[0], 0));
  for (int i = 0; i < kChunks; ++i) {
    copy_in(chunk_of(i), streams[i % kStreams]);
    compute(chunk_of(i), streams[i % kStreams]);
    copy_out(chunk_of(i), streams[i % kStreams]);
  }
  for (int s = 1; s < kStreams; ++s) {
    CHECK(cudaEventRecord(joined[s], streams[s]));
    CHECK(cudaStreamWaitEvent(streams[0], joined[s], 0));
  }
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(streams[0], &graph));
  CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
)",
     "  CHECK(cudaGraphLaunch(executable, streams[0]));\n"},
};

constexpr char kProgram[] = R"(// Written by `scanlab advise --emit cuda`, which recommends for @device@:
// @advice@
//
//     nvcc -std=c++17 -O3 @file@ -o pipeline && ./pipeline
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

constexpr std::size_t kIn = @in@, kOut = @out@;  // floats, to the device and back
constexpr int kChunks = @chunks@, kStreams = @streams@@buffers@;

void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check((call), __LINE__)

// PUT YOUR WORK in place of this: output item i of a chunk, which has its part of the input and of the output.
__host__ __device__ float output_item(const float* in, std::size_t in_items, std::size_t i) {
  return in_items == 0 ? 1 : 2 * in[i % in_items];
}
__global__ void kernel(const float* in, std::size_t in_items, float* out, std::size_t out_items) {
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < out_items; i += std::size_t{gridDim.x} * blockDim.x) out[i] = output_item(in, in_items, i);
}

float *host_in, *host_out, *device_in, *device_out;  // the host's are pinned: it goes on while the device copies
cudaStream_t streams[kStreams];
@state@
struct Chunk {
  float *host_in, *device_in; std::size_t in_items;
  float *device_out, *host_out; std::size_t out_items;
};
Chunk chunk_of(int i, int chunks = kChunks) {
  const std::size_t in = kIn * i / chunks, out = kOut * i / chunks;
  return {host_in + in, device_in + @device_in@, kIn * (i + 1) / chunks - in,
          device_out + @device_out@, host_out + out, kOut * (i + 1) / chunks - out};
}
void copy_in(const Chunk& c, cudaStream_t stream) {
  CHECK(cudaMemcpyAsync(c.device_in, c.host_in, c.in_items * sizeof(float), cudaMemcpyHostToDevice, stream));
}
void compute(const Chunk& c, cudaStream_t stream) {
  const std::size_t blocks = std::min<std::size_t>(65535, (c.out_items + 255) / 256);
  if (blocks > 0) kernel<<<unsigned(blocks), 256, 0, stream>>>(c.device_in, c.in_items, c.device_out, c.out_items);
  CHECK(cudaGetLastError());
}
void copy_out(const Chunk& c, cudaStream_t stream) {
  CHECK(cudaMemcpyAsync(c.host_out, c.device_out, c.out_items * sizeof(float), cudaMemcpyDeviceToHost, stream));
}

// Without streams: the host waits in both copies.
void step_by_step(const Chunk& c) {
  CHECK(cudaMemcpy(c.device_in, c.host_in, c.in_items * sizeof(float), cudaMemcpyHostToDevice));
  compute(c, cudaStreamLegacy);
  CHECK(cudaMemcpy(c.host_out, c.device_out, c.out_items * sizeof(float), cudaMemcpyDeviceToHost));
}

// @schedule@: @idea@
void pipeline() {
@issue@}

// The median of seven runs in milliseconds, behind one that is not counted. A wrong result ends the program.
double timed(const char* name, void (*run)(), int chunks) {
  double times[8];
  for (double& time : times) {
    std::fill_n(host_out, kOut, -1.0f);  // nothing that a run before left can be taken for a result of this one
    CHECK(cudaMemset(device_in, 0xff, (kIn + 2) * sizeof(float)));
    CHECK(cudaMemset(device_out, 0xff, (kOut + 2) * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    run();
    CHECK(cudaDeviceSynchronize());
    time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    for (int i = 0; i < chunks; ++i) {
      const Chunk c = chunk_of(i, chunks);
      for (std::size_t j = 0; j < c.out_items; ++j) {
        if (c.host_out[j] == output_item(c.host_in, c.in_items, j)) continue;
        std::printf("%s: WRONG at output item %zu of chunk %d\n", name, j, i);
        std::exit(1);
      }
    }
  }
  std::sort(times + 1, times + 8);
  std::printf("%-16s %10.3f ms, right\n", name, times[4]);
  return times[4];
}

int main() {
  CHECK(cudaMallocHost(&host_in, (kIn + 2) * sizeof(float)));  // never empty, and chunks in turn may be rounded up
  CHECK(cudaMallocHost(&host_out, (kOut + 2) * sizeof(float)));
  CHECK(cudaMalloc(&device_in, (kIn + 2) * sizeof(float)));
  CHECK(cudaMalloc(&device_out, (kOut + 2) * sizeof(float)));
  for (std::size_t i = 0; i < kIn + 2; ++i) host_in[i] = float(i % 16777216);
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
@make@  const double without = timed("without streams", [] { step_by_step(chunk_of(0, 1)); }, 1);
  const double with = timed("@schedule@", pipeline, kChunks);
  std::printf("%.2f times as fast; %.2f was predicted\n", without / with, @gain@);
}
)";

/// What was predicted, as comments.
std::string commented(const Advice& advice, const DeviceProfile& device) {
  const ScheduleChoice& advised = advice.advised();
  const std::string predicted = fmt::format("{}: {:.3f} ms predicted, {:.3f} ms one after another", describe(advised),
                                            1e3 * advised.seconds, 1e3 * advice.serial.seconds);
  const std::string kernel =
      fmt::format("\n// The kernel of the whole problem counted {:.3f} ms; what stands for it here takes less or more.",
                  1e3 * advice.parts.kernel);
  if (advice.worth_it()) return predicted + kernel;
  return fmt::format("{}.\n// Chunks in streams are not worth it:\n// {}{}", predicted, limit_of(advice, device),
                     kernel);
}

}  // namespace

std::string program_refusal(const streams::Job& job, CopiedBytes bytes) {
  const streams::WorkloadDescription& workload = job.workload->about;
  if (workload.ordered)
    return fmt::format("there is no form of {}, which hands a carry from chunk to chunk", workload.id);
  return bytes.out > 0 ? "" : "a program verifies what it copies out, and of this problem nothing is copied out";
}

std::string cuda_program(const Advice& advice, const DeviceProfile& device, CopiedBytes bytes,
                         const std::string& file) {
  const ScheduleChoice& advised = advice.advised();
  const std::string& schedule = advised.schedule->about.id;
  const auto* const form = std::ranges::find(kForms, schedule, &Form::schedule);
  if (form == std::end(kForms)) {
    std::vector<std::string_view> known;
    for (const Form& each : kForms) known.emplace_back(each.schedule);
    throw CommandError(kBadInput, fmt::format("{} is advised, which has no form in CUDA here; there are {}", schedule,
                                              fmt::join(known, ", ")));
  }
  const auto floats = [](std::int64_t of) { return (of + 3) / 4; };
  const bool in_turn = schedule == "double_buffered";
  const std::vector<std::pair<std::string_view, std::string>> places{
      {"@device@", device.name},
      {"@advice@", commented(advice, device)},
      {"@file@", file},
      {"@in@", fmt::to_string(floats(bytes.in))},
      {"@out@", fmt::to_string(floats(bytes.out))},
      {"@chunks@", fmt::to_string(advised.chunks)},
      {"@streams@", fmt::to_string(advised.streams)},
      {"@buffers@", in_turn ? ", kBuffers = 2" : ""},
      {"@state@", form->state},
      {"@device_in@", in_turn ? "i % kBuffers * (kIn / chunks + 1)" : "in"},
      {"@device_out@", in_turn ? "i % kBuffers * (kOut / chunks + 1)" : "out"},
      {"@idea@", form->idea},
      {"@issue@", form->issue},
      {"@make@", form->make},
      {"@schedule@", schedule},
      {"@gain@", fmt::format("{:.2f}", advice.serial.seconds / advised.seconds)}};
  std::string program = kProgram;
  for (const auto& [place, text] : places) boost::replace_all(program, place, text);
  return program;
}

}  // namespace scanlab::simulator
