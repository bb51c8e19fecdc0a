// Kernels as a source prints them, with what is wrong in them and how it is mended. The emulator runs them, so that the
// fault shows by file and line. They are no variants: nothing lists, verifies or times them as scans.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include "harness/core/registry.hpp"
#include "harness/simt/emulator.hpp"
#include "harness/simt/report.hpp"

namespace scanlab::simt {

/// A printed kernel: the exclusive sum of n floats by one block.
struct PrintedKernel {
  static constexpr const char* kNoun = "printed kernel";

  struct About {
    std::string id;  ///< the file's name
    std::string title;
    std::string source;
    std::optional<FaultKind> fault;  ///< its fault; nothing: it is right
    std::string remark;              ///< a sentence: what is wrong in the printed code, and how it is mended
  };
  About about;
  std::string (*refusal)(std::int64_t n) = nullptr;  ///< empty if the kernel takes n items; else why not
  void (*run)(Emulator& emulator, Span<float> out, Span<const float> in, int n) = nullptr;
};

using PrintedKernelRegistry = RegistryOf<PrintedKernel>;

/// Static object that registers a printed kernel before main: the last line of its file.
struct PrintedKernelRegistration {
  explicit PrintedKernelRegistration(PrintedKernel kernel) { PrintedKernelRegistry::instance().add(std::move(kernel)); }
};

/// The result of one run of a printed kernel on 1, 2, 3, …
struct PrintedRun {
  struct WrongItem {
    std::int64_t index = 0;
    std::optional<float> value;  ///< nothing: the kernel did not write it
    float right = 0;
  };
  const PrintedKernel* kernel = nullptr;
  std::int64_t items = 0;
  Report report;
  std::optional<WrongItem> first_wrong;

  /// Whether the emulator found the fault that the kernel's description names, or none where it names none.
  bool matches_description() const;
};

/// Runs the kernel, tracing, with its threads in a random order, in which a missing barrier shows. Throws CommandError
/// with the kernel's refusal.
PrintedRun run_printed(const PrintedKernel& kernel, std::int64_t items);

/// The steps, the first wrong item beside the right one, the faults, and what is wrong in the printed code.
void print(const PrintedRun& run, std::ostream& out);
/// Every printed kernel, a line each.
void print_printed_kernels(std::ostream& out);

}  // namespace scanlab::simt
