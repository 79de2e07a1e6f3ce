// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

namespace penstock {

/// What a file says about a JPEG stream that it contains.
struct JpegContainer {
  /// What the three values of a pixel are.
  enum class Colors : std::uint8_t {
    as_marked,  ///< what the stream's own markers and component numbers say, as for `decode_jpeg`
    ycc,        ///< YCbCr (TIFF: photometric interpretation 6), whatever the stream says
    rgb,        ///< RGB (TIFF: 2), whatever the stream says
  };
  /// What the three values of a pixel are.
  Colors colors = Colors::as_marked;
  /// Quantization and Huffman tables for streams without tables, as a separate stream (TIFF: tag 347). A table in the
  /// stream itself takes precedence. Default: empty, for streams that have their own tables.
  std::span<const std::byte> tables{};
};

/// Decodes JPEG streams inside other files: the tiles of a slide, the frames of a volume. With this class, a source
/// that gives pixels decodes any box of an image into its own memory. Pixels, limits and errors are those of
/// `decode_jpeg`. One thread at a time. The decoder keeps as much memory as its largest decode so far needed. It also
/// keeps the Huffman tables of the streams that it decoded last.
class PENSTOCK_API JpegStreamDecoder {
 public:
  /// @throws Error(invalid_argument) if a limit is below 1, or if `apply_orientation` is set, because streams have no
  /// orientation.
  explicit JpegStreamDecoder(const JpegOptions& options = {});
  ~JpegStreamDecoder();
  /// An object that was moved from may only be assigned to or destroyed.
  JpegStreamDecoder(JpegStreamDecoder&&) noexcept;
  JpegStreamDecoder& operator=(JpegStreamDecoder&&) noexcept;

  /// Reads the header of one stream. `encoded` is the whole stream, from FF D8 to FF D9. Returns the size that the
  /// header declares, and the number of channels that `decode` gives. The caller must check that size and channels are
  /// what the container says. `encoded` and `container.tables` must stay unchanged until the next `open`. If this
  /// function throws, no stream is open.
  /// @throws Error(corrupt | unsupported | limit_exceeded), with the offset in the stream, or in the tables if the
  /// cause says so. Error(corrupt) if `colors` is not `as_marked` and the stream does not have three components.
  ImageShape open(std::span<const std::byte> encoded, const JpegContainer& container = {});

  /// Writes the box's pixels, u8 [box.height, box.width, C], to `into`. Rows begin `stride` bytes apart. The bytes
  /// between rows are not written to. The pixels have the same bits as in a full decode. With `verify`, decodes and
  /// checks everything to the end of the stream. May be called any number of times after one `open`.
  /// @throws Error(corrupt | limit_exceeded | out_of_memory); the pixels at `into` are undefined then.
  /// @throws Error(invalid_argument) if
  /// - no stream is open, or `into` is null;
  /// - the box is not inside the image;
  /// - `stride` is less than the bytes of the box's row.
  void decode(const Box& box, std::byte* into, std::ptrdiff_t stride, bool verify = false);
  /// Writes the box's pixels like the other `decode`, with `scratch` instead of the decoder's own memory.
  void decode(const Box& box, std::byte* into, std::ptrdiff_t stride, bool verify, Scratch& scratch);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock
