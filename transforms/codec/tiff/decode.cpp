// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_tiff.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "chunks.hpp"
#include "directories.hpp"
#include "file.hpp"
#include "layout.hpp"

namespace penstock {

namespace {

using tiff::Meaning;

// An opened page.
struct Page {
  Page(std::span<const std::byte> encoded, const tiff::Directory& directory, const TiffOptions& options)
      // The lists of strips grow to 8 bytes per entry, and a strip or tile to 8 bytes per pixel.
      : file(encoded, directory.offset, 8 * encoded.size() + 16 * directory.width * directory.height + (16 << 20)),
        layout(file, directory, options) {}
  tiff::File file;
  tiff::Layout layout;
};

class Decoding final : public ImageDecoding {
 public:
  explicit Decoding(const TiffOptions& options) : options_(options) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    page_.reset();
    const tiff::Directory directory = tiff::find_page(encoded, options_.page);
    if (directory.width == 0 || directory.height == 0)
      throw Error(Errc::corrupt, "the TIFF has no pixels, or does not declare its size").with_offset(directory.offset);
    // The sides are compared first, as their product may be too large.
    const std::uint64_t most = std::min(options_.max_pixels, most_pixels);
    if (directory.width > most_side || directory.height > most_side || directory.width * directory.height > most)
      throw Error(Errc::limit_exceeded, "the TIFF declares " + std::to_string(directory.width) + "x" +
                                            std::to_string(directory.height) +
                                            " pixels, above max_pixels = " + std::to_string(most));
    page_ = std::make_unique<Page>(encoded, directory, options_);
    upright_ = ImageOp(page_->layout.shape());
    upright_.orient(page_->layout.orientation);
    return upright_.shape();
  }

  int orientation() const override { return page_ != nullptr ? page_->layout.orientation : 1; }

  const char* remark() const override {
    return page_ != nullptr && page_->layout.meaning == Meaning::palette && options_.color == TiffOptions::gray
               ? "had a palette, whose numbers became the grey of their colours; where these numbers are labels, "
                 "decode with `.color = labels`"
               : nullptr;
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (page_ == nullptr) throw Error(Errc::invalid_argument, "no image was opened");
    const ImageShape whole = upright_.shape();
    check_box(box, whole);
    if (box != Box{0, 0, whole.height, whole.width}) into = nullptr;
    if (upright_.plain()) return stored(box, verify, into, scratch);
    ImageOp op = upright_;
    op.crop(box);
    const Pixels pixels = stored(op.box, verify, nullptr, scratch);
    const ImageShape shape = op.shape();
    const std::size_t row = static_cast<std::size_t>(shape.width) * shape.pixel_bytes();
    if (into == nullptr) into = scratch.allocate(row * static_cast<std::size_t>(shape.height));
    image_executor().run(pixels, op, into, scratch);
    return {reinterpret_cast<const std::uint8_t*>(into), static_cast<std::ptrdiff_t>(row), shape};
  }

 private:
  // A tile may have as many pixels to a side as an image. The end of a tile must be below 2^31.
  static constexpr std::uint64_t most_side = std::uint64_t{1} << 30, most_pixels = std::uint64_t{1} << 48;

  static void check_box(const Box& box, const ImageShape& whole) {
    if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 || box.height > whole.height - box.top ||
        box.width > whole.width - box.left)
      throw Error(Errc::invalid_argument, "a box to decode does not lie inside the image");
  }

  // Decodes a part of the image as it is stored.
  Pixels stored(const Box& box, bool verify, std::byte* into, Scratch& scratch) {
    ImageShape shape = page_->layout.shape();
    shape.height = box.height, shape.width = box.width;
    const std::size_t row = static_cast<std::size_t>(box.width) * shape.pixel_bytes();
    if (into == nullptr) into = scratch.allocate(row * static_cast<std::size_t>(box.height));
    auto* const pixels = reinterpret_cast<std::uint8_t*>(into);
    tiff::decode_box(page_->file, page_->layout, box, verify, pixels, scratch);
    return {pixels, static_cast<std::ptrdiff_t>(row), shape};
  }

  TiffOptions options_;
  std::unique_ptr<Page> page_;
  ImageOp upright_;  // turns and flips that set the stored image upright; plain if there are none
};

const char* color_name(TiffOptions::Color color) {
  switch (color) {
    case TiffOptions::rgb:
      return "rgb";
    case TiffOptions::gray:
      return "gray";
    case TiffOptions::rgba:
      return "rgba";
    case TiffOptions::as_stored:
      return "as_stored";
    case TiffOptions::labels:
      break;
  }
  return "labels";
}

class Decoder final : public ImageDecoder {
 public:
  explicit Decoder(const TiffOptions& options) : options_(options) {
    if (options.max_pixels < 1) throw Error(Errc::invalid_argument, "decode_tiff: max_pixels must be at least 1");
    if (options.dtype != DType::u8 && options.dtype != DType::u16)
      throw Error(Errc::invalid_argument,
                  "decode_tiff to " + std::string(to_string(options.dtype)) + ": u8 and u16 are possible");
  }
  std::string name() const override { return "decode_tiff"; }
  std::string describe() const override {
    std::string text = color_name(options_.color);
    if (options_.dtype == DType::u16) text += ", u16";
    if (options_.high_byte) text += ", high_byte";
    if (options_.apply_orientation) text += ", apply_orientation";
    if (options_.page) text += ", page " + std::to_string(*options_.page);
    return text + ", max_pixels " + std::to_string(options_.max_pixels);
  }
  std::int64_t channels() const override {
    switch (options_.color) {
      case TiffOptions::rgb:
        return 3;
      case TiffOptions::rgba:
        return 4;
      case TiffOptions::as_stored:
        return dynamic;
      case TiffOptions::gray:
      case TiffOptions::labels:
        break;
    }
    return 1;
  }
  DType dtype() const override { return options_.dtype; }
  bool labels() const override { return options_.color == TiffOptions::labels; }
  std::string labels_become() const override {
    if (labels()) return "";
    return std::string("the numbers of a TIFF's palette become ") +
           (options_.color == TiffOptions::gray ? "the grey of their colours" : "colours") +
           ", and grey values of fewer than 8 bits are scaled; `.color = labels` keeps both as they are";
  }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<Decoding>(options_); }

 private:
  TiffOptions options_;
};

}  // namespace

std::shared_ptr<const ImageDecoder> tiff_decoder(const TiffOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_tiff(ImageFields fields, const TiffOptions& options) {
  return decode_stage(std::move(fields), tiff_decoder(options), image_executor());
}

}  // namespace penstock
