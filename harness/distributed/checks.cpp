#include "harness/distributed/checks.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/host/interrupt.hpp"
#include "harness/verify/checks.hpp"

namespace scanlab::distributed {

using Json = nlohmann::ordered_json;

namespace {

std::string text(const Json& line) { return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::vector<std::int64_t> default_items(int ranks) {
  std::vector<std::int64_t> all{0, 1, 2, 3, 33, 1000, 4097};
  for (const std::int64_t per_rank : {std::int64_t{1} << 14, std::int64_t{1} << 18, (std::int64_t{1} << 21) + 4321}) {
    all.push_back(per_rank * ranks - 1);
    all.push_back(per_rank * ranks + 7);
  }
  return all;
}

std::string capture_refusal(const Algorithm& algorithm) {
  if (!algorithm.on_gpus) return algorithm.about.id + " runs in the hosts' memory, so no CUDA graph can replay it";
  if (algorithm.waits) return algorithm.about.id + " waits for the device within a run, so no CUDA graph can replay it";
  return {};
}

void Checks::open(const std::string& path, bool replace, const measure::Facts& context) {
  file_.emplace(path, replace, "", std::chrono::seconds(1));
  file_->begin(text({{"schema", verify::kVerificationSchema}, {"context", context}}));
}

void Checks::add(const DistributedCase& each, InputKind input) {
  using State = measure::Timing::State;
  ++(each.verified ? passed_ : each.state == State::skipped ? skipped_ : failed_);
  Json line{{"check", "verify"},
            {"variant", each.algorithm->about.id},
            {"type", name(each.problem.type)},
            {"op", name(each.problem.op)},
            {"mode", name(each.problem.mode)},
            {"items", each.problem.items},
            {"settings", Json(each.problem.settings)},
            {"input", name(input)},
            {"aliasing", "apart"},
            {"outcome", each.verified                  ? "passed"
                        : each.state == State::skipped ? "skipped"
                                                       : "failed"},
            {"reason", each.reason}};
  if (each.state == State::skipped) line["out_of_memory"] = each.out_of_memory;
  keep(line);
}

void Checks::end() {
  keep({{"ended", {{"passed", passed_}, {"failed", failed_}, {"skipped", skipped_}, {"interrupted", interrupted()}}}});
}

void Checks::keep(const Json& line) {
  if (file_) file_->append(text(line));
}

}  // namespace scanlab::distributed
