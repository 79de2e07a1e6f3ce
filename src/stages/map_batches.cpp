// SPDX-License-Identifier: Apache-2.0
#include <penstock/stages/map_batches.hpp>

#include <memory>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class MapBatchesStage final : public WorkStage {
 public:
  MapBatchesStage(std::shared_ptr<const BatchMapModel> model, MapBatchesOptions options)
      : model_(std::move(model)), options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    const auto refuse = [this](const std::string& cause) {
      throw Error(Errc::invalid_argument, cause).with_stage(options_.name);
    };
    const PipelineData& data = pipeline.data();
    if (!data.batch) refuse("it works on whole batches, so it stands after batch");
    if (!data.after_batch.device_stages.empty())
      refuse("it works on the host, so it stands directly after batch, before \"" +
             data.after_batch.device_stages[0].label + "\", which a device may run");
    Schema out = pipeline.schema();
    for (const Field& field : options_.adds) out = with_added(out, field);
    const bool after_caller = !data.after_batch.maps.empty() && data.after_batch.maps.back().on_caller;
    pipeline.add_batch_map(options_.name, words(), options_.version, std::move(out),
                           {.stage = {},
                            .model = model_,
                            .on_caller = after_caller || options_.on == MapBatchesOptions::On::caller,
                            .adds = options_.adds.size()});
  }
  bool versioned() const override { return options_.version != 0 || model_->versioned(); }

 private:
  std::string words() const {
    const std::string of_model = model_->describe();
    return options_.describe + (options_.describe.empty() || of_model.empty() ? "" : ", ") + of_model;
  }

  Schema with_added(const Schema& schema, const Field& field) const {
    const std::string is = "`.adds` has the field \"" + field.name + "\", " + type_text(field);
    if (schema.find(field.name))
      throw Error(Errc::schema_mismatch, is + ", but the batch has a field of this name already, which the function "
                                              "can change in place")
          .with_stage(options_.name);
    if (!field.shape.fixed() || field.collate.kind != Collate::Kind::dense || field.shape.rank() == Shape::max_rank)
      throw Error(Errc::schema_mismatch, is + ", but an added field has a fixed shape of at most 7 dimensions")
          .with_stage(options_.name);
    try {
      return schema.with(field);
    } catch (Error& error) {
      throw error.with_stage(options_.name);
    }
  }

  const std::shared_ptr<const BatchMapModel> model_;
  const MapBatchesOptions options_;
};

}  // namespace

}  // namespace detail::runtime

Stage detail::make_map_batches(std::shared_ptr<const BatchMapModel> model, MapBatchesOptions options) {
  if (options.name.empty())
    throw Error(Errc::invalid_argument, "a stage has a name; leave `.name` out").with_stage("map_batches");
  return make_stage(runtime::MapBatchesStage(std::move(model), std::move(options)));
}

}  // namespace penstock
