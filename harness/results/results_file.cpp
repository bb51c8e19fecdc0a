#include "harness/results/results_file.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <sstream>
#include <utility>

namespace scanlab::measure {

namespace {

constexpr char kTail[] = "\n  ]\n}\n";

/// The document up to its list of benchmarks: what Google Benchmark says of the host in the context, and our facts.
std::string opening(const Facts& provenance) {
  std::ostringstream text;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&text);
  reporter.SetErrorStream(&text);
  reporter.ReportContext(benchmark::BenchmarkReporter::Context());
  Facts context = Facts::parse(text.str() + kTail).at("context");
  if (!provenance.empty()) context.update(provenance);
  return fmt::format("{{\n\"context\": {},\n  \"benchmarks\": [",
                     context.dump(2, ' ', false, Facts::error_handler_t::replace));
}

}  // namespace

ResultsFile::ResultsFile(std::filesystem::path path, const Facts& provenance, bool replace)
    : file_(std::move(path), replace, kTail) {
  file_.begin(opening(provenance));
}

void ResultsFile::append(const Facts& entry) {
  const std::string text = entry.dump(-1, ' ', false, Facts::error_handler_t::replace);
  file_.append((entries_ == 0 ? "\n    " : ",\n    ") + text,
               fmt::format("the {} repetitions before are kept", entries_));
  ++entries_;
}

}  // namespace scanlab::measure
