// scanlab list: every variant and baseline; scanlab info: the device, the toolkit and this build; and scanlab new: a
// variant to begin with.
#include "harness/cli/options.hpp"
#include "harness/core/new_scan.hpp"
#include "harness/measure/record.hpp"

namespace scanlab::cli {

namespace {

measure::Facts describe(const Variant& variant) {
  measure::Facts facts{{"id", variant.about.id}};
  facts.update(measure::described(variant));
  facts["backends"] = measure::Facts::array();
  if (variant.backends.cuda) facts["backends"].push_back("cuda");
  if (variant.backends.simt) facts["backends"].push_back("simt");
  if (variant.backends.host) facts["backends"].push_back("host");
  return facts;
}

void print(const Variant& variant, std::ostream& out) {
  const Description& about = variant.about;
  const measure::Facts facts = describe(variant);
  const auto words = [&](const char* key) { return facts[key].get<Words>(); };
  fmt::print(out, "{} ({}, on {})\n  {}\n  source    {}\n  takes     {}; {}; {}{}\n", about.id,
             facts[about.kind == Kind::scan ? "origin" : "kind"].get<std::string>(), fmt::join(words("backends"), ", "),
             about.title, about.source, about.limits, fmt::join(words("types"), " "),
             fmt::join(words("operators"), " "), about.in_place ? "; in place" : "");
  if (!about.bitwise_reproducible)
    fmt::print(out, "  bits      not bitwise reproducible: floating-point results may differ between runs\n");
  if (!about.cost.work.empty())
    fmt::print(out, "  cost      work {}; span {}; traffic {}\n", about.cost.work, about.cost.span, about.cost.traffic);
  for (const Parameter& parameter : about.parameters) {
    const bool for_checks =
        !parameter.small.empty() && std::ranges::find(parameter.values, parameter.small) == parameter.values.end();
    fmt::print(out, "  --set {}={}\n            {}{}\n", parameter.name, fmt::join(parameter.values, "|"),
               parameter.meaning, for_checks ? "; for checks also " + parameter.small : "");
  }
  fmt::print(out, "\n");
}

}  // namespace

int list(const Words& arguments, Context& context) {
  OptionWords words;
  bool json = false;
  Options options;
  options.list("variant", "GLOB", words, "select variants by id or glob (default all)")
      .list("primitive", "NAME", words, fmt::format("select {} (default all)", all_names(kPrimitiveNames)))
      .flag("json", json, "print JSON");
  if (!options.parse(arguments, context)) return kOk;
  words.try_emplace("primitive", Words{"all"});
  measure::Facts all = {{"schema", "scanlab-list/2"}, {"variants", measure::Facts::array()}};
  for (const Variant* variant : select_scans(words).variants) {
    if (json) {
      all["variants"].push_back(describe(*variant));
    } else {
      print(*variant, context.out);
    }
  }
  if (json) context.out << all.dump(2) << "\n";
  return kOk;
}

int info(const Words& arguments, Context& context) {
  bool json = false;
  Options options;
  options.flag("json", json, "print JSON");
  if (!options.parse(arguments, context)) return kOk;
  const auto count = [](bool SupportedBackends::*backend) {
    return std::ranges::count_if(Registry::instance().all(),
                                 [&](const auto& entry) { return entry.second.backends.*backend; });
  };
  std::string refusal;
  const std::optional<measure::Facts> device = measure::device_facts(refusal);
  measure::Facts all{{"schema", "scanlab-info/1"},
                     {"device", device ? *device : measure::Facts()},
                     {"host", measure::host_facts()},
                     {"build", measure::build_facts()}};
  if (!device) all["no_device"] = refusal;
  all["variants"] = {{"cuda", count(&SupportedBackends::cuda)},
                     {"simt", count(&SupportedBackends::simt)},
                     {"host", count(&SupportedBackends::host)}};
  if (json) {
    context.out << all.dump(2) << "\n";
    return kOk;
  }
  if (!device) all["device"] = {{"none", refusal}};
  for (const char* section : {"device", "host", "build"}) {
    print_facts(section, all[section], context.out);
  }
  fmt::print(context.out, "variants and baselines\n  {} run on a GPU, {} on the SIMT emulator, {} on the host\n",
             count(&SupportedBackends::cuda), count(&SupportedBackends::simt), count(&SupportedBackends::host));
  return kOk;
}

int new_scan(const Words& arguments, Context& context) {
  std::optional<std::string> id;
  std::string folder = ".";
  bool plain = false, force = false;
  std::optional<ElementType> type;
  Options options;
  options.text("name", "NAME", id, "name the variant and its file: lower-case letters, digits, _")
      .flag("plain", plain, "write a plain CUDA kernel (default: one that also runs on the SIMT emulator)")
      .named("type", type, "restrict it to one element type")
      .text("out", "DIR", folder, "write NAME.cu to this folder")
      .force(force)
      .positional("name", 1);
  if (!options.parse(arguments, context)) return kOk;
  if (!id) refuse("new takes a name: give one, as in 'scanlab new my_scan'");
  if (const std::string reason = id_problem(*id); !reason.empty()) refuse(reason);
  const std::filesystem::path path = output_folder(folder) / (*id + ".cu");
  WholeFile(path, force).write(new_scan_text(*id, plain, type));
  fmt::print(context.out,
             "{0}\nIn a checkout, './reproduce --with {0} --quick' builds, verifies and times it beside the others.\n",
             path.lexically_normal().string());
  return kOk;
}

}  // namespace scanlab::cli
