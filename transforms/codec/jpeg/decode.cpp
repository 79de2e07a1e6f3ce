#include <algorithm>
#include <optional>
#include <string>

#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "baseline/decoder.hpp"
#include "cmyk.hpp"
#include "excerpt.hpp"
#include "orientation.hpp"
#include "reader.hpp"

namespace penstock {

namespace {

using jpeg::Reader;

class Decoding final : public ImageDecoding {
 public:
  explicit Decoding(const JpegOptions& options) : options_(options) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    reader_.reset();
    encoded_ = encoded;
    started_ = false;
    reader_.emplace(encoded, options_);
    upright_ = ImageOp(reader_->shape());
    if (options_.apply_orientation) jpeg::set_upright(upright_, jpeg::orientation(reader_->segments()));
    return upright_.shape();
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (!reader_ || started_) open(encoded_);
    check_box(box);
    if (upright_.plain()) return decode_stored(box, verify, into, scratch);
    ImageOp op = upright_;
    op.crop(box);
    const Pixels pixels = decode_stored(op.box, verify, nullptr, scratch);
    const ImageShape shape = op.shape();
    const std::ptrdiff_t stride = std::ptrdiff_t{shape.width} * shape.channels;
    const bool in_place = into != nullptr && shape == upright_.shape();
    std::byte* const out = in_place ? into : scratch.allocate(static_cast<std::size_t>(stride * shape.height));
    image_executor().run(pixels, op, out, scratch);
    return {reinterpret_cast<const std::uint8_t*>(out), stride, shape};
  }

 private:
  void check_box(const Box& box) const {
    const ImageShape whole = upright_.shape();
    if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 || box.height > whole.height - box.top ||
        box.width > whole.width - box.left)
      throw Error(Errc::invalid_argument, "a box to decode does not lie inside the image");
  }

  // `box` of the image as it is in the file.
  Pixels decode_stored(const Box& box, bool verify, std::byte* into, Scratch& scratch) {
    // Where damage is guessed around, the guess for a part would not be that for the whole.
    if (!verify && !options_.accept_warnings) {
      if (const auto segments = jpeg::needed_segments(*reader_, box, scratch)) {
        if (const auto pixels = decode_segments(*segments, box, scratch)) return *pixels;
      }
    }
    if (const auto pixels = decode_baseline(*reader_, box, verify, nullptr, into, scratch)) return *pixels;
    started_ = true;
    return decode_box(*reader_, box, verify, into, scratch);
  }

  // None: it is left to libjpeg.
  std::optional<Pixels> decode_baseline(Reader& reader, const Box& box, bool verify, const jpeg::Segments* segments,
                                        std::byte* into, Scratch& scratch) {
    if (options_.decoder == JpegOptions::Decoder::libjpeg || !reader.in_file()) return std::nullopt;
    const ImageShape whole = reader.shape();
    const std::ptrdiff_t stride = std::ptrdiff_t{box.width} * whole.channels;
    std::byte* room = box == Box{0, 0, whole.height, whole.width} ? into : nullptr;
    if (room == nullptr) room = scratch.allocate(static_cast<std::size_t>(stride * box.height));
    auto* const pixels = reinterpret_cast<std::uint8_t*>(room);
    const jpeg::baseline::Request request{box, verify, segments, pixels, stride};
    if (baseline_.decode(reader.info(), reader.bytes(), static_cast<std::size_t>(reader.offset()), request, scratch))
      return std::nullopt;
    return Pixels{pixels, stride, {box.height, box.width, whole.channels}};
  }

  // Of a part that is damaged there are none: the same data in the whole file says what is wrong with it, and where.
  std::optional<Pixels> decode_segments(const jpeg::Segments& segments, Box box, Scratch& scratch) {
    if (const auto pixels = decode_baseline(*reader_, box, false, &segments, nullptr, scratch)) return pixels;
    const jpeg::Excerpt excerpt = jpeg::excerpt(*reader_, segments, scratch);
    box.top -= excerpt.shows.top;
    box.left -= excerpt.shows.left;
    try {
      Reader part(excerpt.encoded, options_);
      return decode_box(part, box, false, nullptr, scratch);
    } catch (const Error& error) {
      if (error.code() != Errc::corrupt) throw;
      return std::nullopt;
    }
  }

