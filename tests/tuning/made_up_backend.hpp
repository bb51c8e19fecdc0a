// A machine for the tuner that makes its times up, so that no device is needed.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/host/interrupt.hpp"
#include "harness/measure/scan_backend.hpp"

namespace scanlab {

/// Makes up times, and notes what it was asked for.
class MadeUpBackend : public measure::ScanBackend {
 public:
  explicit MadeUpBackend(std::function<double(const measure::TimedCase&)> seconds) : seconds_(std::move(seconds)) {}
  verify::Outcome verify(const measure::TimedCase& timed) override {
    if (timed.about().id == wrong) return {.status = verify::Outcome::Status::failed, .message = "wrong"};
    verified.insert({timed.about().id, timed.problem().items});
    return {};
  }
  measure::Sample time(const measure::TimedCase& timed, std::int64_t) override {
    EXPECT_TRUE(verified.contains({timed.about().id, timed.problem().items})) << timed.name;
    timed_sizes[timed.about().id].insert(timed.problem().items);
    return {.seconds = seconds_(timed)};
  }
  verify::Outcome verify_last_run(const measure::TimedCase&) override { return {}; }
  void run_once(const measure::TimedCase&) override {}

  std::string wrong;
  std::set<std::pair<std::string, std::int64_t>> verified;
  std::map<std::string, std::set<std::int64_t>> timed_sizes;

 private:
  InterruptGuard guard_;  // forgets a Ctrl-C of an earlier test
  std::function<double(const measure::TimedCase&)> seconds_;
};

}  // namespace scanlab
