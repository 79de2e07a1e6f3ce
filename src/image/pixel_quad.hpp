// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "image/image_pixel.hpp"
#include "image/word_at.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

/// A thread of the image stages' kernel makes `quad_pixels` pixels side by side, and reads and writes whole words. The
/// host can run the same code. So a test without a GPU can compare the code's result with the result of `make_pixel`.
namespace penstock::detail {

constexpr std::int32_t quad_pixels = 4;

/// Four pixels of `channels` bytes each. The first byte is the lowest byte of the first word.
template <int channels>
struct QuadBytes {
  std::uint32_t words[static_cast<unsigned>(channels)] = {};

  PENSTOCK_HOST_DEVICE std::uint8_t byte(int number) const {
    return static_cast<std::uint8_t>(words[number / 4] >> (8 * (number % 4)));
  }
  /// Returns byte `number` as a float.
  PENSTOCK_HOST_DEVICE float value(int number) const {
#ifdef __CUDA_ARCH__
    // Makes the byte the lowest byte of the float 2^23, and subtracts 2^23. A conversion takes four times as long.
    constexpr float base = 0x1p23f;
    const std::uint32_t bits = __byte_perm(words[number / 4], 0x4b000000, 0x7540 + static_cast<unsigned>(number % 4));
    return __fsub_rn(__uint_as_float(bits), base);
#else
    return byte(number);
#endif
  }
};

/// Reads four consecutive pixels at any address. Reads whole aligned words, so it may also read a few bytes before and
/// after the pixels. That is safe, because fields of a batch begin and end with whole words.
template <int channels>
PENSTOCK_HOST_DEVICE inline QuadBytes<channels> load_quad(const std::uint8_t* from) {
  const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) % 4);
  from -= past;
  QuadBytes<channels> quad;
  std::uint32_t low = word_at(from);
  for (int i = 0; i < channels; ++i) {
    std::uint32_t high = 0;
    if (i + 1 < channels || past != 0) high = word_at(from + 4 * (i + 1));
    quad.words[i] = shifted_right(low, high, 8 * past);
    low = high;
  }
  return quad;
}

/// Drops the first pixel, moves the others forward, and puts `pixel` last. Bits of `pixel` above its channels are
/// ignored.
template <int channels>
PENSTOCK_HOST_DEVICE inline void push_pixel(QuadBytes<channels>& quad, std::uint32_t pixel) {
  if constexpr (channels == 4) {
    for (int i = 0; i < 3; ++i) quad.words[i] = quad.words[i + 1];
    quad.words[3] = pixel;
  } else {
    for (int i = 0; i + 1 < channels; ++i)
      quad.words[i] = shifted_right(quad.words[i], quad.words[i + 1], 8 * channels);
    quad.words[channels - 1] = quad.words[channels - 1] >> (8 * channels) | pixel << (32 - 8 * channels);
  }
}

/// Returns a word of chosen bytes. Hexadecimal digit i of `selector` chooses byte i of the result: 0 to 3 chooses a
/// byte of `bytes`, 4 to 7 a byte of `more`.
PENSTOCK_HOST_DEVICE inline std::uint32_t chosen_bytes(std::uint32_t bytes, std::uint32_t more,
                                                       std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(bytes, more, selector);
#else
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t number = selector >> (4 * i) & 7;
    out |= ((number < 4 ? bytes : more) >> (8 * (number % 4)) & 255) << (8 * i);
  }
  return out;
#endif
}

/// Returns the selector for `chosen_bytes` that moves bytes of word `from` to their mirrored places in word `to`. Other
/// bytes of word `to` stay.
PENSTOCK_HOST_DEVICE constexpr std::uint32_t selector_of_mirror(int channels, int to, int from) {
  std::uint32_t selector = 0;
  for (int i = 3; i >= 0; --i) {
    const int number = 4 * to + i;
    const int source = (quad_pixels - 1 - number / channels) * channels + number % channels;
    selector = selector << 4 | static_cast<std::uint32_t>(source / 4 == from ? 4 + source % 4 : i);
  }
  return selector;
}

