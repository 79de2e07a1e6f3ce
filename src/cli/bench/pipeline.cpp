// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/loader.hpp>
#include <penstock/stages/cache.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/stages/order.hpp>

#include "console/output.hpp"
#include "stages/stage_parser.hpp"

namespace penstock::cli {

namespace {

OnError policy_of(const std::string& name) {
  return name == "replace" ? OnError::replace
         : name == "mask"  ? OnError::mask
         : name == "drop"  ? OnError::drop
                           : OnError::fail;
}

// Adds a stage. @throws UsageError if the stage doesn't fit the stages before it or the store's fields.
void join(Pipeline& pipeline, const ParsedStage& stage, std::string_view line) {
  try {
    pipeline = pipeline | stage.stage;
  } catch (const Error& error) {
    const Errc code = error.code();
    if (code != Errc::invalid_argument && code != Errc::schema_mismatch && code != Errc::unsupported) throw;
    refuse_at(line, stage.word, error.cause());
  }
}

void join_stub(Pipeline& pipeline, const std::string& stub, std::size_t max_bytes) {
  try {
    pipeline = pipeline | cache({.max_bytes = max_bytes});
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument) throw;
    throw UsageError("--stub " + stub + ": what it gives can't be kept: " + error.cause());
  }
}

// Returns how many stages of the line come before the stub's cache. These are all stages up to and including the one
// called `stub`; for "source", the order stages at the line's beginning.
std::size_t place_of_stub(const std::vector<ParsedStage>& stages, const std::string& stub) {
  const auto first = std::ranges::find_if(stages, [](const ParsedStage& s) { return !s.syntax->order; });
  if (stub == "source") return static_cast<std::size_t>(first - stages.begin());
  const auto found = std::find_if(first, stages.end(), [&](const ParsedStage& s) { return s.syntax->name == stub; });
  if (found == stages.end() || stub == "batch")
    throw UsageError("--stub: \"" + stub + "\" is neither source nor a stage of --stages before batch");
  return static_cast<std::size_t>(found - stages.begin()) + 1;
}

struct Stub {
  std::string stage;
  std::size_t max_bytes;
};

Pipeline build(const InputStore& store, const PipelineFlags& flags, const std::optional<Stub>& stub) {
  const std::vector<ParsedStage> stages = parse_stages(flags.stages);
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(stages, [&](const ParsedStage& s) { return s.syntax->name == name; });
  };
  if (!has("batch")) throw UsageError("--stages: the pipeline needs a batch; add | batch 64");
  if (!flags.on_error.empty() && has("on_error"))
    throw UsageError("--on-error: --stages has an on_error stage already");
  if (flags.verify && has("check"))
    throw UsageError("--verify: --stages has a check stage already; add verify=true there");
  Pipeline pipeline = store.pipeline();
  if (flags.seed) pipeline = pipeline | seed(*flags.seed);
  if (!flags.on_error.empty()) pipeline = pipeline | on_error({.policy = policy_of(flags.on_error)});
  if (flags.verify) pipeline = pipeline | check({.verify = true});
  bool shuffled = flags.no_shuffle || has("shuffle") || has("bags");
  const std::size_t stubbed = stub ? place_of_stub(stages, stub->stage) : stages.size() + 1;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const bool order = stages[i].syntax->order;
    if (!order && !std::exchange(shuffled, true)) pipeline = pipeline | shuffle();
    if (i == stubbed) join_stub(pipeline, stub->stage, stub->max_bytes);
    join(pipeline, stages[i], flags.stages);
  }
  return pipeline;
}

}  // namespace

Pipeline build_pipeline(const InputStore& store, const PipelineFlags& flags) { return build(store, flags, {}); }

Pipeline build_stubbed(const InputStore& store, const PipelineFlags& flags, const std::string& stub,
                       std::size_t max_bytes, unsigned threads, std::uint64_t epochs) {
  Pipeline pipeline = build(store, flags, Stub{stub, max_bytes});
  // Reads all epochs, because an order may choose different records in each epoch.
  Loader loader(pipeline, {.threads = threads, .epochs = epochs});
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (const Batch& batch : loader.epoch()) static_cast<void>(batch);
  return pipeline;
}

}  // namespace penstock::cli
