// SPDX-License-Identifier: Apache-2.0
#include "row_values.hpp"

#include <array>
#include <cstring>

namespace penstock::png {

namespace {

// The values of fewer than 8 bits that each byte holds, the highest bits first.
template <int Depth, bool Scaled>
constexpr auto make_unpacked() {
  constexpr int count = 8 / Depth, most = (1 << Depth) - 1;
  std::array<std::array<std::uint8_t, count>, 256> table{};
  for (int byte = 0; byte < 256; ++byte)
    for (int i = 0; i < count; ++i) {
      const int value = byte >> (8 - Depth - i * Depth) & most;
      table[static_cast<std::size_t>(byte)][static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(Scaled ? value * (255 / most) : value);
    }
  return table;
}
template <int Depth, bool Scaled>
constexpr auto unpacked = make_unpacked<Depth, Scaled>();

template <int Depth, bool Scaled>
void unpack_bits(const std::uint8_t* stored, std::int32_t width, std::uint8_t* to) {
  constexpr std::int32_t count = 8 / Depth;
  const auto& table = unpacked<Depth, Scaled>;
  std::int32_t x = 0;
  for (; x + count <= width; x += count) std::memcpy(to + x, table[*stored++].data(), count);
  if (x < width) std::memcpy(to + x, table[*stored].data(), static_cast<std::size_t>(width - x));
}

template <bool Scaled>
void unpack_bits(int depth, const std::uint8_t* stored, std::int32_t width, std::uint8_t* to) {
  if (depth == 1) return unpack_bits<1, Scaled>(stored, width, to);
  if (depth == 2) return unpack_bits<2, Scaled>(stored, width, to);
  unpack_bits<4, Scaled>(stored, width, to);
}

std::uint16_t big_endian(const std::uint8_t* at) { return static_cast<std::uint16_t>(at[0] << 8 | at[1]); }

// Reads stored values of 8 bits, or of 16 with the high byte first.
struct Bytes {
  using Value = std::uint8_t;
  static constexpr std::size_t bytes = 1;
  static Value read(const std::uint8_t* at) { return *at; }
};
struct Words {
  using Value = std::uint16_t;
  static constexpr std::size_t bytes = 2;
  static Value read(const std::uint8_t* at) { return big_endian(at); }
};

// Writes values of 8 bits, values of 16, or the high bytes of these.
template <class T>
struct Whole {
  using Stored = T;
  static T from(T value) { return value; }
};
struct HighByte {
  using Stored = std::uint8_t;
  static std::uint8_t from(std::uint16_t value) { return static_cast<std::uint8_t>(value >> 8); }
};

// Makes pixels of `To` channels from pixels of `From`: grey becomes three channels, opacity is left out or added.
template <class In, class Out, int From, int To>
void arrange(const TransparentColor& transparent, const std::uint8_t* stored, std::int32_t width,
             typename Out::Stored* to) {
  using Value = typename In::Value;
  constexpr int colors = To >= 3 ? 3 : 1, stored_colors = From >= 3 ? 3 : 1;
  constexpr Value opaque = static_cast<Value>(-1);
  for (std::int32_t x = 0; x < width; ++x, stored += From * In::bytes, to += To) {
    Value values[From];
    for (int c = 0; c < From; ++c) values[c] = In::read(stored + static_cast<std::size_t>(c) * In::bytes);
    for (int c = 0; c < colors; ++c) to[c] = Out::from(values[stored_colors == 3 ? c : 0]);
    if constexpr (To == 2 || To == 4) {
      Value alpha = opaque;
      if constexpr (From == 2 || From == 4) {
        alpha = values[From - 1];
      } else if (transparent.set) {
        bool same = true;
        for (int c = 0; c < From; ++c) same = same && values[c] == transparent.values[c];
        if (same) alpha = 0;
      }
      to[To - 1] = Out::from(alpha);
    }
  }
}

template <class In, class Out, int From>
void arrange_to(int channels, const TransparentColor& transparent, const std::uint8_t* stored, std::int32_t width,
                typename Out::Stored* to) {
  switch (channels) {
    case 1:
      return arrange<In, Out, From, 1>(transparent, stored, width, to);
    case 2:
      return arrange<In, Out, From, 2>(transparent, stored, width, to);
    case 3:
      return arrange<In, Out, From, 3>(transparent, stored, width, to);
    default:
      return arrange<In, Out, From, 4>(transparent, stored, width, to);
  }
}

template <class In, class Out>
void arrange_pixels(int stored_channels, int channels, const TransparentColor& transparent, const std::uint8_t* stored,
                    std::int32_t width, typename Out::Stored* to) {
  switch (stored_channels) {
    case 1:
      return arrange_to<In, Out, 1>(channels, transparent, stored, width, to);
    case 2:
      return arrange_to<In, Out, 2>(channels, transparent, stored, width, to);
    case 3:
      return arrange_to<In, Out, 3>(channels, transparent, stored, width, to);
    default:
      return arrange_to<In, Out, 4>(channels, transparent, stored, width, to);
  }
}

}  // namespace

bool read_transparent_color(std::span<const std::byte> encoded, const Layout& layout, TransparentColor& color) {
  const Header& header = layout.header();
  color = {};
  if (!layout.keeps_alpha() || !header.transparency || header.color == palette) return true;
  color.set = true;
  const auto* const data = reinterpret_cast<const std::uint8_t*>(encoded.data() + header.transparency_at);
  const int most = (1 << header.depth) - 1;
  for (int c = 0; c < header.channels(); ++c) {
    const int value = big_endian(data + 2 * c);
    if (value > most) return false;
    color.values[c] = static_cast<std::uint16_t>(header.depth < 8 ? value * (255 / most) : value);
  }
  return true;
}

void make_row(const Layout& layout, const TransparentColor& transparent, const std::uint8_t* stored, std::int32_t width,
              std::uint8_t* row) {
  const Header& header = layout.header();
  const int channels = layout.row_channels(), stored_channels = header.channels();
  if (header.depth == 16) {
    if (layout.value_bytes() == 1)
      return arrange_pixels<Words, HighByte>(stored_channels, channels, transparent, stored, width, row);
    // Rows of 16 bits are in scratch, whose memory is aligned.
    return arrange_pixels<Words, Whole<std::uint16_t>>(stored_channels, channels, transparent, stored, width,
                                                       reinterpret_cast<std::uint16_t*>(row));
  }
  if (header.depth == 8)
    return arrange_pixels<Bytes, Whole<std::uint8_t>>(stored_channels, channels, transparent, stored, width, row);
  if (header.color == palette || layout.is_labels()) return unpack_bits<false>(header.depth, stored, width, row);
  if (channels == 1) return unpack_bits<true>(header.depth, stored, width, row);
  // Grey becomes several channels: the values are unpacked at the row's end, where they are read before they are
  // overwritten.
  std::uint8_t* const values = row + static_cast<std::size_t>(width) * static_cast<std::size_t>(channels - 1);
  unpack_bits<true>(header.depth, stored, width, values);
  arrange_to<Bytes, Whole<std::uint8_t>, 1>(channels, transparent, values, width, row);
}

}  // namespace penstock::png
