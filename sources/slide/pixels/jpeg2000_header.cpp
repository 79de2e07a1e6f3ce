// SPDX-License-Identifier: Apache-2.0
#include "pixels/jpeg2000_header.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <penstock/error.hpp>

#include "file/byte_order.hpp"
#include "pixels/jpeg2000_tile.hpp"

namespace penstock::slide {

namespace {

enum Marker : std::uint64_t {
  soc = 0xFF4F,
  cap = 0xFF50,
  siz = 0xFF51,
  cod = 0xFF52,
  coc = 0xFF53,
  tlm = 0xFF55,
  plm = 0xFF57,
  plt = 0xFF58,
  qcd = 0xFF5C,
  qcc = 0xFF5D,
  crg = 0xFF63,
  com = 0xFF64,
  sot = 0xFF90,
  sod = 0xFF93,
  eoc = 0xFFD9,
};

[[noreturn]] void damaged(const char* what) { throw Error(Errc::corrupt, std::string("its JPEG 2000 ") + what); }

// Reads a number of `bytes` bytes at `at`. @throws Error(corrupt) if `from` ends too early.
std::uint64_t number(std::span<const std::byte> from, std::size_t at, std::size_t bytes) {
  if (at > from.size() || bytes > from.size() - at) damaged("ends in the middle of its header");
  return number_of(from.subspan(at, bytes), true);
}

// Returns the codestream. In a JP2 file, it is the content of the box jp2c.
std::span<const std::byte> find_codestream(std::span<const std::byte> encoded) {
  constexpr std::uint64_t signature = 0x6A502020, codestream = 0x6A703263;  // "jP  ", "jp2c"
  if (encoded.size() < 12 || number(encoded, 4, 4) != signature) return encoded;
  std::size_t at = 0;
  while (encoded.size() - at >= 8) {
    std::uint64_t bytes = number(encoded, at, 4);
    std::size_t head = 8;
    if (bytes == 1) {
      bytes = number(encoded, at + 8, 8);
      head = 16;
    }
    if (bytes == 0) bytes = encoded.size() - at;  // the box extends to the end
    if (bytes < head || bytes > encoded.size() - at) damaged("is in a JP2 file whose boxes are damaged");
    if (number(encoded, at + 4, 4) == codestream)
      return encoded.subspan(at + head, static_cast<std::size_t>(bytes) - head);
    at += static_cast<std::size_t>(bytes);
  }
  damaged("is in a JP2 file without a codestream");
}

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

// A codestream, and the sizes that its main header gives, in pixels.
struct CodestreamHeader {
  std::span<const std::byte> bytes;
  std::uint64_t width = 0, height = 0, tile_width = 0, tile_height = 0;  // tiles inside the codestream
  std::uint64_t tiles() const { return divided_up(width, tile_width) * divided_up(height, tile_height); }
};

[[noreturn]] void too_much(const char* what) { throw Error(Errc::unsupported, std::string("its JPEG 2000 ") + what); }

// Checks a coding style, which decides how much memory and time OpenJPEG takes. `at`: the position of the number of
// decompositions. The sizes of blocks come after that number. If `style` has the bit `own_sizes`, the sizes of
// precincts come last.
void check_coding(const CodestreamHeader& stream, std::uint64_t layers, std::uint64_t style, std::size_t at) {
  constexpr std::uint64_t own_sizes = 1, components = 3, most_decompositions = 32;
  const std::uint64_t decompositions = number(stream.bytes, at, 1);
  if (decompositions > most_decompositions) damaged("says that it has more than 32 decompositions");
  const bool sizes = (style & own_sizes) != 0;
  const std::uint64_t block_across = (number(stream.bytes, at + 1, 1) & 15) + 2;
  const std::uint64_t block_down = (number(stream.bytes, at + 2, 1) & 15) + 2;
  const std::uint64_t width = std::min(stream.width, stream.tile_width);
  const std::uint64_t height = std::min(stream.height, stream.tile_height);
  std::uint64_t precincts = 0, most_precincts = 0, blocks = 0;  // counts for one tile and one component
  for (std::uint64_t i = 0; i <= decompositions; ++i) {
    const std::uint64_t size = sizes ? number(stream.bytes, at + 5 + static_cast<std::size_t>(i), 1) : 0xFF;
    const std::uint64_t across = size & 15, down = size >> 4, shrunk = decompositions - i;
    const std::uint64_t wide = divided_up(width, std::uint64_t{1} << shrunk);
    const std::uint64_t high = divided_up(height, std::uint64_t{1} << shrunk);
    const std::uint64_t some =
        divided_up(wide, std::uint64_t{1} << across) * divided_up(high, std::uint64_t{1} << down);
    precincts += some;
    most_precincts = std::max(most_precincts, some);
    // A block is at most as large as the part of a precinct in one band. Except at the lowest resolution, the
    // sides of this part are half as long as the precinct's.
    const std::uint64_t in_band = i == 0 ? 0 : 1;
    const std::uint64_t block_wide = std::min(block_across, across > in_band ? across - in_band : 0);
    const std::uint64_t block_high = std::min(block_down, down > in_band ? down - in_band : 0);
    blocks +=
        some + divided_up(wide, std::uint64_t{1} << block_wide) * divided_up(high, std::uint64_t{1} << block_high);
  }
  const std::uint64_t pixels = stream.width * stream.height;
  if (layers * precincts * stream.tiles() > stream.bytes.size()) damaged("says that it has more packets than bytes");
  // OpenJPEG allocates two bytes per possible packet. It assumes the largest number of precincts for every resolution.
  constexpr std::uint64_t some_packets = 65536, some_blocks = 4096, pixels_of_a_block = 256;
  if ((layers + 1) * most_precincts * (decompositions + 1) * components > 4 * pixels + some_packets)
    too_much("is cut into very small precincts");
  if (blocks * components * stream.tiles() > components * pixels / pixels_of_a_block + some_blocks)
    too_much("is coded in very small blocks");
}

// Checks all markers of the main header and of the headers of tile parts. Refuses markers that are not expected in a
// slide. The general coding may be set once. After it, the coding of single components may be set. Both may be set only
// in the main header.
void check_markers(const CodestreamHeader& stream) {
  const std::span<const std::byte> bytes = stream.bytes;
  constexpr std::size_t segment_of_part = 12;
  std::uint64_t layers = 0;
  bool coded = false, in_main = true;
  std::size_t at = 2, part_end = 0;
  while (at + 2 <= bytes.size()) {
    const std::uint64_t marker = number(bytes, at, 2);
    if (marker == eoc) break;
    if (marker == sod) {
      if (in_main) damaged("has data before its tiles");
      if (at + 2 > part_end) damaged("is cut off");  // `at` must move forward
      at = part_end;
      continue;
    }
    const auto length = static_cast<std::size_t>(number(bytes, at + 2, 2));
    if (length < 2 || length > bytes.size() - at - 2) damaged("ends in the middle of its header");
    switch (marker) {
      case siz:
        if (at != 2) damaged("says its size twice");
        break;
      case cod:
        if (coded || !in_main) too_much("changes its coding on the way");
        layers = number(bytes, at + 6, 2);
        check_coding(stream, layers, number(bytes, at + 4, 1), at + 9);
        coded = true;
        break;
      case coc:  // coding of one component instead of the general coding
        if (!coded || !in_main) too_much("changes its coding on the way");
        check_coding(stream, layers, number(bytes, at + 5, 1), at + 6);
        break;
      case sot: {
        const auto part = static_cast<std::size_t>(number(bytes, at + 6, 4));
        if (!coded) damaged("doesn't say how it is coded");
        if (part != 0 && (part < segment_of_part + 2 || part > bytes.size() - at)) damaged("is cut off");
        part_end = part == 0 ? bytes.size() : at + part;
        in_main = false;
        break;
      }
      case qcd:
      case qcc:
      case tlm:
      case plm:
      case plt:
      case crg:
      case com:
      case cap:
        break;
      default:
        too_much("has a kind of segment that is not expected in a slide");
    }
    at += 2 + length;
    if (!in_main && at > part_end) damaged("is cut off");
  }
  if (in_main) damaged("has no tile");
}

}  // namespace

Jpeg2000Header read_jpeg2000_header(std::span<const std::byte> encoded, const Jpeg2000Facts& facts) {
  Jpeg2000Header header{.codestream = find_codestream(encoded)};
  const std::span<const std::byte> stream = header.codestream;
  if (number(stream, 0, 2) != soc || number(stream, 2, 2) != siz) damaged("does not begin as a codestream does");
  const auto at_32 = [&](std::size_t at) { return number(stream, at, 4); };
  const std::uint64_t width = at_32(8), height = at_32(12);
  if (at_32(16) != 0 || at_32(20) != 0 || at_32(32) != 0 || at_32(36) != 0)
    throw Error(Errc::unsupported, "its JPEG 2000 does not begin at 0, 0");
  if (width != static_cast<std::uint64_t>(facts.width) || height != static_cast<std::uint64_t>(facts.height))
    throw Error(Errc::corrupt, "its JPEG 2000 has " + std::to_string(width) + "x" + std::to_string(height) +
                                   " pixels, not " + std::to_string(facts.width) + "x" + std::to_string(facts.height));
  const CodestreamHeader sizes{stream, width, height, at_32(24), at_32(28)};
  if (sizes.tile_width == 0 || sizes.tile_height == 0) damaged("says that its tiles have no pixels");
  // OpenJPEG allocates kilobytes per tile.
  constexpr std::uint64_t most_tiles = 256;
  if (sizes.tiles() > most_tiles)
    throw Error(Errc::unsupported, "its JPEG 2000 is made of more than 256 tiles of its own");
  const std::uint64_t components = number(stream, 40, 2);
  if (components != 3)
    throw Error(Errc::unsupported, "its JPEG 2000 has " + std::to_string(components) + " components; 3 are read");
  for (std::size_t c = 0; c < 3; ++c) {
    const std::uint64_t depth = number(stream, 42 + 3 * c, 1);
    if (depth != 7)
      throw Error(Errc::unsupported, "its JPEG 2000 has values of another kind than 8 bits without a sign");
    const std::uint64_t across = number(stream, 43 + 3 * c, 1), down = number(stream, 44 + 3 * c, 1);
    const bool shared = c != 0 && !facts.rgb;
    if (across < 1 || down < 1 || across > (shared ? 2 : 1) || down > (shared ? 2 : 1) ||
        (c == 2 && (across != header.across[1] || down != header.down[1])))
      throw Error(Errc::unsupported, "its JPEG 2000 has " + std::to_string(across) + "x" + std::to_string(down) +
                                         " pixels a sample of component " + std::to_string(c));
    header.across[c] = static_cast<std::uint8_t>(across);
    header.down[c] = static_cast<std::uint8_t>(down);
  }
  check_markers(sizes);
  return header;
}

}  // namespace penstock::slide
