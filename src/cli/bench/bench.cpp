// SPDX-License-Identifier: Apache-2.0
// penstock bench: measures how fast a pipeline delivers, which resources it uses, and what bounds its speed.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>

#include "bench/compare.hpp"
#include "bench/comparison_rates.hpp"
#include "bench/device.hpp"
#include "bench/free_memory.hpp"
#include "bench/page_cache.hpp"
#include "bench/pipeline.hpp"
#include "bench/result.hpp"
#include "bench/run.hpp"
#include "bench/stalls.hpp"
#include "bench/table.hpp"
#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "stages/stage_parser.hpp"
#include "stores/input_path.hpp"
#include "stores/input_store.hpp"
#include "stores/remote_flags.hpp"

namespace penstock::cli {

namespace {

constexpr const char* after_decoding = "random_resized_crop 224 | random_flip | batch 64";
constexpr std::uint64_t usual_epochs = 3;

struct BenchOptions {
  InputPath store;
  RemoteFlags remote;
  std::string key, values = "automatic", json, threads, depth = "0", block_bytes = "0", memory = "0", stub, trace,
                   device;
  std::vector<std::string> fields, compared;
  PipelineFlags pipeline{.stages = std::string("decode_image | ") + after_decoding};
  std::optional<std::uint64_t> epochs;
  std::uint64_t rounds = 1;
  double consumer_ms = 0;
  bool isolate = false, no_checksums = false, hash = false, quiet = false, cold = false, stalls = false, append = false;
  bool tune = false;
  FileAccess access = FileAccess::map;
  bool json_only() const { return json == "-"; }
};

bool works_after_batch(const std::string& stages) {
  const std::vector<ParsedStage> all = parse_stages(stages);
  return !all.empty() && all.back().syntax->name != "batch" &&
         std::ranges::find(all, "batch", [](const ParsedStage& stage) { return stage.syntax->name; }) != all.end();
}

// Refuses options that are wrong, lack another option or exclude each other, before anything is opened.
void check_options(const BenchOptions& options) {
  const auto refuse = [](bool wrong, const char* why) {
    if (wrong) throw UsageError(why);
  };
  refuse(options.store.empty(), "bench: STORE is missing, or --compare A.json B.json");
  refuse(options.stalls && options.consumer_ms <= 0, "--stalls: say how long a batch takes: --consumer-ms N");
  refuse(options.stalls && !options.stub.empty(), "--stalls and --stub: stalls stub the source by themselves");
  refuse(options.cold && options.store.is_url(),
         "--cold: it is for stores on this machine; with --cache-bytes 0 each run reads a server's shards from there");
  refuse(options.cold && options.store.is_list(), "--cold: name the shards themselves, not a list of them");
  refuse(options.cold && !options.stub.empty(), "--cold and --stub: what is stubbed is not read");
  refuse(options.cold && options.epochs.value_or(1) != 1, "--cold: one epoch is cold, a second one would not be");
  refuse(!(options.consumer_ms >= 0), "--consumer-ms: that is no number");
  const BenchDevice device(options.device);
  refuse(options.stalls && !device.is_host() && works_after_batch(options.pipeline.stages),
         "--stalls and --device: stages after batch would work on the host in the runs that it is compared with; put "
         "them before batch, or leave one of the two away");
  refuse(options.hash && !device.host_reads(),
         "--hash and --device gpu: what is on a GPU is not read back; leave --device away, the batches are the same");
  refuse(options.append && (options.json.empty() || options.json_only()),
         "--append: say to which file: --json FILE.json");
}

std::vector<Setting> settings_of(const BenchOptions& options) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const std::vector<unsigned> threads =
      options.threads.empty() ? std::vector<unsigned>{std::max(1u, cores - 1)} : parse_threads(options.threads);
  const std::vector<unsigned> depths = parse_counts(options.depth, "batches for --depth", 0, 4096);
  if (std::ranges::find(depths, 1u) != depths.end()) throw UsageError("--depth: a ring has at least 2 batches");
  std::vector<Setting> all;
  for (const unsigned t : threads)
    for (const unsigned depth : depths)
      for (const std::uint64_t bytes : parse_sizes(options.block_bytes)) all.push_back({t, depth, bytes});
  if (options.tune) all.push_back({.threads = 0, .tune = true});
  return all;
}

// Returns what all runs of a file have in common.
Json header_of(const BenchOptions& options, const Pipeline& pipeline, std::uint64_t epochs) {
  return {{"store", options.store.shown()},
          {"stages", options.pipeline.stages},
          {"seed", pipeline.seed()},
          {"epochs", epochs},
          {"consumer_ms", options.consumer_ms},
          {"stub", options.stub},
          {"cold", options.cold},
          {"memory", parse_bytes(options.memory)},
          {"device", options.device.empty() ? Json() : Json(options.device)},
          {"on_error", options.pipeline.on_error},
          {"no_shuffle", options.pipeline.no_shuffle},
          {"verify", options.pipeline.verify},
          {"checksums", !options.no_checksums},
          {"fields", options.fields}};
}

// Returns the result to which --append adds runs. Returns a new result without --append, or if the file does not exist.
Json begun_json(const BenchOptions& options, Json header) {
  if (options.append && std::filesystem::exists(options.json)) {
    Json json = read_bench_result(options.json, "--append");
    for (const auto& [name, value] : header.items())
      if (json.value(name, Json()) != value)
        throw UsageError("--append: the runs of " + options.json + " are of another " + name + ", " +
                         json_text(json.value(name, Json()), -1) + ", not " + json_text(value, -1));
    return json;
  }
  header["version"] = bench_result_version;
  header["runs"] = Json::array();
  return header;
}

class Bench {
 public:
  explicit Bench(BenchOptions options)
      : options_(std::move(options)),
        settings_(settings_of(options_)),
        store_(options_.store, {.checksums = !options_.no_checksums,
                                .values = options_.values,
                                .isolate = options_.isolate,
                                .isolate_option = options_.isolate ? "--isolate" : "",
                                .access = options_.access,
                                .key = options_.key,
                                .fields = options_.fields,
                                .remote = &options_.remote}),
        device_(options_.device),
        pipeline_(open()) {
    run_.epochs = epochs();
    run_.memory = parse_bytes(options_.memory);
    run_.device = device_.device();
    run_.consumer_s = 1e-3 * options_.consumer_ms;
    run_.hash = options_.hash;
    run_.trace = options_.trace;
    run_.quiet = options_.quiet || options_.json_only();
    if (options_.cold) run_.dropped_files = files_of_store(options_.store.to_open());
  }

