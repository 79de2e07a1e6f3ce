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
  /// Its sides, without its place.
  Size size() const noexcept { return {height, width}; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Size, channels and values of an interleaved image.
struct ImageShape {
  /// Pixels, and values a pixel.
  std::int32_t height = 0, width = 0, channels = 0;
  DType element = DType::u8;  ///< u8 or u16
  /// Bytes of one pixel, all its channels.
  std::size_t pixel_bytes() const noexcept { return static_cast<std::size_t>(channels) * size_of(element); }
  /// Its sides, without channels.
  Size size() const noexcept { return {height, width}; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Input samples of one axis: [from, to).
struct Taps {
  /// Numbers of samples.
  std::int32_t from = 0, to = 0;
};
/// What output sample i of `out` is made of, of `in` input samples, by Filter::linear. None beside them is read.
PENSTOCK_API Taps linear_taps(std::int32_t in, std::int32_t out, std::int32_t i) noexcept;

/// Order of a finished image's dimensions: [H, W, C] or [C, H, W]. In a batch these become NHWC and NCHW.
enum class Layout : std::uint8_t { hwc, chw };

/// How an image is resampled.
enum class Filter : std::uint8_t {
  linear,   ///< an antialiased triangle filter that rounds to 8 bits
  nearest,  ///< for labels: output pixel i is input pixel floor((i + 0.5) * in / out), so no value is invented
};

/// What surrounds an image that is padded.
struct Padding {
  /// What the padding is made of.
  enum class Mode : std::uint8_t {
    constant,  ///< one colour
    reflect,   ///< the image itself, mirrored at its outermost pixels, which are not repeated
  };
  std::int32_t top = 0, left = 0, bottom = 0, right = 0;  ///< pixels
  /// What the padding is made of.
  Mode mode = Mode::constant;
  std::array<std::uint16_t, 4> fill{0, 0, 0, 0};  ///< the colour, channel by channel
  std::uint16_t label = 0;  ///< the value instead of `fill` for a field of labels, resampled by nearest
  friend bool operator==(const Padding&, const Padding&) = default;
};

/// Rows of an interleaved image that lie somewhere else. Owns nothing.
struct Pixels {
  /// The first row; values of 16 bits have two bytes, in the machine's order, aligned or not.
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from a row to the next
  /// Size, channels and values.
  ImageShape shape;
};

/// What happens to one image, as one value: neighbouring image stages fold into it, and it is executed once.
///
/// The members called in order describe the stages in order. Each acts on the image as the members before it left it.
/// A call that this value can't express sets `refused()` and changes nothing: whoever folds executes what there is and
/// starts again from its result. So folded and unfolded always give the same bits.
///
/// Normal form, read by executors: the pixels of `box`, mirrored as `mirror_*` say, are resampled to `resized` with
/// `filter` (nothing happens when that is their size), of which `kept` is computed; around that stands `margin`; all
/// is transposed if `transpose`, then flipped as `flip_*` say, then converted: element = value * scale[c] + bias[c] in
/// binary32 without contraction, rounded to nearest for f16 and bf16; for u8 and u16 the value itself. `mirror_*` is
/// only set where a resample follows; without one, `box` and `kept` agree in size. A margin that reflects is narrower
/// than `kept`, and where one stands on both sides of an axis, than each of them.
///
/// A plain value; one thread at a time.
class PENSTOCK_API ImageOp {
 public:
  ImageOp() = default;
  /// The identity on an image of that shape. 1 to 4 channels.
  explicit ImageOp(ImageShape source);

  /// Keeps `box`, which must lie inside the current image. Refused where nothing but padding is left, or padding that
  /// reflects what is not. @throws Error(invalid_argument) for a box outside.
  void crop(const Box& box);
  /// Resamples with the filter that `filter_with` chose last. Refused after another resample, a transpose, padding, or
  /// a conversion. @throws Error(invalid_argument) for values of 16 bits and another filter than nearest.
  void resize(Size size);
  /// Surrounds the image; where `filter_with` chose nearest last, with `padding.label`. Refused after a conversion, and
  /// after padding of another kind. @throws Error(invalid_argument) for a negative side, a fill that is no value of the
  /// image, and a reflection as wide as the image or wider.
  void pad(const Padding& padding);
  /// Chooses the filter of resamples that follow; at first `Filter::linear`. Called by whoever folds: which filter a
  /// field takes is the field's to say, not the stage's.
  void filter_with(Filter next) noexcept { next_filter_ = next; }
  /// Whether `filter_with` chose nearest last: the image is one of labels.
  bool labels() const noexcept { return next_filter_ == Filter::nearest; }
  /// Left becomes right.
  void flip_horizontal();
  /// Top becomes bottom.
  void flip_vertical();
  /// Turns by `quarters` x 90 degrees counter-clockwise; any integer.
  void rot90(int quarters);
  /// Ends the part that stages can follow: element type f32, f16 or bf16 (or the image's own with scale 1 and bias 0),
  /// layout, and value * scale + bias per channel. Refused after another conversion.
  void convert(DType dtype, Layout layout, const std::array<float, 4>& scale, const std::array<float, 4>& bias);

  /// The image as it would now come out.
  ImageShape shape() const noexcept;
  /// Shape of the tensor that would now come out, in `layout`.
  Shape tensor_shape() const;
  /// Whether a call asked for what this value can't express.
  bool refused() const noexcept { return refused_; }

  // -- for executors --
  /// The image that it begins with.
  ImageShape source;
  /// The part of `source` that is used.
  Box box;
  /// Whether the pixels of `box` are mirrored before the resample, left to right and top to bottom.
  bool mirror_x = false, mirror_y = false;
  /// Size of `box` after the resample.
  Size resized;
  Filter filter = Filter::linear;  ///< filter of the resample, where there is one
  /// The part of the resampled image that is computed.
  Box kept;
  Padding margin;  ///< `fill` is what to fill with, for labels too
  /// What follows the margin: rows become columns, then left becomes right, then top becomes bottom.
  bool transpose = false, flip_x = false, flip_y = false;
  /// Whether `convert` was called.
  bool converted = false;
  /// Element type of the result, where `convert` was called.
  DType dtype = DType::u8;
  /// Layout of the result.
  Layout layout = Layout::hwc;
  /// Factors of the conversion, channel by channel: element = value * scale + bias.
  std::array<float, 4> scale{1, 1, 1, 1};
  /// Summands of the conversion, channel by channel: element = value * scale + bias.
  std::array<float, 4> bias{0, 0, 0, 0};

  /// What of the image, inside of `box`, the result is made of: an executor reads no other pixels.
  Box needed() const noexcept;
  /// True when pixels change size (so that `kept` counts in `resized`, and filtering is needed).
  bool resamples() const noexcept { return !(resized == box.size()); }
  /// Whether something stands around the image.
  bool pads() const noexcept { return margin.top != 0 || margin.left != 0 || margin.bottom != 0 || margin.right != 0; }
  /// True when the result is the pixels of `box`, as they are.
  bool plain() const noexcept { return !resamples() && !pads() && !transpose && !flip_x && !flip_y && !converted; }
  /// Type of the elements that come out.
  DType result_dtype() const noexcept { return converted ? dtype : source.element; }
  /// "box 300x280+12+40 -> 224x224, flip" for plan() and errors.
  std::string to_string() const;

 private:
  bool refuse(bool condition) noexcept;
  bool refused_ = false;
  Filter next_filter_ = Filter::linear;
};

}  // namespace penstock
