#include <cstring>
#include <optional>
#include <string>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "reader.hpp"

namespace penstock {

namespace {

using png::Reader;

std::uint8_t gray_of(std::uint32_t r, std::uint32_t g, std::uint32_t b) {
  return static_cast<std::uint8_t>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

void look_up(const Reader& reader, const std::uint8_t* indices, std::int32_t width, int channels, std::uint8_t* out) {
  const auto colors = reader.colors();
  for (std::int32_t x = 0; x < width; ++x, out += channels) {
    if (indices[x] >= colors.size())
      throw Error(Errc::corrupt, "the PNG has a pixel of colour " + std::to_string(indices[x]) +
                                     ", but its palette has " + std::to_string(colors.size()))
          .with_offset(reader.offset());
    const auto& color = colors[indices[x]];
    if (channels == 1) {
      *out = gray_of(color[0], color[1], color[2]);
    } else {
      std::memcpy(out, color.data(), static_cast<std::size_t>(channels));
    }
  }
}

// Pixels [left, left + width) of a row, as the image's.
void take(const Reader& reader, const std::uint8_t* row, std::int32_t left, std::int32_t width, std::uint8_t* out) {
  const int channels = reader.shape().channels, row_channels = reader.row_channels();
  const std::uint8_t* from = row + static_cast<std::ptrdiff_t>(left) * row_channels;
  if (reader.indexed()) {
    look_up(reader, from, width, channels, out);
  } else if (row_channels == channels) {
    std::memcpy(out, from, static_cast<std::size_t>(width) * static_cast<std::size_t>(channels));
  } else {
    for (std::int32_t x = 0; x < width; ++x, from += 3) out[x] = gray_of(from[0], from[1], from[2]);
  }
}

class Decoding final : public ImageDecoding {
 public:
  explicit Decoding(const PngOptions& options) : options_(options) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    reader_.reset();
    encoded_ = encoded;
    reader_.emplace(encoded, options_);
    return reader_->shape();
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (!reader_) open(encoded_);
    check_box(box);
    const ImageShape whole = reader_->shape();
    const auto channels = static_cast<std::size_t>(whole.channels);
    const std::size_t out_row = static_cast<std::size_t>(box.width) * channels;
    const bool in_place = into != nullptr && box == Box{0, 0, whole.height, whole.width};
    std::byte* room = in_place ? into : scratch.allocate(out_row * static_cast<std::size_t>(box.height));
    auto* pixels = reinterpret_cast<std::uint8_t*>(room);
    reader_->start();
    if (reader_->interlaced()) {
      read_passes(box, pixels, scratch);
    } else {
      read_rows(box, verify, pixels, scratch);
    }
    // Nothing of libpng's memory is kept while the pixels are worked on.
    reader_.reset();
    return {pixels, static_cast<std::ptrdiff_t>(out_row), {box.height, box.width, whole.channels}};
  }

 private:
  void check_box(const Box& box) const {
    const ImageShape whole = reader_->shape();
    if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 || box.height > whole.height - box.top ||
        box.width > whole.width - box.left)
      throw Error(Errc::invalid_argument, "a box to decode does not lie inside the image");
  }

  // Rows are the image's without being taken apart.
  bool as_it_is() const { return !reader_->indexed() && reader_->row_channels() == reader_->shape().channels; }

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(reader_->shape().width) * static_cast<std::size_t>(reader_->row_channels());
  }

  // Rows below the box are read where the rest is to be checked. Where the box ends with the image, what is left to
  // check is a few bytes, and always is.
  void read_rows(const Box& box, bool verify, std::uint8_t* out, Scratch& scratch) {
    const ImageShape whole = reader_->shape();
    const std::size_t out_row = static_cast<std::size_t>(box.width) * static_cast<std::size_t>(whole.channels);
    const bool direct = box.width == whole.width && as_it_is();
    const bool to_the_end = verify || box.top + box.height == whole.height;
    std::uint8_t* row = nullptr;
    if (!direct || box.top > 0 || to_the_end) row = reinterpret_cast<std::uint8_t*>(scratch.allocate(row_bytes()));
    for (std::int32_t y = 0; y < box.top; ++y) reader_->read_row(row);
    for (std::int32_t y = 0; y < box.height; ++y, out += out_row) {
      reader_->read_row(direct ? out : row);
      if (!direct) take(*reader_, row, box.left, box.width, out);
    }
    if (!to_the_end) return;
    for (std::int32_t y = box.top + box.height; y < whole.height; ++y) reader_->read_row(row);
    reader_->finish();
  }

  // Pixels of an interlaced image are complete only when all are read.
  void read_passes(const Box& box, std::uint8_t* out, Scratch& scratch) {
    const ImageShape whole = reader_->shape();
    const std::size_t bytes = row_bytes(), height = static_cast<std::size_t>(whole.height);
    const std::size_t out_row = static_cast<std::size_t>(box.width) * static_cast<std::size_t>(whole.channels);
    const bool direct = box == Box{0, 0, whole.height, whole.width} && as_it_is();
    std::uint8_t* image = direct ? out : reinterpret_cast<std::uint8_t*>(scratch.allocate(bytes * height));
    for (int pass = 0; pass < reader_->passes(); ++pass)
      for (std::size_t y = 0; y < height; ++y) reader_->read_row(image + y * bytes);
    reader_->finish();
    if (direct) return;
    for (std::int32_t y = 0; y < box.height; ++y, out += out_row)
      take(*reader_, image + static_cast<std::size_t>(box.top + y) * bytes, box.left, box.width, out);
  }

  PngOptions options_;
  std::span<const std::byte> encoded_;
  std::optional<Reader> reader_;
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
  }
  std::string name() const override { return "decode_png"; }
  std::string describe() const override {
    std::string text = color_name(options_.color);
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
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<Decoding>(options_); }

 private:
  PngOptions options_;
};

}  // namespace

std::shared_ptr<const ImageDecoder> png_decoder(const PngOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_png(std::string field, const PngOptions& options) {
  return detail::make_decode_stage(std::move(field), png_decoder(options), image_executor());
}

}  // namespace penstock