  void run() {
    Json json = begun_json(options_, header_of(options_, pipeline_, run_.epochs));
    const std::string plan = pipeline_.plan();
    say(plan + "\n");
    for (const std::string& line : store_.passed_over())
      if (plan.find(line) == std::string::npos) say(line + "\n");
    say(table_header());
    json["passed_over"] = store_.passed_over();
    const std::vector<MeasuredRun> runs = run_settings();
    for (const MeasuredRun& measured : runs) json["runs"].push_back(run_json(measured));
    store_.require_unchanged();
    say(summary(runs));
    if (!options_.stub.empty()) tell_made_anew(runs.back().run, json);
    if (run_.consumer_s > 0) look_at_consumer(runs.back().run, json);
    if (!options_.json.empty()) write_json(json, options_.json);
  }

 private:
  Pipeline open() {
    store_.require_known_values();
    // If the store's images are pixels already, replaces the default stages by stages that don't decode.
    if (options_.pipeline.stages == BenchOptions().pipeline.stages)
      if (const Schema schema = store_.schema(); schema.find("image") && schema.at("image").shape.rank() == 3)
        options_.pipeline.stages = after_decoding;
    Pipeline pipeline = options_.stub.empty() ? build_pipeline(store_, options_.pipeline) : stubbed(options_.stub);
    if (pipeline.size() == 0) throw UsageError("--stages: nothing is left of the store's records");
    return pipeline;
  }

