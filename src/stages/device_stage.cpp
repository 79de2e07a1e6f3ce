// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "pipeline/device_program.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class DeviceStage final : public WorkStage {
 public:
  explicit DeviceStage(std::shared_ptr<const DeviceStageModel> model) : model_(std::move(model)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string name = model_->name();
    if (!pipeline.data().batch)
      throw Error(Errc::invalid_argument, "a stage on whole batches stands after batch").with_stage(name);
    Schema out;
    try {
      out = model_->schema(pipeline.schema());
    } catch (...) {
      throw current_error().with_stage(name);
    }
    pipeline.add_device_stage(name, name, model_->describe(), model_->version(), std::move(out));
  }
  void launch(const BoundStage& bound, DeviceProgramBuilder& program) const override { program.add(bound, model_); }

 private:
  const std::shared_ptr<const DeviceStageModel> model_;
};

}  // namespace

}  // namespace detail::runtime

Stage detail::make_device_stage(std::shared_ptr<const DeviceStageModel> model) {
  return make_stage(runtime::DeviceStage(std::move(model)));
}

}  // namespace penstock