/// Returns the pixels in reverse order.
template <int channels>
PENSTOCK_HOST_DEVICE inline QuadBytes<channels> mirrored(const QuadBytes<channels>& quad) {
  constexpr std::uint32_t none = 0x3210;
  QuadBytes<channels> out;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int to = 0; to < channels; ++to)
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int from = 0; from < channels; ++from)
      if (const std::uint32_t selector = selector_of_mirror(channels, to, from); selector != none)
        out.words[to] = chosen_bytes(out.words[to], quad.words[from], selector);
  return out;
}

/// Like `read_quad`, but reads pixel by pixel. This is for turned images, and for quads that reach into a margin or
/// beyond the end of a row.
template <int channels>
PENSTOCK_HOST_DEVICE inline QuadBytes<channels> gather_quad(const PixelWork& work, std::uint64_t image, std::int32_t y,
                                                            std::int32_t x) {
  const PixelOp& op = work.ops[image];
  const ImageBytes bytes(work, image);
  QuadBytes<channels> quad;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (std::int32_t i = 0; i < quad_pixels; ++i) {
    const std::int32_t last = work.width - 1;
    const PixelPlace place = place_of_pixel(work, op, y, x + i < last ? x + i : last);
    const std::uint8_t* const from = place.filled ? op.fill : bytes.at(place.y, place.x);
    std::uint32_t pixel = 0;
    for (int c = 0; c < channels; ++c) pixel |= static_cast<std::uint32_t>(from[c]) << (8 * c);
    push_pixel(quad, pixel);
  }
  return quad;
}

/// Reads pixels x to x + 3 of row y of the result, in the result's order. Pixels beyond the result's width equal the
/// last pixel of the row.
template <int channels>
PENSTOCK_HOST_DEVICE inline QuadBytes<channels> read_quad(const PixelWork& work, const PixelOp& op, std::uint64_t image,
                                                          std::int32_t y, std::int32_t x) {
  const bool mirror = (op.turns & PixelOp::flip_x) != 0, turned = (op.turns & PixelOp::transpose) != 0;
  const std::int32_t from_y = ((op.turns & PixelOp::flip_y) != 0 ? work.height - 1 - y : y) - op.above;
  const std::int32_t from_x = (mirror ? work.width - quad_pixels - x : x) - op.before;
  const std::int32_t box_height = work.height - op.above - op.below, box_width = work.width - op.before - op.after;
  if (turned || from_y < 0 || from_y >= box_height || from_x < 0 || from_x + quad_pixels > box_width)
    return gather_quad<channels>(work, image, y, x);
  const QuadBytes<channels> quad = load_quad<channels>(ImageBytes(work, image).at(op.top + from_y, op.left + from_x));
  return mirror ? mirrored(quad) : quad;
}

/// Converts values to numbers of the result, one or four at a time.
template <PixelWork::Result result>
struct QuadNumbers;

template <>
struct QuadNumbers<PixelWork::Result::u8> {
  using Element = std::uint8_t;
  using Vector = std::uint32_t;
  template <class Scaled>
  PENSTOCK_HOST_DEVICE static Element one(const Scaled& of, int number) {
    return of.byte(number);
  }
  template <class Scaled>
  PENSTOCK_HOST_DEVICE static Vector four(const Scaled& of) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(of.byte(i)) << (8 * i);
    return word;
  }
};

/// `QuadNumbers` for numbers of two bytes. `Pair::of(low, high)` must return a word with both numbers, `low` in the
/// lower half.
template <class Pair>
struct QuadOfPairs {
  using Element = std::uint16_t;
  struct alignas(8) Vector {
    std::uint32_t words[2];
  };
  template <class Scaled>
  PENSTOCK_HOST_DEVICE static Element one(const Scaled& of, int number) {
    return static_cast<Element>(Pair::of(of.value(number), 0));
  }
  template <class Scaled>
  PENSTOCK_HOST_DEVICE static Vector four(const Scaled& of) {
    return {{Pair::of(of.value(0), of.value(1)), Pair::of(of.value(2), of.value(3))}};
  }
};

struct PackHalf {
  PENSTOCK_HOST_DEVICE static std::uint32_t of(float low, float high) {
#ifdef __CUDA_ARCH__
    const __half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
#else
    return static_cast<std::uint32_t>(to_half(high)) << 16 | to_half(low);
#endif
  }
};
template <>
struct QuadNumbers<PixelWork::Result::f16> : QuadOfPairs<PackHalf> {};

