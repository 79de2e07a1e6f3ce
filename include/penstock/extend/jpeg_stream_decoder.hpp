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

/// What the file around a JPEG stream says of it.
struct JpegContainer {
  /// What the three values of a pixel are.
  enum class Colors : std::uint8_t {
    as_marked,  ///< what the stream's own markers and component numbers say, as for `decode_jpeg`
    ycc,        ///< YCbCr (TIFF: photometric interpretation 6), whatever the stream says
    rgb,        ///< RGB (TIFF: 2), whatever the stream says
  };
  /// What the three values of a pixel are.
  Colors colors = Colors::as_marked;
  /// Quantization and Huffman tables, as a stream of their own (TIFF: tag 347), for streams that leave them out. A
  /// table in the stream itself takes the place of one of these. Empty: there are none.
  std::span<const std::byte> tables{};
};

/// Decodes JPEG streams that lie in other files: the tiles of a slide, the frames of a volume. For sources that give
/// pixels. Any box of an image comes into memory of the caller's; pixels, limits and errors are those of `decode_jpeg`.
/// One thread at a time; keeps the memory that the largest image took, and Huffman tables of the last few images.
class PENSTOCK_API JpegStreamDecoder {
 public:
  /// @throws Error(invalid_argument) for limits below 1, and for `apply_orientation`: streams have none.
  explicit JpegStreamDecoder(const JpegOptions& options = {});
  ~JpegStreamDecoder();
  /// What was moved from can be assigned to and destroyed.
  JpegStreamDecoder(JpegStreamDecoder&&) noexcept;
  JpegStreamDecoder& operator=(JpegStreamDecoder&&) noexcept;

  /// Reads the header of one stream. `encoded` is all of it, from FF D8 to FF D9. Returns the size that it declares and
  /// the number of channels that come out; whether they are what the container says is for the caller to see. `encoded`
  /// and `container.tables` must stay as they are until the next `open`. @throws Error(corrupt | unsupported |
  /// limit_exceeded), with the offset in the stream, or in the tables where the cause says so; corrupt, too, where
  /// `colors` are given and there are not three components. No stream is open then.
  ImageShape open(std::span<const std::byte> encoded, const JpegContainer& container = {});

  /// Writes the box's pixels, u8 [box.height, box.width, C], to `into`, whose rows begin `stride` bytes after each
  /// other; nothing between rows is written. They are the same bits as of a full decode. `verify`: everything to the
  /// end of the stream is decoded and checked. May be called any number of times. @throws Error(corrupt |
  /// limit_exceeded | out_of_memory), after which the box is of undefined content; Error(invalid_argument) where
  /// nothing is open, for a box that does not lie inside the image, for a stride of less than a row, and where `into`
  /// is null.
  void decode(const Box& box, std::byte* into, std::ptrdiff_t stride, bool verify = false);
  /// Writes the box's pixels as the other `decode` does, with `scratch` in place of memory of its own.
  void decode(const Box& box, std::byte* into, std::ptrdiff_t stride, bool verify, Scratch& scratch);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace penstock
