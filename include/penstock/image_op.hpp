#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <penstock/dtype.hpp>
#include <penstock/export.hpp>
#include <penstock/shape.hpp>

namespace penstock {

/// Height and width in pixels.
struct Size {
  std::int32_t height = 0, width = 0;
  friend bool operator==(Size, Size) = default;
};

/// A rectangle of whole pixels; (0, 0) is the top left corner.
struct Box {
  std::int32_t top = 0, left = 0, height = 0, width = 0;
  Size size() const noexcept { return {height, width}; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Size and channels of an interleaved 8-bit image.
struct ImageShape {
  std::int32_t height = 0, width = 0, channels = 0;
  Size size() const noexcept { return {height, width}; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

/// Order of a finished image's dimensions: [H, W, C] or [C, H, W]. In a batch these become NHWC and NCHW.
enum class Layout : std::uint8_t { hwc, chw };

/// How an image is resampled.
enum class Filter : std::uint8_t {
  linear,   ///< an antialiased triangle filter that rounds to 8 bits
  nearest,  ///< for labels: output pixel i is input pixel floor((i + 0.5) * in / out), so no value is invented
};

/// Rows of an interleaved 8-bit image that lie somewhere else. Owns nothing.
struct Pixels {
  const std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from a row to the next
  ImageShape shape;
};

/// What happens to one image, as one value: neighbouring image stages fold into it, and it is executed once.
///
/// The members called in order describe the stages in order. Each acts on the image as the members before it left it.
/// A call that this value can't express sets `refused()` and changes nothing: whoever folds executes what there is and
/// starts again from its result. So folded and unfolded always give the same bits.
///
/// Normal form, read by executors: the pixels of `box`, mirrored as `mirror_*` say, are resampled to `resized` with
/// `filter` (nothing happens when that is their size), of which `window` is computed; that is transposed if
/// `transpose`, then flipped as `flip_*` say, then converted: element = value * scale[c] + bias[c] in binary32 without
/// contraction, rounded to nearest for f16; for u8 the value itself. `mirror_*` is only set where a resample follows;
/// without one, `box` and `window` agree in size.
///
/// A plain value; one thread at a time.
class PENSTOCK_API ImageOp {
 public:
  ImageOp() = default;
  /// The identity on an image of that shape. 1 to 4 channels.
  explicit ImageOp(ImageShape source);

  /// Keeps `box`, which must lie inside the current image. @throws Error(invalid_argument) otherwise.
  void crop(const Box& box);
  /// Resamples with the filter that `filter_with` chose last. Refused after another resample, a transpose, or a
  /// conversion.
  void resize(Size size);
  /// Chooses the filter of resamples that follow; at first `Filter::linear`. Called by whoever folds: which filter a
  /// field takes is the field's to say, not the stage's.
  void filter_with(Filter next) noexcept { next_filter_ = next; }
  void flip_horizontal();
  void flip_vertical();
  /// Turns by `quarters` x 90 degrees counter-clockwise; any integer.
  void rot90(int quarters);
  /// Ends the 8-bit part: element type f32 or f16 (or u8 with scale 1 and bias 0), layout, and value * scale + bias per
  /// channel. Refused after another conversion.
  void convert(DType dtype, Layout layout, const std::array<float, 4>& scale, const std::array<float, 4>& bias);

  /// The image as it would now come out.
  ImageShape shape() const noexcept;
  /// The same as a tensor's shape, in `layout`.
  Shape tensor_shape() const;
  bool refused() const noexcept { return refused_; }

  // -- for executors --
  ImageShape source;
  Box box;
  bool mirror_x = false, mirror_y = false;
  Size resized;
  Filter filter = Filter::linear;  ///< of the resample, where there is one
  Box window;
  bool transpose = false, flip_x = false, flip_y = false;
  bool converted = false;
  DType dtype = DType::u8;
  Layout layout = Layout::hwc;
  std::array<float, 4> scale{1, 1, 1, 1}, bias{0, 0, 0, 0};

  /// True when pixels change size (so that `window` counts in `resized`, and filtering is needed).
  bool resamples() const noexcept { return !(resized == box.size()); }
  /// True when the result is the pixels of `box`, as they are.
  bool plain() const noexcept { return !resamples() && !transpose && !flip_x && !flip_y && !converted; }
  /// "box 300x280+12+40 -> 224x224, flip" for plan() and errors.
  std::string to_string() const;

 private:
  bool refuse(bool condition) noexcept;
  bool refused_ = false;
  Filter next_filter_ = Filter::linear;
};

}  // namespace penstock
