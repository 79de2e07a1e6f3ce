// SPDX-License-Identifier: Apache-2.0
#include "pipeline/device_program.hpp"

#include <algorithm>
#include <limits>

#include "base/failure.hpp"
#include "data/row_layout.hpp"
#include "data/scratch.hpp"
#include "image/decode_op.hpp"
#include "image/device_image.hpp"
#include "image/device_resample.hpp"
#include "pipeline/device_draws.hpp"
#include "pipeline/stage_model.hpp"

namespace penstock::detail {

namespace {

using Kind = DeviceStep::Kind;

void check_image(const DeviceStep& step) {
  const Field& field = step.in.at(step.field);
  const Shape& shape = field.shape;
  const bool ragged = field.collate.kind == Collate::Kind::ragged;
  const auto side = [ragged](std::int64_t n) {
    return (n >= 1 && n <= std::numeric_limits<std::int32_t>::max()) || (ragged && n == dynamic);
  };
  if ((field.collate.kind != Collate::Kind::dense && !ragged) || !side(shape[0]) || !side(shape[1]) || shape[2] < 1 ||
      shape[2] > 4)
    throw Error(Errc::schema_mismatch,
                "after batch images have one fixed size or are ragged, and have 1 to 4 channels; "
                "field \"" +
                    step.field + "\" is " + shape.to_string())
        .with_stage(step.label);
}

// Returns whether the images have one size after the step. Only then is the operation of an image step known.
bool has_size(const DeviceStep& step) { return step.out.at(step.field).shape.fixed(); }

void find_made(DeviceStep& step) {
  const std::vector<std::string> named =
      step.model != nullptr ? step.model->writes() : std::vector<std::string>{step.field};
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

// Image stages of one field become one step, even if image stages of other fields are between them. A user's stage or a
// decode between them separates them, because it may read the field.
void DeviceProgramBuilder::add_image(const BoundStage& stage, const ImageFields& fields,
                                     const std::shared_ptr<const ImageStageModel>& model,
                                     const ImageExecutor& executor) {
  for (const ImageField& field : fields) {
    std::size_t at = folds_begin_;
    while (at < out_->steps.size() && out_->steps[at].field != field.name) ++at;
    if (at == out_->steps.size()) {
      out_->steps.emplace_back().kind = Kind::image;
      out_->steps[at].field = field.name;
      results_.emplace_back();
    }
    DeviceStep& step = out_->steps[at];
    step.label += (step.label.empty() ? "" : " + ") + stage.label;
    if (step.executor == nullptr || (model->resamples() && !step.resamples)) step.executor = &executor;
    step.resamples = step.resamples || model->resamples();
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

void DeviceProgramBuilder::add_decode(const BoundStage& stage, const std::string& field,
                                      std::shared_ptr<const ImageDecoder> decoder) {
  DeviceStep& step = out_->steps.emplace_back();
  results_.emplace_back();
  step.kind = Kind::decode;
  step.label = stage.label;
  step.field = field;
  step.out = stage.out;
  step.decoder = std::move(decoder);
  step.key = stage.key;
  folds_begin_ = out_->steps.size();
}

std::shared_ptr<const DeviceProgram> DeviceProgramBuilder::finish() {
  Schema schema = out_->sample;
  for (std::size_t i = 0; i < out_->steps.size(); ++i) {
    DeviceStep& step = out_->steps[i];
    step.in = schema;
    if (step.kind == Kind::image) {
      step.out = schema.with(results_[i]);
      check_image(step);
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
  }
  number_draws();
  return out_;
}

// Makes the models of image steps, and adds steps of kind `resample` where they are needed. First tries the draws of
// one row. This refuses stages that can't run after `batch`, before any sample is made.
void DeviceProgramBuilder::make_images() {
  const std::string* at = nullptr;
  try {
    const std::vector<ImageOp> ops = try_row(*out_, &at);
    std::vector<DeviceStep> steps;
    std::vector<std::size_t> places;  // for each old step, its index in `steps`
    for (std::size_t i = 0; i < out_->steps.size(); ++i) {
      DeviceStep& step = out_->steps[i];
      if (step.kind == Kind::image && has_size(step)) {
        at = &step.label;
        const Field& images = step.in.at(step.field);
        const bool cuts = step.resamples || ops[i].resamples() || images.collate.kind == Collate::Kind::ragged;
        if (cuts) {
          steps.push_back(first_half(step, ops[i]));
          step.in = steps.back().out;
        }
        auto image = std::make_shared<DeviceImage>(step.in.at(step.field), step.out.at(step.field), ops[i].layout);
        static_cast<void>(image->pixel_op(cuts ? DeviceResample::rest_of(ops[i]) : ops[i]));
        step.model = std::move(image);
      }
      places.push_back(steps.size());
      steps.push_back(step);
    }
    at = nullptr;
    for (DeviceDraw& draw : out_->draws) draw.step = places[draw.step];
    out_->steps = std::move(steps);
  } catch (Error& error) {
    if (at != nullptr) error.with_stage(*at);
    throw;
  }
}

// Returns a step of kind `resample`, which comes before `step` and makes images of one size, as u8.
DeviceStep DeviceProgramBuilder::first_half(const DeviceStep& step, const ImageOp& op) {
  ScratchArena scratch;
  static_cast<void>(step.executor->resample_tables(op, scratch));  // throws if the executor has no tables
  DeviceStep first;
  first.label = step.label;
  first.kind = Kind::resample;
  first.field = step.field;
  first.executor = step.executor;
  first.in = step.in;
  const ImageShape shape = op.shape();
  const Field before = step.in.at(step.field),
              between{step.field, DType::u8, {shape.height, shape.width, shape.channels}};
  first.out = step.in.with(between);
  first.model = std::make_shared<DeviceResample>(before, between);
  return first;
}

void DeviceProgramBuilder::number_draws() {
  std::size_t field = out_->sample.size();
  for (DeviceStep& step : out_->steps) {
    step.draw_bytes = step.kind == Kind::decode ? sizeof(DecodeOp)
                      : step.model != nullptr   ? step.model->draw_bytes()
                                                : 0;
    if (step.draw_bytes != 0) step.draws = field++;
    if (step.kind == Kind::resample) step.tables = field++;
    if (step.kind == Kind::decode) step.pixels = field++;
  }
}

namespace {

[[noreturn]] void refuse_sizes(const DeviceStep& step, const char* instead) {
  throw Error(Errc::schema_mismatch, "after these stages the images of field \"" + step.field +
                                         "\" are of any size still, " + step.out.at(step.field).shape.to_string() +
                                         "; " + instead)
      .with_stage(step.label);
}

}  // namespace

void DeviceProgram::need_fixed_sizes() const {
  constexpr const char* give = "give them one with resize, random_resized_crop, crop or center_crop";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DeviceStep& step = steps[i];
    if (step.kind == Kind::image && step.model == nullptr) refuse_sizes(step, give);
    if (step.kind != Kind::decode) continue;
    std::size_t next = i + 1;
    while (next < steps.size() && (steps[next].field != step.field || steps[next].kind == Kind::own)) {
      if (steps[next].kind == Kind::own)
        refuse_sizes(step, "put stages of your own after the image stage that gives them one");
      ++next;
    }
    if (next == steps.size()) refuse_sizes(step, give);
  }
}

// Rows that differ in size are packed only for a device.
bool DeviceProgram::in_place() const {
  return !RowLayout(sample).appends() && std::ranges::all_of(steps, [&](const DeviceStep& step) {
    return step.kind == Kind::own && step.model->in_place() && step.out == sample;
  });
}

bool DeviceProgram::decodes() const noexcept {
  return std::any_of(steps.begin(), steps.end(), [](const DeviceStep& step) { return step.kind == Kind::decode; });
}

// Returns a name that `schema` does not have, because a user's field may have any name.
namespace {
std::string free_name(std::string name, const Schema& schema) {
  while (schema.find(name)) name += "'";
  return name;
}
}  // namespace

Schema DeviceProgram::with_draws() const {
  std::vector<Field> fields(sample.begin(), sample.end());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DeviceStep& step = steps[i];
    const std::string of = std::to_string(i) + " of " + step.label;
    if (step.draws)
      fields.push_back(
          {free_name("draws " + of, sample), DType::u8, Shape{static_cast<std::int64_t>(step.draw_bytes)}});
    if (step.tables || step.pixels)
      fields.push_back({free_name((step.tables ? "tables " : "pixels ") + of, sample), DType::u8, Shape{dynamic},
                        Collate::ragged()});
  }
  return Schema(std::move(fields));
}

std::shared_ptr<const DeviceProgram> make_device_program(const Schema& sample, const std::vector<BoundStage>& stages) {
  DeviceProgramBuilder program(sample);
  for (const BoundStage& stage : stages) stage.work->launch(stage, program);
  return program.finish();
}

}  // namespace penstock::detail
