// SPDX-License-Identifier: Apache-2.0
#include <penstock/detail/source_model.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/pipeline.hpp>

#include <utility>

#include <penstock/error.hpp>

#include "base/process.hpp"
#include "pipeline/add_stage.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock {

Pipeline::Pipeline(std::shared_ptr<const detail::SourceModel> source) {
  auto data = std::make_shared<detail::PipelineData>();
  data->source_schema = source->schema();
  data->source_size = source->size();
  if (data->source_schema.size() == 0)
    throw Error(Errc::schema_mismatch, "a source's schema has at least one field").with_source(source->name());
  data->schema = data->source_schema;
  data->size = data->source_size;
  data->source = std::move(source);
  data_ = std::move(data);
}

Pipeline operator|(const Pipeline& pipeline, const Stage& stage) {
  const FloatMode standard;
  auto data = std::make_shared<detail::PipelineData>(*pipeline.data_);
  detail::add_stage(*data, stage);
  return Pipeline(std::shared_ptr<const detail::PipelineData>(std::move(data)));
}

const Schema& Pipeline::schema() const noexcept { return data_->delivered(); }
std::uint64_t Pipeline::size() const noexcept { return data_->size; }
std::uint64_t Pipeline::batch_size() const noexcept { return data_->batch ? data_->batch->rows : 0; }
std::uint64_t Pipeline::steps_per_epoch() const {
  if (!data_->batch) throw Error(Errc::invalid_argument, "a pipeline without batch has no steps; add | batch(n)");
  if (data_->fixed_steps() != 0) return data_->fixed_steps();
  if (data_->reordered())
    throw Error(Errc::invalid_argument,
                "how many batches an epoch has is known only after it: a filter, a flat_map, the policy `drop`, "
                "buckets, the sizes or groups of samples, or a stream, decide on the way");
  return data_->steps();
}
std::uint64_t Pipeline::seed() const noexcept { return data_->seed_value(); }
std::uint64_t Pipeline::fingerprint() const { return detail::facts_of(*data_).fingerprint; }

void Pipeline::fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out) const {
  if (!data_->orders.empty())
    detail::check_not_forked();  // in a forked process, the lock of an order's tables may be held for ever
  if (data_->source->is_stream())
    throw Error(Errc::invalid_argument, "a stream's records come in its own order").with_source(data_->source->name());
  if (first > data_->size || out.size() > data_->size - first)
    throw Error(Errc::invalid_argument, "positions " + std::to_string(first) + " to " +
                                            std::to_string(first + out.size()) + " were asked of an epoch of " +
                                            std::to_string(data_->size));
  data_->sample_order().fill(epoch, first, out);
}

}  // namespace penstock
