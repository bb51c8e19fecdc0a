#include "harness/simulator/scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/schedule/facts.hpp"
#include "harness/schedule/issuer.hpp"
#include "harness/timeline/trace_events.hpp"

namespace scanlab::simulator {

using Json = nlohmann::ordered_json;

namespace {

using streams::Chunk;
using streams::Issuer;
using streams::Recording;
using streams::Stream;

constexpr double kUnit = 1e-3;  // seconds

constexpr char kHarris[] =
    "Markidis, Optimizing Host-Device Data Communication III; Harris, How to Overlap Data Transfers in CUDA C/C++, "
    "2012";
constexpr char kWorth[] =
    "When are they worth using? (Когда их стоит использовать?), part 7 of a lecture on cudaStream";
constexpr char kTutorial[] = "CUDA Programming Series, Tutorial 08: Streams & Async Execution";
constexpr char kCourse[] = "Considerations for Copy/Compute Overlap, a notebook of NVIDIA's course C-AC-04";

// ---- devices

/// "with so many multiprocessors": how the caller will change it.
DeviceProfile didactic(const char* how = nullptr) {
  DeviceProfile device = device_profile("didactic");
  if (how != nullptr) device.title = std::string("the didactic machine ") + how;
  return device;
}

DeviceProfile three_multiprocessors() {
  DeviceProfile device = didactic("with 3 multiprocessors");
  device.multiprocessors = 3;
  return device;
}

DeviceProfile four_times_the_multiprocessors() {
  DeviceProfile device = didactic("with 24 multiprocessors");
  device.multiprocessors = 24;
  return device;
}

DeviceProfile no_concurrent_kernels() {
  DeviceProfile device = didactic("without concurrent kernels");
  device.resident_grids = 1;
  return device;
}

DeviceProfile one_copy_engine() {
  DeviceProfile device = didactic("with one copy engine for both ways, and one hardware queue");
  device.copy_engines = {{true, true}};
  device.hardware_queues = 1;
  return device;
}

DeviceProfile single_queue() {
  DeviceProfile device = didactic("with one hardware queue and the rule of compute capability 2.0 to 3.0");
  device.hardware_queues = 1;
  device.waits_for_started_launches = true;
  return device;
}

// ---- schedules

/// `blocks` of each kernel; 0: a thread an item.
Recording recorded(const char* schedule, int chunks, int streams, int blocks, std::int64_t items = 1200) {
  return record(*streams::ScheduleRegistry::instance().find(schedule),
                {.workload = streams::WorkloadRegistry::instance().find("scale"),
                 .items = items,
                 .chunks = chunks,
                 .streams = streams,
                 .blocks = blocks});
}

Recording empty(std::int64_t items, int blocks) {
  return {.job = {.workload = streams::WorkloadRegistry::instance().find("scale"), .items = items, .blocks = blocks}};
}

/// Kernels alone, in these streams one after another; "s0" is the first created stream, "null" the legacy default
/// stream, "thread" the per-thread default stream.
Recording kernels(std::initializer_list<std::string_view> order, int blocks,
                  streams::StreamKind created = streams::StreamKind::blocking) {
  Recording recording = empty(1, blocks);
  recording.buffer_items = 1;
  Issuer issuer(recording);
  const std::vector<Stream> streams = issuer.create_streams(4, created);
  for (const std::string_view stream : order) {
    issuer.side_kernel(stream == "null"     ? streams::kLegacyDefault
                       : stream == "thread" ? streams::kPerThreadDefault
                                            : streams.at(static_cast<std::size_t>(stream.back() - '0')));
  }
  return recording;
}

/// As the course cuts them: chunks of the rounded-up quotient, one a stream, and what is left for the last.
Recording rounded_up(std::int64_t items, int streams) {
  Recording recording = empty(items, 6);
  Issuer issuer(recording);
  const std::int64_t size = (items + streams - 1) / streams;
  const std::vector<Stream> created = issuer.create_streams(streams);
  for (int i = 0; i < streams; ++i) {
    const std::int64_t first = size * i;
    const Chunk chunk{.index = i, .first = first, .items = std::min(size, items - first), .buffer = i};
    const Stream stream = created[static_cast<std::size_t>(i)];
    issuer.copy_in(chunk, stream);
    issuer.compute(chunk, stream);
    issuer.copy_out(chunk, stream);
  }
  return recording;
}

// ---- the pictures

/// Copies in, kernels and copies out, each for all items, in units; of kernels alone, each kernel.
struct Units {
  double in, kernel, out;
};

struct Picture {
  std::string id, title, fact;
  DeviceProfile device;
  Recording recording;
  Units units;
};

void add(std::vector<Scene>& all, const char* source, const char* unit, std::vector<Picture> pictures) {
  for (Picture& picture : pictures) {
    const Problem problem{.copy_in = picture.units.in * kUnit,
                          .kernel = picture.units.kernel * kUnit,
                          .copy_out = picture.units.out * kUnit};
    Scene scene{.id = picture.id,
                .title = picture.title,
                .source = source,
                .fact = picture.fact,
                .unit = unit,
                .device = std::move(picture.device),
                .recording = std::move(picture.recording),
                .costs = {}};
    scene.costs = costs(scene.recording, scene.device, problem);
    all.push_back(std::move(scene));
  }
}

/// 16 MiB in four streams, in thirds of the time that the sequential version took.
std::vector<Picture> generation(const std::string& device, const std::string& title, double sequential_ms,
                                const char* depth_first, const char* breadth_first) {
  constexpr std::int64_t kItems = 1 << 22;
  const DeviceProfile profile = device_profile(device);
  const double third = sequential_ms / 3;
  const Units thirds{third, third, third};
  return {{device + "_sequential", title + ", sequential", "Copy in, kernel and copy out take turns.", profile,
           recorded("serial_pinned", 1, 1, 0, kItems), thirds},
          {device + "_depth_first", title + ", depth-first", depth_first, profile,
           recorded("depth_first", 4, 4, 0, kItems), thirds},
          {device + "_breadth_first", title + ", breadth-first", breadth_first, profile,
           recorded("breadth_first", 4, 4, 0, kItems), thirds}};
}

void add_generations(std::vector<Scene>& all) {
  add(all, kHarris, "ms",
      generation(
          "c1060", "C1060", 12.92381,
          "One copy engine takes copies in the order of issue, and the copy in of a chunk stands behind the copy "
          "out of the one before, which waits for its kernel: nothing overlaps.",
          "All copies in come first, and kernels run beside them: a third of the time is saved."));
  add(all, kHarris, "ms",
      generation(
          "c2050", "C2050", 9.984512,
          "With a copy engine each way, copies both ways and kernels overlap: half of the time is saved.",
          "The first copy out waits until all blocks of the last kernel have started: only a quarter is saved."));
  add(all, kHarris, "ms",
      generation("k20c", "K20c", 7.101760, "With a hardware queue a stream, half of the time is saved.",
                 "With a hardware queue a stream, the order of issue no longer matters."));
}

void add_worth(std::vector<Scene>& all) {
  constexpr Units kEven{4, 4, 4};
  constexpr Units kSmallCopies{1, 10, 1};
  constexpr Units kTwo{0, 2, 0};
  constexpr Units kOne{0, 1, 0};
  add(all, kWorth, "units",
      {{"ideal_whole", "ideal case, whole", "Copies take as long as the kernel, one after another.", didactic(),
        recorded("serial_pinned", 1, 1, 24), kEven},
       {"ideal_two_streams", "ideal case, 2 streams", "In two streams a third of the time is saved.", didactic(),
        recorded("depth_first", 2, 2, 12), kEven},
       {"ideal_four_streams", "ideal case, 4 streams",
        "In four streams it is half: copies both ways and kernels run at the same time.", didactic(),
        recorded("depth_first", 4, 4, 6), kEven},
       {"small_copies_whole", "small copies, whole", "Where copies are small, the kernel takes most of the time.",
        didactic(), recorded("serial_pinned", 1, 1, 24), kSmallCopies},
       {"small_copies_hoped", "small copies, hoped for",
        "To run the kernels of four chunks side by side takes four times the multiprocessors.",
        four_times_the_multiprocessors(), recorded("depth_first", 4, 4, 6), kSmallCopies},
       {"small_copies_streams", "small copies, 4 streams",
        "On the same device they take together what the whole kernel takes: streams save no more than the copies.",
        didactic(), recorded("depth_first", 4, 4, 6), kSmallCopies},
       {"tails_one_stream", "tails, one stream",
        "Four blocks on three multiprocessors leave a tail, and the next kernel of the stream waits for its end.",
        three_multiprocessors(), kernels({"s0", "s0"}, 4), kTwo},
       {"tails_two_streams", "tails, two streams",
        "A kernel of another stream fills the tail: the two overlap at their border, and only there.",
        three_multiprocessors(), kernels({"s0", "s1"}, 4), kTwo},
       {"tails_one_grid",
        "tails, one grid",
        "A single grid of all eight blocks takes as long as two streams.",
        three_multiprocessors(),
        kernels({"s0"}, 8),
        {0, 3, 0}},
       {"small_grids_one_stream", "small grids, one stream",
        "Grids of three blocks leave half of six multiprocessors idle.", didactic(),
        kernels({"s0", "s0", "s0", "s0"}, 3), kOne},
       {"small_grids_four_streams", "small grids, 4 streams",
        "In streams of their own two run at a time: half of the time is saved, without any copy.", didactic(),
        kernels({"s0", "s1", "s2", "s3"}, 3), kOne},
       {"small_grids_no_concurrency", "small grids, old device", "A device without concurrent kernels saves nothing.",
        no_concurrent_kernels(), kernels({"s0", "s1", "s2", "s3"}, 3), kOne}});
}

void add_order(std::vector<Scene>& all) {
  constexpr Units kTasks{3, 3, 3};
  constexpr Units kSmallGrids{3, 9, 3};
  constexpr Units kLargeGrids{3, 6, 6};
  add(all, kWorth, "units",
      {{"one_way_expected", "three tasks, expected", "With a copy engine each way all three steps overlap.", didactic(),
        recorded("depth_first", 3, 3, 6), kTasks},
       {"one_way_real", "one copy engine",
        "With one copy engine, a copy out that waits for its kernel stands before the next task's copy in: nothing "
        "overlaps.",
        one_copy_engine(), recorded("depth_first", 3, 3, 6), kTasks},
       {"one_way_reordered", "one copy engine, reordered",
        "With the next task's copy in and kernel issued before that copy out, the copy engine never stops.",
        one_copy_engine(), recorded("skewed", 3, 3, 6), kTasks},
       {"small_grids_expected", "small grids, expected",
        "Small grids in three streams should run side by side, each as soon as its copy is in.", didactic(),
        recorded("depth_first", 3, 3, 2), kSmallGrids},
       {"small_grids_real", "small grids, one queue",
        "With one hardware queue a copy out that waits for its kernel holds back all later kernels: none overlap.",
        single_queue(), recorded("depth_first", 3, 3, 2), kSmallGrids},
       {"small_grids_reordered", "small grids, reordered",
        "With each copy out issued behind the next task's kernel, two kernels overlap again.", single_queue(),
        recorded("skewed", 3, 3, 2), kSmallGrids},
       {"large_grids_expected", "large grids, expected", "A copy out should begin when its kernel is done.", didactic(),
        recorded("skewed", 3, 3, 12), kLargeGrids},
       {"large_grids_real", "large grids, one queue",
        "With one hardware queue it also waits until every block of the kernel issued before it has started.",
        single_queue(), recorded("skewed", 3, 3, 12), kLargeGrids},
       {"large_grids_reordered", "large grids, reordered",
        "Issued task after task, large grids lose nothing: they would not overlap anyway.", single_queue(),
        recorded("depth_first", 3, 3, 12), kLargeGrids}});
}

void add_default_stream(std::vector<Scene>& all) {
  constexpr Units kTwoChunks{2, 2, 2};
  constexpr Units kFourChunks{4, 4, 4};
  constexpr Units kOne{0, 1, 0};
  add(all, kTutorial, "units",
      {{"default_stream", "default stream", "In the default stream two chunks take six turns.", didactic(),
        recorded("serial_pinned", 2, 1, 6), kTwoChunks},
       {"two_streams", "two streams", "In two streams the copy in of one chunk runs beside the kernel of the other.",
        didactic(), recorded("depth_first", 2, 2, 6), kTwoChunks},
       {"four_chunk_pipeline", "four chunks, four streams",
        "Four chunks in four streams keep all three engines busy at once, for six units instead of twelve.", didactic(),
        recorded("depth_first", 4, 4, 6), kFourChunks},
       {"null_stream_legacy", "legacy default stream",
        "A kernel in the legacy default stream, issued between two of a created stream, parts them: three turns.",
        didactic(), kernels({"s0", "null", "s0"}, 3), kOne},
       {"null_stream_per_thread", "per-thread default stream",
        "In the per-thread default stream it runs beside the first.", didactic(), kernels({"s0", "thread", "s0"}, 3),
        kOne},
       {"null_stream_non_blocking", "non-blocking stream",
        "So it does in the legacy default stream, if the created stream is a non-blocking one.", didactic(),
        kernels({"s0", "null", "s0"}, 3, streams::StreamKind::non_blocking), kOne}});
}

void add_chunks(std::vector<Scene>& all) {
  constexpr Units kTen{10, 10, 10};
  add(all, kCourse, "units",
      {{"even_chunks", "10 items in 2 streams", "Ten items in two streams are two chunks of five.", didactic(),
        rounded_up(10, 2), kTen},
       {"uneven_chunks", "10 items in 3 streams",
        "In three streams, chunks of the rounded-up quotient, four, leave two items for the last.", didactic(),
        rounded_up(10, 3), kTen}});
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = [] {
    std::vector<Scene> pictures;
    add_generations(pictures);
    add_worth(pictures);
    add_order(pictures);
    add_default_stream(pictures);
    add_chunks(pictures);
    return pictures;
  }();
  return all;
}

Simulation simulate(const Scene& scene) { return simulate(scene.recording, scene.device, scene.costs); }

bool Scene::shows_blocks() const {
  return std::ranges::none_of(recording.operations,
                              [](const auto& operation) { return engine_of(operation) != streams::Engine::compute; });
}

std::vector<PlacedBlock> place_blocks(const Scene& scene, const Simulation& simulation) {
  std::vector<const streams::Span*> kernels;
  for (const streams::Span& span : simulation.timeline.spans) {
    if (scene.costs.operations[span.operation].blocks > 0) kernels.push_back(&span);
  }
  std::ranges::stable_sort(kernels, {}, [](const streams::Span* span) { return span->when.start; });
  std::vector<double> free_from(static_cast<std::size_t>(scene.device.slots(scene.costs.threads_per_block)));
  std::vector<PlacedBlock> blocks;
  for (const streams::Span* kernel : kernels) {
    const Cost& cost = scene.costs.operations[kernel->operation];
    for (std::int64_t i = 0; i < cost.blocks; ++i) {
      const auto start_at = [&](double free) { return std::max(free, kernel->when.start); };
      const auto first = std::ranges::min_element(free_from, {}, start_at);
      const double start = start_at(*first);
      *first = start + cost.block_seconds;
      blocks.push_back({kernel->operation, static_cast<std::size_t>(first - free_from.begin()), {start, *first}});
    }
  }
  return blocks;
}

namespace {

/// One more process of a trace: a lane a multiprocessor, an event a block.
void add_blocks(const Scene& scene, const Simulation& simulation, Json& events) {
  constexpr int kProcess = 4;
  const auto metadata = [&](const char* what, std::size_t lane, const std::string& name) {
    events.push_back({{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", lane}, {"args", {{"name", name}}}});
  };
  metadata("process_name", 0, "multiprocessors");
  events.back()["args"]["kind"] = "multiprocessors";
  for (int i = 0; i < scene.device.multiprocessors; ++i) {
    metadata("thread_name", static_cast<std::size_t>(i) + 1, fmt::format("SM {}", i));
  }
  for (const PlacedBlock& block : place_blocks(scene, simulation)) {
    const streams::Operation& kernel = scene.recording.operations[block.operation];
    events.push_back({{"name", describe(kernel)},
                      {"cat", name(streams::Engine::compute)},
                      {"ph", "X"},
                      {"pid", kProcess},
                      {"tid", block.slot + 1},
                      {"ts", 1e6 * block.when.start},
                      {"dur", 1e6 * block.when.seconds()},
                      {"args", streams::facts_of(scene.recording, block.operation)}});
  }
}

}  // namespace

Json trace_of(const Scene& scene, const Simulation& simulation, Json facts) {
  facts["scene"] = scene.id;
  facts["title"] = scene.title;
  facts["fact"] = scene.fact;
  facts["source"] = scene.source;
  facts["machine"] = scene.device.title;
  facts["unit"] = scene.unit;
  facts["makespan_us"] = 1e6 * simulation.timeline.makespan();
  if (scene.shows_blocks()) facts["multiprocessors"] = scene.device.multiprocessors;
  Json trace = streams::trace_events(simulation.timeline, facts);
  if (scene.shows_blocks()) add_blocks(scene, simulation, trace["traceEvents"]);
  return trace;
}

}  // namespace scanlab::simulator
