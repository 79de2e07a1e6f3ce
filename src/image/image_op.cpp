// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/image_op.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <penstock/error.hpp>

namespace penstock {

namespace {

std::string size_string(Size size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }
// What a crop leaves along one axis: `count` kept pixels from `first` on, and the margins before and after them.
struct Cut {
  std::int32_t before = 0, first = 0, count = 0, after = 0;
  bool possible(bool reflects) const { return count > 0 && (!reflects || (before < count && after < count)); }
};

// Crops one axis. `begin` is counted from the beginning of the margin before the kept pixels.
Cut cut(std::int32_t begin, std::int32_t length, std::int32_t kept, std::int32_t margin) {
  const std::int32_t end = begin + length;
  const std::int32_t from = std::max(begin, margin), to = std::min(end, margin + kept);
  return {std::min(end, from) - begin, from - margin, to - from, end - std::max(begin, to)};
}

std::string box_string(const Box& box) {
  return size_string(box.size()) + "+" + std::to_string(box.top) + "+" + std::to_string(box.left);
}

}  // namespace

ImageOp::ImageOp(ImageShape shape) : source(shape), box{0, 0, shape.height, shape.width}, resized(shape.size()) {
  kept = box;
  if (shape.element != DType::u8 && shape.element != DType::u16)
    throw Error(Errc::invalid_argument, "an image of " + std::string(penstock::to_string(shape.element)) +
                                            " can't be worked on: u8 and u16 are possible");
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
  // Compares differences, because the sum of a box's position and size may overflow.
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
  const Cut rows = cut(inner.top, inner.height, kept.height, margin.top),
            columns = cut(inner.left, inner.width, kept.width, margin.left);
  const bool reflects = margin.mode == Padding::Mode::reflect;
  if (refuse(!rows.possible(reflects) || !columns.possible(reflects))) return;
  margin.top = rows.before, margin.bottom = rows.after;
  margin.left = columns.before, margin.right = columns.after;
  inner = {rows.first, columns.first, rows.count, columns.count};
  if (resamples()) {
    kept = {kept.top + inner.top, kept.left + inner.left, inner.height, inner.width};
  } else {
    box = {box.top + inner.top, box.left + inner.left, inner.height, inner.width};
    resized = box.size();
    kept = {0, 0, box.height, box.width};
  }
  if (!pads()) margin = {};
}

void ImageOp::resize(Size size) {
  if (refused_) return;
  if (size.height < 1 || size.width < 1)
    throw Error(Errc::invalid_argument, "an image can't be resized to " + size_string(size));
  if (refuse(converted)) return;
  if (size == shape().size()) return;
  if (refuse(resamples() || transpose || pads())) return;
  if (source.element != DType::u8 && next_filter_ != Filter::nearest)
    throw Error(Errc::invalid_argument,
                "an image of " + std::string(penstock::to_string(source.element)) +
                    " is resampled by nearest only: name the field with Filter::nearest, or decode it to 8 bits");
  mirror_x = std::exchange(flip_x, false);
  mirror_y = std::exchange(flip_y, false);
  resized = size;
  filter = next_filter_;
  kept = {0, 0, size.height, size.width};
}

void ImageOp::pad(const Padding& padding) {
  if (refused_) return;
  const auto sides = {padding.top, padding.left, padding.bottom, padding.right};
  constexpr std::int32_t most = 1 << 20;
  for (const std::int32_t side : sides)
    if (side < 0 || side > most)
      throw Error(Errc::invalid_argument, "an image can't be padded by " + std::to_string(side) + " pixels: 0 to " +
                                              std::to_string(most) + " are possible");
  Padding more = padding;
  if (flip_x) std::swap(more.left, more.right);
  if (flip_y) std::swap(more.top, more.bottom);
  if (transpose) {
    std::swap(more.top, more.left);
    std::swap(more.bottom, more.right);
  }
  if (next_filter_ == Filter::nearest) more.fill.fill(more.label);
  more.label = 0;
  for (int c = 0; c < source.channels; ++c)
    if (source.element == DType::u8 && more.fill[static_cast<std::size_t>(c)] > 255)
      throw Error(Errc::invalid_argument,
                  "an image of 8 bits can't be padded with " + std::to_string(more.fill[static_cast<std::size_t>(c)]));
  if (refuse(converted)) return;
  const bool reflects = more.mode == Padding::Mode::reflect;
  if (pads() && refuse(reflects || margin.mode != more.mode || margin.fill != more.fill)) return;
  if (reflects &&
      (more.top >= kept.height || more.bottom >= kept.height || more.left >= kept.width || more.right >= kept.width))
    throw Error(Errc::invalid_argument, "an image of " + size_string(shape().size()) +
                                            " can't be reflected by as many pixels as it has, or more");
  more.top += margin.top, more.left += margin.left, more.bottom += margin.bottom, more.right += margin.right;
  const auto fits = [](std::int64_t side, std::int64_t before, std::int64_t after) {
    return side + before + after <= INT32_MAX;
  };
  if (!fits(kept.height, more.top, more.bottom) || !fits(kept.width, more.left, more.right))
    throw Error(Errc::invalid_argument, "an image of " + size_string(shape().size()) + " can't be padded any more");
  margin = more;
  if (!pads()) margin = {};
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
    // Flips before a transpose equal the transpose followed by flips with exchanged axes.
    transpose = !transpose;
    std::swap(flip_x, flip_y);
    flip_y = !flip_y;
  }
  if (turns >= 2) {
    flip_x = !flip_x;
    flip_y = !flip_y;
  }
}

