// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <webp/decode.h>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_webp.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "container.hpp"

namespace penstock {

namespace {

using webp::Container;

// Returns a part of the image that contains `box` and whose pixels in `box` are those of the whole image. libwebp
// begins a part at even coordinates, and does not look beyond a part's sides when it upsamples the colours of a lossy
// image. It looks one value of colour, or two pixels, to each side.
Box with_neighbours(const Box& box, const Container& image) {
  const std::int32_t margin = image.lossless ? 0 : 2;
  const std::int32_t top = std::max(box.top - box.top % 2 - margin, 0);
  const std::int32_t left = std::max(box.left - box.left % 2 - margin, 0);
  return {top, left, std::min(box.top + box.height + margin, image.height) - top,
          std::min(box.left + box.width + margin, image.width) - left};
}

[[noreturn]] void refuse(VP8StatusCode status) {
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw Error(Errc::out_of_memory, "libwebp has no memory for an image");
  if (status == VP8_STATUS_UNSUPPORTED_FEATURE)
    throw Error(Errc::unsupported, "libwebp does not support a feature of the WebP");
  const bool ends = status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED;
  throw Error(Errc::corrupt,
              ends ? "the WebP's pixels end before its image does" : "libwebp refuses the WebP's pixels as damaged");
}

// Decodes a part of the image to rows of 3 or 4 channels.
void decode_part(const Container& image, const Box& part, bool alpha, std::uint8_t* to, std::size_t row) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0)
    throw Error(Errc::unsupported, "the installed libwebp has another version than the one that this was built with");
  config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {to, static_cast<int>(row), row * static_cast<std::size_t>(part.height)};
  if (part != Box{0, 0, image.height, image.width}) {
    config.options.use_cropping = 1;
    config.options.crop_left = part.left, config.options.crop_top = part.top;
    config.options.crop_width = part.width, config.options.crop_height = part.height;
  }
  const VP8StatusCode status =
      WebPDecode(reinterpret_cast<const std::uint8_t*>(image.file.data()), image.file.size(), &config);
  if (status != VP8_STATUS_OK) refuse(status);
  if (config.output.width != part.width || config.output.height != part.height)
    throw Error(Errc::corrupt, "the WebP's pixels are not of the size that it declares");
}

class Decoding final : public ImageDecoding {
 public:
  explicit Decoding(const WebpOptions& options) : options_(options) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    image_.reset();
    image_ = webp::read_container(encoded, options_.max_pixels);
    return shape();
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (!image_) throw Error(Errc::invalid_argument, "no image was opened");
    ImageShape made = shape();
    check_box(box, made);
    const Box all{0, 0, made.height, made.width};
    const Box part = verify ? all : with_neighbours(box, *image_);
    const bool gray = options_.color == WebpOptions::gray, in_place = into != nullptr && box == all;
    const std::size_t pixel = gray ? 3 : made.pixel_bytes(), row = static_cast<std::size_t>(part.width) * pixel;
    std::byte* const room = in_place && !gray ? into : scratch.allocate(row * static_cast<std::size_t>(part.height));
    decode_part(*image_, part, made.channels == 4, reinterpret_cast<std::uint8_t*>(room), row);

    made.height = box.height, made.width = box.width;
    const auto* const first = reinterpret_cast<const std::uint8_t*>(room) +
                              static_cast<std::size_t>(box.top - part.top) * row +
                              static_cast<std::size_t>(box.left - part.left) * pixel;
    if (!gray) return {first, static_cast<std::ptrdiff_t>(row), made};
    // Writing a value never overwrites a pixel that is still to be read.
    auto* const values = reinterpret_cast<std::uint8_t*>(in_place ? into : room);
    make_gray(first, row, box.size(), values);
    return {values, box.width, made};
  }

 private:
  ImageShape shape() const {
    int channels = 3;
    if (options_.color == WebpOptions::gray) channels = 1;
    if (options_.color == WebpOptions::rgba || (options_.color == WebpOptions::as_stored && image_->alpha))
      channels = 4;
    return {image_->height, image_->width, channels};
  }

  static void check_box(const Box& box, const ImageShape& whole) {
    if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 || box.height > whole.height - box.top ||
        box.width > whole.width - box.left)
      throw Error(Errc::invalid_argument, "a box to decode does not lie inside the image");
  }

  static void make_gray(const std::uint8_t* pixels, std::size_t row, Size size, std::uint8_t* values) {
    for (std::int32_t y = 0; y < size.height; ++y, pixels += row)
      for (std::int32_t x = 0; x < size.width; ++x) {
        const std::uint8_t* const rgb = pixels + std::ptrdiff_t{x} * 3;
        *values++ = static_cast<std::uint8_t>((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
      }
  }

  WebpOptions options_;
  std::optional<Container> image_;
};

class Decoder final : public ImageDecoder {
 public:
  explicit Decoder(const WebpOptions& options) : options_(options) {
    if (options.max_pixels < 1) throw Error(Errc::invalid_argument, "decode_webp: max_pixels must be at least 1");
  }
  std::string name() const override { return "decode_webp"; }
  std::string describe() const override {
    const char* const color = options_.color == WebpOptions::rgb    ? "rgb"
                              : options_.color == WebpOptions::gray ? "gray"
                              : options_.color == WebpOptions::rgba ? "rgba"
                                                                    : "as_stored";
    return std::string(color) + ", max_pixels " + std::to_string(options_.max_pixels);
  }
  std::int64_t channels() const override {
    switch (options_.color) {
      case WebpOptions::rgb:
        return 3;
      case WebpOptions::rgba:
        return 4;
      case WebpOptions::as_stored:
        return dynamic;
      case WebpOptions::gray:
        break;
    }
    return 1;
  }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<Decoding>(options_); }

 private:
  WebpOptions options_;
};

}  // namespace

std::shared_ptr<const ImageDecoder> webp_decoder(const WebpOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_webp(std::string field, const WebpOptions& options) {
  return decode_stage(std::move(field), webp_decoder(options), image_executor());
}

}  // namespace penstock
