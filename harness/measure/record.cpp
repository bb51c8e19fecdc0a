#include "harness/measure/record.hpp"

#include <algorithm>

#include "harness/schedule/facts.hpp"

namespace scanlab::measure {

void describe(const TimedCase& timed, Facts& entry) {
  const Problem& problem = timed.problem();
  entry["kind"] = name(timed.about().primitive);
  entry["variant"] = timed.about().id;
  entry["type"] = name(problem.type);
  entry["op"] = name(problem.op);
  entry["mode"] = name(problem.mode);
  entry["items"] = problem.axis();
  if (has_rows(timed.about().primitive)) entry["rows"] = problem.rows;
  if (has_inner(timed.about().primitive)) entry["inner"] = problem.inner;
  add_segments(problem, entry);
  Facts& settings = entry["settings"] = Facts::object();
  for (const Parameter& parameter : timed.about().parameters) {
    settings[parameter.name] = setting(timed.about(), problem.settings, parameter.name);
  }
  entry["cache"] = name(timed.cache);
  entry["launch"] = timed.on_host() ? "host" : name(timed.launch);
  entry["bytes"] = problem.ideal_bytes();
  entry["workspace_bytes"] = timed.bound.plan.workspace_bytes;
  entry["prepare_ns"] = timed.prepare_seconds * 1e9;
  if (const auto& choice = timed.bound.plan.choice) {
    entry["choice"] = {{"variant", choice->variant}, {"settings", choice->settings}};
  }
  const cuda::KernelResources& kernels = timed.kernels;
  if (kernels.launches > 0) entry["launches"] = kernels.launches;
  if (kernels.registers == 0) return;  // no kernel, or none that is known
  entry["threads_per_block"] = kernels.threads;
  entry["registers"] = kernels.registers;
  entry["shared_bytes"] = kernels.shared_bytes;
  entry["local_bytes"] = kernels.local_bytes;
}

void describe(const TimedSchedule& timed, Facts& entry) {
  entry["kind"] = "schedule";
  entry.update(facts_of(timed.chosen));
  entry["buffers"] = timed.recording.buffers;
  entry["bytes"] = timed.bytes();
  entry["inputs"] = timed.chosen.job.workload->about.inputs;
  entry["operations"] = timed.recording.operations.size();
  entry["streams_created"] = timed.recording.streams.size();
  entry["side_kernels"] =
      std::ranges::count(timed.recording.operations, streams::OperationKind::side_kernel, &streams::Operation::kind);
  entry["control"] = timed.control();
}

Facts described(const Variant& variant) {
  const auto names = [](const auto& values) {
    Facts all = Facts::array();
    for (const auto value : values) all.push_back(name(value));
    return all;
  };
  const Description& about = variant.about;
  Facts parameters = Facts::array();
  for (const Parameter& each : about.parameters) {
    parameters.push_back(
        {{"name", each.name}, {"values", each.values}, {"small", each.small}, {"meaning", each.meaning}});
  }
  return {{"label", about.label.empty() ? about.id : about.label},
          {"title", about.title},
          {"source", about.source},
          {"kind", name(about.kind)},
          {"primitive", name(about.primitive)},
          {"origin", variant.origin == Origin::variant ? "variant" : "baseline"},
          {"family", about.family},
          {"overview", about.overview},
          {"on_host", variant.backends.host && !variant.backends.cuda},
          {"types", names(about.types)},
          {"operators", names(about.operators)},
          {"parameters", parameters},
          {"limits", about.limits},
          {"in_place", about.in_place},
          {"reproducible_bits", about.bitwise_reproducible},
          {"work", about.cost.work},
          {"span", about.cost.span},
          {"traffic", about.cost.traffic}};
}

Facts described(const std::vector<const Variant*>& variants) {
  Facts all = Facts::object();
  for (const Variant* variant : variants) {
    if (!all.contains(variant->about.id)) all[variant->about.id] = described(*variant);
  }
  return all;
}

Facts described(const streams::Schedule& schedule) {
  const streams::ScheduleDescription& about = schedule.about;
  return {{"title", about.title},         {"source", about.source},     {"expectation", about.expectation},
          {"memory", name(about.memory)}, {"captured", about.captured}, {"control", about.control}};
}

Facts described(const streams::Workload& workload) {
  const streams::WorkloadDescription& about = workload.about;
  return {{"title", about.title},   {"source", about.source},   {"type", name(about.type)},
          {"inputs", about.inputs}, {"ordered", about.ordered}, {"work", about.work}};
}

}  // namespace scanlab::measure
