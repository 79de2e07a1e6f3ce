// SPDX-License-Identifier: Apache-2.0
#include "pipeline/add_device_stage.hpp"

#include <string>
#include <utility>

#include <penstock/error.hpp>

namespace penstock::detail {

namespace {

// Checks a field that a stage makes. All rows of the field must have one fixed shape, so that all memory can be taken
// before the first batch. The shape must leave room for the batch's dimension.
void check_made(const Field& field, const std::string& label) {
  const std::string is =
      "field \"" + field.name + "\" would be " + std::string(to_string(field.dtype)) + field.shape.to_string();
  if (!field.shape.fixed() || field.collate.kind != Collate::Kind::dense)
    throw Error(Errc::schema_mismatch, is + ", but after batch all rows of what a stage makes have one fixed shape")
        .with_stage(label);
  if (field.shape.rank() == Shape::max_rank)
    throw Error(Errc::schema_mismatch,
                is + ", which has 8 dimensions, the most there are; its batch would have one more")
        .with_stage(label);
}

void check_kept(const Field& in, const Field& out, const std::string& label) {
  if (!(in.collate == out.collate))
    throw Error(
        Errc::schema_mismatch,
        "field \"" + out.name +
            "\" is not made by the stage, but put together in another way in its schema; leave the field as it is")
        .with_stage(label);
}

}  // namespace

void add_device_stage(PipelineData& data, BoundStage stage) {
  if (stage.out.size() == 0) throw Error(Errc::schema_mismatch, "the stage leaves no field").with_stage(stage.label);
  const Schema sample = data.sample();
  data.after_batch.device_stages.push_back(std::move(stage));
  data.device = make_device_program(sample, data.after_batch.device_stages);
  if (!data.after_batch.maps.empty() && data.device->decodes())
    throw Error(Errc::invalid_argument,
                "runners open and decode images before a batch is complete, so no decoder "
                "stands after " +
                    data.after_batch.maps.back().stage.label + "; put the decoder before batch")
        .with_stage(data.after_batch.device_stages.back().label);
  for (const DeviceStep& step : data.device->steps)
    for (std::size_t i = 0; i < step.out.size(); ++i)
      if (step.made[i] && step.model != nullptr)
        check_made(step.out[i], step.label);
      else if (!step.made[i])
        check_kept(step.in.at(step.out[i].name), step.out[i], step.label);
  data.schema = data.device->with_draws();
}

}  // namespace penstock::detail
