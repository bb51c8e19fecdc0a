// scanlab info: the device, the toolkit, and what this build can do.
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <nlohmann/json.hpp>

#include "harness/cli/options.hpp"
#include "harness/core/variant.hpp"
#include "harness/measure/provenance.hpp"

namespace scanlab::cli {

namespace {

struct Abilities {
  int cuda = 0;
  int simt = 0;
  int host = 0;
};

Abilities count_abilities() {
  Abilities count;
  for (const auto& [id, variant] : Registry::instance().all()) {
    count.cuda += variant.machines.cuda ? 1 : 0;
    count.simt += variant.machines.simt ? 1 : 0;
    count.host += variant.machines.host ? 1 : 0;
  }
  return count;
}

void print_section(const std::string& title, const measure::Facts& facts, std::ostream& out) {
  fmt::print(out, "{}\n", title);
  for (const auto& [key, value] : facts.items()) {
    fmt::print(out, "  {:<22}{}\n", key, value.get_ref<const std::string&>());
  }
}

}  // namespace

int info(const std::vector<std::string>& arguments, Context& context) {
  bool json = false;
  Options options;
  options.flag("json", json, "print JSON");
  if (!options.parse(arguments, context)) return kOk;

  std::string refusal;
  const std::optional<measure::Facts> device = measure::device_facts(refusal);
  const Abilities count = count_abilities();
  if (json) {
    measure::Facts all{{"schema", "scanlab-info/1"},
                       {"device", nullptr},
                       {"host", measure::host_facts()},
                       {"build", measure::build_facts()}};
    if (device) {
      all["device"] = *device;
    } else {
      all["no_device"] = refusal;
    }
    all["variants"] = {{"cuda", count.cuda}, {"simt", count.simt}, {"host", count.host}};
    context.out << all.dump(2) << "\n";
    return kOk;
  }
  print_section("device", device ? *device : measure::Facts{{"none", refusal}}, context.out);
  print_section("host", measure::host_facts(), context.out);
  print_section("build", measure::build_facts(), context.out);
  fmt::print(context.out, "variants and baselines\n  {} run on a GPU, {} on the SIMT emulator, {} on the host\n",
             count.cuda, count.simt, count.host);
  return kOk;
}

}  // namespace scanlab::cli
