// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/shape.hpp>

namespace penstock {

/// Height and width in pixels.
struct Size {
  /// Pixels.
  std::int32_t height = 0, width = 0;
  friend bool operator==(Size, Size) = default;
};

/// A rectangle of whole pixels; (0, 0) is the top left corner.
struct Box {
  /// Pixels.
  std::int32_t top = 0, left = 0, height = 0, width = 0;
  /// Height and width, without the position.
  Size size() const noexcept { return {height, width}; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// A point of an image, in pixels to the right and down. (0, 0) is the top left corner of the top left pixel, whose
/// centre is (0.5, 0.5).
struct ImagePoint {
  double x = 0, y = 0;  ///< pixels
};

/// Size, channels and values of an interleaved image.
struct ImageShape {
  /// Height and width in pixels; number of values per pixel.
  std::int32_t height = 0, width = 0, channels = 0;
  DType element = DType::u8;  ///< u8 or u16
  /// Bytes of one pixel with all its channels.
  std::size_t pixel_bytes() const noexcept { return static_cast<std::size_t>(channels) * size_of(element); }
  /// Height and width, without the channels.
  Size size() const noexcept { return {height, width}; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// A range of input pixels along one axis: [from, to).
struct Taps {
  /// Indices of pixels.
  std::int32_t from = 0, to = 0;
};
/// Returns the input pixels that output pixel `i` depends on, if an axis of `in` pixels is resampled to `out` pixels by
/// Filter::linear. No other pixel is read.
PENSTOCK_API Taps linear_taps(std::int32_t in, std::int32_t out, std::int32_t i) noexcept;

/// The part of an axis that is resampled: [begin, begin + length), in pixels and parts of pixels.
struct SampledRange {
  double begin = 0, length = 0;  ///< pixels
};
/// Does the same if only a part of the axis is resampled. Pixels that are partly inside it count as whole ones.
PENSTOCK_API Taps linear_taps(std::int32_t in, const SampledRange& sampled, std::int32_t out, std::int32_t i) noexcept;

/// Order of a finished image's dimensions: [H, W, C] or [C, H, W]. A batch of such images is NHWC or NCHW.
enum class Layout : std::uint8_t { hwc, chw };

/// How an image is resampled.
enum class Filter : std::uint8_t {
  linear,   ///< an antialiased triangle filter; results are rounded to 8 bits
  nearest,  ///< for labels: output pixel i is input pixel floor((i + 0.5) * in / out), so no value is invented
};

/// What surrounds an image that is padded.
struct Padding {
  /// What the padding is made of.
  enum class Mode : std::uint8_t {
    constant,  ///< one colour
    reflect,   ///< the image, mirrored at its outermost pixels, which are not repeated
  };
  std::int32_t top = 0, left = 0, bottom = 0, right = 0;  ///< pixels
  /// What the padding is made of.
  Mode mode = Mode::constant;
  std::array<std::uint16_t, 4> fill{0, 0, 0, 0};  ///< the colour, one value per channel
  std::uint16_t label = 0;  ///< the value used instead of `fill` if the field has labels (resampled by nearest)
  friend bool operator==(const Padding&, const Padding&) = default;
};

/// A reduced image: the whole image at a half, a quarter or an eighth of its size. Pixel (y, x) stands for a square of
/// `by` x `by` pixels of the whole image, with its top left corner at (y * by - top, x * by - left). Squares may extend
/// beyond the image.
struct Reduction {
  std::int32_t by = 1;             ///< 1, 2, 4 or 8; 1 means the image itself
  std::int32_t top = 0, left = 0;  ///< 0 to `by` - 1: how far the first squares extend beyond the image
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

/// Rows of an interleaved image. Does not own the memory.
struct Pixels {
  /// The first row. Values of 16 bits have two bytes, in the machine's byte order, aligned or not.
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from one row to the next
  /// Size, channels and values.
  ImageShape shape;
};

/// Describes what several image stages together do to one image. Neighbouring image stages fold into one ImageOp, which
/// is executed once.
///
/// Each call of a member function describes one stage, in the order of the stages. The stage acts on the result of the
/// calls before. A call that an ImageOp can't express sets `refused()` and changes nothing. The code that folds stages
/// then executes the ImageOp, and begins a new one with the result. So folded and unfolded stages always give the same
/// bits.
///
/// An executor carries out these steps, in this order:
/// - Take the pixels of `box`, mirrored according to `mirror_x` and `mirror_y`. With a `reduction`, take the pixels of
///   `reduced_box()` instead; what they show of `box` is resampled.
/// - Resample them to `resized` with `filter` (no step if `box` has that size). Only `kept` of the resampled image is
///   computed.
/// - Surround `kept` by `margin`.
/// - Transpose the result if `transpose`, then flip it according to `flip_x` and `flip_y`.
/// - Convert: element = value * scale[c] + bias[c] in binary32 without contraction, rounded to nearest for f16 and
///   bf16. For u8 and u16 the element is the value.
///
/// `mirror_*` is set only if a resample follows. Without a resample, `box` and `kept` have the same size. In a margin
/// that reflects, `top` and `bottom` are each less than `kept.height`, and `left` and `right` are each less than
/// `kept.width`.
///
/// A plain value; one thread at a time.
class PENSTOCK_API ImageOp {
 public:
  ImageOp() = default;
  /// The identity on an image of that shape.
  /// @throws Error(invalid_argument) if the values are not u8 or u16, a side is empty, or there are not 1 to 4
  /// channels.
  explicit ImageOp(ImageShape source);

  /// Keeps `box`, which must be inside the current image. Refused if only padding would be left. Also refused if
  /// reflecting padding would be left that is as wide as the rest of the image, or wider.
  /// @throws Error(invalid_argument) if `box` is empty, or is not inside the image.
  void crop(const Box& box);
  /// Resamples with the filter that `filter_with` chose last. Refused after a conversion. If the image has this size
  /// already, does nothing. Otherwise refused after another resample, a transpose, or padding.
  /// @throws Error(invalid_argument) if a side is below 1, or if the values have 16 bits and the filter is not nearest.
  void resize(Size size);
  /// Surrounds the image. If `filter_with` chose nearest last, `padding.label` is the fill. Refused after a conversion.
  /// Refused after earlier padding, unless both paddings have the same constant colour.
  /// @throws Error(invalid_argument) if
  /// - a side is negative or more than 2^20 pixels;
  /// - `fill` is not a value of the image;
  /// - a side that reflects is as wide as the image in its direction, or wider. Opposite sides together may be wider;
  /// - the padded image would have a side of 2^31 pixels or more.
  void pad(const Padding& padding);
  /// Chooses the filter of later resamples. Default: `Filter::linear`. The code that folds stages calls this function,
  /// because the filter depends on the field, not on the stage.
  void filter_with(Filter next) noexcept { next_filter_ = next; }
  /// Whether `filter_with` chose nearest last, which means that the image's values are labels.
  bool labels() const noexcept { return next_filter_ == Filter::nearest; }
  /// Exchanges left and right.
  void flip_horizontal();
  /// Exchanges top and bottom.
  void flip_vertical();
  /// Turns the image by `quarters` x 90 degrees counter-clockwise; `quarters` is any integer.
  void rot90(int quarters);
  /// Turns and mirrors the image as Exif data say: `orientation` is 1 (not at all) to 8.
  /// @throws Error(invalid_argument) for other numbers.
  void orient(int orientation);
  /// Converts the image to a tensor: sets element type, layout, and value * scale + bias per channel. The type is f32,
  /// f16 or bf16, or the image's own type with scale 1 and bias 0. All other image stages must come before the
  /// conversion. Refused after another conversion.
  /// @throws Error(invalid_argument) if
  /// - `dtype` is another type;
  /// - a scale or bias is not finite;
  /// - the image keeps its own type, and a scale is not 1 or a bias is not 0.
  void convert(DType dtype, Layout layout, const std::array<float, 4>& scale, const std::array<float, 4>& bias);

  /// Shape of the image after all calls so far.
  ImageShape shape() const noexcept;
  /// Shape of the tensor after all calls so far, in `layout`.
  Shape tensor_shape() const;
  /// Whether a call asked for something that an ImageOp can't express.
  bool refused() const noexcept { return refused_; }

  // -- for executors --
  /// Shape of the image before all stages.
  ImageShape source;
  /// The part of `source` that is used.
  Box box;
  /// In which reduced image the pixels are. Set by the code that folds stages, if a decoder offers it. If it is not the
  /// image itself, `box` is resampled by Filter::linear.
  Reduction reduction;
  /// Whether the pixels of `box` are mirrored before the resample, left to right and top to bottom.
  bool mirror_x = false, mirror_y = false;
  /// Size of `box` after the resample.
  Size resized;
  Filter filter = Filter::linear;  ///< filter of the resample, if there is one
  /// The part of the resampled image that is computed.
  Box kept;
  Padding margin;  ///< `margin.fill` is the colour, for labels too; `margin.label` is not used
  /// Steps after the margin, in this order: `transpose` exchanges rows and columns, `flip_x` left and right, `flip_y`
  /// top and bottom.
  bool transpose = false, flip_x = false, flip_y = false;
  /// Whether `convert` was called.
  bool converted = false;
  /// Element type of the result if `convert` was called.
  DType dtype = DType::u8;
  /// Layout of the result.
  Layout layout = Layout::hwc;
  /// Factors of the conversion, one per channel: element = value * scale + bias.
  std::array<float, 4> scale{1, 1, 1, 1};
  /// Summands of the conversion, one per channel: element = value * scale + bias.
  std::array<float, 4> bias{0, 0, 0, 0};

  /// The pixels of the reduced image that show `box`. Without a reduction, `box`.
  Box reduced_box() const noexcept;
  /// The part of the image, inside `reduced_box()`, that the result depends on. An executor reads no other pixels.
  Box needed() const noexcept;
  /// The rows and columns of `reduced_box()` that show `box`, counted from the last one if they are mirrored.
  SampledRange sampled_rows() const noexcept;
  SampledRange sampled_columns() const noexcept;  ///< likewise
  /// Whether `box` is resampled: then `kept` is a part of `resized`, and filtering is needed.
  bool resamples() const noexcept { return !(resized == box.size()); }
  /// Whether there is a margin around the image.
  bool pads() const noexcept { return margin.top != 0 || margin.left != 0 || margin.bottom != 0 || margin.right != 0; }
  /// Whether the result is the unchanged pixels of `box`.
  bool plain() const noexcept { return !resamples() && !pads() && !transpose && !flip_x && !flip_y && !converted; }
  /// Type of the result's elements.
  DType result_dtype() const noexcept { return converted ? dtype : source.element; }
  /// Returns where a point of `source` is in the result, in pixels. (0, 0) is the corner of the first pixel, not its
  /// centre. The point may be outside of the result.
  ImagePoint moved(ImagePoint point) const noexcept;
  /// Returns the part of the result that shows the image, not the margin.
  Box shown() const noexcept;
  /// Returns the corners of the part of `source` that the result shows: the top left one, then the bottom right one.
  std::array<ImagePoint, 2> seen() const noexcept;
  /// Returns "box 300x280+12+40 -> 224x224, flip", for plan() and errors.
  std::string to_string() const;

 private:
  bool refuse(bool condition) noexcept;
  SampledRange sampled(std::int64_t begin, std::int32_t length, std::int32_t reduced, bool mirror) const noexcept;
  bool refused_ = false;
  Filter next_filter_ = Filter::linear;
};

}  // namespace penstock
