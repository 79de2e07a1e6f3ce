#include "pipeline/device_program.hpp"

#include <algorithm>
#include <limits>

#include "base/failure.hpp"
#include "device/device_image.hpp"
#include "pipeline/device_draws.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

namespace {

void check_image(const DeviceStep& step) {
  const Field& field = step.in.at(step.field);
  const Shape& shape = field.shape;
  const auto side = [](std::int64_t n) { return n >= 1 && n <= std::numeric_limits<std::int32_t>::max(); };
  if (field.collate.kind != Collate::Kind::dense || !shape.fixed() || !side(shape[0]) || !side(shape[1]) ||
      shape[2] < 1 || shape[2] > 4)
    throw Error(Errc::schema_mismatch, "after batch images have one fixed size, and 1 to 4 channels; field \"" +
                                           step.field + "\" is " + shape.to_string())
        .with_stage(step.label);
}

void find_made(DeviceStep& step) {
  const std::vector<std::string> named = step.model->writes();
  for (const std::string& name : named)
    if (!step.out.find(name))
      throw Error(Errc::schema_mismatch, "the stage says that it writes field \"" + name +
                                             "\", which is not in its result: " + step.out.to_string())
          .with_stage(step.label);
  for (const Field& field : step.out) {
    const auto before = step.in.find(field.name);
    step.made.push_back(!before || step.in[*before].dtype != field.dtype || !(step.in[*before].shape == field.shape) ||
                        std::find(named.begin(), named.end(), field.name) != named.end());
  }
}

}  // namespace

DeviceProgramBuilder::DeviceProgramBuilder(const Schema& sample) : out_(std::make_shared<DeviceProgram>()) {
  out_->sample = sample;
}

// Image stages of other fields between them are no hindrance; a stage of a user's may look at what is there.
void DeviceProgramBuilder::add_image(const BoundStage& stage, const ImageFields& fields,
                                     const std::shared_ptr<const ImageStageModel>& model) {
  for (const ImageField& field : fields) {
    std::size_t at = folds_begin_;
    while (at < out_->steps.size() && out_->steps[at].field != field.name) ++at;
    if (at == out_->steps.size()) {
      out_->steps.emplace_back().image = true;
      out_->steps[at].field = field.name;
      results_.emplace_back();
    }
    DeviceStep& step = out_->steps[at];
    step.label += (step.label.empty() ? "" : " + ") + stage.label;
    results_[at] = stage.out.at(field.name);
    DeviceDraw& draw = out_->draws.emplace_back();
    draw.image = model;
    draw.label = stage.label;
    draw.key = stage.key;
    draw.filter = field.filter;
    draw.follows = field.name != fields[0].name;
    draw.step = at;
  }
}

void DeviceProgramBuilder::add(const BoundStage& stage, const std::shared_ptr<const DeviceStageModel>& model) {
  DeviceStep& step = out_->steps.emplace_back();
  results_.emplace_back();
  step.label = stage.label;
  step.model = model;
  step.out = stage.out;
  folds_begin_ = out_->steps.size();
  if (model->draw_bytes() == 0) return;
  DeviceDraw& draw = out_->draws.emplace_back();
  draw.own = model;
  draw.label = stage.label;
  draw.key = stage.key;
  draw.step = out_->steps.size() - 1;
}

std::shared_ptr<const DeviceProgram> DeviceProgramBuilder::finish() {
  Schema schema = out_->sample;
  std::size_t draws = schema.size();
  for (std::size_t i = 0; i < out_->steps.size(); ++i) {
    DeviceStep& step = out_->steps[i];
    step.in = schema;
    if (step.image) {
      step.out = schema.with(results_[i]);
    }
    schema = step.out;
  }
  make_images();
  for (DeviceStep& step : out_->steps) {
    try {
      find_made(step);
    } catch (...) {
      throw current_error().with_stage(step.label);
    }
    step.draw_bytes = step.model->draw_bytes();
    if (step.draw_bytes != 0) step.draws = draws++;
  }
  return out_;
}

// One row's draws are tried: what can't be done after `batch` is refused before anything runs.
void DeviceProgramBuilder::make_images() {
  std::vector<ImageOp> ops;
  const std::string* at = nullptr;
  for (const DeviceStep& step : out_->steps)
    if (step.image) check_image(step);
  try {
    compose_row(*out_, 0, {}, ops, &at);
    for (std::size_t i = 0; i < out_->steps.size(); ++i) {
      DeviceStep& step = out_->steps[i];
      if (!step.image) continue;
      at = &step.label;
      auto image = std::make_shared<DeviceImage>(step.in.at(step.field), results_[i], ops[i].layout);
      static_cast<void>(image->pixel_op(ops[i]));
      step.model = std::move(image);
    }
  } catch (Error& error) {
    if (at != nullptr) error.with_stage(*at);
    throw;
  }
}

// A field of a user's may be called anything.
namespace {
std::string free_name(std::string name, const Schema& schema) {
  while (schema.find(name)) name += "'";
  return name;
}
}  // namespace

Schema DeviceProgram::with_draws() const {
  std::vector<Field> fields(sample.begin(), sample.end());
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (const DeviceStep& step = steps[i]; step.draws)
      fields.push_back({free_name("draws " + std::to_string(i) + " of " + step.label, sample), DType::u8,
                        Shape{static_cast<std::int64_t>(step.draw_bytes)}});
  return Schema(std::move(fields));
}

std::shared_ptr<const DeviceProgram> make_device_program(const Schema& sample, const std::vector<BoundStage>& stages) {
  DeviceProgramBuilder program(sample);
  for (const BoundStage& stage : stages) stage.work->launch(stage, program);
  return program.finish();
}

}  // namespace penstock::detail
