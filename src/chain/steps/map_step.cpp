#include <string>

#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"

namespace penstock::detail {

namespace {

// A callable on the whole sample, which is given what comes before as it was declared there.
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
  bool makes(const Schema& before, std::size_t slot) const override {
    const auto old = before.find(schema[slot].name);
    return !old || !(before[*old] == schema[slot]);
  }

 private:
  const TransformModel& model_;
};

}  // namespace

std::unique_ptr<Step> make_map_step(const BoundStage& stage, const TransformModel& model) {
  return std::make_unique<MapStep>(stage, model);
}

}  // namespace penstock::detail
