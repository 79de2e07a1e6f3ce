// penstock bench: how fast a pipeline delivers, what it takes, and what bounds it.
#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/stages/order.hpp>

#include "bench_limits.hpp"
#include "bench_run.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "input_store.hpp"
#include "output.hpp"
#include "stage_parser.hpp"

namespace penstock::cli {

namespace {

constexpr const char* after_decoding = "random_resized_crop 224 | random_flip | batch 64";

struct BenchOptions {
  std::string store, key, values = "automatic", json, threads, memory = "0", on_error;
  std::vector<std::string> fields;
  bool isolate = false;
  std::string stages = std::string("decode_image | ") + after_decoding;
  std::optional<std::uint64_t> seed;
  std::uint64_t epochs = 3;
  unsigned depth = 0;
  bool no_shuffle = false, no_checksums = false, verify = false, hash = false, quiet = false;
};

OnError policy_of(const std::string& name) {
  return name == "replace" ? OnError::replace
         : name == "mask"  ? OnError::mask
         : name == "drop"  ? OnError::drop
                           : OnError::fail;
}

// A stage that doesn't fit what stands before it, or the store's fields, is a wrong command line like any other.
void join(Pipeline& pipeline, const ParsedStage& stage, std::string_view line) {
  try {
    pipeline = pipeline | stage.stage;
  } catch (const Error& error) {
    const Errc code = error.code();
    if (code != Errc::invalid_argument && code != Errc::schema_mismatch && code != Errc::unsupported) throw;
    refuse_at(line, stage.word, error.cause());
  }
}

// The flags' stages come first. The shuffle stands after the order stages that begin the line (`take 1000 | ...`
// shuffles those 1,000), or is left to the line where that has one.
Pipeline build(const InputStore& store, const BenchOptions& options) {
  const std::vector<ParsedStage> stages = parse_stages(options.stages);
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(stages, [&](const ParsedStage& s) { return s.syntax->name == name; });
  };
  if (!has("batch")) throw UsageError("--stages: the pipeline needs a batch; add | batch 64");
  if (!options.on_error.empty() && has("on_error"))
    throw UsageError("--on-error: --stages has an on_error stage already");
  if (options.verify && has("check"))
    throw UsageError("--verify: --stages has a check stage already; add verify=true there");
  Pipeline pipeline = store.pipeline();
  if (options.seed) pipeline = pipeline | seed(*options.seed);
  if (!options.on_error.empty()) pipeline = pipeline | on_error({.policy = policy_of(options.on_error)});
  if (options.verify) pipeline = pipeline | check({.verify = true});
  bool shuffled = options.no_shuffle || has("shuffle") || has("bags");
  for (const ParsedStage& s : stages) {
    if (!s.syntax->order && !std::exchange(shuffled, true)) pipeline = pipeline | shuffle();
    join(pipeline, s, options.stages);
  }
  return pipeline;
}

Json run_json(const Run& run, const Limits& limits) {
  return {{"threads", run.threads},
          {"samples_per_s", run.samples_per_s},
          {"cpu_s_per_1000", run.cpu_s_per_1000},
          {"first_batch_s", run.first_batch_s},
          {"peak_rss_bytes", run.peak_rss_bytes},
          {"next_p50_s", run.report.next_p50_s},
          {"next_p99_s", run.report.next_p99_s},
          {"errors", run.report.errors},
          {"hash", run.hash.empty() ? Json(nullptr) : Json(run.hash)},
          {"states_hash", run.states_hash.empty() ? Json(nullptr) : Json(run.states_hash)},
          {"limits",
           {{"chain_samples_per_s", run.report.limit_samples_per_s},
            {"read_samples_per_s", limits.read},
            {"memcpy_samples_per_s", limits.memcpy}}},
          {"samples", run.samples},
          {"seconds", run.seconds},
          {"chain_cpu_s_per_1000", run.report.cpu_s_per_1000},
          {"peak_rss_is_of_run", run.peak_is_of_run},
          {"report", Json::parse(run.report.json())}};
}

std::string header() {
  return fmt::format(
      "{:>7}  {:>10}  {:>14}  {:>11}  {:>17}  {:>10}  {:>6}  {:>12}  {:>6}\n{:>7}  {:>10}  {:>14}  {:>11}  {:>17}  "
      "{:>10}  {:>6}  {:>12}  {:>6}\n",
      "threads", "images/s", "CPU s / 1,000", "first batch", "next() p50, p99", "peak RSS", "errors", "chain limit",
      "share", "", "", "process, chain", "ms", "ms", "", "", "images/s", "%");
}

std::string line(const Run& run) {
  const double limit = run.report.limit_samples_per_s;
  return fmt::format(
      "{:>7}  {:>10.0f}  {:>6.3f}, {:>6.3f}  {:>11.1f}  {:>8.3f}, {:>7.3f}  {:>10}  {:>6}  {:>12.0f}  {:>6.0f}\n",
      run.threads, run.samples_per_s, run.cpu_s_per_1000, run.report.cpu_s_per_1000, run.first_batch_s * 1e3,
      run.report.next_p50_s * 1e3, run.report.next_p99_s * 1e3, bytes_text(static_cast<double>(run.peak_rss_bytes)),
      run.report.errors, limit, limit > 0 ? 100 * run.samples_per_s / limit : 0.0);
}

std::string summary(const std::vector<Run>& runs, const std::vector<Limits>& limits) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(runs, {}, &Run::samples_per_s) - runs.begin());
  std::string out;
  if (runs.size() > 1)
    out +=
        fmt::format("\nbest: {}, {:.0f} samples/s\n", counted(runs[best].threads, "thread"), runs[best].samples_per_s);
  out += fmt::format("\nbeside it, with {}: reading alone {:.0f} records/s, copying alone {:.0f} rows/s\n\n",
                     counted(runs[best].threads, "thread"), limits[best].read, limits[best].memcpy);
  out += runs[best].report.text();
  if (runs[best].hash.empty()) return out;
  const bool same = std::ranges::all_of(runs, [&](const Run& run) { return run.hash == runs.front().hash; });
  out += fmt::format("hash {}{}\n", runs.front().hash,
                     runs.size() == 1 ? ""
                     : same           ? ", the same in all runs"
                                      : ", but it DIFFERS between runs");
  return out;
}