void ImageOp::orient(int orientation) {
  if (orientation < 1 || orientation > 8)
    throw Error(Errc::invalid_argument, "orientation " + std::to_string(orientation) + " is not 1 to 8");
  constexpr int quarters[] = {0, 0, 2, 2, 1, 3, 1, 1};  // counter-clockwise
  rot90(quarters[orientation - 1]);
  if (orientation == 2 || orientation == 4 || orientation == 7) flip_horizontal();
  if (orientation == 5) flip_vertical();
}

void ImageOp::convert(DType to, Layout order, const std::array<float, 4>& multiply, const std::array<float, 4>& add) {
  if (refused_) return;
  if (to != source.element && to != DType::f16 && to != DType::bf16 && to != DType::f32)
    throw Error(Errc::invalid_argument, "an image of " + std::string(penstock::to_string(source.element)) +
                                            " can't be converted to " + std::string(penstock::to_string(to)) +
                                            "; its own type, f16, bf16 and f32 are possible");
  for (int c = 0; c < source.channels; ++c) {
    const auto at = static_cast<std::size_t>(c);
    if (!std::isfinite(multiply[at]) || !std::isfinite(add[at]))
      throw Error(Errc::invalid_argument, "an image can't be converted with a scale or bias that is not finite");
    if (to == source.element && (multiply[at] != 1 || add[at] != 0))
      throw Error(
          Errc::invalid_argument,
          "an image that keeps its type has scale 1 and bias 0; for other values ask for dtype f32, f16 or bf16");
  }
  if (refuse(converted)) return;
  converted = true;
  dtype = to;
  layout = order;
  scale = multiply;
  bias = add;
}

ImageShape ImageOp::shape() const noexcept {
  const std::int32_t height = margin.top + kept.height + margin.bottom;
  const std::int32_t width = margin.left + kept.width + margin.right;
  if (transpose) return {width, height, source.channels, source.element};
  return {height, width, source.channels, source.element};
}

ImagePoint ImageOp::moved(ImagePoint point) const noexcept {
  double x = point.x - box.left, y = point.y - box.top;
  if (mirror_x) x = box.width - x;
  if (mirror_y) y = box.height - y;
  if (resamples()) x = x * resized.width / box.width, y = y * resized.height / box.height;
  x += margin.left - kept.left, y += margin.top - kept.top;
  if (transpose) std::swap(x, y);
  const ImageShape out = shape();
  if (flip_x) x = out.width - x;
  if (flip_y) y = out.height - y;
  return {x, y};
}

Box ImageOp::shown() const noexcept {
  Box at{margin.top, margin.left, kept.height, kept.width};
  if (transpose) std::swap(at.top, at.left), std::swap(at.height, at.width);
  const ImageShape out = shape();
  if (flip_x) at.left = out.width - at.left - at.width;
  if (flip_y) at.top = out.height - at.top - at.height;
  return at;
}

std::array<ImagePoint, 2> ImageOp::seen() const noexcept {
  const auto axis = [](std::int32_t first, std::int32_t count, std::int32_t out, std::int32_t in, bool mirror) {
    const double begin = static_cast<double>(first) * in / out, end = (static_cast<double>(first) + count) * in / out;
    return mirror ? std::array{in - end, in - begin} : std::array{begin, end};
  };
  const auto x = axis(kept.left, kept.width, resized.width, box.width, mirror_x),
             y = axis(kept.top, kept.height, resized.height, box.height, mirror_y);
  return {{{box.left + x[0], box.top + y[0]}, {box.left + x[1], box.top + y[1]}}};
}

