// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline_facts.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>

#include <penstock/extend/system_error.hpp>

#include "base/hash.hpp"
#include "base/number_text.hpp"
#include "data/class_map.hpp"
#include "data/job_facts.hpp"
#include "pipeline/nested_branches.hpp"

namespace penstock::detail {

namespace {

class FactList {
 public:
  void begin(PipelineFacts::Aspect aspect) { aspect_ = aspect; }
  void add(std::uint64_t value) {
    out_.fingerprint = hash_mix(out_.fingerprint, value);
    out_.aspects[aspect_] = hash_mix(out_.aspects[aspect_], value);
  }
  void add_text(const std::string& text) { add(hash_text(text)); }
  void say(std::string name, std::string words) {
    for (std::string* text : {&name, &words})
      std::ranges::replace_if(
          *text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    out_.facts.push_back({std::move(name), std::move(words)});
  }
  /// Adds the number of ranks, last, so that `PipelineFacts::ranks_of` can try other numbers.
  void add_ranks(const Rank& rank, const std::string& stage) {
    add_text("ranks");
    out_.before_ranks = {out_.fingerprint, out_.aspects[aspect_]};
    add(static_cast<std::uint64_t>(rank.world));
    say("number of ranks", std::to_string(rank.world) + ", as " + stage + " sees the rows of one rank");
  }
  PipelineFacts take() { return std::move(out_); }

  FactList() { out_.fingerprint = hash_text("penstock pipeline 1"); }

 private:
  PipelineFacts out_;
  PipelineFacts::Aspect aspect_ = PipelineFacts::source;
};

void add_stage(FactList& list, const BoundStage& stage) {
  list.add_text(stage.label);
  list.add_text(stage.options);
  list.add(stage.key);
  list.add(stage.version);
  list.add_text(stage.out.to_string());
}
std::string words_of(const BoundStage& stage) {
  return (stage.options.empty() ? "" : stage.options + ", ") +
         (stage.work->versioned() ? "version " + std::to_string(stage.version) : "no version") + " -> " +
         stage.out.to_string();
}

// Says what the parts of a join do. The source's identity stands for it in the fingerprint.
void say_branches(FactList& list, const SourceModel& source) {
  for_each_nested_branch(source, [&](const Branch& branch) {
    const PipelineData& part = *branch.pipeline;
    list.say("source of " + branch.name, part.source->name() + " of " + std::to_string(part.source_size) +
                                             " records, identity " + std::to_string(part.source->identity()));
    for (const BoundOrder& order : part.orders)
      list.say("order " + order.model->name() + " of " + branch.name, order.label);
    for (const BoundStage& stage : part.stages)
      list.say("stage " + stage.label + " of " + branch.name, words_of(stage));
  });
}

void add_source(FactList& list, const PipelineData& data) {
  list.add(data.source_size);
  list.begin(PipelineFacts::orders);
  list.add(data.size);
  list.begin(PipelineFacts::source);
  list.add_text(data.source_schema.to_string());
  list.add(data.source->identity());
  list.say("source", data.source->name() + " of " +
                         (data.source->is_stream() ? "a stream's" : std::to_string(data.source_size)) + " records " +
                         data.source_schema.to_string() + ", identity " + std::to_string(data.source->identity()));
  for (const Field& field : data.source_schema) {
    if (field.classes.empty()) continue;
    const std::uint64_t hash = hash_of(field.classes);
    list.add_text(field.name);
    list.add(hash);
    list.say("classes of " + field.name, field.classes.to_string() + ", hash " + std::to_string(hash));
  }
  say_branches(list, *data.source);
}

void add_orders(FactList& list, const PipelineData& data) {
  list.begin(PipelineFacts::orders);
  for (const BoundOrder& order : data.orders) {
    list.add_text(order.label);
    list.add_text(order.model->describe());
    list.say("order " + order.model->name(), order.label);
  }
}

void add_stages(FactList& list, const PipelineData& data) {
  list.begin(PipelineFacts::stages);
  for (const BoundStage& stage : data.stages) {
    add_stage(list, stage);
    list.say("stage " + stage.label, words_of(stage));
  }
  if (data.cache && data.cache->allows.random) {  // the cache keeps draws, so they don't depend on the epoch
    list.add_text("cache");
    list.add(data.cache->stages);
    list.say("stage " + data.cache->label, "after " + std::to_string(data.cache->stages) + " stages, keeps draws");
  }
}

void add_stream_window(FactList& list, const PipelineData& data) {
  if (data.stream_window == 0) return;
  list.begin(PipelineFacts::orders);
  list.add_text("stream shuffle");
  list.add(data.stream_window);
  list.say("order shuffle", "shuffle inside blocks of " + std::to_string(data.stream_window) + " records");
}

// Cuts a long text and appends the hash of the whole text. Thus even the names of 100,000 classes fit into the file
// with the facts of a store's job.
std::string short_enough(std::string text) {
  constexpr std::size_t most = 2000, hash_digits = 40;
  if (text.size() > most) {
    const std::uint64_t hash = hash_text(text);
    text.resize(most - hash_digits);
    text += "..., hash " + std::to_string(hash);
  }
  return text;
}

void add_batch(FactList& list, const PipelineData& data) {
  const BatchSpec& batch = *data.batch;
  list.add(batch.rows);
  list.add(static_cast<std::uint64_t>(batch.options.tail));
  std::string words = std::to_string(batch.rows) + " rows, the last batch is " +
                      (batch.options.tail == Tail::keep   ? "kept"
                       : batch.options.tail == Tail::drop ? "dropped"
                                                          : "padded");
  if (data.bounded) {
    list.add_text("bounded");
    list.add(batch.options.max_bytes);
    list.add(batch.options.max_tokens);
    list.add_text(batch.options.tokens);
    if (batch.options.max_bytes != 0) words += ", at most " + std::to_string(batch.options.max_bytes) + " bytes";
    if (batch.options.max_tokens != 0)
      words += ", at most " + std::to_string(batch.options.max_tokens) + " elements of " + batch.options.tokens;
    if (batch.options.by == BatchOptions::By::group) {
      list.add_text("by group");
      list.add(data.groups->hash());
      words += ", of one group";
    }
  }
  list.say("batch", std::move(words));
  for (const Field& field : data.sample()) {
    if (field.collate.kind == Collate::Kind::dense) continue;
    list.add_text(field.name);
    list.add(static_cast<std::uint64_t>(field.collate.kind));
    list.add(static_cast<std::uint64_t>(field.collate.to));
    list.add(std::bit_cast<std::uint64_t>(field.collate.value));
    const bool ragged = field.collate.kind == Collate::Kind::ragged;
    list.say(
        "rows of " + field.name,
        ragged ? "ragged" : "padded to " + std::to_string(field.collate.to) + " with " + shortest(field.collate.value));
  }
}

std::string words_of(const CheckOptions& check) {
  return std::string("verify ") + (check.verify ? "true" : "false") + ", max_sample_bytes " +
         std::to_string(check.max_sample_bytes);
}

void add_policies(FactList& list, const PipelineData& data) {
  const ErrorPolicy policy = data.policy_value();
  list.add(static_cast<std::uint64_t>(policy.policy));
  list.add(policy.max_count);
  list.add(static_cast<std::uint64_t>(policy.max_share * 1e9));
  // Leaves out the default, so that states of versions without this option still match.
  const bool bounds_row = policy.max_in_row != ErrorPolicy().max_in_row;
  if (bounds_row) list.add(policy.max_in_row);
  const char* const names[] = {"fail", "replace", "mask", "drop"};
  list.say("on_error", std::string(names[static_cast<std::size_t>(policy.policy)]) + ", max_count " +
                           std::to_string(policy.max_count) + ", max_share " + shortest(policy.max_share) +
                           (bounds_row ? ", max_in_row " + std::to_string(policy.max_in_row) : ""));
  const CheckOptions check = data.check_value();
  list.add(check.verify ? 1 : 0);
  list.add(check.max_sample_bytes);
  list.say("check", words_of(check));
  list.add(data.seed_value());
  list.say("seed", std::to_string(data.seed_value()));
  if (const Rank rank = data.rank_value(); rank.steps_per_epoch != 0) {
    list.add_text("steps");
    list.add(rank.steps_per_epoch);
    std::string words = std::to_string(rank.steps_per_epoch) + " steps an epoch";
    if (data.reordered()) {  // ranks are at different positions, so a state fits only one rank
      list.add(static_cast<std::uint64_t>(rank.rank));
      list.add(static_cast<std::uint64_t>(rank.world));
      words += ", rank " + std::to_string(rank.rank) + " of " + std::to_string(rank.world);
    }
    list.say("for_rank", std::move(words));
  }
}

// Returns the byte of a state's fingerprint that belongs to an aspect.
std::uint64_t byte_of(std::uint64_t fingerprint, std::size_t aspect) { return fingerprint >> (8 * aspect) & 0xff; }

}  // namespace

PipelineFacts facts_of(const PipelineData& data) {
  FactList list;
  add_source(list, data);
  add_orders(list, data);
  add_stages(list, data);
  if (data.device)
    for (const DeviceStep& step : data.device->steps)
      for (const bool made : step.made) list.add(made ? 1 : 0);
  for (const BoundBatchMap& map : data.after_batch.maps) {
    list.add_text("map of batches");
    add_stage(list, map.stage);
    list.say("stage " + map.stage.label + " on batches", words_of(map.stage));
  }
  for (const BoundStage& stage : data.after_batch.device_stages) {
    list.add_text("after batch");
    add_stage(list, stage);
    list.say("stage " + stage.label + " after batch", words_of(stage));
  }
  add_stream_window(list, data);
  list.begin(PipelineFacts::rest);
  if (data.batch) add_batch(list, data);
  if (data.bucket) {
    list.add_text("bucket");
    list.add_text(data.bucket->field);
    list.add(data.bucket->options.window);
    list.say("bucket", data.bucket->field + ", window " + std::to_string(data.bucket->options.window));
  }
  add_policies(list, data);
  if (const std::string* const stage = data.mixing_stage()) list.add_ranks(data.rank_value(), *stage);
  return list.take();
}

std::vector<JobFact> sample_facts_of(const PipelineData& data) {
  FactList list;
  add_source(list, data);
  list.say("state of the data",
           "revision " + std::to_string(data.source->revision()) + ", another one once its files are written to");
  add_orders(list, data);
  add_stages(list, data);
  add_stream_window(list, data);
  const bool drops = data.policy_value().policy == OnError::drop;
  list.say("bad samples (on_error)", drops ? "dropped" : "none");
  // If bad samples are dropped, the store depends on the check, because the check decides which samples are bad.
  if (drops) list.say("check", words_of(data.check_value()));
  list.say("seed", std::to_string(data.seed_value()));
  std::vector<JobFact> facts = list.take().facts;
  for (JobFact& fact : facts)
    for (std::string* text : {&fact.name, &fact.words}) *text = short_enough(escaped(*text));
  return facts;
}

std::uint64_t PipelineFacts::of_state() const noexcept {
  std::uint64_t value = fingerprint & 0xffffffff00000000u;
  for (std::size_t aspect = 0; aspect < aspects.size(); ++aspect) value |= (aspects[aspect] & 0xff) << (8 * aspect);
  return value;
}

std::string PipelineFacts::aspects_that_differ(std::uint64_t of_another) const {
  static constexpr const char* names[] = {"its source", "its orders", "its stages",
                                          "its batch, or what is said of errors, checks or ranks"};
  std::vector<const char*> found;
  for (std::size_t aspect = 0; aspect < aspects.size(); ++aspect)
    if (byte_of(of_state(), aspect) != byte_of(of_another, aspect)) found.push_back(names[aspect]);
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i)
    text += (i == 0 ? "" : i + 1 < found.size() ? ", " : " and ") + std::string(found[i]);
  return text;
}

std::optional<std::uint64_t> PipelineFacts::ranks_of(std::uint64_t of_another) const {
  constexpr std::uint64_t most = 1u << 16;
  if (!before_ranks) return std::nullopt;
  PipelineFacts other;
  other.aspects = aspects;
  for (std::uint64_t ranks = 1; ranks <= most; ++ranks) {
    other.fingerprint = hash_mix(before_ranks->fingerprint, ranks);
    other.aspects[rest] = hash_mix(before_ranks->aspect, ranks);
    if (other.of_state() == of_another) return ranks;
  }
  return std::nullopt;
}

std::string PipelineFacts::text() const { return std::string(facts_begin) + lines_of(facts); }

std::string PipelineFacts::what_differs(std::string_view text) const {
  if (!text.starts_with(facts_begin)) return {};
  return job_difference(facts_in(text.substr(facts_begin.size())), facts);
}

}  // namespace penstock::detail
