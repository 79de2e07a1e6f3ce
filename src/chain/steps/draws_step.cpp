// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "chain/chain_run.hpp"
#include "chain/image_step.hpp"
#include "chain/steps/steps.hpp"
#include "pipeline/device_draws.hpp"

namespace penstock::detail::runtime {

namespace {

class Room final : public DrawRoom {
 public:
  Room(ChainRun& run, const DeviceProgram& program, const StepCall& call)
      : run_(run), program_(program), remarks_(run.counters.steps[call.number].remarks), verifies_(call.check.verify) {}
  std::byte* make(std::size_t field, std::size_t bytes) override {
    return run_.make(field, Shape{static_cast<std::int64_t>(bytes)});
  }
  Scratch& scratch() override { return run_.arena; }
  const std::byte* value(std::size_t field) override { return run_.value(field); }
  ImageDecoding& decoding(std::size_t step) override {
    run_.images.batch_decoders.resize(program_.steps.size());
    auto& decoding = run_.images.batch_decoders[step];
    if (decoding == nullptr) decoding = program_.steps[step].decoder->start();
    return *decoding;
  }
  bool decodes_on_device(std::size_t step) const override {
    return step < run_.images.decodes_on_device.size() && run_.images.decodes_on_device[step];
  }
  void require_size(std::size_t field, std::uint64_t bytes) const override { run_.require_size(field, bytes); }
  bool verifies() const override { return verifies_; }
  void remark(const char* text) override { remarks_.add(text, 1); }

 private:
  ChainRun& run_;
  const DeviceProgram& program_;
  Remarks& remarks_;
  const bool verifies_;
};

// Draws for the stages after `batch`. The drawn values are fields of the row.
class DrawsStep final : public Step {
 public:
  DrawsStep(const DeviceProgram& program, const Schema& of) : Step("draws", 0), program_(program) {
    schema = of;
    for (const DeviceStep& step : program_.steps)
      if (step.kind == DeviceStep::Kind::decode) decodes_ += (decodes_.empty() ? "" : " + ") + step.label;
  }

  bool run(ChainRun& run, const StepCall& call) const override {
    run.images.batch_shapes.clear();
    for (std::size_t slot = 0; slot < program_.sample.size(); ++slot)
      run.images.batch_shapes.push_back(run.cells[slot].shape);
    Room room(run, program_, call);
    draw_row(program_, call.seed, call.place, run.images.batch_shapes, room, run.images.batch_ops, &run.at);
    return true;
  }
  std::string describe(const CheckOptions&) const override { return label + ": for the stages after batch"; }
  std::vector<std::string> notes() const override {
    std::vector<std::string> all;
    const std::vector<std::string> used = masks();
    for (const DeviceStep& step : program_.steps)
      if (step.kind == DeviceStep::Kind::decode && std::ranges::find(used, step.field) != used.end())
        for (std::string& note : mask_notes(step.field, *step.decoder)) all.push_back(std::move(note));
    return all;
  }
  const std::string& remarks_label() const override { return decodes_; }
  std::vector<std::string> masks() const override {
    std::vector<std::string> all;
    for (const DeviceDraw& draw : program_.draws)
      if (draw.image != nullptr && draw.filter == Filter::nearest) all.push_back(program_.steps[draw.step].field);
    return all;
  }
  // The step makes the hidden fields, which are the last fields of the row.
  bool makes(const Schema&, std::size_t slot) const override { return slot >= program_.sample.size(); }

 private:
  const DeviceProgram& program_;
  std::string decodes_;  // labels of the stages that decode
};

}  // namespace

std::unique_ptr<Step> make_draws_step(const DeviceProgram& program, const Schema& schema) {
  return std::make_unique<DrawsStep>(program, schema);
}

}  // namespace penstock::detail::runtime
