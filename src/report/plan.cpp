// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <penstock/pipeline.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>

#include "blocks/block_cost.hpp"
#include "chain/chain.hpp"
#include "pipeline/batch_positions.hpp"
#include "pipeline/no_batch.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock {

namespace {

using detail::runtime::Step;
using Kind = detail::DeviceStep::Kind;

std::string where(const detail::runtime::Chain& chain, const Step& step) {
  if (!chain.data().batch || (step.destinations.empty() && step.varying_destinations.empty())) return "";
  std::string fields;
  for (const auto* destinations : {&step.destinations, &step.varying_destinations})
    for (const Step::Destination& destination : *destinations)
      if (destination.row < chain.data().sample().size())
        fields += (fields.empty() ? "" : ", ") + chain.data().schema[destination.row].name;
  if (fields.empty()) return "";
  return "; writes " + fields + (chain.data().reordered() ? " where it waits for its row" : " into the batch");
}

// Describes how rows that differ in size are combined, what limits a batch, and how samples are sorted by length.
std::string describe(const detail::PipelineData& data) {
  std::string text;
  for (const Field& field : data.sample()) {
    if (field.collate.kind == Collate::Kind::ragged) text += "; " + field.name + " is ragged";
    if (field.collate.kind != Collate::Kind::pad) continue;
    text += "; " + field.name + " is padded to " +
            (field.collate.to == 0 ? "the longest row" : std::to_string(field.collate.to));
  }
  const BatchOptions& options = data.batch->options;
  if (options.max_tokens != 0)
    text += "; at most " + std::to_string(options.max_tokens) + " elements of " + options.tokens;
  if (options.by == BatchOptions::By::group) text += "; of one group each";
  if (options.max_bytes != 0) text += "; at most " + std::to_string(options.max_bytes) + " bytes";
  if (data.bucket)
    text += "; of " + std::to_string(data.bucket->options.window) +
            " consecutive samples, which wait for each other, those of like " + data.bucket->field + " stand together";
  return text;
}

// Describes a step. `first`: the step before `step`, if both belong to one stage; otherwise null.
std::string describe(const detail::DeviceStep& step, const detail::DeviceStep* first) {
  std::string made, how;
  if (first != nullptr)
    how = first->in.at(step.field).shape.fixed() ? ", resampled there" : ", images of any size resampled there";
  for (std::size_t i = 0; i < step.out.size(); ++i)
    if (step.made[i])
      made += (made.empty() ? "" : ", ") + step.out[i].name + ": " + std::string(to_string(step.out[i].dtype)) +
              step.out[i].shape.to_string();
  const char* const by = step.kind == Kind::decode
                             ? ": on the loader's device, as far as it can, else by the loader's threads"
                             : ": on the loader's device, whole batches";
  return step.label + by + how + " -> " + (made.empty() ? "nothing" : made);
}

// Says what tears bags apart in batches. Empty if there are no bags, or if bags stay together.
std::string torn_bags(const detail::PipelineData& d) {
  const bool bags =
      std::ranges::any_of(d.orders, [](const detail::BoundOrder& order) { return order.model->name() == "bags"; });
  const bool moves = d.reordered() || d.policy_value().policy == OnError::replace;
  if (!bags || !d.batch || d.batch->options.by == BatchOptions::By::group || !moves) return {};
  return "bags are torn where samples are left out, replaced or sorted by length; with batch(n, {.by = "
         "BatchOptions::By::group}) a "
         "batch is one bag";
}

std::string rows_text(std::uint64_t first, std::uint64_t count) {
  if (count == 0) return "no row";
  if (count == 1) return "row " + std::to_string(first);
  return "rows " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

std::string describe(const detail::PipelineData& d, const Rank& rank) {
  std::string text = "rank " + std::to_string(rank.rank) + " of " + std::to_string(rank.world);
  if (d.fixed_steps() != 0)
    text += ", an epoch is " + std::to_string(d.fixed_steps()) + " batches of one pass over the data after the other";
  if (!d.batch || rank.world == 1) return text;
  const std::uint64_t rows = d.batch->rows, steps = d.steps();
  const detail::RowRange part = detail::balanced_share(rows, rank);
  text += ": " + rows_text(part.first, part.count) + " of the " + std::to_string(rows) + " of each batch";
  if (steps == 0 || detail::BatchPositions(d).global_valid(steps - 1) == rows) return text;
  const detail::RankRows last =
      detail::BatchPositions(d).rank_rows({.number = steps - 1, .position = (steps - 1) * rows});
  text += ", " + rows_text(last.first - (steps - 1) * rows, last.valid) + " of the last one's";
  if (last.rows > last.valid) text += ", and padding";
  return text;
}

std::string source_lines(const detail::PipelineData& d) {
  std::string out = "source  " + d.source->name() + (d.source->file().empty() ? "" : " " + d.source->file()) + ": " +
                    (d.source->is_stream() ? "records in order" : std::to_string(d.source_size) + " records") + "\n";
  for (const std::string& note : d.source->notes()) out += "        " + note + "\n";
  for (const Field& field : d.source_schema)
    if (!field.classes.empty()) out += "        " + field.name + " stands for " + field.classes.to_string() + "\n";
  if (const std::string blocks = detail::runtime::describe_blocks(d); !blocks.empty())
    out += "blocks  " + blocks + "\n";
  return out;
}

std::string order_lines(const detail::PipelineData& d) {
  std::string out;
  for (const detail::BoundOrder& o : d.orders) out += "order   " + o.label + "\n";
  if (const std::string torn = torn_bags(d); !torn.empty()) out += "        " + torn + "\n";
  if (d.stream_window != 0) out += "order   shuffle inside blocks of " + std::to_string(d.stream_window) + " records\n";
  return out;
}

std::string epoch_line(const detail::PipelineData& d) {
  const std::string seed = "seed " + std::to_string(d.seed_value()) + "\n";
  if (d.source->is_stream())
    return "epoch   until the stream ends; a resume " +
           std::string(d.source->can_seek() ? "seeks" : "reads all records before it once more") + "; " + seed;
  return "epoch   " + std::to_string(d.size) + (d.filters || d.flat_maps ? " positions" : " samples") + ", " + seed;
}

// Draws the parts that have stages as a tree, in front of the reading that joins them.
std::string part_lines(const detail::runtime::Chain& chain, const std::string& indent) {
  std::string out;
  for (const auto& branch : chain.branches()) {
    const detail::PipelineData& d = branch.chain->data();
    const std::string begin = "        " + indent, inner = begin + "| ";
    out += begin + "+ " + branch.name + ": " + d.source->name() +
           (d.source->file().empty() ? "" : " " + d.source->file()) + ", " + std::to_string(d.size) + " records\n";
    for (const detail::BoundOrder& order : d.orders) out += inner + order.label + "\n";
    out += part_lines(*branch.chain, indent + "| ");
    for (const auto& step : branch.chain->steps()) {
      out += inner + step->describe(d.check_value()) + "\n";
      for (const std::string& note : step->notes()) out += inner + "  " + note + "\n";
    }
  }
  return out;
}

std::string stage_lines(const detail::runtime::Chain& chain) {
  std::string out = part_lines(chain, "");
  if (!out.empty()) out = "parts   each part makes its samples by itself\n" + out;
  for (const auto& step : chain.steps()) {
    out += "stage   " + step->describe(chain.data().check_value()) + where(chain, *step) + "\n";
    for (const std::string& note : step->notes()) out += "        " + note + "\n";
  }
  return out;
}

const char* tail_text(Tail tail) {
  return tail == Tail::keep ? "kept" : tail == Tail::drop ? "dropped" : "padded, with mask";
}

// Describes how many batches an epoch has, and what happens to samples that don't fill a batch.
std::string batches_text(const detail::PipelineData& d) {
  const std::string tail = tail_text(d.batch->options.tail);
  if (d.reordered())
    return "reordered: what is left of the samples is copied in order, once" +
           (d.fixed_steps() != 0
                ? "; " + std::to_string(d.fixed_steps()) + " an epoch"
                : "; only the epoch's end tells how many there are; the last batch, where incomplete, is " + tail);
  const std::string text = std::to_string(d.steps()) + " an epoch";
  const std::uint64_t rest = d.size % d.batch->rows;
  if (d.fixed_steps() != 0 || rest == 0) return text;
  return text + "; the last one, of " + std::to_string(rest) + (rest == 1 ? " row, is " : " rows, is ") + tail;
}

std::string batch_lines(const detail::PipelineData& d) {
  std::string out = "batch   " + std::string(d.bounded ? "at most " : "") + std::to_string(d.batch->rows) + " rows, " +
                    batches_text(d) + describe(d) + "\n";
  if (const std::string why = detail::why_no_batch(d); !why.empty()) out += "        " + why + "\n";
  return out;
}

std::string map_lines(const std::vector<detail::BoundBatchMap>& maps) {
  std::string out;
  for (const detail::BoundBatchMap& map : maps) {
    out += "after   " + map.stage.label + ": on the host, whole batches, by the " +
           (map.on_caller ? "thread that takes them" : "runner that made the last row");
    for (std::size_t i = map.stage.out.size() - map.adds; i < map.stage.out.size(); ++i) {
      const Field& field = map.stage.out[i];
      out += (i == map.stage.out.size() - map.adds ? " -> " : ", ") + field.name + ": " +
             std::string(to_string(field.dtype)) + field.shape.to_string();
    }
    out += "\n";
  }
  return out;
}

std::string device_lines(const detail::PipelineData& d) {
  const std::vector<detail::DeviceStep>& steps = d.device->steps;
  std::string out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == Kind::resample) continue;
    const bool halved = i > 0 && steps[i - 1].kind == Kind::resample;
    out += "after   " + describe(steps[i], halved ? &steps[i - 1] : nullptr) + "\n";
  }
  if (!d.device->in_place()) return out;
  const bool on_caller = std::ranges::any_of(d.after_batch.maps, &detail::BoundBatchMap::on_caller);
  out += std::string("        on the host in place, by the ") +
         (on_caller ? "thread that takes batches" : "runner that made the last row") + "\n";
  return out;
}

