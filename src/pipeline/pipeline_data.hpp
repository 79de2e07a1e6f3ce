// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/batch_map_model.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/extend/cache.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/rank.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>

#include "join/lazy_cache.hpp"
#include "order/group_table.hpp"
#include "order/sample_order.hpp"
#include "pipeline/batch_spec.hpp"
#include "pipeline/device_program.hpp"
#include "pipeline/stage_model.hpp"

namespace penstock::detail {

/// The cache of a pipeline. The pipeline's `source` includes it.
struct BoundCache {
  std::string label;
  std::size_t stages = 0;  ///< number of stages before the cache
  CacheAllows allows;
  std::shared_ptr<const LazyCache> opened;
};

/// A stage of `map_batches`.
struct BoundBatchMap {
  BoundStage stage;
  std::shared_ptr<const BatchMapModel> model;
  bool on_caller = false;  ///< the thread that takes a batch calls the function, not a runner
  std::size_t adds = 0;    ///< number of fields that the stage adds; they are the last fields of `stage.out`
};

/// The stages after `batch`, in their order: first `maps`, then `device_stages`.
struct StagesAfterBatch {
  std::vector<BoundBatchMap> maps;        ///< work on whole batches on the host
  std::vector<BoundStage> device_stages;  ///< may run on a device
};

/// What a Pipeline holds: the settings of its stages, in their order.
struct PipelineData {
  std::shared_ptr<const SourceModel> source;
  Schema source_schema;
  std::uint64_t source_size = 0;
  std::shared_ptr<LazyGroupTable> source_groups =
      std::make_shared<LazyGroupTable>();  ///< copies of the pipeline share it
  std::vector<BoundOrder> orders;
  std::vector<BoundStage> stages;
  std::optional<BoundCache> cache;
  Schema schema;  ///< fields of a row; if there is a `device`, its hidden fields follow
  StagesAfterBatch after_batch;
  std::shared_ptr<const DeviceProgram> device;  ///< the program of `after_batch.device_stages`; null if there are none
  std::uint64_t size = 0;                       ///< positions per epoch; `unknown_size` for a stream
  std::uint64_t stream_window = 0;  ///< a stream is shuffled inside runs of this many records; 0 means no shuffle
  std::uint64_t stream_key = 0;     ///< key of a stream's shuffle
  bool filters = false, flat_maps = false;
  std::map<std::string, Collate> collates;  ///< how rows are put together, by field name
  std::optional<BucketSpec> bucket;         ///< its window is set when `batch` joins
  std::optional<BatchSpec> batch;  ///< its `rows`: the most rows that any batch can have, with all bounds applied
  bool bounded = false;            ///< whether sizes or groups of samples end batches
  std::shared_ptr<const GroupTable> groups;  ///< the groups, if a batch ends with its group; otherwise null
  std::optional<std::uint64_t> seed;
  std::optional<ErrorPolicy> policy;
  std::optional<CheckOptions> check;
  std::optional<Rank> rank;
  std::map<std::string, std::uint64_t> occurrences;

  /// Returns the groups of the source's records. @throws like for_each_group.
  std::shared_ptr<const GroupTable> groups_of_source(const std::string& stage) const {
    return source_groups->of(*source, stage);
  }

  /// Opens the cache, if there is one, and the caches of parts. Call it before samples are made. @throws what opening a
  /// cache throws; the stage of an error names the part.
  void open() const;

  /// Return the schema of a row after the stages before `batch`, and the schema of a delivered row.
  const Schema& sample() const noexcept { return device ? device->sample : schema; }
  const Schema& delivered() const noexcept { return device ? device->delivered() : schema; }

  /// Returns how many of the last fields of `sample()` are added by `map_batches`. Runners don't make these fields.
  std::size_t added() const noexcept {
    std::size_t fields = 0;
    for (const BoundBatchMap& map : after_batch.maps) fields += map.adds;
    return fields;
  }
  /// Returns `schema`, with empty values in the fields that `map_batches` adds: what runners make of a sample.
  Schema made() const;
  /// Returns the label of a stage after `batch` whose results depend on other rows of this rank, and so on the number
  /// of ranks; null if there is none.
  const std::string* mixing_stage() const;
  /// Returns the same of the stages that may run on a device.
  const std::string* mixing_device_stage() const;

  std::uint64_t seed_value() const noexcept { return seed.value_or(0); }
  /// Returns the order of samples, which must not outlive this object.
  SampleOrder sample_order() const noexcept { return {orders, seed_value(), size}; }
  ErrorPolicy policy_value() const noexcept { return policy.value_or(ErrorPolicy{}); }
  CheckOptions check_value() const noexcept { return check.value_or(CheckOptions{}); }
  Rank rank_value() const noexcept { return rank.value_or(Rank{}); }
  /// Returns whether the row of a sample depends on the samples before it.
  bool reordered() const noexcept {
    return filters || flat_maps || bounded || bucket || source->is_stream() || policy_value().policy == OnError::drop;
  }
  /// Returns the number of batches per epoch if passes follow each other without end; 0 if a pass is an epoch.
  std::uint64_t fixed_steps() const noexcept { return rank_value().steps_per_epoch; }
  /// Returns the number of batches per epoch; 0 if there is no `batch`, or if the pipeline is reordered.
  std::uint64_t steps() const noexcept {
    if (!batch || reordered()) return 0;
    if (fixed_steps() != 0) return fixed_steps();
    return size / batch->rows + (batch->options.tail != Tail::drop && size % batch->rows != 0 ? 1 : 0);
  }
};

}  // namespace penstock::detail
