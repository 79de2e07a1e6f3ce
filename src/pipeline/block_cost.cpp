#include "pipeline/block_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <list>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <penstock/detail/source_model.hpp>

#include "pipeline/sample_order.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail {

namespace {

constexpr std::uint64_t max_looked_at = 1u << 18;  // uses of blocks
constexpr std::uint64_t max_summed = 1u << 20;     // blocks

// Keeps the blocks used last, as a loader nearly does.
class RecentBlocks {
 public:
  explicit RecentBlocks(std::uint64_t limit) : limit_(limit) {}
  // True when it had to be decoded.
  bool use(std::uint64_t block, std::uint64_t bytes) {
    if (const auto found = entries_.find(block); found != entries_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return false;
    }
    order_.push_front({block, bytes});
    entries_[block] = order_.begin();
    bytes_ += bytes;
    while (bytes_ > limit_ && order_.size() > 1) {
      bytes_ -= order_.back().bytes;
      entries_.erase(order_.back().block);
      order_.pop_back();
    }
    return true;
  }

 private:
  struct Entry {
    std::uint64_t block, bytes;
  };
  std::uint64_t limit_, bytes_ = 0;
  std::list<Entry> order_;
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> entries_;
};

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.2g" : "%.0f", value);
  return text.data();
}

std::string mebibytes(double bytes) { return short_number(bytes / (1 << 20)) + " MiB"; }

// What an epoch begins with.
struct Beginning {
  std::uint64_t records = 0, uses = 0, decodes = 0;
  std::uint64_t blocks = 0, bytes = 0;  // different ones, and what they are decoded into
};

Beginning begin_epoch(const PipelineData& data, const BlockModel& model) {
  Beginning begun;
  RecentBlocks recent(default_block_bytes);
  std::unordered_set<std::uint64_t> seen;
  std::vector<std::uint64_t> indices(256), ids;
  while (begun.records < data.size && begun.uses < max_looked_at) {
    indices.resize(std::min<std::uint64_t>(indices.size(), data.size - begun.records));
    SampleOrder(data).fill(0, begun.records, indices);
    for (const std::uint64_t index : indices) {
      if (begun.uses >= max_looked_at) break;
      ids.clear();
      model.blocks_of(index, ids);
      for (const std::uint64_t id : ids) {
        const std::uint64_t bytes = model.block_bytes(id);
        if (recent.use(id, bytes)) ++begun.decodes;
        if (seen.insert(id).second) begun.bytes += bytes;
      }
      begun.uses += ids.size();
      ++begun.records;
    }
  }
  begun.blocks = seen.size();
  return begun;
}

// What all blocks are decoded into; of very many, what some at regular distances let expect.
double decoded_bytes(const BlockModel& model, std::uint64_t blocks) {
  const std::uint64_t step = (blocks - 1) / max_summed + 1;
  double bytes = 0, summed = 0;
  for (std::uint64_t b = 0; b < blocks; b += step, ++summed) bytes += static_cast<double>(model.block_bytes(b));
  return bytes / summed * static_cast<double>(blocks);
}

std::string describe_decodes(const PipelineData& data, const BlockModel& model, double in_order) {
  const Beginning begun = begin_epoch(data, model);
  if (begun.records == 0) return {};
  const auto records = static_cast<double>(begun.records), decodes = static_cast<double>(begun.decodes);
  std::string text = "; of " + mebibytes(default_block_bytes) + " (`max_block_bytes`) ";
  // Of an order that goes through blocks in turn, those of its first records are more than in file order. One that
  // comes back to them much later has not come back yet: its blocks have had few uses, and don't stay until then.
  const double per_block =
      static_cast<double>(begun.uses) / static_cast<double>(std::max<std::uint64_t>(begun.blocks, 1));
  const double in_all = static_cast<double>(begun.uses) / records / in_order;
  const bool comes_back = begun.bytes > default_block_bytes && per_block < in_all / 1.5;
  if (decodes <= 1.5 * static_cast<double>(begun.blocks) && !comes_back)
    return text + "this order decodes each about once an epoch";
  text += "this order decodes " + short_number(decodes / records) + " a record, in order it is " +
          short_number(in_order) + ": " + short_number(decodes / records / in_order) + " times the work. ";
  return text +
         "shuffle({.blocks = true}), of few blocks at a time, or a `max_block_bytes` of all decodes each about once";
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
    if (bytes <= static_cast<double>(default_block_bytes))
      return text + ": all stay in a loader's `max_block_bytes`, each is decoded once";
    return text + describe_decodes(data, *model, static_cast<double>(blocks) / static_cast<double>(data.source_size));
  } catch (...) {  // a source, or an order, that fails tells it when it is used
    return text;
  }
}

}  // namespace penstock::detail
