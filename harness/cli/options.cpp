#include "harness/cli/options.hpp"

#include <system_error>

namespace scanlab::cli {

namespace {

/// "minbytes,b" is --minbytes, which -b stands for.
std::string long_option(const std::string& name) { return "--" + name.substr(0, name.find(',')); }

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (std::filesystem::equivalent(a, b, ignored)) return true;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(a, ignored);
  return !whole.empty() && whole == std::filesystem::weakly_canonical(b, ignored);  // empty: writing it says why
}

}  // namespace

Options& Options::add(const char* name, const char* value, const std::string& help, const std::string& initially,
                      const Read& read) {
  const std::string all = initially.empty() ? help : fmt::format("{} (default {})", help, initially);
  const auto notify = [read, option = long_option(name)](const std::string& word) { read(word, option); };
  description_.add_options()(name, po::value<std::string>()->value_name(value)->notifier(notify), all.c_str());
  return *this;
}

Options& Options::file(const char* name, File use, std::optional<std::string>& target, const std::string& help) {
  return add(name, "FILE", help, "", [this, use, &target](const std::string& path, const std::string& option) {
    files_.push_back({option, path, use});
    target = path;
  });
}

Options& Options::files(const char* name, Words& target, const std::string& help) {
  const auto notify = [this, name](const Words& paths) {
    for (const std::string& path : paths) files_.push_back({long_option(name), path, File::read});
  };
  description_.add_options()(
      name, po::value(&target)->multitoken()->composing()->value_name("FILE …")->notifier(notify), help.c_str());
  return *this;
}