  Pipeline stubbed(const std::string& stub) const {
    constexpr std::uint64_t where_unknown = std::uint64_t{2} << 30;
    const std::uint64_t free = free_memory();
    return build_stubbed(store_, options_.pipeline, stub,
                         static_cast<std::size_t>((free != 0 ? free : where_unknown) / 2), settings_.front().threads,
                         epochs());
  }

  std::uint64_t epochs() const { return options_.epochs.value_or(options_.cold ? 1 : usual_epochs); }

  // Tells the user if memory did not suffice for all samples of the stub. The run has then read and made the missing
  // samples again, although it should measure the pipeline without that work.
  void tell_made_anew(const Run& stubbed, Json& json) const {
    const std::uint64_t anew = stubbed.report.stages.front().samples;
    json["stub_made_anew"] = anew;
    if (anew != 0)
      say(fmt::format("the stub had not everything: {} of {} samples were read and made anew, for lack of memory\n",
                      anew, stubbed.samples));
  }

  void say(const std::string& text) const {
    if (!options_.json_only()) print(text);
  }

  // Runs the settings in turns, forwards and then backwards. So a machine that becomes slower slows down all settings
  // alike.
  std::vector<MeasuredRun> run_settings() {
    std::vector<MeasuredRun> runs;
    std::vector<Setting> order = settings_;
    for (std::uint64_t round = 0; round < options_.rounds; ++round) {
      for (const Setting& setting : order) {
        run_.setting = setting;
        Run run = run_once(pipeline_, run_);
        const ComparisonRates limits = measure_limits(store_, pipeline_, run.report.threads, run.seconds);
        runs.push_back({std::move(run), limits});
        say(table_line(runs.back().run));
      }
      std::ranges::reverse(order);
    }
    return runs;
  }

  // Measures the highest rate at which a consumer is busy for `wanted_busy` of the time. With --stalls, also measures
  // what the consumer waits for. Uses the setting of the last run.
  void look_at_consumer(const Run& run, Json& json) {
    RunOptions free_options = run_;
    free_options.consumer_s = 0;
    free_options.trace.clear();
    const BusyRate rate = largest_busy_rate(pipeline_, free_options, run_once(pipeline_, free_options));
    json["busy_rate"] = {{"samples_per_s", rate.samples_per_s}, {"busy", rate.busy}};
    say(fmt::format("a consumer of {:.0f} samples/s {} {:.1f} % of the time\n", rate.samples_per_s,
                    rate.busy >= wanted_busy ? "or less is busy" : "is still not busier than", 100 * rate.busy));
    if (!options_.stalls) return;
    RunOptions warm = run_;
    warm.dropped_files.clear();
    warm.trace.clear();
    warm.device = host();
    const Run without_reading = run_once(stubbed("source"), warm);
    tell_made_anew(without_reading, json);
    RunOptions on_host = run_;
    on_host.device = host();
    on_host.trace.clear();
    const Stalls stalls = device_.is_host()
                              ? split_stalls(without_reading, run, std::nullopt, run_.consumer_s)
                              : split_stalls(without_reading, run_once(pipeline_, on_host), run, run_.consumer_s);
    json["stalls"] = stalls_json(stalls);
    say(stalls_text(stalls));
  }

  BenchOptions options_;
  std::vector<Setting> settings_;
  InputStore store_;
  BenchDevice device_;
  Pipeline pipeline_;
  RunOptions run_;
};

int bench(const BenchOptions& options) {
  if (!options.compared.empty()) {
    const ResultComparison all = compare_results(options.compared[0], options.compared[1]);
    if (!options.json_only()) print(compare_text(all));
    if (!options.json.empty()) write_json(compare_json(all), options.json);
    return exit_ok;
  }
  check_options(options);
  parse_stages(options.pipeline.stages);  // before the store is opened, to report a typing error immediately
  Bench(options).run();
  return exit_ok;
}

// Adds the options for the consumer, the device, the stub, the timeline and cold runs.
void add_consumer_options(CLI::App& command, BenchOptions& options) {
  command
      .add_option(
          "--consumer-ms", options.consumer_ms,
          "The loop takes so long for each batch, as an accelerator would: how busy that is, and what rate it may\n"
          "have to be busy 90 % of the time")
      ->check(CLI::Range(1e-3, 3.6e6));
  command.add_flag("--stalls", options.stalls,
                   "How long such a consumer waits for preparation, for reading, and for the way to a --device");
  command
      .add_option(
          "--device", options.device,
          "Where batches end up: gpu, gpu:N, emulated (a GPU that the host emulates), or emulated:500MB, whose\n"
          "copies are no faster than so many bytes a second; default: the host")
      ->type_name("DEVICE");
  command.add_option("--stub", options.stub,
                     "source, or a stage: all up to there is replaced by what it gave, kept in memory");
  command
      .add_option("--trace", options.trace,
                  "File for the timeline of the last run's threads, stages and batches, for Perfetto")
      ->type_name("FILE.json");
  command.add_flag("--cold", options.cold, "The store's pages leave the memory before each run; one epoch");
}

}  // namespace