Shape ImageOp::tensor_shape() const {
  const ImageShape s = shape();
  if (layout == Layout::chw) return {s.channels, s.height, s.width};
  return {s.height, s.width, s.channels};
}

namespace {

// Returns the range of inputs that `count` outputs of an axis need, from output `first` on.
Taps axis_needs(std::int32_t in, const SampledRange& sampled, std::int32_t out, std::int32_t first, std::int32_t count,
                Filter filter, bool mirror) {
  Taps taps{first, first + count};
  const bool resampled = sampled.length != out || sampled.begin != 0;
  if (resampled && filter == Filter::linear) {
    taps = {linear_taps(in, sampled, out, first).from, linear_taps(in, sampled, out, first + count - 1).to};
  } else if (resampled) {
    const auto below_centre = [in, outputs = std::int64_t{out}](std::int64_t i) {
      return static_cast<std::int32_t>((2 * i + 1) * in / (2 * outputs));
    };
    taps = {below_centre(first), below_centre(first + count - 1) + 1};
  }
  return mirror ? Taps{in - taps.to, in - taps.from} : taps;
}

}  // namespace

Taps linear_taps(std::int32_t in, std::int32_t out, std::int32_t i) noexcept {
  return linear_taps(in, {0, static_cast<double>(in)}, out, i);
}

Taps linear_taps(std::int32_t in, const SampledRange& sampled, std::int32_t out, std::int32_t i) noexcept {
  const double scale = sampled.length / out;
  const double support = scale > 1 ? scale : 1;
  const double center = sampled.begin + (i + 0.5) * scale;
  // Input k is used if its centre, k + 0.5, is between center - support and center + support.
  return {center - support + 0.5 > 0 ? static_cast<std::int32_t>(center - support + 0.5) : 0,
          std::min(in, static_cast<std::int32_t>(center + support + 0.5))};
}

Box ImageOp::reduced_box() const noexcept {
  const std::int32_t by = reduction.by;
  const auto first = [by](std::int64_t begin) { return static_cast<std::int32_t>(begin / by); };
  const auto end = [by](std::int64_t end) { return static_cast<std::int32_t>((end + by - 1) / by); };
  const std::int64_t top = std::int64_t{box.top} + reduction.top, left = std::int64_t{box.left} + reduction.left;
  return {first(top), first(left), end(top + box.height) - first(top), end(left + box.width) - first(left)};
}

SampledRange ImageOp::sampled_rows() const noexcept {
  return sampled(box.top + std::int64_t{reduction.top}, box.height, reduced_box().height, mirror_y);
}

SampledRange ImageOp::sampled_columns() const noexcept {
  return sampled(box.left + std::int64_t{reduction.left}, box.width, reduced_box().width, mirror_x);
}

SampledRange ImageOp::sampled(std::int64_t begin, std::int32_t length, std::int32_t reduced,
                              bool mirror) const noexcept {
  // Exact, because `by` is a power of 2.
  const double by = reduction.by;
  const double before = static_cast<double>(begin % reduction.by) / by, inside = length / by;
  return {mirror ? reduced - before - inside : before, inside};
}

Box ImageOp::needed() const noexcept {
  const Box all = reduced_box();
  const Taps y = axis_needs(all.height, sampled_rows(), resized.height, kept.top, kept.height, filter, mirror_y);
  const Taps x = axis_needs(all.width, sampled_columns(), resized.width, kept.left, kept.width, filter, mirror_x);
  return {all.top + y.from, all.left + x.from, y.to - y.from, x.to - x.from};
}

std::string ImageOp::to_string() const {
  std::string text = "box " + box_string(box);
  if (mirror_x) text += ", mirror";
  if (mirror_y) text += ", mirror_vertical";
  if (reduction.by != 1) text += ", at 1/" + std::to_string(reduction.by);
  if (resamples()) {
    text += " -> " + size_string(resized);
    if (filter == Filter::nearest) text += " nearest";
    if (!(kept.size() == resized)) text += ", kept " + box_string(kept);
  }
  if (pads()) {
    text += ", pad " + std::to_string(margin.top) + "+" + std::to_string(margin.left) + "+" +
            std::to_string(margin.bottom) + "+" + std::to_string(margin.right);
    if (margin.mode == Padding::Mode::reflect) {
      text += " reflect";
    } else {
      text += " with";
      for (int c = 0; c < source.channels; ++c) text += " " + std::to_string(margin.fill[static_cast<std::size_t>(c)]);
    }
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
