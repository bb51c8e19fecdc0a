// The recording and the timeline of a program that Nsight Systems watched, from what `nsys export --type sqlite` wrote.
//
// Source: "SQLite Schema Reference" of the Nsight Systems Analysis Guide (schema 3.28.1), and its values of copy kinds
// and memory kinds, https://docs.nvidia.com/nsight-systems/AnalysisGuide/index.html and
// https://docs.nvidia.com/nsight-systems/2021.5/nsys-exporter/exported_data.html; the types of streams and of
// synchronization are CUPTI's, CUpti_ActivityStreamFlag and CUpti_ActivitySynchronizationType.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/timeline/timeline.hpp"

namespace scanlab::streams {

/// The part of a long export that is meant: what the host issued in this time, in milliseconds as Nsight shows them,
/// and within the first NVTX range of this name, on one GPU.
struct NsightPart {
  std::optional<double> from_ms;
  std::optional<double> to_ms;
  std::string range;                ///< empty: none is named
  std::optional<std::int64_t> gpu;  ///< as the export numbers them; none: the one of most work
};

/// The work of one context of a process, on one device. Calls of the host that issue none of it, and take long, are the
/// host's work, called by their names: of CUDA, of the operating system, and the profiler's own. A stream's index is
/// Nsight's number of it. Items are bytes, of copies alone.
///
/// An export knows no chunks. A chunk is taken to be what a stream does from its copies to the device on, until it
/// copies to the device again behind a kernel, a copy to the host or the record of an event; work that waits by an
/// event for an earlier step belongs to the chunk of that step. Kernels in a stream without copies that wait for no
/// copy are side kernels.
struct NsightExport {
  std::string device;  ///< its name; empty if it is not known
  Recording recording;
  Timeline times;                    ///< but for its recording, which timeline() adds
  std::vector<std::string> unknown;  ///< sentences: what the export does not say, and what was left out or assumed

  Timeline timeline() const {
    Timeline all = times;
    all.recording = &recording;
    return all;
  }
};

/// Throws CommandError (status 2) that names the file, and the table and column where these are at fault: for what is
/// no such export, has no work of a device (in that part), or lacks a column.
NsightExport read_nsight_export(const std::filesystem::path& file, const NsightPart& part);

}  // namespace scanlab::streams
