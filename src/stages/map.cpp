// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include <penstock/detail/transform_model.hpp>
#include <penstock/stages/map.hpp>

#include "chain/chain_compiler.hpp"
#include "chain/chain_run.hpp"
#include "chain/step.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// Calls a user's callable on the whole sample.
class MapStep final : public Step {
 public:
  MapStep(const BoundStage& stage, const TransformModel& model) : Step(stage.label, stage.key), model_(model) {
    schema = stage.out;
  }

  bool run(ChainRun& run, const StepCall& call) const override {
    Sample sample(run);
    Context context(call.seed, key, call.place, call.index, &run.stop);
    model_.apply(sample, context);
    refuse_draws(call, context);
    check_values(run);
    return true;
  }
  std::string describe(const CheckOptions&) const override { return label + " -> " + schema.to_string(); }
  bool makes(const Schema& before, std::size_t slot) const override { return declares_anew(before, slot); }

 private:
  const TransformModel& model_;
};

class MapStage final : public WorkStage {
 public:
  explicit MapStage(std::shared_ptr<const TransformModel> model) : model_(std::move(model)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string name = model_->name();
    Schema out;
    try {
      out = model_->schema(pipeline.data().schema);
    } catch (const Error& error) {
      throw Error(error).with_stage(name);
    }
    pipeline.add_stage(name, name, model_->describe(), model_->version(), std::move(out));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add(std::make_unique<MapStep>(bound, *model_));
  }
  bool versioned() const override { return model_->versioned(); }
  bool may_give(const std::string&) const override { return true; }

 private:
  const std::shared_ptr<const TransformModel> model_;
};

}  // namespace

}  // namespace detail::runtime

Stage detail::make_map(std::shared_ptr<const TransformModel> model) {
  return make_stage(runtime::MapStage(std::move(model)));
}

}  // namespace penstock
