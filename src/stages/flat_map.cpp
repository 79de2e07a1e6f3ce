// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include <penstock/detail/flat_map_model.hpp>
#include <penstock/error.hpp>
#include <penstock/stages/flat_map.hpp>

#include "base/hash.hpp"
#include "chain/chain_compiler.hpp"
#include "chain/chain_run.hpp"
#include "chain/step.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// Makes one child of the ChainRun's parent.
class FlatMapStep final : public Step {
 public:
  FlatMapStep(const BoundStage& stage, const FlatMapModel& model) : Step(stage.label, stage.key), model_(model) {
    schema = stage.out;
  }

  bool run(ChainRun& run, const StepCall& call) const override {
    Sample child(run);
    Context context(call.seed, key, call.place, call.index, &run.stop);
    model_.child(Sample(*run.parent), run.child, child, context);
    check_values(run);
    return true;
  }
  std::uint32_t count(ChainRun& parent, const StepCall& call) const override {
    constexpr std::uint64_t count_key = 0x636f756e74;
    Context context(call.seed, hash_mix(key, count_key), call.place, call.index, &parent.stop);
    return model_.count(Sample(parent), context);
  }
  std::string describe(const CheckOptions&) const override {
    return label + ": makes any number of samples of one -> " + schema.to_string();
  }
  bool makes(const Schema& before, std::size_t slot) const override { return declares_anew(before, slot); }

 private:
  const FlatMapModel& model_;
};

class FlatMapStage final : public WorkStage {
 public:
  explicit FlatMapStage(std::shared_ptr<const FlatMapModel> model) : model_(std::move(model)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string name = model_->name();
    if (pipeline.data().flat_maps)
      throw Error(Errc::invalid_argument,
                  "a pipeline has one flat_map: let this one's children be counted through both of them")
          .with_stage(name);
    pipeline.add_stage(name, name, "flat_map", model_->version(), model_->schema(pipeline.data().schema));
    pipeline.data().flat_maps = true;
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.begin_children();
    chain.add(std::make_unique<FlatMapStep>(bound, *model_));
  }
  bool changes_count() const override { return true; }

 private:
  const std::shared_ptr<const FlatMapModel> model_;
};

}  // namespace

}  // namespace detail::runtime

Stage detail::make_flat_map(std::shared_ptr<const FlatMapModel> model) {
  return make_stage(runtime::FlatMapStage(std::move(model)));
}

}  // namespace penstock
