#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/extend/cache.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/rank.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>

#include "join/opened_cache.hpp"
#include "order/group_table.hpp"
#include "order/sample_order.hpp"
#include "pipeline/batch_spec.hpp"
#include "pipeline/device_program.hpp"
#include "pipeline/stage_model.hpp"

namespace penstock::detail {

/// A cache that joined a pipeline, whose source has it before it then.
struct BoundCache {
  std::string label;
  std::size_t stages = 0;  ///< so many of the pipeline's stand before it
  CacheAllows allows;
  std::shared_ptr<const OpenedCache> opened;
};

/// What a Pipeline holds: what its stages said, in their order.
struct PipelineData {
  std::shared_ptr<const SourceModel> source;
  Schema source_schema;
  std::uint64_t source_size = 0;
  std::shared_ptr<KeptGroupTable> source_groups = std::make_shared<KeptGroupTable>();  ///< copies share it
  std::vector<BoundOrder> orders;
  std::vector<BoundStage> stages;
  std::optional<BoundCache> cache;
  Schema schema;  ///< fields of a row; with `device`, what is drawn for it stands after its fields
  std::vector<BoundStage> device_stages;        ///< stages after `batch`
  std::shared_ptr<const DeviceProgram> device;  ///< the program of `device_stages`; null: there are none
  std::uint64_t size = 0;                       ///< positions an epoch; `unknown_size` for a stream
  std::uint64_t stream_window = 0;              ///< a stream's records are shuffled inside blocks of so many; 0 = not
  std::uint64_t stream_key = 0;                 ///< key of a stream's shuffle
  bool filters = false, flat_maps = false;
  std::map<std::string, Collate> collates;   ///< what stages said, by field
  std::optional<BucketSpec> bucket;          ///< with `batch`, its window is resolved
  std::optional<BatchSpec> batch;            ///< the batch, with the most rows that bounds of fixed size allow
  bool bounded = false;                      ///< sizes of samples, or their groups, end a batch
  std::shared_ptr<const GroupTable> groups;  ///< groups that end a batch; null: none do
  std::optional<std::uint64_t> seed;
  std::optional<ErrorPolicy> policy;
  std::optional<CheckOptions> check;
  std::optional<Rank> rank;
  std::map<std::string, std::uint64_t> occurrences;

  /// Whose the source's records are. @throws as for_each_group.
  std::shared_ptr<const GroupTable> groups_of_source(const std::string& stage) const {
    return source_groups->of(*source, stage);
  }

  /// What must be open before samples are asked for. @throws what opening it does.
  void open() const {
    if (cache) cache->opened->open();
  }

  /// The schema of a row as the stages before `batch` make it, and of one that is delivered.
  const Schema& sample() const noexcept { return device ? device->sample : schema; }
  const Schema& delivered() const noexcept { return device ? device->delivered() : schema; }

  std::uint64_t seed_value() const noexcept { return seed.value_or(0); }
  /// Lives no longer than this.
  SampleOrder sample_order() const noexcept { return {orders, seed_value(), size}; }
  ErrorPolicy policy_value() const noexcept { return policy.value_or(ErrorPolicy{}); }
  CheckOptions check_value() const noexcept { return check.value_or(CheckOptions{}); }
  Rank rank_value() const noexcept { return rank.value_or(Rank{}); }
  /// Where a sample stands in its batch depends on those before it.
  bool reordered() const noexcept {
    return filters || flat_maps || bounded || bucket || source->is_stream() || policy_value().policy == OnError::drop;
  }
  /// Batches an epoch where the data go on without end, one pass after the other; 0 where a pass is an epoch.
  std::uint64_t fixed_steps() const noexcept { return rank_value().steps_per_epoch; }
  /// Batches an epoch; 0 where only the epoch's end tells.
  std::uint64_t steps() const noexcept {
    if (!batch || reordered()) return 0;
    if (fixed_steps() != 0) return fixed_steps();
    return size / batch->rows + (batch->options.tail != Tail::drop && size % batch->rows != 0 ? 1 : 0);
  }
};

}  // namespace penstock::detail