  // `reader` has read the header of the image that `box` lies in.
  static Pixels decode_box(Reader& reader, const Box& box, bool verify, std::byte* into, Scratch& scratch) {
    jpeg_decompress_struct& info = reader.info();
    jpeg_start_decompress(&info);
    const ImageShape whole = reader.shape();
    // libjpeg smooths an image that lacks scans, each pixel by coefficients around it that a part would lack.
    const bool smoothed = reader.lacks_scans();
    JDIMENSION left = 0;
    if (box.width < whole.width && !smoothed) {
      const std::int32_t from = std::max(0, box.left - jpeg::upsampling_margin);
      const std::int32_t to = std::min(whole.width, box.left + box.width + jpeg::upsampling_margin);
      left = static_cast<JDIMENSION>(from);
      auto width = static_cast<JDIMENSION>(to - from);
      if (to - from < whole.width) jpeg_crop_scanline(&info, &left, &width);
    }
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(info.output_width) * info.output_components;
    std::uint8_t* spare = nullptr;  // for rows that nobody wants
    if (verify || (smoothed && box.top > 0))
      spare = reinterpret_cast<std::uint8_t*>(scratch.allocate(static_cast<std::size_t>(row)));
    if (smoothed) {
      read_rows(reader, spare, 0, box.top);
    } else if (box.top > 0) {
      jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(box.top));
    }
    const Box kept{0, box.left - static_cast<std::int32_t>(left), box.height, box.width};
    std::byte* const in_place = box == Box{0, 0, whole.height, whole.width} ? into : nullptr;
    const Pixels pixels = info.out_color_space == JCS_CMYK ? convert_rows(reader, kept, in_place, scratch)
                                                           : keep_rows(reader, kept, in_place, scratch);
    if (verify) {
      read_rows(reader, spare, 0, whole.height - box.top - box.height);
      jpeg_finish_decompress(&info);
    }
    // Nothing of libjpeg's memory is kept while the pixels are worked on.
    jpeg_abort_decompress(&info);
    return pixels;
  }

  // The next rows, of which `kept` is wanted, as libjpeg makes them.
  static Pixels keep_rows(Reader& reader, const Box& kept, std::byte* into, Scratch& scratch) {
    const std::ptrdiff_t channels = reader.shape().channels;
    const std::ptrdiff_t stride = static_cast<std::ptrdiff_t>(reader.info().output_width) * channels;
    std::byte* room = into != nullptr ? into : scratch.allocate(static_cast<std::size_t>(stride * kept.height));
    auto* pixels = reinterpret_cast<std::uint8_t*>(room);
    read_rows(reader, pixels, stride, kept.height);
    return {pixels + kept.left * channels, stride, {kept.height, kept.width, reader.shape().channels}};
  }

  // The same of four inks.
  static Pixels convert_rows(Reader& reader, const Box& kept, std::byte* into, Scratch& scratch) {
    const int channels = reader.shape().channels;
    const std::ptrdiff_t inks = static_cast<std::ptrdiff_t>(reader.info().output_width) * 4;
    const std::ptrdiff_t stride = std::ptrdiff_t{kept.width} * channels;
    auto* row = reinterpret_cast<std::uint8_t*>(scratch.allocate(static_cast<std::size_t>(inks)));
    std::byte* room = into != nullptr ? into : scratch.allocate(static_cast<std::size_t>(stride * kept.height));
    auto* pixels = reinterpret_cast<std::uint8_t*>(room);
    for (std::int32_t y = 0; y < kept.height; ++y) {
      read_rows(reader, row, 0, 1);
      jpeg::convert_cmyk(row + std::ptrdiff_t{kept.left} * 4, kept.width, reader.inverted(), channels,
                         pixels + y * stride);
    }
    return {pixels, stride, {kept.height, kept.width, channels}};
  }

  static void read_rows(Reader& reader, std::uint8_t* first, std::ptrdiff_t stride, std::int32_t rows) {
    constexpr std::int32_t together = 16;
    JSAMPROW at[together];
    for (std::int32_t y = 0; y < rows;) {
      const std::int32_t some = std::min(together, rows - y);
      for (std::int32_t k = 0; k < some; ++k) at[k] = first + (y + k) * stride;
      const JDIMENSION done = jpeg_read_scanlines(&reader.info(), at, static_cast<JDIMENSION>(some));
      if (done == 0) throw Error(Errc::corrupt, "libjpeg gave no more rows").with_offset(reader.offset());
      y += static_cast<std::int32_t>(done);
    }
  }

  JpegOptions options_;
  std::span<const std::byte> encoded_;
  std::optional<Reader> reader_;
  jpeg::baseline::Decoder baseline_;
  ImageOp upright_;  // what sets the stored image upright; plain where that is to do nothing
  bool started_ = false;
};

class Decoder final : public ImageDecoder {
 public:
  explicit Decoder(const JpegOptions& options) : options_(options) {
    if (options.max_pixels < 1 || options.max_scans < 1)
      throw Error(Errc::invalid_argument, "decode_jpeg: max_pixels and max_scans must be at least 1");
  }
  std::string name() const override { return "decode_jpeg"; }
  std::string describe() const override {
    std::string text = options_.color == JpegOptions::rgb    ? "rgb"
                       : options_.color == JpegOptions::gray ? "gray"
                                                             : "as_stored";
    text += ", max_pixels " + std::to_string(options_.max_pixels);
    text += ", max_scans " + std::to_string(options_.max_scans);
    if (options_.accept_warnings) text += ", accept_warnings";
    if (options_.cmyk == JpegOptions::Cmyk::by_marker) text += ", cmyk by_marker";
    if (options_.cmyk == JpegOptions::Cmyk::refused) text += ", cmyk refused";
    if (options_.apply_orientation) text += ", apply_orientation";
    return text;
  }
  std::int64_t channels() const override {
    return options_.color == JpegOptions::rgb ? 3 : options_.color == JpegOptions::gray ? 1 : dynamic;
  }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<Decoding>(options_); }

 private:
  JpegOptions options_;
};

}  // namespace

int jpeg_orientation(std::span<const std::byte> encoded) {
  JpegOptions options;
  options.apply_orientation = true;
  Reader reader(encoded, options);
  return jpeg::orientation(reader.segments());
}

std::shared_ptr<const ImageDecoder> jpeg_decoder(const JpegOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_jpeg(std::string field, const JpegOptions& options) {
  return decode_stage(std::move(field), jpeg_decoder(options), image_executor());
}

}  // namespace penstock
