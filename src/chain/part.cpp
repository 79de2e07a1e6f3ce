// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/pipeline.hpp>

#include "chain/part_source.hpp"
#include "join/selected.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock {

namespace {

using detail::PipelineData;

[[noreturn]] void refuse(const std::string& stage, const std::string& why) {
  throw Error(Errc::invalid_argument,
              "a part of a join has the same records in each epoch and makes one sample of each, but " + why +
                  "; put it after the join")
      .with_stage(stage);
}

void check_orders(const PipelineData& data) {
  for (const detail::BoundOrder& order : data.orders) {
    const std::string name = order.model->name();
    if (!order.model->fixed()) refuse(name, name + " draws an order for each epoch");
    if (order.model->size(order.input_size) > order.input_size) refuse(name, name + " repeats records");
  }
}

void check_stages(const PipelineData& data) {
  if (data.source->is_stream())
    refuse(data.source->name(), "records of a stream have no numbers by which to join them");
  check_orders(data);
  for (const detail::BoundStage& stage : data.stages)
    if (stage.work->changes_count()) refuse(stage.label, stage.label + " changes the number of samples");
  if (data.batch) refuse("batch", "batch joins several samples");
  if (data.bucket) refuse("bucket", "bucket sorts samples into batches");
  for (const auto& [field, collate] : data.collates)
    refuse((collate.kind == Collate::Kind::ragged ? "ragged(" : "pad(") + field + ")",
           "how rows of \"" + field + "\" become a batch is a setting of the whole pipeline");
  if (data.policy) refuse("on_error", "on_error is a setting of the whole pipeline");
  if (data.check) refuse("check", "check is a setting of the whole pipeline");
  if (data.seed) refuse("seed", "the seed is a setting of the whole pipeline");
  if (data.rank) refuse("for_rank", "for_rank is a setting of the whole pipeline");
  if (data.cache && data.cache->allows.random)
    refuse(data.cache->label, "the draws that its cache keeps would be those of any part that has this pipeline");
}

std::shared_ptr<const detail::SourceModel> source_of(const Pipeline& pipeline) {
  const PipelineData& data = pipeline.data();
  check_stages(data);
  if (!data.stages.empty() || data.cache)
    return std::make_shared<const detail::runtime::PartSource>(std::make_shared<const PipelineData>(data));
  if (data.orders.empty()) return data.source;
  return std::make_shared<const detail::Selected>(data.source, data.orders, data.size,
                                                  detail::facts_of(data).fingerprint);
}

}  // namespace

AnySource::AnySource(const Pipeline& part) : AnySource(source_of(part)) {}

}  // namespace penstock
