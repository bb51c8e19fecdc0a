// symptoms NAME slow|fast [--instance K] [--scale X] [--repetitions N]: runs one form of a symptom, prints its median
// milliseconds, and verifies the result. `symptoms list` names all. Compile by `nvcc -std=c++20 -o symptoms *.cu`.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "symptom.cuh"

std::map<std::string, Symptom>& Registered::all() {
  static std::map<std::string, Symptom> symptoms;
  return symptoms;
}

void check(cudaError_t error, const std::source_location& where) {
  if (error == cudaSuccess) return;
  const std::string file = where.file_name();
  std::fprintf(stderr, "symptoms: %s (%s, line %u)\n", cudaGetErrorString(error),
               file.substr(file.find_last_of('/') + 1).c_str(), where.line());
  std::exit(2);
}

__global__ void advance(Item* items, std::size_t n, int steps) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
    items[i] = advanced(items[i], steps);
}

Item* device_items(std::size_t n) {
  Item* items = nullptr;
  check(cudaMalloc(&items, n * sizeof(Item)));
  check(cudaMemset(items, 0, n * sizeof(Item)));
  return items;
}

Item* pinned_items(std::size_t n) {
  Item* items = nullptr;
  check(cudaMallocHost(&items, n * sizeof(Item)));
  std::fill_n(items, n, Item{0});
  return items;
}

cudaStream_t new_stream(unsigned flags, int priority) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, flags, priority));
  return stream;
}

cudaEvent_t new_event(unsigned flags) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags));
  return event;
}

void wait_for(cudaStream_t from, cudaStream_t to) {
  static cudaEvent_t event = new_event();  // a wait is for its last record: it can be recorded again at once
  check(cudaEventRecord(event, from));
  check(cudaStreamWaitEvent(to, event));
}

cudaGraphExec_t captured(cudaStream_t stream, const std::function<void()>& issue) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  issue();
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  return executable;
}

/// Multiples of an irrational number, but for their whole part, are spread evenly: so are the instances of each number.
int Run::number(int from, int to) {
  constexpr double kPrimes[] = {2, 3, 5, 7, 11, 13};
  const double part = std::fmod((instance_ + 0.5) * std::sqrt(kPrimes[numbers_++]), 1.0);
  return from + static_cast<int>(part * (to - from + 1));
}

int Run::size(int from, int to) { return std::max(1, static_cast<int>(scale_ * number(from, to))); }

double Run::once(const std::function<void()>& issue) {
  const auto begin = std::chrono::steady_clock::now();
  issue();
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  ++runs_;
  return measured_ ? measured_() : wall.count();
}

void Run::time(const std::function<void()>& issue) {
  once(issue);
  time_first_use(issue);
}

void Run::time_first_use(const std::function<void()>& issue) {
  constexpr std::size_t kItems = 1 << 20;
  advance<<<1024, 256>>>(device_items(kItems), kItems, 1 << 18);  // some milliseconds: clocks rise
  check(cudaDeviceSynchronize());
  check(cudaProfilerStart());
  for (int i = 0; i < repetitions; ++i) milliseconds_.push_back(once(issue));
  check(cudaProfilerStop());
}

void Run::measure(std::function<double()> milliseconds, double bytes) {
  measured_ = std::move(milliseconds);
  bytes_ = bytes;
}

void Run::verify(const Item* items, std::size_t n, Item expected) {
  std::vector<Item> host(n);
  check(cudaMemcpy(host.data(), items, n * sizeof(Item), cudaMemcpyDefault));
  for (std::size_t i = 0; i < n && wrong_.empty(); ++i) {
    checksum_ = checksum_ * 31 + host[i];
    if (host[i] == expected) continue;
    wrong_ = "item " + std::to_string(i) + " is " + std::to_string(host[i]) + ", not " + std::to_string(expected);
  }
}

int Run::report(const std::string& name) const {
  const char* const form = slow ? "slow" : "fast";
  if (!wrong_.empty()) {
    std::fprintf(stderr, "symptoms: %s %s: the result is wrong: %s\n", name.c_str(), form, wrong_.c_str());
    return 1;
  }
  std::vector<double> sorted = milliseconds_;
  std::sort(sorted.begin(), sorted.end());
  const double median = (sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
  std::printf("%s %s, instance %d: %.4f ms, checksum %08x", name.c_str(), form, instance_, median, checksum_);
  if (bytes_ > 0) std::printf(", %.1f GB/s", bytes_ / median / 1e6);
  std::printf("\n");
  return 0;
}

namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  std::fprintf(stderr, "symptoms: %s\n", sentence.c_str());
  std::exit(2);
}

double number_of(const std::string& option, const std::string& text, double least, double most) {
  std::size_t end = 0;
  double value = least - 1;
  try {
    value = std::stod(text, &end);
  } catch (const std::logic_error&) {
  }
  if (end != text.size() || !(least <= value && value <= most)) {
    char range[64];
    std::snprintf(range, sizeof range, "a number from %g to %g", least, most);
    refuse(option + " takes " + range + ", not '" + text + "'");
  }
  return value;
}

void list() {
  std::printf("| name | symptom | cause | cure |\n|---|---|---|---|\n");
  for (const auto& [name, about] : Registered::all())
    std::printf("| `%s` | %s | %s | %s |\n", name.c_str(), about.symptom, about.cause, about.cure);
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments == std::vector<std::string>{"list"}) return list(), 0;
  if (arguments.size() < 2) refuse("give a name and slow or fast; 'symptoms list' names the symptoms");
  const auto symptom = Registered::all().find(arguments[0]);
  if (symptom == Registered::all().end())
    refuse("there is no symptom '" + arguments[0] + "'; 'symptoms list' names them");
  const std::string& form = arguments[1];
  if (form != "slow" && form != "fast") refuse("the form is slow or fast, not '" + form + "'");
  int instance = 0, repetitions = 5;
  double scale = 1;
  for (std::size_t i = 2; i < arguments.size(); i += 2) {
    const std::string& option = arguments[i];
    const std::string text = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (option == "--instance") {
      instance = static_cast<int>(number_of(option, text, 0, 1e6));
    } else if (option == "--scale") {
      scale = number_of(option, text, 0.01, 8);
    } else if (option == "--repetitions") {
      repetitions = static_cast<int>(number_of(option, text, 1, 1000));
    } else {
      refuse("there is no option '" + option + "': give --instance, --scale or --repetitions");
    }
  }
  Run run(form == "slow", instance, scale, repetitions);
  symptom->second.run(run);
  return run.report(symptom->first);
}