// Says which row a stage that mixes neighbours leaves as it is in every batch.
std::string unmixed_line(const detail::PipelineData& d) {
  const std::string* const mixes = d.mixing_device_stage();
  if (mixes == nullptr || d.bounded || detail::max_rows_of_rank(d) % 2 == 0) return "";
  return "        " + *mixes + ": the last of " + std::to_string(detail::max_rows_of_rank(d)) +
         " rows has no neighbour\n";
}

const char* error_line(OnError policy) {
  switch (policy) {
    case OnError::fail:
      return "errors  the first bad sample in order ends the epoch\n";
    case OnError::replace:
      return "errors  a bad sample is replaced by another of the same order\n";
    case OnError::mask:
      return "errors  a bad sample becomes zeros with mask 0\n";
    case OnError::drop:
      return "errors  a bad sample is left out\n";
  }
  return "";
}

}  // namespace

std::string Pipeline::plan() const {
  const detail::PipelineData& d = *data_;
  std::string out = source_lines(d) + order_lines(d) + epoch_line(d) + stage_lines(detail::runtime::Chain(data_));
  if (d.batch) out += batch_lines(d);
  out += map_lines(d.after_batch.maps);
  if (d.device) out += device_lines(d) + unmixed_line(d);
  if (d.rank) out += "ranks   " + describe(d, *d.rank) + "\n";
  return out + error_line(d.policy_value().policy);
}

}  // namespace penstock
