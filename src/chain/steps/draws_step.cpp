#include <string>

#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"
#include "data/find_field.hpp"
#include "pipeline/device_draws.hpp"

namespace penstock::detail {

namespace {

class Room final : public DrawRoom {
 public:
  explicit Room(ChainRun& run) : run_(run) {}
  std::byte* make(std::size_t field, std::size_t bytes) override {
    return run_.make(field, Shape{static_cast<std::int64_t>(bytes)});
  }
  Scratch& scratch() override { return run_.arena; }

 private:
  ChainRun& run_;
};

// What the stages after `batch` draw for a row, which travels with it.
class DrawsStep final : public Step {
 public:
  DrawsStep(const DeviceProgram& program, const Schema& of) : Step("draws", 0), program_(program) { schema = of; }

  bool run(ChainRun& run, const StepCall& call) const override {
    run.shapes.clear();
    for (std::size_t slot = 0; slot < program_.sample.size(); ++slot) run.shapes.push_back(run.cells[slot].shape);
    Room room(run);
    draw_row(program_, call.seed, call.place, run.shapes, room, run.image_ops, &run.at);
    return true;
  }
  std::string describe(const CheckOptions&) const override { return label + ": for the stages after batch"; }
  bool makes(const Schema& before, std::size_t slot) const override {
    return !find_field(before, schema[slot].name, slot);
  }

 private:
  const DeviceProgram& program_;
};

}  // namespace

std::unique_ptr<Step> make_draws_step(const DeviceProgram& program, const Schema& schema) {
  return std::make_unique<DrawsStep>(program, schema);
}

}  // namespace penstock::detail
