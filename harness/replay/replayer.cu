#include "harness/replay/replayer.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "harness/cuda/buffer.hpp"
#include "harness/cuda/graph.hpp"
#include "harness/cuda/pinned_memory.hpp"
#include "harness/cuda/stream.hpp"
#include "harness/host/parallel.hpp"

namespace scanlab::streams {

namespace {

using cuda::check;

/// Every byte of what is not there yet: a float of -6e32, an integer of -168430091. No workload gives it.
constexpr int kPoisonByte = 0xF5;

/// A kernel for chunks of one size, with the workspace that all of them share: a workload with a workspace is ordered,
/// so that no two of its kernels run at once.
struct ReadyKernel {
  ReadyKernel(const Workload& workload, std::int64_t items, const Job& job)
      : kernel(workload.bind(items, job.blocks, job.work)), workspace(kernel.workspace_bytes) {
    if (kernel.workspace_bytes > 0 && !workload.about.ordered)
      throw std::logic_error("the workload " + workload.about.id + " has a workspace, so its kernels must be ordered");
    if (kernel.prepare) kernel.prepare(workspace.data(), nullptr);
  }

  BoundKernel kernel;
  cuda::DeviceBuffer workspace;
};

/// The workload's own kernel, on as many items as the longest chunk has, in memory that one stream alone uses.
struct SideKernel {
  SideKernel(const Job& job, std::int64_t items) : ready(*job.workload, items, job) {
    const WorkloadDescription& about = job.workload->about;
    const auto array = [this](std::size_t bytes) {
      void* const data = arrays.emplace_back(bytes).data();
      check(cudaMemset(data, 0, bytes), "clearing memory");
      return data;
    };
    const std::size_t bytes = static_cast<std::size_t>(items) * about.item_bytes();
    for (int input = 0; input < about.inputs; ++input) memory.inputs[static_cast<std::size_t>(input)] = array(bytes);
    memory.output = array(bytes);
    memory.carry_in = array(about.item_bytes());
    memory.carry_out = array(about.item_bytes());
    memory.workspace = ready.workspace.data();
  }

  ReadyKernel ready;
  std::vector<cuda::DeviceBuffer> arrays;
  ChunkMemory memory;
};

/// One operation, with everything looked up.
struct Step {
  OperationKind kind{};
  bool synchronous = false;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
  const BoundKernel* kernel = nullptr;
  ChunkMemory memory;
  std::chrono::duration<double, std::micro> host_work{};
};

void issue(const Step& step) {
  switch (step.kind) {
    case OperationKind::copy_in:
    case OperationKind::copy_out: {
      const auto direction = step.kind == OperationKind::copy_in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
      check(step.synchronous ? cudaMemcpy(step.to, step.from, step.bytes, direction)
                             : cudaMemcpyAsync(step.to, step.from, step.bytes, direction, step.stream),
            "copying a chunk");
      break;
    }
    case OperationKind::kernel:
    case OperationKind::side_kernel:
      step.kernel->launch(step.memory, step.stream);
      break;
    case OperationKind::record_event:
      check(cudaEventRecord(step.event, step.stream), "recording an event");
      break;
    case OperationKind::wait_event:
      check(cudaStreamWaitEvent(step.stream, step.event, 0), "having a stream wait for an event");
      break;
    case OperationKind::host_work:
      spin_for(step.host_work);
      break;
    case OperationKind::synchronize_stream:
      check(cudaStreamSynchronize(step.stream), "waiting for a stream");
      break;
    case OperationKind::synchronize_event:
      check(cudaEventSynchronize(step.event), "waiting for an event");
      break;
    case OperationKind::synchronize_device:
      check(cudaDeviceSynchronize(), "waiting for the device");
      break;
  }
}

}  // namespace

// ------------------------------------------------------------------------------------------------ host arrays

HostArrays::HostArrays(const Job& job, std::uint64_t seed)
    : job_(job),
      data_(job.workload->data(seed, job.work)),
      bytes_(static_cast<std::size_t>(job.items) * job.workload->about.item_bytes()) {
  const WorkloadDescription& about = job.workload->about;
  for (int array = 0; array <= about.inputs; ++array) {
    arrays_.push_back(job.memory == HostMemory::pageable ? pageable_memory(bytes_) : cuda::pinned_memory(bytes_));
  }
  for (int array = 0; array < about.inputs; ++array) {
    fill_input(data_, about.item_bytes(), array, job.items, input(array));
  }
  poison_output();  // pageable memory: also the first touch of its pages
}

HostArrays& HostArrays::of(const Job& job, std::optional<HostArrays>& kept) {
  const auto made_from = [](const Job& each) { return std::tuple(each.workload, each.items, each.memory, each.work); };
  if (kept && made_from(kept->job_) == made_from(job)) return *kept;
  kept.reset();
  return kept.emplace(job, 1);
}

void HostArrays::poison_output() {
  constexpr std::int64_t kMinBytesPerThread = 1 << 20;
  parallel_ranges(static_cast<std::int64_t>(bytes_), kMinBytesPerThread, [this](std::int64_t begin, std::int64_t end) {
    fill_past_caches(static_cast<std::byte*>(output()) + begin, static_cast<std::size_t>(end - begin),
                     std::byte{kPoisonByte});
  });
}

std::string HostArrays::wrong() const {
  return wrong_output(data_, job_.workload->about.item_bytes(), job_.items, output());
}

// --------------------------------------------------------------------------------------------------- replayer

struct Replayer::Parts {
  Parts(const Recording& recorded, HostArrays& host);

