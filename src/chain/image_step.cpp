// SPDX-License-Identifier: Apache-2.0
#include "chain/image_step.hpp"

#include <algorithm>

namespace penstock::detail::runtime {

void ImageStep::follow(const Schema& before) {
  if (decoder == nullptr) {
    const Field& taken = before.at(result.name);
    element = taken.dtype;
    const auto could_be_channels = [&](std::size_t side) { return taken.shape[side] >= 1 && taken.shape[side] <= 4; };
    if (could_be_channels(0) && (could_be_channels(2) || taken.shape[2] == dynamic))
      either_end = taken.shape.to_string();
  }
  schema = before.with(result);
  for (FoldEncoding& encoding : encodings) {
    if (!encoding.in_place) schema = schema.with(encoding.result);
    encoding.slot = encoding.in_place ? slot : schema.slot(encoding.result.name);
  }
}

bool ImageStep::adds(const std::string& field) const {
  return std::ranges::any_of(
      encodings, [&](const FoldEncoding& encoding) { return !encoding.in_place && encoding.result.name == field; });
}

bool ImageStep::leads(std::size_t shared) const noexcept {
  return turn == shared || std::ranges::any_of(stages, [&](const FoldStage& stage) {
           return stage.draw == FoldStage::Draw::lead && stage.shared == shared;
         });
}

bool ImageStep::makes_slot(std::size_t of) const noexcept {
  return (of == slot && makes_value()) ||
         std::ranges::any_of(encodings, [&](const FoldEncoding& encoding) { return encoding.slot == of; });
}

std::string ImageStep::describe(const CheckOptions& check) const {
  std::string text = label;
  const std::size_t all = stages.size() + encodings.size() + (decoder != nullptr ? 1 : 0);
  if (all > 1) text += check.fold ? ": one operation" : ": one at a time, on whole images (.fold = false)";
  if (decoder != nullptr && check.fold && !stages.empty())
    text += check.verify ? "; everything is decoded to its end (.verify)"
                         : "; only the region that is needed is decoded, " + decoder->damage_elsewhere();
  if (decoder != nullptr && !decoder->scaling().empty())
    text += decoder->reduces() && !interpolates() ? "; decoded in full, as no resize follows in this operation"
                                                  : "; " + decoder->scaling();
  text += resampling();
  if (std::ranges::any_of(stages, [](const FoldStage& stage) { return stage.draw == FoldStage::Draw::follow; }))
    text += "; draws are those of the first field";
  text += encoding(check);
  std::string made;
  const auto add = [&](const Field& field) {
    made +=
        (made.empty() ? "" : ", ") + field.name + ": " + std::string(to_string(field.dtype)) + field.shape.to_string();
  };
  if (makes_value()) add(result);
  for (const FoldEncoding& encoding : encodings)
    if (!encoding.in_place) add(encoding.result);
  return text + " -> " + made;
}

std::string ImageStep::encoding(const CheckOptions& check) const {
  std::string text;
  for (const FoldEncoding& encoding : encodings) {
    const std::string options = encoding.encoder->describe(), keeps = encoding.encoder->keeps();
    if (encodings.size() > 1) text += "; to " + (encoding.in_place ? result : encoding.result).name;
    if (!options.empty()) text += (encodings.size() > 1 ? ": " : "; ") + options;
    if (!keeps.empty()) text += "; " + keeps + (check.verify ? ", once they are decoded to their end (.verify)" : "");
  }
  return text;
}

bool ImageStep::interpolates() const noexcept {
  return std::ranges::any_of(
      stages, [](const FoldStage& stage) { return stage.filter == Filter::linear && stage.model->resamples(); });
}

std::string ImageStep::resampling() const {
  const bool interpolated = interpolates();
  return std::string(interpolated ? "; resampled by interpolation" : "") +
         (takes_mask() ? interpolated ? ", and by nearest" : "; resampled by nearest" : "");
}

bool ImageStep::takes_mask() const noexcept {
  return std::ranges::any_of(stages, [](const FoldStage& stage) { return stage.filter == Filter::nearest; });
}

std::vector<std::string> ImageStep::masks() const {
  return takes_mask() ? std::vector{result.name} : std::vector<std::string>{};
}

std::vector<std::string> ImageStep::notes() const {
  std::vector<std::string> notes;
  if (makes_mask) notes = mask_notes(result.name, *decoder);
  notes.insert(notes.end(), left_alone.begin(), left_alone.end());
  if (!either_end.empty())
    notes.push_back(
        result.name + either_end +
        " is taken as [H, W, C], its last dimension as channels; move them there by a map where they come first");
  return notes;
}

std::vector<std::string> mask_notes(const std::string& field, const ImageDecoder& decoder) {
  const std::string becomes = decoder.labels_become();
  return becomes.empty() ? std::vector<std::string>{} : std::vector{field + " is used as a mask: " + becomes};
}

}  // namespace penstock::detail::runtime
