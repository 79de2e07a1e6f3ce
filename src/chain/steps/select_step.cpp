#include <string>
#include <utility>

#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"

// Steps that say which fields there are, and change no value.
namespace penstock::detail {

namespace {

class SelectStep : public Step {
 public:
  explicit SelectStep(const BoundStage& stage) : Step(stage.label, stage.key) { schema = stage.out; }

  bool run(ChainRun&, const StepCall&) const override { return true; }
  std::string describe(const CheckOptions&) const override { return label + ": " + schema.to_string(); }
  bool makes(const Schema&, std::size_t) const override { return false; }
};

class RenameStep final : public SelectStep {
 public:
  RenameStep(const BoundStage& stage, const RenameItem& item) : SelectStep(stage), from_(item.from), to_(item.to) {}

  // The steps before it may have been moved.
  void follow(const Schema& before) override {
    std::vector<Field> renamed(before.begin(), before.end());
    for (Field& field : renamed)
      if (field.name == from_) field.name = to_;
    schema = Schema(std::move(renamed));
  }
  const std::string& name_before(const std::string& name) const override { return name == to_ ? from_ : name; }

 private:
  const std::string from_, to_;
};

}  // namespace

std::unique_ptr<Step> make_select_step(const BoundStage& stage) { return std::make_unique<SelectStep>(stage); }
std::unique_ptr<Step> make_rename_step(const BoundStage& stage, const RenameItem& item) {
  return std::make_unique<RenameStep>(stage, item);
}

}  // namespace penstock::detail
