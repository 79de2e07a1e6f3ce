#include "chain/image_step.hpp"

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
                         : "; only the region that is needed is decoded, damage elsewhere is left to the "
                           "source's checksum, if it has one";
  std::string shared;
  bool nearest = false;
  for (const FoldPart& part : parts) {
    nearest = nearest || part.filter == Filter::nearest;
    if (part.draw == FoldPart::Draw::follow) shared = "; draws are those of the first field";
  }
  if (nearest) text += "; resampled by nearest";
  return text + shared + " -> " + result.name + ": " + std::string(to_string(result.dtype)) + result.shape.to_string();
}

}  // namespace penstock::detail
