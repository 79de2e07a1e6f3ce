#include <string>

#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"

namespace penstock::detail {

namespace {

class FilterStep final : public Step {
 public:
  FilterStep(const BoundStage& stage, const FilterModel& model) : Step(stage.label, stage.key), model_(model) {
    schema = stage.out;
  }

  bool run(ChainRun& run, const StepCall& call) const override {
    Context context(call.seed, key, call.place, call.index, &run.stop);
    return model_.keeps(Sample(run), context);
  }
  std::string describe(const CheckOptions&) const override { return label + ": leaves samples out"; }
  bool makes(const Schema&, std::size_t) const override { return false; }

 private:
  const FilterModel& model_;
};

}  // namespace

std::unique_ptr<Step> make_filter_step(const BoundStage& stage, const FilterModel& model) {
  return std::make_unique<FilterStep>(stage, model);
}

}  // namespace penstock::detail