int bench(BenchOptions options) {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const std::vector<unsigned> threads =
      options.threads.empty() ? std::vector<unsigned>{std::max(1u, cores - 1)} : parse_threads(options.threads);
  RunOptions run_options;
  run_options.epochs = options.epochs;
  run_options.memory = parse_bytes(options.memory);
  run_options.depth = options.depth;
  run_options.hash = options.hash;
  const bool json_only = options.json == "-";
  run_options.quiet = options.quiet || json_only;
  parse_stages(options.stages);  // before the store is opened: a typing error is told at once

  const InputStore store(options.store, {.checksums = !options.no_checksums,
                                         .values = options.values,
                                         .isolate = options.isolate,
                                         .isolate_option = options.isolate ? "--isolate" : "",
                                         .key = options.key,
                                         .fields = options.fields});
  store.require_known_values();
  // What is usual, of a store that has pixels already.
  if (options.stages == BenchOptions().stages)
    if (const Schema schema = store.schema(); schema.find("image") && schema.at("image").shape.rank() == 3)
      options.stages = after_decoding;
  const Pipeline pipeline = build(store, options);
  if (pipeline.size() == 0) throw UsageError("--stages: nothing is left of the store's records");
  if (!json_only) print(pipeline.plan() + "\n" + header());
  std::vector<Run> runs;
  std::vector<Limits> limits;
  Json json{{"store", options.store},
            {"stages", options.stages},
            {"seed", pipeline.seed()},
            {"epochs", options.epochs},
            {"runs", Json::array()}};
  for (const unsigned t : threads) {
    run_options.threads = t;
    runs.push_back(run_once(pipeline, run_options));
    limits.push_back(measure_limits(store, pipeline, t));
    json["runs"].push_back(run_json(runs.back(), limits.back()));
    if (!json_only) print(line(runs.back()));
  }
  if (!json_only) print(summary(runs, limits));
  if (!options.json.empty()) write_json(json, options.json);
  return exit_ok;
}

}  // namespace

void add_bench(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App& command = *app.add_subcommand(
      "bench", "Runs a pipeline over a store and tells how fast it is, what it takes, and what bounds it.");
  command.add_option("STORE", options->store, "LMDB store, folder of images, tar shards, HDF5, slide, or CSV")
      ->required();
  command.add_option("--stages", options->stages, "What to run, see below")->capture_default_str();
  command.add_option("--seed", options->seed, "Seed of the shuffle and of all random stages; default 0")
      ->check(whole_number());
  command.add_flag("--no-shuffle", options->no_shuffle, "Records in the store's order");
  command.add_option("--threads", options->threads, "2, or 1..4 or 1,2,8 for a run with each; default: cores - 1");
  command.add_option("--epochs", options->epochs, "Epochs a run")->check(CLI::Range(1, 1000000))->capture_default_str();
  command
      .add_option("--on-error", options->on_error,
                  "Bad samples: end the run (default), are replaced, masked, or dropped")
      ->check(CLI::IsMember({"fail", "replace", "mask", "drop"}));
  command.add_flag("--verify", options->verify, "Decode every image to its end");
  command.add_option("--memory", options->memory, "Most bytes the loader may take, like 2GiB; 0 = no limit")
      ->capture_default_str();
  command.add_option("--depth", options->depth, "Batches in the ring; 0 = the loader's choice")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag("--hash", options->hash,
                   "XXH3 over all rows, indices and masks in order; in the JSON another over the loader's states");
  command.add_flag("--no-checksums", options->no_checksums, "Don't compare the checksums of records");
  command.add_option("--values", options->values, "What an LMDB's values are")
      ->check(CLI::IsMember({"automatic", "records", "raw", "datum"}));
  add_key_option(command, options->key);
  add_fields_option(command, options->fields);
  add_isolate_option(command, options->isolate);
  add_json_option(command, options->json);
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