  void* buffer(int array, int index) const;  ///< array: an input, or inputs for the output
  ChunkMemory memory_of(const Chunk& chunk);
  ReadyKernel& kernel_for(std::int64_t items);
  Step step(const Operation& operation);
  void issue_all() const {
    for (const Step& step : steps) issue(step);
  }
  void launch() const { graph ? graph->replay(created.front().get()) : issue_all(); }
  cudaStream_t stream_of(const Stream& stream) const {
    if (stream.kind == StreamKind::legacy_default) return cudaStreamLegacy;
    if (stream.kind == StreamKind::per_thread_default) return cudaStreamPerThread;
    return created.at(static_cast<std::size_t>(stream.index)).get();
  }
  std::vector<cudaStream_t> working_streams() const;

  const Recording& recording;
  HostArrays& arrays;
  const WorkloadDescription& about;
  std::size_t buffer_bytes;
  cuda::DeviceBuffer buffers;         ///< of the first input, the second, then of the output
  cuda::DeviceBuffer carry;           ///< chunks + 1 items
  std::vector<cuda::Stream> created;  ///< in the recording's order, on which the hardware work queue of each may depend
  std::vector<cuda::Event> events;    ///< that order and time nothing
  std::map<std::int64_t, ReadyKernel> kernels;  ///< by items: chunks have two sizes at most
  std::map<cudaStream_t, SideKernel> side_kernels;
  std::vector<Step> steps;
  std::optional<cuda::ReadyGraph> graph;
};

Replayer::Parts::Parts(const Recording& recorded, HostArrays& host)
    : recording(recorded),
      arrays(host),
      about(recorded.job.workload->about),
      buffer_bytes(static_cast<std::size_t>(
                       ceil_div(recorded.buffer_items * static_cast<std::int64_t>(about.item_bytes()), 256)) *
                   256),
      buffers(buffer_bytes * static_cast<std::size_t>(recorded.buffers) * static_cast<std::size_t>(about.inputs + 1)),
      carry(static_cast<std::size_t>(recorded.job.chunks + 1) * about.item_bytes()) {
  for (const Stream& stream : recorded.streams) {
    created.emplace_back(stream.kind == StreamKind::blocking ? cudaStreamDefault : cudaStreamNonBlocking);
  }
  for (int i = 0; i < recorded.events; ++i) events.emplace_back(cudaEventDisableTiming);
  for (const Operation& operation : recording.operations) steps.push_back(step(operation));
  check(cudaDeviceSynchronize(), "preparing kernels");
  if (!recorded.captured) return;
  issue_all();  // a kernel's first launch loads it, which a capture may not
  check(cudaDeviceSynchronize(), "running a schedule before its capture");
  graph.emplace(cuda::Graph(created.front().get(), [this] { issue_all(); }));
}

void* Replayer::Parts::buffer(int array, int index) const {
  return buffers.as<std::byte>() + buffer_bytes * static_cast<std::size_t>(array * recording.buffers + index);
}

ReadyKernel& Replayer::Parts::kernel_for(std::int64_t items) {
  return kernels.try_emplace(items, *recording.job.workload, items, recording.job).first->second;
}

ChunkMemory Replayer::Parts::memory_of(const Chunk& chunk) {
  ChunkMemory memory;
  for (int array = 0; array < about.inputs; ++array) {
    memory.inputs[static_cast<std::size_t>(array)] = buffer(array, chunk.buffer);
  }
  memory.output = buffer(about.inputs, chunk.buffer);
  memory.carry_in = carry.as<std::byte>() + static_cast<std::size_t>(chunk.index) * about.item_bytes();
  memory.carry_out = static_cast<std::byte*>(memory.carry_in) + about.item_bytes();
  memory.workspace = kernel_for(chunk.items).workspace.data();
  return memory;
}

Step Replayer::Parts::step(const Operation& operation) {
  Step step{.kind = operation.kind, .synchronous = operation.synchronous, .stream = stream_of(operation.stream)};
  if (!events.empty()) step.event = events.at(static_cast<std::size_t>(operation.event.index)).get();
  const auto in_host_array = [&](void* array) {
    return static_cast<std::byte*>(array) + static_cast<std::size_t>(operation.chunk.first) * about.item_bytes();
  };
  step.bytes = static_cast<std::size_t>(operation.chunk.items) * about.item_bytes();
  switch (operation.kind) {
    case OperationKind::copy_in:
      step.from = in_host_array(arrays.input(operation.array));
      step.to = buffer(operation.array, operation.chunk.buffer);
      break;
    case OperationKind::copy_out:
      step.from = buffer(about.inputs, operation.chunk.buffer);
      step.to = in_host_array(arrays.output());
      break;
    case OperationKind::kernel:
      step.kernel = &kernel_for(operation.chunk.items).kernel;
      step.memory = memory_of(operation.chunk);
      break;
    case OperationKind::side_kernel: {
      const std::int64_t items = std::max<std::int64_t>(recording.buffer_items, 1);
      SideKernel& side = side_kernels.try_emplace(step.stream, recording.job, items).first->second;
      step.kernel = &side.ready.kernel;
      step.memory = side.memory;
      break;
    }
    default:
      step.host_work = std::chrono::duration<double, std::micro>(operation.microseconds);
      break;
  }
  return step;
}

/// Streams that have work, in the order of issue; for a graph, the stream in which it is launched.
std::vector<cudaStream_t> Replayer::Parts::working_streams() const {
  if (graph) return {created.front().get()};
  std::vector<cudaStream_t> all;
  for (const Operation& operation : recording.operations) {
    const cudaStream_t stream = is_work(operation) ? stream_of(operation.stream) : nullptr;
    if (stream != nullptr && std::ranges::find(all, stream) == all.end()) all.push_back(stream);
  }
  return all;
}

Replayer::Replayer(const Recording& recording, HostArrays& arrays)
    : parts_(std::make_unique<Parts>(recording, arrays)) {}

Replayer::~Replayer() { cudaDeviceSynchronize(); }  // nothing may run when its memory goes

void Replayer::poison() {
  Parts& parts = *parts_;
  parts.arrays.poison_output();
  if (parts.buffers.bytes() > 0) {
    check(cudaMemset(parts.buffers.data(), kPoisonByte, parts.buffers.bytes()), "poisoning device memory");
  }
  // Poison, but for what the first chunk is given.
  check(cudaMemset(parts.carry.data(), kPoisonByte, parts.carry.bytes()), "poisoning device memory");
  check(cudaMemset(parts.carry.data(), 0, parts.about.item_bytes()), "clearing the carry");
  check(cudaDeviceSynchronize(), "poisoning device memory");
}

Replay Replayer::replay(bool stamp_issues) {
  Parts& parts = *parts_;
  const bool captured = parts.graph.has_value();
  Replay replay;
  if (stamp_issues) replay.issued.resize(parts.steps.size());
  check(cudaDeviceSynchronize(), "waiting for the device");

  replay.begin = Clock::now();
  if (stamp_issues && !captured) {
    for (std::size_t i = 0; i < parts.steps.size(); ++i) {
      replay.issued[i].begin = Clock::now();
      issue(parts.steps[i]);
      replay.issued[i].end = Clock::now();
    }
  } else {
    parts.launch();
  }
  const auto issued = Clock::now();
  check(cudaDeviceSynchronize(), "replaying a schedule");
  replay.end = Clock::now();
  if (captured) std::ranges::fill(replay.issued, Issued{replay.begin, issued});
  return replay;
}

double Replayer::replay_between_events() {
  const Parts& parts = *parts_;
  const std::vector<cudaStream_t> working = parts.working_streams();
  const cuda::Event start;
  const std::vector<cuda::Event> ends(working.size());
  check(cudaDeviceSynchronize(), "waiting for the device");
  // The device is idle: it has the start before what is issued next, in whatever stream.
  if (!working.empty()) start.record(working.front());
  parts.launch();
  for (std::size_t i = 0; i < working.size(); ++i) ends[i].record(working[i]);
  check(cudaDeviceSynchronize(), "replaying a schedule");
  double seconds = 0;
  for (const cuda::Event& end : ends) seconds = std::max(seconds, cuda::seconds_between(start, end));
  return seconds;
}

// ---------------------------------------------------------------------------------------- parts by themselves

double copy_seconds(const HostArrays& arrays, Direction direction, std::size_t bytes, bool both_ways) {
  const cuda::DeviceBuffer buffer(bytes);
  const cuda::DeviceBuffer other(both_ways ? bytes : 0);
  const cuda::Stream stream;
  const cuda::Stream other_way;
  const cuda::Event start;
  const cuda::Event end;
  const auto copy = [&](bool in, void* device, const cuda::Stream& within) {
    issue({.kind = in ? OperationKind::copy_in : OperationKind::copy_out,
           .stream = within.get(),
           .to = in ? device : arrays.output(),
           .from = in ? arrays.input(0) : device,
           .bytes = bytes});
  };
  const bool in = direction == Direction::in;
  copy(in, buffer.data(), stream);  // untimed
  stream.synchronize();
  // Issued first, and three times as long: it runs before the timed copy begins and after it has ended.
  for (int i = 0; both_ways && i < 3; ++i) copy(!in, other.data(), other_way);
  start.record(stream.get());
  copy(in, buffer.data(), stream);
  end.record(stream.get());
  end.synchronize();
  other_way.synchronize();
  return cuda::seconds_between(start, end);
}

double kernel_seconds(const Job& job) {
  const std::int64_t items = longest_chunk(job.items, job.chunks);
  if (items == 0) return 0;
  const SideKernel kernel(job, items);
  check(cudaDeviceSynchronize(), "preparing a kernel");
  const cuda::Stream stream;
  const cuda::Event start;
  const cuda::Event end;
  const auto run = [&](int times) {
    start.record(stream.get());
    for (int i = 0; i < times; ++i) kernel.ready.kernel.launch(kernel.memory, stream.get());
    end.record(stream.get());
    end.synchronize();
    return cuda::seconds_between(start, end) / times;
  };
  run(1);  // untimed: loads it
  constexpr double kSeconds = 10e-3;
  return run(static_cast<int>(std::clamp(kSeconds / std::max(run(2), 1e-6), 3.0, 1000.0)));
}

}  // namespace scanlab::streams
