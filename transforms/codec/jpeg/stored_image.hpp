// An image as it is in the file, decoded by the baseline decoder where it can be, and by libjpeg where not.
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

// Where pixels are to be: rows that begin `stride` bytes after each other. Null: anywhere.
struct Place {
  std::uint8_t* rows = nullptr;
  std::ptrdiff_t stride = 0;
};

// One stream after the other, for one runner. One thread at a time.
class StoredImage {
 public:
  explicit StoredImage(const JpegOptions& options) : options_(options) {}

  // @throws as ImageDecoding::open. What is given must stay until the next `open`.
  ImageShape open(std::span<const std::byte> encoded, const JpegContainer& container = {});
  bool is_open() const noexcept { return reader_ != std::nullopt; }
  // Shape of the opened image.
  ImageShape shape() const noexcept { return reader_->shape(); }
  std::span<const Segment> segments() const noexcept { return reader_->segments(); }

  // The file, where `decode_jpeg` with default options makes the same pixels of it, or of grey ones three channels.
  std::span<const std::byte> file() const noexcept { return decodes_alike_ ? encoded_ : std::span<const std::byte>(); }

  // Whether engines of a GPU decode images of its kind to three channels. The header is looked at, and the end.
  bool suits_engines() const;

  // The pixels of `box`, which lies inside the image; in `scratch` where `into` is null.
  Pixels decode(const Box& box, bool verify, Place into, Scratch& scratch);

 private:
  std::optional<Pixels> decode_baseline(const Box& box, bool verify, const Segments* segments, Place& into,
                                        Scratch& scratch);
  std::optional<Pixels> decode_segments(const Segments& segments, Box box, Place& into, Scratch& scratch);

  JpegOptions options_;
  JpegContainer container_;
  std::span<const std::byte> encoded_;
  std::optional<Reader> reader_;
  baseline::Decoder baseline_;
  bool started_ = false;        // libjpeg has gone beyond the header
  bool decodes_alike_ = false;  // with default options
};

// Throws Error(invalid_argument), which begins with `who`, for limits below 1.
void check_limits(const JpegOptions& options, const std::string& who);

// Throws Error(invalid_argument) for one that does not lie inside the image.
void check_box(const Box& box, const ImageShape& whole);

}  // namespace penstock::jpeg
