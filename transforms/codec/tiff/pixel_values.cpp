// SPDX-License-Identifier: Apache-2.0
#include "pixel_values.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <penstock/error.hpp>

namespace penstock::tiff {

namespace {

template <class To>
To gray_of(std::uint32_t r, std::uint32_t g, std::uint32_t b) {
  return static_cast<To>((19595 * r + 38470 * g + 7471 * b + 32768) >> 16);
}

template <class From, class To>
To value_of(From value) {
  if constexpr (sizeof(From) == sizeof(To)) {
    return value;
  } else if constexpr (sizeof(From) < sizeof(To)) {
    return static_cast<To>(value * 257);
  } else {
    return static_cast<To>(value >> 8);
  }
}

// Undoes the multiplication of a colour by its opacity, as Pillow does: rounded down.
template <class From>
From divided(From color, From opacity) {
  constexpr From most = std::numeric_limits<From>::max();
  if (opacity == 0) return color;
  return static_cast<From>(std::min<std::uint32_t>(most, std::uint32_t{most} * color / opacity));
}

// `Samples` stored values become `Channels` values.
template <class From, class To, int Samples, int Channels>
void convert(const Layout& layout, const From* from, std::int32_t width, To* to) {
  constexpr int colors = Samples >= 3 ? 3 : 1;
  constexpr From most = std::numeric_limits<From>::max();
  const From inverting = layout.meaning == Meaning::inverted_gray ? most : 0;
  const bool transparent = layout.opacity != Opacity::none, multiplied = layout.opacity == Opacity::multiplied;
  for (std::int32_t x = 0; x < width; ++x, from += Samples, to += Channels) {
    const From opacity = transparent ? from[Samples - 1] : most;
    To values[colors];
    for (int c = 0; c < colors; ++c) {
      const From stored = static_cast<From>(from[c] ^ inverting);
      values[c] = value_of<From, To>(multiplied ? divided(stored, opacity) : stored);
    }
    if constexpr (Channels <= 2) {
      if constexpr (colors == 3) {
        to[0] = gray_of<To>(values[0], values[1], values[2]);
      } else {
        to[0] = values[0];
      }
    } else {
      for (int c = 0; c < 3; ++c) to[c] = values[colors == 3 ? c : 0];
    }
    if constexpr (Channels % 2 == 0) to[Channels - 1] = value_of<From, To>(opacity);
  }
}

template <class From, class To, int Samples>
void convert_to(const Layout& layout, const From* from, std::int32_t width, To* to) {
  switch (layout.shape().channels) {
    case 1:
      return convert<From, To, Samples, 1>(layout, from, width, to);
    case 2:
      return convert<From, To, Samples, 2>(layout, from, width, to);
    case 3:
      return convert<From, To, Samples, 3>(layout, from, width, to);
    default:
      return convert<From, To, Samples, 4>(layout, from, width, to);
  }
}

template <class From, class To>
void convert_samples(const Layout& layout, const From* from, std::int32_t width, To* to) {
  if (layout.is_labels()) {
    for (std::int32_t x = 0; x < width; ++x) to[x] = static_cast<To>(from[x]);
    return;
  }
  switch (layout.samples) {
    case 1:
      return convert_to<From, To, 1>(layout, from, width, to);
    case 2:
      return convert_to<From, To, 2>(layout, from, width, to);
    case 3:
      return convert_to<From, To, 3>(layout, from, width, to);
    default:
      return convert_to<From, To, 4>(layout, from, width, to);
  }
}

template <class T>
void look_up(const std::array<std::array<T, 4>, 256>& colors, const std::uint8_t* indices, std::int32_t width,
             int channels, T* to) {
  for (std::int32_t x = 0; x < width; ++x, to += channels)
    std::memcpy(to, colors[indices[x]].data(), static_cast<std::size_t>(channels) * sizeof(T));
}

// Values of fewer than 8 bits, the highest bits first, become bytes. Grey is scaled to 0..255.
void unpack(const Layout& layout, const std::uint8_t* row, std::int32_t left, std::int32_t width, std::uint8_t* to) {
  const int bits = layout.bits, most = (1 << bits) - 1;
  const int factor = layout.is_labels() || layout.meaning == Meaning::palette ? 1 : 255 / most;
  for (std::int32_t x = 0; x < width; ++x) {
    const std::int64_t bit = std::int64_t{left + x} * bits;
    to[x] = static_cast<std::uint8_t>((row[bit / 8] >> (8 - bits - static_cast<int>(bit % 8)) & most) * factor);
  }
}

}  // namespace

void read_palette(const File& file, const Layout& layout, Palette& palette) {
  if (layout.meaning != Meaning::palette || layout.is_labels()) return;
  const std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (TIFFGetField(file.get(), TIFFTAG_COLORMAP, &red, &green, &blue) != 1 || red == nullptr || green == nullptr ||
      blue == nullptr)
    throw Error(Errc::corrupt, "the TIFF has values of a palette, but no palette");
  const std::size_t size = std::size_t{1} << layout.bits;
  // Some programs write colours of 8 bits. libtiff tells them like this.
  const auto small = [&](const std::uint16_t* values) {
    return std::all_of(values, values + size, [](std::uint16_t value) { return value < 256; });
  };
  const bool bytes = small(red) && small(green) && small(blue), gray = layout.options.color == TiffOptions::gray;
  for (std::size_t i = 0; i < 256; ++i) {
    std::uint16_t color[3] = {};
    if (i < size) color[0] = red[i], color[1] = green[i], color[2] = blue[i];
    auto& words = palette.words[i];
    auto& small_values = palette.bytes[i];
    for (std::size_t c = 0; c < 3; ++c) {
      words[c] = static_cast<std::uint16_t>(bytes ? color[c] * 257 : color[c]);
      small_values[c] = static_cast<std::uint8_t>(bytes ? color[c] : color[c] >> 8);
    }
    words[3] = 0xffff, small_values[3] = 0xff;
    if (!gray) continue;
    words[0] = gray_of<std::uint16_t>(words[0], words[1], words[2]);
    small_values[0] = gray_of<std::uint8_t>(small_values[0], small_values[1], small_values[2]);
  }
}

void take_pixels(const Layout& layout, const Palette& palette, const std::uint8_t* row, std::int32_t left,
                 std::int32_t width, std::uint8_t* unpacked, std::uint8_t* out) {
  // The casts are safe for u16: rows are in scratch, whose memory is aligned, or in the caller's u16 image.
  auto* const words = reinterpret_cast<std::uint16_t*>(out);
  const bool wide = layout.options.dtype == DType::u16;
  const std::uint8_t* from = row + static_cast<std::ptrdiff_t>(left) * layout.samples * (layout.bits / 8);
  if (layout.bits < 8) {
    unpack(layout, row, left, width, unpacked);
    from = unpacked;
  }
  if (layout.meaning == Meaning::palette && !layout.is_labels()) {
    const int channels = layout.shape().channels;
    if (wide) {
      look_up(palette.words, from, width, channels, words);
    } else {
      look_up(palette.bytes, from, width, channels, out);
    }
  } else if (layout.bits == 16) {
    const auto* const values = reinterpret_cast<const std::uint16_t*>(from);
    if (wide) {
      convert_samples(layout, values, width, words);
    } else {
      convert_samples(layout, values, width, out);
    }
  } else if (wide) {
    convert_samples(layout, from, width, words);
  } else {
    convert_samples(layout, from, width, out);
  }
}

}  // namespace penstock::tiff
