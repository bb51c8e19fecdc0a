// Features of CUDA that came after the lectures on streams, each timed beside what programs do without it. No CUDA
// types here.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "harness/features/program.hpp"

namespace scanlab::features {

inline constexpr char kSchema[] = "scanlab-features/1";

/// One way to do the work of a case, timed.
struct Case {
  std::string feature;
  std::string way;                          ///< what programs do without the feature, or with it, or a bound
  double at = 0;                            ///< the feature's parameter
  std::vector<double> seconds;              ///< one a repetition
  std::optional<double> predicted_seconds;  ///< by the engine model; none where it lacks what the way needs
};

/// Takes the times of one feature. Each way is run once before, untimed.
class Bench {
 public:
  /// profile: of this device, for predictions; may be absent.
  Bench(std::string feature, int repetitions, const simulator::DeviceProfile* profile)
      : feature_(std::move(feature)), repetitions_(repetitions), profile_(profile) {}

  /// Times `issue` by the host's clock until the device is done. `program`: the same work for the engine model.
  void time(const std::string& way, double at, const std::function<void()>& issue, const Program* program = nullptr);
  /// Takes the seconds that `once` returns. `predict`: what the engine model says of them.
  void take(const std::string& way, double at, const std::function<double()>& once,
            const std::function<double(const simulator::DeviceProfile&)>& predict = {});

  const std::vector<Case>& cases() const { return cases_; }

 private:
  std::string feature_;
  int repetitions_;
  const simulator::DeviceProfile* profile_;
  std::vector<Case> cases_;
};

/// A feature's description.
struct FeatureDescription {
  std::string id;
  std::string title;
  std::string times;      ///< what is timed
  std::string parameter;  ///< the horizontal axis, with its unit
  std::string source;
  std::string model;  ///< how the engine model treats it
};

struct Feature {
  FeatureDescription about;
  /// Returns what this device, driver or build lacks, in a sentence; empty if it has everything.
  std::string (*lacks)();
  /// Throws CudaError; std::runtime_error for a wrong result.
  void (*measure)(Bench& bench);
};

/// Those of this build: none without CUDA.
std::vector<Feature> features();

/// A feature with its cases, or with why there are none.
struct Measured {
  FeatureDescription about;
  std::string lacks;
  std::vector<Case> cases;
};

/// Throws as Feature::measure does.
Measured measure(const Feature& feature, int repetitions, const simulator::DeviceProfile* profile);

nlohmann::ordered_json to_json(const std::vector<Measured>& all);

/// A table per feature: a line per value of its parameter, a column per way, with the model's prediction behind.
void print(const Measured& measured, std::ostream& out);

}  // namespace scanlab::features
