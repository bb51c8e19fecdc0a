// What is computed between the copies: a workload, in words and numbers.
#pragma once

#include <cstddef>
#include <string>

#include "harness/model/element.hpp"
#include "harness/model/registry.hpp"

namespace scanlab::streams {

/// What a workload says of itself. Every workload reads `inputs` arrays and writes one output, all of n items of one
/// type; on the device the output has memory of its own.
struct WorkloadDescription {
  std::string id;  ///< the file's name
  std::string title;
  std::string source;
  ElementType type = ElementType::f32;
  int inputs = 1;
  /// Whether the kernel of chunk i must come before that of chunk i + 1, to which it leaves a carry.
  bool ordered = false;
  std::string work;  ///< what `work` an item means, e.g. "multiplications"

  std::size_t item_bytes() const { return scanlab::item_bytes(type, Operator::plus); }
};

struct Workload {
  static constexpr const char* kNoun = "workload";

  WorkloadDescription about;
};

using WorkloadRegistry = RegistryOf<Workload>;

/// Static object that registers a workload before main: the last line of a workload's file.
struct WorkloadRegistration {
  explicit WorkloadRegistration(Workload workload) { WorkloadRegistry::instance().add(std::move(workload)); }
};

}  // namespace scanlab::streams
