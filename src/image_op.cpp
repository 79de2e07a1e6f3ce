#include <penstock/image_op.hpp>

#include <cmath>
#include <utility>

#include <penstock/error.hpp>

namespace penstock {

namespace {

std::string size_string(Size size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }
std::string box_string(const Box& box) {
  return size_string(box.size()) + "+" + std::to_string(box.top) + "+" + std::to_string(box.left);
}

}  // namespace

ImageOp::ImageOp(ImageShape shape) : source(shape), box{0, 0, shape.height, shape.width}, resized(shape.size()) {
  window = box;
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1 || shape.channels > 4)
    throw Error(Errc::invalid_argument,
                "an image of " + size_string(shape.size()) + " pixels and " + std::to_string(shape.channels) +
                    " channels can't be worked on: 1 to 4 channels and no empty side are needed");
}

bool ImageOp::refuse(bool condition) noexcept {
  if (condition) refused_ = true;
  return refused_;
}

void ImageOp::crop(const Box& b) {
  if (refused_) return;
  const Size now = shape().size();
  // Differences, not sums, so that no box overflows.
  if (b.height < 1 || b.width < 1 || b.top < 0 || b.left < 0 || b.height > now.height || b.width > now.width ||
      b.top > now.height - b.height || b.left > now.width - b.width)
    throw Error(Errc::invalid_argument,
                "crop " + box_string(b) + " does not lie inside the image of " + size_string(now));
  Box inner = b;
  if (flip_x) inner.left = now.width - b.left - b.width;
  if (flip_y) inner.top = now.height - b.top - b.height;
  if (transpose) {
    std::swap(inner.top, inner.left);
    std::swap(inner.height, inner.width);
  }
  if (resamples()) {
    window = {window.top + inner.top, window.left + inner.left, inner.height, inner.width};
  } else {
    box = {box.top + inner.top, box.left + inner.left, inner.height, inner.width};
    resized = box.size();
    window = {0, 0, box.height, box.width};
  }
}

void ImageOp::resize(Size size) {
  if (refused_) return;
  if (size.height < 1 || size.width < 1)
    throw Error(Errc::invalid_argument, "an image can't be resized to " + size_string(size));
  if (refuse(converted)) return;
  if (size == shape().size()) return;
  if (refuse(resamples() || transpose)) return;
  mirror_x = std::exchange(flip_x, false);
  mirror_y = std::exchange(flip_y, false);
  resized = size;
  filter = next_filter_;
  window = {0, 0, size.height, size.width};
}

void ImageOp::flip_horizontal() {
  if (!refused_) flip_x = !flip_x;
}

void ImageOp::flip_vertical() {
  if (!refused_) flip_y = !flip_y;
}

void ImageOp::rot90(int quarters) {
  if (refused_) return;
  const int turns = (quarters % 4 + 4) % 4;
  if (turns % 2 == 1) {
    // A transpose that follows flips is those flips with their axes exchanged, after it.
    transpose = !transpose;
    std::swap(flip_x, flip_y);
    flip_y = !flip_y;
  }
  if (turns >= 2) {
    flip_x = !flip_x;
    flip_y = !flip_y;
  }
}

void ImageOp::convert(DType to, Layout order, const std::array<float, 4>& multiply, const std::array<float, 4>& add) {
  if (refused_) return;
  if (to != DType::u8 && to != DType::f16 && to != DType::f32)
    throw Error(Errc::invalid_argument, "an image can't be converted to " + std::string(penstock::to_string(to)) +
                                            "; u8, f16 and f32 are possible");
  for (int c = 0; c < source.channels; ++c) {
    const auto at = static_cast<std::size_t>(c);
    if (!std::isfinite(multiply[at]) || !std::isfinite(add[at]))
      throw Error(Errc::invalid_argument, "an image can't be converted with a scale or bias that is not finite");
    if (to == DType::u8 && (multiply[at] != 1 || add[at] != 0))
      throw Error(Errc::invalid_argument,
                  "an image that stays u8 has scale 1 and bias 0; for other values ask for dtype f32 or f16");
  }
  if (refuse(converted)) return;
  converted = true;
  dtype = to;
  layout = order;
  scale = multiply;
  bias = add;
}

ImageShape ImageOp::shape() const noexcept {
  if (transpose) return {window.width, window.height, source.channels};
  return {window.height, window.width, source.channels};
}

Shape ImageOp::tensor_shape() const {
  const ImageShape s = shape();
  if (layout == Layout::chw) return {s.channels, s.height, s.width};
  return {s.height, s.width, s.channels};
}

std::string ImageOp::to_string() const {
  std::string text = "box " + box_string(box);
  if (mirror_x) text += ", mirror";
  if (mirror_y) text += ", mirror_vertical";
  if (resamples()) {
    text += " -> " + size_string(resized);
    if (filter == Filter::nearest) text += " nearest";
    if (!(window.size() == resized)) text += ", window " + box_string(window);
  }
  if (transpose) text += ", transpose";
  if (flip_x) text += ", flip";
  if (flip_y) text += ", flip_vertical";
  if (converted) {
    text += ", ";
    text += penstock::to_string(dtype);
    text += layout == Layout::chw ? " chw" : " hwc";
  }
  return text;
}

}  // namespace penstock
