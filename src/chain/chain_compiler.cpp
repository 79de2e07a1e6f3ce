// SPDX-License-Identifier: Apache-2.0
#include "chain/chain_compiler.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>

#include "chain/follow_step.hpp"
#include "chain/image_step.hpp"
#include "chain/steps/steps.hpp"
#include "data/find_field.hpp"

namespace penstock::detail::runtime {

namespace {

Step::Renumber renumbering(const std::vector<std::ptrdiff_t>& from, std::size_t before) {
  bool same = from.size() == before, down = true;
  std::ptrdiff_t least = 0;  // lowest old slot that the next kept field may have
  for (std::size_t i = 0; i < from.size(); ++i) {
    same = same && from[i] == static_cast<std::ptrdiff_t>(i);
    if (from[i] < 0) {
      least = static_cast<std::ptrdiff_t>(before);  // `down` allows no kept field after a new field
    } else {
      down = down && from[i] >= least;
      least = from[i] + 1;
    }
  }
  return same ? Step::Renumber::no : down ? Step::Renumber::down : Step::Renumber::freely;
}

void relate(Step& step, const Schema& before) {
  std::size_t likely = 0;  // slot after the slot that was found last
  for (const Field& field : step.schema) {
    const auto slot = find_field(before, step.name_before(field.name), likely);
    if (slot) likely = *slot + 1;
    step.from.push_back(slot ? static_cast<std::ptrdiff_t>(*slot) : -1);
  }
  step.renumber = renumbering(step.from, before.size());
  // A step on one slot knows the type of the value that it reads. All other steps read every value as `schema` declares
  // it, so they must not find a value of another type.
  if (step.only_slot()) return;
  for (std::size_t i = 0; i < step.from.size(); ++i) {
    if (step.from[i] < 0) continue;
    const Field& old = before[static_cast<std::size_t>(step.from[i])];
    if (old.dtype != step.schema[i].dtype || old.shape.rank() != step.schema[i].shape.rank()) step.cleared.push_back(i);
  }
}

// Returns whether the stage moves pixels, as far as a few draws for a small image show.
bool moves_pixels(const ImageStageModel& model) {
  constexpr ImageShape shape{64, 48, 3};
  alignas(std::max_align_t) std::byte params[ImageStageModel::max_params];
  for (std::uint64_t draw = 0; draw < 16; ++draw) {
    ImageOp op(shape);
    Rng rng(0, 0, {0, draw});
    try {
      model.draw(shape, rng, params);
      model.compose(params, shape, op);
    } catch (const Error&) {
      return true;  // such as a crop that is larger than this image
    }
    if (!(op.box.size() == shape.size()) || op.resamples() || op.pads() || op.transpose || op.flip_x || op.flip_y)
      return true;
  }
  return false;
}

// Returns notes about fields that are likely to be boxes of the stage's image, and do not follow it.
std::vector<std::string> boxes_left_alone(const BoundStage& stage, const ImageFields& fields,
                                          const ImageStageModel& model) {
  std::vector<std::string> notes;
  for (const Field& field : stage.out) {
    const Shape& shape = field.shape;
    const bool like_boxes =
        field.dtype == DType::f32 && shape.rank() == 2 && shape[0] == dynamic && (shape[1] == 4 || shape[1] == 5);
    if (!like_boxes || std::ranges::any_of(fields, [&](const ImageField& of) { return of.name == field.name; }))
      continue;
    if (!moves_pixels(model)) break;
    notes.push_back(field.name + " does not follow " + stage.label +
                    "; if it has boxes of this image, name it there: {\"" + fields[0].name + "\", boxes(\"" +
                    field.name + "\")}");
  }
  return notes;
}

}  // namespace

ChainProgram ChainCompiler::compile(const std::string& name) {
  add(make_read_step(data_.source_schema, name.empty() ? "read" : "read of " + name));
  if (data_.source->is_stream()) begin_children();
  for (std::size_t i = 0; i < data_.stages.size(); ++i) {
    if (data_.cache && data_.cache->stages == i) add_cache();
    data_.stages[i].work->compile(data_.stages[i], *this);
  }
  if (data_.cache && data_.cache->stages == data_.stages.size()) add_cache();
  if (data_.device) add(make_draws_step(*data_.device, data_.schema));
  relate_steps();
  find_masks();
  assign_destinations();
  check_fixed_sizes();
  return std::move(program_);
}

void ChainCompiler::add(std::unique_ptr<Step> step) {
  steps().push_back(std::move(step));
  images_.clear();
}

void ChainCompiler::add_cache() {
  const std::size_t before = data_.cache->stages;
  program_.cache_step = steps().size();
  add(make_cache_step(*data_.cache, *data_.source, before == 0 ? data_.source_schema : data_.stages[before - 1].out));
}

// -- image stages --

ImageStep& ChainCompiler::begin_image(std::string label, std::uint64_t key, const ImageExecutor& executor,
                                      std::size_t slot) {
  auto step = std::make_unique<ImageStep>(std::move(label), key, executor, slot);
  images_.push_back(step.get());
  steps().push_back(std::move(step));
  return *images_.back();
}

ImageStep& ChainCompiler::begin_follower(std::uint64_t key, const ImageExecutor& executor, std::size_t slot,
                                         ImageField::Kind kind) {
  auto step = std::make_unique<FollowStep>("", key, executor, slot, kind);
  images_.push_back(step.get());
  steps().push_back(std::move(step));
  return *images_.back();
}

void ChainCompiler::add_decoding(const BoundStage& stage, const ImageFields& fields, const ImageDecoder& decoder,
                                 const ImageStageModel& turn, const ImageExecutor& executor) {
  ImageStep& step = begin_image(stage.label, stage.key, executor, stage.out.slot(fields[0].name));
  step.decoder = &decoder;
  step.decoder_label = stage.label;
  step.result = stage.out[step.slot];
  if (fields.size() == 1) return;
  step.turn = program_.shared_draws;
  for (std::size_t i = 1; i < fields.size(); ++i) join(stage, fields, fields[i], turn, executor);
  ++program_.shared_draws;
}

void ChainCompiler::add_image(const BoundStage& stage, const ImageFields& fields, const ImageStageModel& model,
                              const ImageExecutor& executor) {
  for (const ImageField& field : fields) join(stage, fields, field, model, executor);
  for (std::string& note : boxes_left_alone(stage, fields, model))
    images_[last_image(fields[0], executor)]->left_alone.push_back(std::move(note));
  if (fields.size() > 1) ++program_.shared_draws;
}

// Folds the stage into the field's last image step. If the field has none that the stage can join, begins one. Image
// steps of other fields may come after the joined step, because steps of different fields have only shared draws in
// common.
void ChainCompiler::join(const BoundStage& stage, const ImageFields& fields, const ImageField& field,
                         const ImageStageModel& model, const ImageExecutor& executor) {
  const ImageField& first = fields[0];
  FoldStage folded;
  folded.model = &model;
  folded.key = stage.key;
  folded.label = stage.label;
  folded.field = field.name;
  folded.filter = field.filter;
  folded.shared = program_.shared_draws;
  folded.mirrored = field.mirrored;
  if (fields.size() > 1) folded.draw = &field == &first ? FoldStage::Draw::lead : FoldStage::Draw::follow;
  std::size_t at = last_image(field, executor);
  if (folded.draw == FoldStage::Draw::follow && at < last_image(first, executor)) at = moved_to_the_end(at);
  const std::size_t slot = stage.out.slot(field.name);
  ImageStep& step = at != images_.size()                    ? *images_[at]
                    : field.kind == ImageField::Kind::image ? begin_image("", stage.key, executor, slot)
                                                            : begin_follower(stage.key, executor, slot, field.kind);
  step.label += (step.label.empty() ? "" : " + ") + stage.label;
  step.result = stage.out[step.slot];
  step.stages.push_back(std::move(folded));
}

// Returns the position of the field's last image step in `images_`; `images_.size()` if the field has no step there
// that a stage could be folded into.
std::size_t ChainCompiler::last_image(const ImageField& field, const ImageExecutor& executor) const {
  for (std::size_t i = images_.size(); i-- > 0;)
    if (images_[i]->result.name == field.name) {
      const bool joins = images_[i]->executor == &executor && images_[i]->kind() == field.kind &&
                         field.kind != ImageField::Kind::crop_box;
      return joins ? i : images_.size();
    }
  return images_.size();
}

void ChainCompiler::add_encoding(const BoundStage& stage, const std::string& field, const std::string& result,
                                 const ImageEncoder& encoder, const ImageExecutor& executor) {
  const bool in_place = result == field;
  std::size_t at = last_image({.name = field}, executor);
  // A new field becomes the last field, so its step must come after all image steps that may add a field.
  if (!in_place && at + 1 < images_.size()) at = moved_to_the_end(at);
  ImageStep& step = at != images_.size() ? *images_[at] : begin_image("", stage.key, executor, stage.out.slot(field));
  step.label += (step.label.empty() ? "" : " + ") + stage.label;
  step.result = stage.out[step.slot];
  step.encodings.push_back({.encoder = &encoder,
                            .label = stage.label,
                            .result = stage.out.at(result),
                            .stages = step.stages.size(),
                            .in_place = in_place});
}

// Moves the step to the end of `images_` and returns its new position. Returns `images_.size()` if a new step must
// begin instead, because a later step follows this step's draws or may read a field that this step adds.
std::size_t ChainCompiler::moved_to_the_end(std::size_t at) {
  if (!images_[at]->encodings.empty()) return images_.size();
  for (std::size_t i = at + 1; i < images_.size(); ++i)
    for (const FoldStage& folded : images_[i]->stages)
      if (folded.draw == FoldStage::Draw::follow && images_[at]->leads(folded.shared)) return images_.size();
  const auto image = images_.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(image, image + 1, images_.end());
  const auto step = steps().end() - static_cast<std::ptrdiff_t>(images_.size() - at);
  std::rotate(step, step + 1, steps().end());
  return images_.size() - 1;
}

// A new name does not change the field's slot. So the renaming may run before the image steps in `images_`, which later
// stages may still join. But if one of these steps adds the field, the renaming must run after this step.
void ChainCompiler::add_rename(std::unique_ptr<Step> step, const std::string& from, const std::string& to) {
  for (const ImageStep* const image : images_)
    if (image->adds(from)) return add(std::move(step));
  for (ImageStep* const image : images_)
    if (image->result.name == from) image->result.name = to;
  steps().insert(steps().end() - static_cast<std::ptrdiff_t>(images_.size()), std::move(step));
}

// -- how the steps are related --

// Image steps were folded and moved, so the schema between steps is known only here.
void ChainCompiler::relate_steps() {
  for (std::size_t i = 1; i < steps().size(); ++i) {
    Step& step = *steps()[i];
    const Schema& before = steps()[i - 1]->schema;
    step.follow(before);
    relate(step, before);
  }
}

// Marks decoders whose result is a mask. Follows the names of masks backwards through the steps.
void ChainCompiler::find_masks() {
  for (std::size_t at = steps().size(); at-- > 0;)
    for (const std::string& name : steps()[at]->masks()) find_decoder_of_mask(at, name);
}

void ChainCompiler::find_decoder_of_mask(std::size_t at, std::string name) {
  for (std::size_t i = at + 1; i-- > 0;) {
    Step& step = *steps()[i];
    const auto slot = step.schema.find(name);
    if (!slot) break;
    if (auto* const before = dynamic_cast<ImageStep*>(&step); before != nullptr && before->slot == *slot) {
      if (before->decoder != nullptr) {
        before->makes_mask = true;
        break;
      }
    } else if (const std::string& original = step.copied_from(name); original != name) {
      name = std::string(original);
      continue;
    } else if (step.makes(i == 0 ? step.schema : steps()[i - 1]->schema, *slot)) {
      break;
    }
    name = step.name_before(name);
  }
}

// For each field of the batch: finds the last step that makes its value, and gives this step the destination. Names are
// followed backwards, because slots may be renumbered on the way.
void ChainCompiler::assign_destinations() {
  std::vector<std::size_t> likely(steps().size());  // for each step: the slot after the slot that was found last
  for (std::size_t row = 0; row < data_.schema.size(); ++row) {
    std::string name = data_.schema[row].name;
    for (std::size_t i = steps().size(); i-- > 0;) {
      Step& step = *steps()[i];
      const auto slot = find_field(step.schema, name, likely[i]);
      if (!slot) break;
      likely[i] = *slot + 1;
      if (step.makes(i == 0 ? step.schema : steps()[i - 1]->schema, *slot)) {
        const bool dense = layout_ == nullptr || (*layout_)[row].kind == RowField::Kind::dense;
        (dense ? step.destinations : step.varying_destinations).push_back({*slot, row});
        break;
      }
      name = step.name_before(name);
    }
  }
}

// Checks the sizes of fields of fixed shape once, here. Other sizes are checked for each sample.
void ChainCompiler::check_fixed_sizes() {
  const std::size_t most = data_.check_value().max_sample_bytes;
  for (const auto& step : steps()) {
    step->fields = step->schema.size();
    const std::optional<std::size_t> only = step->only_slot();
    for (std::size_t slot = 0; slot < step->fields; ++slot) {
      const Field& field = step->schema[slot];
      if (!field.shape.fixed()) {
        if (!only || slot == *only) step->varying.push_back(slot);
      } else if (field.shape.elements() * size_of(field.dtype) > most) {
        throw Error(Errc::limit_exceeded, "field \"" + field.name + "\" of shape " + field.shape.to_string() +
                                              " is larger than `max_sample_bytes` = " + std::to_string(most))
            .with_stage(step->label);
      }
    }
  }
}

}  // namespace penstock::detail::runtime
