#include "chain/image_step.hpp"

#include <algorithm>

namespace penstock::detail {

void ImageStep::follow(const Schema& before) {
  if (decoder == nullptr) element = before.at(result.name).dtype;
  schema = before.with(result);
}

std::string ImageStep::describe(const CheckOptions& check) const {
  std::string text = label;
  const std::size_t stages = parts.size() + (decoder != nullptr ? 1 : 0);
  if (stages > 1) text += check.fold ? ": one operation" : ": one at a time, on whole images (.fold = false)";
  if (decoder != nullptr && check.fold && !parts.empty())
    text += check.verify ? "; everything is decoded to its end (.verify)"
                         : "; only the region that is needed is decoded, " + decoder->damage_elsewhere();
  text += resampling();
  if (std::ranges::any_of(parts, [](const FoldPart& part) { return part.draw == FoldPart::Draw::follow; }))
    text += "; draws are those of the first field";
  return text + " -> " + result.name + ": " + std::string(to_string(result.dtype)) + result.shape.to_string();
}

std::string ImageStep::resampling() const {
  const bool interpolated = std::ranges::any_of(
      parts, [](const FoldPart& part) { return part.filter == Filter::linear && part.model->resamples(); });
  return std::string(interpolated ? "; resampled by interpolation" : "") +
         (takes_mask() ? interpolated ? ", and by nearest" : "; resampled by nearest" : "");
}

bool ImageStep::takes_mask() const noexcept {
  return std::ranges::any_of(parts, [](const FoldPart& part) { return part.filter == Filter::nearest; });
}

std::vector<std::string> ImageStep::notes() const {
  if (!makes_mask || decoder->labels_become().empty()) return {};
  return {result.name + " is used as a mask: " + decoder->labels_become()};
}

}  // namespace penstock::detail
