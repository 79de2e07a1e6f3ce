// SPDX-License-Identifier: Apache-2.0
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

template <class T>
T gray_of(std::uint32_t r, std::uint32_t g, std::uint32_t b) {
  return static_cast<T>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

// Converts a value of 8 bits to T.
template <class T>
struct Value {
  std::uint16_t widening = 1;
  T operator()(std::uint8_t value) const {
    return sizeof(T) == 1 ? static_cast<T>(value) : static_cast<T>(value * widening);
  }
};

template <class T>
void look_up(const Reader& reader, const std::uint8_t* indices, std::int32_t width, int channels, T* out) {
  const auto colors = reader.colors();
  const Value<T> value{reader.widening()};
  for (std::int32_t x = 0; x < width; ++x, out += channels) {
    if (indices[x] >= colors.size())
      throw Error(Errc::corrupt, "the PNG has a pixel of colour " + std::to_string(indices[x]) +
                                     ", but its palette has " + std::to_string(colors.size()))
          .with_offset(reader.offset());
    const auto& color = colors[indices[x]];
    if (channels == 1) {
      *out = gray_of<T>(value(color[0]), value(color[1]), value(color[2]));
    } else {
      for (int c = 0; c < channels; ++c) out[c] = value(color[static_cast<std::size_t>(c)]);
    }
  }
}

// Converts pixels of libpng's row, which has values of type From, to pixels of the image.
template <class From, class T>
void take_values(const Reader& reader, const From* from, std::int32_t width, T* out) {
  const int channels = reader.shape().channels, row_channels = reader.row_channels();
  const auto value = [widen = Value<T>{reader.widening()}](From v) {
    if constexpr (sizeof(From) == sizeof(T)) {
      return v;
    } else {
      return widen(v);
    }
  };
  if (row_channels == channels) {
    for (std::int32_t i = 0; i < width * channels; ++i) out[i] = value(from[i]);
  } else {
    for (std::int32_t x = 0; x < width; ++x, from += 3)
      out[x] = gray_of<T>(value(from[0]), value(from[1]), value(from[2]));
  }
}

// Converts pixels [left, left + width) of libpng's row to pixels of the image.
void take(const Reader& reader, const std::uint8_t* row, std::int32_t left, std::int32_t width, std::uint8_t* out) {
  const std::size_t pixel = static_cast<std::size_t>(reader.row_channels()) * reader.value_bytes();
  const std::uint8_t* from = row + static_cast<std::size_t>(left) * pixel;
  const bool wide = reader.shape().element == DType::u16;
  // The casts are safe for u16: rows are in scratch, whose memory is aligned, or in the caller's u16 image.
  auto* const values = reinterpret_cast<std::uint16_t*>(out);
  if (reader.indexed()) {
    return wide ? look_up(reader, from, width, reader.shape().channels, values)
                : look_up(reader, from, width, reader.shape().channels, out);
  }
  if (!wide) return take_values(reader, from, width, out);
  if (reader.value_bytes() == 1) return take_values(reader, from, width, values);
  take_values(reader, reinterpret_cast<const std::uint16_t*>(from), width, values);
}

class Decoding final : public ImageDecoding {
 public:
  explicit Decoding(const PngOptions& options) : options_(options) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    reader_.reset();
    encoded_ = encoded;
    reader_.emplace(encoded, options_);
    grayed_ = reader_->indexed() && options_.color == PngOptions::gray;
    return reader_->shape();
  }

  const char* remark() const override {
    return grayed_ ? "had a palette, whose numbers became the grey of their colours; where these numbers are labels, "
                     "decode with `.color = labels`"
                   : nullptr;
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (!reader_) open(encoded_);
    check_box(box);
    const ImageShape whole = reader_->shape();
    const std::size_t out_row = static_cast<std::size_t>(box.width) * whole.pixel_bytes();
    const bool in_place = into != nullptr && box == Box{0, 0, whole.height, whole.width};
    std::byte* room = in_place ? into : scratch.allocate(out_row * static_cast<std::size_t>(box.height));
    auto* pixels = reinterpret_cast<std::uint8_t*>(room);
    reader_->start();
    if (reader_->interlaced()) {
      read_passes(box, pixels, scratch);
    } else {
      read_rows(box, verify, pixels, scratch);
    }
    // Frees libpng's memory before the pixels are used.
    reader_.reset();
    return {pixels, static_cast<std::ptrdiff_t>(out_row), {box.height, box.width, whole.channels, whole.element}};
  }

 private:
  void check_box(const Box& box) const {
    const ImageShape whole = reader_->shape();
    if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 || box.height > whole.height - box.top ||
        box.width > whole.width - box.left)
      throw Error(Errc::invalid_argument, "a box to decode does not lie inside the image");
  }

  // Returns whether libpng's rows are rows of the image, without a conversion.
  bool as_it_is() const {
    return !reader_->indexed() && reader_->row_channels() == reader_->shape().channels &&
           reader_->value_bytes() == size_of(reader_->shape().element);
  }

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(reader_->shape().width) * static_cast<std::size_t>(reader_->row_channels()) *
           reader_->value_bytes();
  }

  // Reads the rows down to the end of the box. With `verify`, also reads and checks the rest of the file. If the box
  // has the image's last row, the rest is only a few bytes, so it is always checked.
  void read_rows(const Box& box, bool verify, std::uint8_t* out, Scratch& scratch) {
    const ImageShape whole = reader_->shape();
    const std::size_t out_row = static_cast<std::size_t>(box.width) * whole.pixel_bytes();
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

  // Reads all passes of an interlaced image, because its pixels are complete only after the last pass.
  void read_passes(const Box& box, std::uint8_t* out, Scratch& scratch) {
    const ImageShape whole = reader_->shape();
    const std::size_t bytes = row_bytes(), height = static_cast<std::size_t>(whole.height);
    const std::size_t out_row = static_cast<std::size_t>(box.width) * whole.pixel_bytes();
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
