#include <string>

#include "base/hash.hpp"
#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"

namespace penstock::detail {

namespace {

// Makes one child of the parent that the run has.
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
  bool makes(const Schema& before, std::size_t slot) const override {
    const auto old = before.find(schema[slot].name);
    return !old || !(before[*old] == schema[slot]);
  }

 private:
  const FlatMapModel& model_;
};

}  // namespace

std::unique_ptr<Step> make_flat_map_step(const BoundStage& stage, const FlatMapModel& model) {
  return std::make_unique<FlatMapStep>(stage, model);
}

}  // namespace penstock::detail
