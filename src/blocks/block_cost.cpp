// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <unordered_set>
#include <vector>

#include <penstock/detail/source_model.hpp>

#include "blocks/block_plan.hpp"
#include "blocks/block_schedule.hpp"
#include "blocks/memory_ahead.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

namespace {

constexpr std::uint64_t max_looked_at = 40'000;  // most records that are planned
// No further record is planned after this many uses of blocks, because one record may use thousands of blocks.
constexpr std::uint64_t max_uses_looked_at = 1u << 18;
constexpr std::uint64_t at_once = 16;           // records that are planned together, however many blocks they need
constexpr std::uint64_t max_summed = 1u << 20;  // most blocks whose bytes are summed

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.2g" : "%.0f", value);
  return text.data();
}

std::string mebibytes(double bytes) { return short_number(bytes / (1 << 20)) + " MiB"; }

// What the first records of an epoch need.
struct FirstRecords {
  std::uint64_t records = 0, uses = 0;
  std::uint64_t decodes = 0, parts = 0;  // blocks decoded whole, and parts that records decode by themselves
  std::uint64_t blocks = 0, bytes = 0;   // distinct blocks, and their decoded bytes
};

FirstRecords count_first_records(const PipelineData& data, const BlockModel& model, std::size_t limit) {
  FirstRecords begun;
  std::uint64_t fed = 0;
  BlockPlan plan(model, limit, min_records_in_sight, {}, at_once);
  plan.reset(
      [&](std::vector<std::uint64_t>& out) {
        out.resize(static_cast<std::size_t>(std::min<std::uint64_t>(256, data.size - fed)));
        data.sample_order().fill(0, fed, out);
        fed += out.size();
      },
      [](std::uint64_t) { return false; });
  std::unordered_set<std::uint64_t> seen;
  BlockPlan::SamplePlan sample;
  const std::uint64_t records = std::min(data.size, max_looked_at);
  for (std::uint64_t n = 0; n < records && begun.uses < max_uses_looked_at; ++n) {
    if (n % at_once == 0) plan.prepare(at_once);
    if (!plan.next(1, sample)) continue;
    ++begun.records;
    for (const std::uint64_t block : sample.blocks)
      if (seen.insert(block).second) begun.bytes += model.block_bytes(block);
    std::ranges::sort(sample.blocks);
    const auto end = std::unique(sample.blocks.begin(), sample.blocks.end());
    const auto distinct = static_cast<std::uint64_t>(end - sample.blocks.begin());
    begun.uses += distinct;
    if (sample.too_large != 0) continue;
    begun.parts += distinct - sample.needs.size();
    begun.decodes += static_cast<std::uint64_t>(std::ranges::count_if(sample.needs, &BlockPlan::Need::loads));
  }
  begun.blocks = seen.size();
  return begun;
}

// Returns the decoded bytes of all blocks. If there are more than `max_summed` blocks, estimates the sum from blocks at
// regular distances.
double decoded_bytes(const BlockModel& model, std::uint64_t blocks) {
  const std::uint64_t step = (blocks - 1) / max_summed + 1;
  double bytes = 0, summed = 0;
  for (std::uint64_t b = 0; b < blocks; b += step, ++summed) bytes += static_cast<double>(model.block_bytes(b));
  return bytes / summed * static_cast<double>(blocks);
}

std::string describe_decodes(const PipelineData& data, const BlockModel& model, std::size_t limit, double in_order) {
  const FirstRecords begun = count_first_records(data, model, limit);
  if (begun.records == 0) return {};
  const auto records = static_cast<double>(begun.records), parts = static_cast<double>(begun.parts);
  const auto decodes = static_cast<double>(begun.decodes);
  // A part counts as half a block. That is about right if records are regions that cross the tiles of a grid.
  const double work = decodes + parts / 2;
  std::string text = "; of " + mebibytes(default_block_bytes) + " (`max_block_bytes`) ";
  // If an order finishes one block after the other, the first records use their blocks about as often as in file order.
  // Fewer uses per block mean that blocks are used again much later, and memory does not keep them until then.
  const double per_block =
      static_cast<double>(begun.uses) / static_cast<double>(std::max<std::uint64_t>(begun.blocks, 1));
  const double in_all = static_cast<double>(begun.uses) / records / in_order;
  const bool comes_back = begun.bytes > limit && per_block < in_all / 1.5;
  if (work <= 1.5 * static_cast<double>(begun.blocks) && !comes_back)
    return text + "this order loads each about once an epoch";
  text += "this order loads " + short_number(decodes / records) + " a record, ";
  if (begun.parts != 0) text += "and parts of " + short_number(parts / records) + ", ";
  text += "in order it is " + short_number(in_order) + ": " + (begun.parts != 0 ? "about " : "") +
          short_number(work / records / in_order) + " times the work. ";
  return text +
         "shuffle({.blocks = true}), of few blocks at a time, or a `max_block_bytes` of all loads each about once";
}

}  // namespace

std::string describe_blocks(const PipelineData& data) {
  const BlockModel* const model = data.source->block_model();
  if (model == nullptr || data.source_size == 0) return {};
  const std::uint64_t blocks = model->blocks();
  std::string text = std::to_string(blocks) + " that records share";
  try {
    const double bytes = decoded_bytes(*model, blocks);
    text += blocks > max_summed ? ", about " : ", ";
    text += mebibytes(bytes) + " decoded";
    const std::size_t limit = default_block_bytes - take_memory_ahead(*model, default_block_bytes).bytes;
    if (bytes <= static_cast<double>(limit))
      return text + ": all stay in a loader's `max_block_bytes`, each is loaded once";
    return text +
           describe_decodes(data, *model, limit, static_cast<double>(blocks) / static_cast<double>(data.source_size));
  } catch (...) {  // a source or an order that fails here fails again when it is used, and reports the error then
    return text;
  }
}

}  // namespace penstock::detail::runtime