bool Options::parse(const Words& arguments, const Context& context) {
  bool help = false;
  flag("help,h", help, "print this text");
  if (std::ranges::any_of(arguments, [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    const Command& command = *context.command;
    fmt::print(context.out, "{}: {}\n\n{}\nexample: {} {}\n{}{}", context.called, command.summary,
               fmt::streamed(description_), context.called, command.example, note_.empty() ? "" : "\n", note_);
    return false;
  }
  try {
    const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(description_).positional(positional_).style(style).run(),
              values_);
    po::notify(values_);
  } catch (const po::unknown_option& error) {
    Words known;
    for (const auto& option : description_.options()) known.push_back("--" + option->long_name());
    unknown(("option of " + context.called).c_str(), error.get_option_name(), known);
  } catch (const po::error& error) {
    refuse(fmt::format("{}: {} ({} --help)", context.called, error.what(), context.called));
  }
  refuse_one_file_for_two();
  return true;
}

void Options::refuse_useless(std::initializer_list<const char*> options, const std::string& reason) const {
  for (const char* option : options) {
    if (given(option)) refuse(fmt::format("--{} would have no effect: {}", option, reason));
  }
}

void Options::refuse_one_file_for_two() const {
  for (const NamedFile& written : files_) {
    for (const NamedFile& other : files_) {
      if (written.use != File::written || written.option == other.option) continue;
      for (const char* suffix : {"", ".partial", ".partial.json"}) {  // stream-scan has these until the output is whole
        if (same_file(other.path, written.path + suffix))
          refuse(fmt::format("{} and {} are the same file, '{}': choose another {}", other.option, written.option,
                             written.path, written.option));
      }
    }
  }
}

void add_problem_options(Options& options, OptionWords& words, const std::string& defaults) {
  options.list("type", "TYPE", words, fmt::format("select types: {}, or all ({})", all_names<ElementType>(), defaults))
      .list("op", "OP", words, fmt::format("select operators: {}, or all ({})", all_names<Operator>(), defaults))
      .list("mode", "MODE", words, "select inclusive, exclusive, or all");
}

void add_selection_options(Options& options, OptionWords& words, const std::string& default_items) {
  options.list("variant", "GLOB", words, "select variants and baselines by id or glob: hs_block, 'hso_*' (default all)")
      .list("items", "LIST", words,
            fmt::format("set numbers of items: 1000, 2^20+1, 2^10:2^28:x4, 0:100:+10 (default {})", default_items))
      .list("primitive", "NAME", words,
            fmt::format("select {} (default scan, unless none is chosen)", all_names(kPrimitiveNames)))
      .list("rows", "LIST", words, "block_scan, warp_scan, scan_axis: set numbers of rows (default: by command)")
      .list("inner", "LIST", words, "scan_axis: set numbers of items from one to the next of the axis (default 1)")
      .list("total", "LIST", words, "scan_axis: set numbers of items in all, and --rows by them")
      .list("segment", "LIST", words, "by key or segment: set mean numbers of items of a segment")
      .list("lengths", "LIST", words, fmt::format("by key or segment: select {}, or all", all_names(kLengths)))
      .list("width", "LIST", words, "by key or segment: set bytes of a key (1, 2, 4, 8) or an offset (4, 8)")
      .list("kept", "LIST", words, "select, partition: set how many of each 128 items are kept: 0,1,64,127,128")
      .list("set", "PARAMETER=VALUE", words, "set a parameter of a variant, as scanlab list names them: padding=row");
}

void add_job_options(Options& options, OptionWords& words, const std::string& workloads, const std::string& items) {
  const streams::Job job;
  options.list("schedule", "GLOB", words, "select schedules by id or glob, or all; --schedule may be left out")
      .list("workload", "GLOB", words, fmt::format("select workloads by id or glob, or all (default {})", workloads))
      .list("items", "LIST", words, fmt::format("set numbers of items: 2^20+1, 2^10:2^28:x4 (default {})", items))
      .list("chunks", "LIST", words, fmt::format("set numbers of chunks: 8,64 or 4:64:x4 (default {})", job.chunks))
      .list("streams", "LIST", words, fmt::format("set numbers of streams (default {})", job.streams))
      .list("memory", "KIND", words, "select host memory: pinned, pageable, all (default: the schedule's own)")
      .list("buffers", "LIST", words,
            fmt::format("set device buffers per array, where reused (default {})", job.buffers))
      .list("budget", "BYTES", words, "limit the device memory: sets buffers, and leaves out jobs that take more")
      .list("blocks", "LIST", words, "set the blocks per kernel (default 0: as many as the items need)")
      .list("work", "LIST", words,
            fmt::format("set the work per item, in units of the workload (default {})", job.work))
      .positional("schedule", -1);
}

void TimelineWords::add_to(Options& options) {
  options.output("out", out, "write the timeline to FILE, as trace events for ui.perfetto.dev")
      .number("gap", gap, 0.0, std::numeric_limits<double>::max(), "sum up idle gaps below this part of the makespan",
              "PERCENT");
}

measure::Facts require_device(const Context& context, const std::string& instead) {
  std::string refusal;
  if (std::optional<measure::Facts> device = measure::device_facts(refusal)) return *device;
  throw CommandError(
      kNoDevice, fmt::format("{} needs a CUDA device, and there is none: {}; {}", context.called, refusal, instead));
}

measure::Facts measured(bool on_device, const Context& context) {
  return on_device ? measure::measured_on(context.called, context.argv) : measure::measured_on_host(context.argv);
}

std::filesystem::path output_folder(const std::string& folder) {
  if (folder.empty()) refuse("--out '' names no folder: give one, as in --out . for the current one");
  return folder;
}

std::optional<measure::ResultsFile> results_file(const std::optional<std::string>& path,
                                                 const measure::Facts& provenance, bool force) {
  if (!path) return std::nullopt;
  return std::optional<measure::ResultsFile>(std::in_place, *path, provenance, force);
}

void print_facts(const std::string& title, const measure::Facts& facts, std::ostream& out) {
  fmt::print(out, "{}\n", title);
  for (const auto& [key, value] : facts.items())
    fmt::print(out, "  {:<22}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
}

void end_if_interrupted(const char* consequence) {
  if (interrupted()) throw CommandError(kInterrupted, fmt::format("interrupted; {}", consequence));
}

}  // namespace scanlab::cli