struct PackBFloat16 {
  PENSTOCK_HOST_DEVICE static std::uint32_t of(float low, float high) {
#ifdef __CUDA_ARCH__
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&pair);
#else
    return static_cast<std::uint32_t>(to_bfloat16(high)) << 16 | to_bfloat16(low);
#endif
  }
};
template <>
struct QuadNumbers<PixelWork::Result::bf16> : QuadOfPairs<PackBFloat16> {};

template <>
struct QuadNumbers<PixelWork::Result::f32> {
  using Element = float;
  struct alignas(16) Vector {
    float values[4];
  };
  template <class Scaled>
  PENSTOCK_HOST_DEVICE static Element one(const Scaled& of, int number) {
    return of.value(number);
  }
  template <class Scaled>
  PENSTOCK_HOST_DEVICE static Vector four(const Scaled& of) {
    return {{of.value(0), of.value(1), of.value(2), of.value(3)}};
  }
};

/// Four consecutive numbers of the result, made from the four pixels of `quad`. In a planar result, they are channel
/// `group` of the pixels. Otherwise, they are number 4 * group and the next three of the pixels' 4 * `channels`
/// numbers.
template <bool planar, int channels>
struct ScaledGroup {
  const QuadBytes<channels>& quad;
  const PixelOp& op;
  int group;

  PENSTOCK_HOST_DEVICE int channel(int number) const { return planar ? group : (4 * group + number) % channels; }
  PENSTOCK_HOST_DEVICE std::uint8_t byte(int number) const {
    return quad.byte(planar ? number * channels + group : 4 * group + number);
  }
  PENSTOCK_HOST_DEVICE float value(int number) const {
    return scaled(quad.value(planar ? number * channels + group : 4 * group + number), op.scale[channel(number)],
                  op.bias[channel(number)]);
  }
};

/// Writes four pixels. `whole`: whether the width of the result is a multiple of four. If so, quads are aligned, and
/// one store writes four numbers. If not, pixels beyond the row's end are not written.
template <PixelWork::Result result, bool planar, int channels, bool whole>
PENSTOCK_HOST_DEVICE inline void write_quad(const PixelWork& work, const PixelOp& op, const QuadBytes<channels>& quad,
                                            std::uint64_t image, std::int32_t y, std::int32_t x) {
  using Numbers = QuadNumbers<result>;
  using Element = typename Numbers::Element;
  using Vector = typename Numbers::Vector;
  const auto height = static_cast<std::uint32_t>(work.height), width = static_cast<std::uint32_t>(work.width);
  const std::uint64_t plane = static_cast<std::uint64_t>(height) * width;
  const std::uint64_t step = planar ? plane : quad_pixels;  // distance between two groups of four numbers
  const std::uint64_t pixel =
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(y)) * width + static_cast<std::uint32_t>(x);
  Element* to = static_cast<Element*>(work.out) + image * (plane * channels) + pixel * (planar ? 1 : channels);
  [[maybe_unused]] const std::int32_t pixels = work.width - x;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int group = 0; group < channels; ++group, to += step) {
    const ScaledGroup<planar, channels> of{quad, op, group};
    if constexpr (whole) {
      const Vector numbers = Numbers::four(of);
#ifdef __CUDA_ARCH__
      *reinterpret_cast<Vector*>(to) = numbers;
#else
      std::memcpy(to, &numbers, sizeof numbers);
#endif
    } else {
      for (int i = 0; i < 4; ++i)
        if ((planar ? i : (4 * group + i) / channels) < pixels) to[i] = Numbers::one(of, i);
    }
  }
}

template <PixelWork::Result result, bool planar, int channels, bool whole>
PENSTOCK_HOST_DEVICE inline void make_quad(const PixelWork& work, std::uint64_t image, std::int32_t y, std::int32_t x) {
  const PixelOp op = work.ops[image];
  write_quad<result, planar, channels, whole>(work, op, read_quad<channels>(work, op, image, y, x), image, y, x);
}

}  // namespace penstock::detail
