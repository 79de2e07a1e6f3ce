// SPDX-License-Identifier: Apache-2.0
// Decodes an image as it is stored in the file. The baseline decoder decodes it if it can; otherwise libjpeg does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <penstock/extend/jpeg_stream_decoder.hpp>

#include "baseline/decoder.hpp"
#include "reader.hpp"
#include "segments.hpp"

namespace penstock::jpeg {

// The destination of pixels: rows that begin `stride` bytes after each other. If `rows` is null, memory is allocated.
struct PixelDestination {
  std::uint8_t* rows = nullptr;
  std::ptrdiff_t stride = 0;
};

// Decodes one file after the other, for one runner. Only one thread may use it at a time.
class StoredImage {
 public:
  explicit StoredImage(const JpegOptions& options) : options_(options) {}

  // @throws like ImageDecoding::open. The arguments must stay valid until the next `open`.
  ImageShape open(std::span<const std::byte> encoded, const JpegContainer& container = {});
  bool is_open() const noexcept { return reader_ != std::nullopt; }
  // Returns the shape of the opened image, at the size that the options say.
  ImageShape shape() const noexcept { return shape_; }
  std::span<const Segment> segments() const noexcept { return reader_->segments(); }

  // Returns the file if `decode_jpeg` with default options makes the same pixels of it. A grey image counts too,
  // although default options repeat its values in three channels. Otherwise returns no bytes.
  std::span<const std::byte> file() const noexcept { return decodes_alike_ ? encoded_ : std::span<const std::byte>(); }

  // Returns whether the engines of a GPU decode images of this kind to three channels. Looks only at the header and at
  // the file's last two bytes.
  bool suits_engines() const;

  // Returns the pixels of `box`, which must be inside the image. They are in `scratch` if `into.rows` is null. With
  // `verify`, the rows after the box are decoded too, so that damage there is found.
  Pixels decode(const Box& box, bool verify, PixelDestination into, Scratch& scratch);
  // Does the same for the image at a size that is not that of the options. `denominator` is 2, 4 or 8; see
  // Reader::reduce. `box` must be inside the reduced image.
  Pixels decode_reduced(std::int32_t denominator, const Box& box, bool verify, Scratch& scratch);

 private:
  Pixels decode_now(const Box& box, bool verify, PixelDestination& into, Scratch& scratch);
  std::optional<Pixels> decode_baseline(const Box& box, bool verify, const Segments* segments, PixelDestination& into,
                                        Scratch& scratch);
  std::optional<Pixels> decode_segments(const Segments& segments, Box box, PixelDestination& into, Scratch& scratch);

  JpegOptions options_;
  JpegContainer container_;
  std::span<const std::byte> encoded_;
  std::optional<Reader> reader_;
  ImageShape shape_;
  baseline::Decoder baseline_;
  bool started_ = false;        // libjpeg has gone beyond the header
  bool decodes_alike_ = false;  // default options make the same pixels
};

// Throws Error(invalid_argument), whose text begins with `who`, if a limit is below 1.
void check_limits(const JpegOptions& options, const std::string& who);

// Throws Error(invalid_argument) if the box is not inside the image.
void check_box(const Box& box, const ImageShape& whole);

}  // namespace penstock::jpeg
