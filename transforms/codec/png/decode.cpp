// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "by_libpng.hpp"
#include "layout.hpp"
#include "whole_image.hpp"

namespace penstock {

namespace {

using png::Layout;

class Decoding final : public ImageDecoding {
 public:
  explicit Decoding(const PngOptions& options) : options_(options) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    layout_.reset();
    encoded_ = encoded;
    layout_.emplace(png::check_chunks(encoded), options_);
    grayed_ = layout_->indexed() && layout_->is_gray();
    return layout_->shape();
  }

  const char* remark() const override {
    return grayed_ ? "had a palette, whose numbers became the grey of their colours; where these numbers are labels, "
                     "decode with `.color = labels`"
                   : nullptr;
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (!layout_) open(encoded_);
    check_box(box);
    const ImageShape whole = layout_->shape();
    const std::size_t out_row = static_cast<std::size_t>(box.width) * whole.pixel_bytes();
    const bool in_place = into != nullptr && box == Box{0, 0, whole.height, whole.width};
    std::byte* room = in_place ? into : scratch.allocate(out_row * static_cast<std::size_t>(box.height));
    auto* pixels = reinterpret_cast<std::uint8_t*>(room);
    if (!whole_.decode(encoded_, *layout_, box, verify, pixels, scratch))
      png::decode_by_libpng(encoded_, *layout_, box, verify, pixels, scratch);
    layout_.reset();
    return {pixels, static_cast<std::ptrdiff_t>(out_row), {box.height, box.width, whole.channels, whole.element}};
  }

 private:
  void check_box(const Box& box) const {
    const ImageShape whole = layout_->shape();
    if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 || box.height > whole.height - box.top ||
        box.width > whole.width - box.left)
      throw Error(Errc::invalid_argument, "a box to decode does not lie inside the image");
  }

  PngOptions options_;
  std::span<const std::byte> encoded_;
  std::optional<Layout> layout_;
  png::WholeImage whole_;
  bool grayed_ = false;  // the opened image has a palette that becomes grey
};

const char* color_name(PngOptions::Color color) {
  switch (color) {
    case PngOptions::rgb:
      return "rgb";
    case PngOptions::gray:
      return "gray";
    case PngOptions::rgba:
      return "rgba";
    case PngOptions::as_stored:
      return "as_stored";
    case PngOptions::labels:
      break;
  }
  return "labels";
}

class Decoder final : public ImageDecoder {
 public:
  explicit Decoder(const PngOptions& options) : options_(options) {
    if (options.max_pixels < 1) throw Error(Errc::invalid_argument, "decode_png: max_pixels must be at least 1");
    if (options.dtype != DType::u8 && options.dtype != DType::u16)
      throw Error(Errc::invalid_argument,
                  "decode_png to " + std::string(to_string(options.dtype)) + ": u8 and u16 are possible");
  }
  std::string name() const override { return "decode_png"; }
  std::string describe() const override {
    std::string text = color_name(options_.color);
    if (options_.dtype == DType::u16) text += ", u16";
    if (options_.high_byte) text += ", high_byte";
    return text + ", max_pixels " + std::to_string(options_.max_pixels);
  }
  std::int64_t channels() const override {
    switch (options_.color) {
      case PngOptions::rgb:
        return 3;
      case PngOptions::rgba:
        return 4;
      case PngOptions::as_stored:
        return dynamic;
      case PngOptions::gray:
      case PngOptions::labels:
        break;
    }
    return 1;
  }
  DType dtype() const override { return options_.dtype; }
  bool labels() const override { return options_.color == PngOptions::labels; }
  std::string labels_become() const override {
    if (labels()) return "";
    return std::string("the numbers of a PNG's palette become ") +
           (options_.color == PngOptions::gray ? "the grey of their colours" : "colours") +
           ", and grey values of fewer than 8 bits are scaled; `.color = labels` keeps both as they are";
  }
  std::string damage_elsewhere() const override { return "damage elsewhere is found by the image's check sums"; }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<Decoding>(options_); }

 private:
  PngOptions options_;
};

}  // namespace

std::shared_ptr<const ImageDecoder> png_decoder(const PngOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_png(std::string field, const PngOptions& options) {
  return decode_stage(std::move(field), png_decoder(options), image_executor());
}

}  // namespace penstock