void add_bench(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App& command = *app.add_subcommand(
      "bench", "Runs a pipeline over a store and tells how fast it is, what it takes, and what bounds it.");
  add_store_argument(command, options->store);
  command.add_option("--stages", options->pipeline.stages, "What to run, see below")->capture_default_str();
  command.add_option("--seed", options->pipeline.seed, "Seed of the shuffle and of all random stages; default 0")
      ->check(whole_number());
  command.add_flag("--no-shuffle", options->pipeline.no_shuffle, "Records in the store's order");
  command.add_option("--threads", options->threads, "2, or 1..4 or 1,2,8 for a run with each; default: cores - 1");
  command.add_option("--epochs", options->epochs, "Epochs a run; default: 3, cold 1")->check(CLI::Range(1, 1000000));
  command.add_option("--rounds", options->rounds, "Runs of each setting, in turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      .add_option("--on-error", options->pipeline.on_error,
                  "Bad samples: end the run (default), are replaced, masked, or dropped")
      ->check(CLI::IsMember({"fail", "replace", "mask", "drop"}));
  command.add_flag("--verify", options->pipeline.verify, "Decode every image to its end");
  command.add_option("--memory", options->memory, "Most bytes the loader may take, like 2GiB; 0 = no limit")
      ->capture_default_str();
  command
      .add_option("--depth", options->depth, "Batches in the ring, or a list as of --threads; 0 = the loader's choice")
      ->capture_default_str();
  command
      .add_option("--block-bytes", options->block_bytes,
                  "Most bytes of decoded blocks that are kept, or a list, like 64MiB,1GiB; 0 = the loader's choice")
      ->capture_default_str();
  command.add_flag("--tune", options->tune,
                   "Besides, runs in which the loader chooses threads, depth and bytes for blocks as it goes");
  command.add_flag("--hash", options->hash,
                   "XXH3 over all rows, indices and masks in order; in the JSON another over the loader's states");
  command.add_flag("--no-checksums", options->no_checksums, "Don't compare the checksums of records");
  command.add_option("--values", options->values, "What an LMDB's values are")
      ->check(CLI::IsMember({"automatic", "records", "raw", "datum"}));
  add_access_option(command, options->access);
  add_key_option(command, options->key);
  add_fields_option(command, options->fields);
  add_isolate_option(command, options->isolate);
  add_consumer_options(command, *options);
  add_remote_options(command, options->remote);
  add_json_option(command, options->json);
  command.add_flag("--append", options->append, "Runs are added to those that --json FILE.json has");
  command
      .add_option("--compare", options->compared,
                  "Two results, by --json: whether they differ in speed, setting by setting. No STORE")
      ->expected(2)
      ->type_name("A.json B.json");
  command.add_flag("--quiet,-q", options->quiet, "No progress");
  command.footer(
      "Stages stand between bars, with arguments by position or as name=value, on the field image unless one is "
      "given:\n" +
      stages_help() +
      "Without a shuffle or bags among them a shuffle is added after the order stages that come first.\n" +
      exit_status_help);
  command.callback([options, &chosen] { chosen = [options] { return bench(*options); }; });
}

}  // namespace penstock::cli
