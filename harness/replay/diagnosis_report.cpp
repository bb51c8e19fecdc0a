#include "harness/replay/diagnosis_report.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <string>

namespace scanlab::streams {

void print(const std::vector<Diagnosis>& diagnoses, std::ostream& out) {
  for (const Diagnosis& diagnosis : diagnoses) {
    fmt::print(out, "  {} ({:.3f} ms): {}\n", name(diagnosis.cause), 1e3 * diagnosis.seconds, diagnosis.evidence);
  }
  if (diagnoses.empty()) fmt::print(out, "  nothing stands out\n");
}

#ifdef SCANLAB_WITH_CUDA

Examined examine(const ScheduledJob& chosen, std::optional<HostArrays>& arrays, std::ostream& out) {
  constexpr int kRepetitions = 5;
  const Recording recording = record(*chosen.schedule, chosen.job);
  const MeasuredReplays measured = measure_timeline(recording, kRepetitions, arrays);
  const TimelineAnalysis analysis = analyse(measured.timeline());
  const bool control = chosen.schedule->about.control;
  Examined examined{.chosen = chosen,
                    .seconds = measured.median_plain(),
                    .wrong = !measured.wrong.empty() && !control,
                    .diagnoses = diagnose(measured.timeline(), analysis)};
  fmt::print(out, "{}\n", describe(chosen));
  out << describe(measured.timeline(), analysis, kNoGaps);
  if (!measured.wrong.empty()) {
    fmt::print(out, "  its output is wrong{}: {}\n", control ? ", as a control's should be" : "", measured.wrong);
  }
  print(examined.diagnoses, out);
  fmt::print(out, "\n");
  return examined;
}

#endif

void compare(const Examined& a, const Examined& b, std::ostream& out) {
  const auto title = [&](const Examined& each, const char* other) {
    const bool same = a.chosen.schedule == b.chosen.schedule;
    return same ? std::string(other) : each.chosen.schedule->about.id;
  };
  const std::string first = title(a, "the first");
  const std::string second = title(b, "the second");
  const bool a_is_slower = a.seconds >= b.seconds;
  fmt::print(out, "{} takes {:.3f} ms, {} {:.3f} ms (medians without tracing)", first, 1e3 * a.seconds, second,
             1e3 * b.seconds);
  if (a.seconds > 0 && b.seconds > 0) {
    fmt::print(out, ": {} takes {:.2f} times as long as {}", a_is_slower ? first : second,
               std::max(a.seconds, b.seconds) / std::min(a.seconds, b.seconds), a_is_slower ? second : first);
  }
  fmt::print(out, "\n");
  const auto only = [&](const Examined& examined, const std::string& own_name, const Examined& other) {
    for (const Diagnosis& diagnosis : examined.diagnoses) {
      if (!other.has(diagnosis.cause)) fmt::print(out, "  only {}: {}\n", own_name, name(diagnosis.cause));
    }
  };
  only(a, first, b);
  only(b, second, a);
}

}  // namespace scanlab::streams
