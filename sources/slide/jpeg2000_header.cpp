#include "jpeg2000_header.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <penstock/error.hpp>

#include "byte_order.hpp"
#include "jpeg2000_tile.hpp"

namespace penstock::slide {

namespace {

enum Marker : std::uint64_t {
  soc = 0xFF4F,
  siz = 0xFF51,
  cod = 0xFF52,
  coc = 0xFF53,
  sot = 0xFF90,
  sod = 0xFF93,
  eoc = 0xFFD9,
};

[[noreturn]] void damaged(const char* what) { throw Error(Errc::corrupt, std::string("its JPEG 2000 ") + what); }

// A number of `bytes` bytes at `at`. @throws Error(corrupt) past the end.
std::uint64_t number(std::span<const std::byte> from, std::size_t at, std::size_t bytes) {
  if (at > from.size() || bytes > from.size() - at) damaged("ends in the middle of its header");
  return number_of(from.subspan(at, bytes), true);
}

// In a JP2 file the codestream is the box jp2c.
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
    if (bytes == 0) bytes = encoded.size() - at;  // to the end
    if (bytes < head || bytes > encoded.size() - at) damaged("is in a JP2 file whose boxes are damaged");
    if (number(encoded, at + 4, 4) == codestream)
      return encoded.subspan(at + head, static_cast<std::size_t>(bytes) - head);
    at += static_cast<std::size_t>(bytes);
  }
  damaged("is in a JP2 file without a codestream");
}

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

// Packets that a coding style asks for, of one tile of the stream and one component, at most. `at`: its byte with the
// number of decompositions; `sizes` says whether the sizes of precincts follow.
std::uint64_t packets_of(std::span<const std::byte> stream, std::size_t at, bool sizes, const Jpeg2000Facts& facts) {
  const std::uint64_t decompositions = number(stream, at, 1);
  if (decompositions > 32) damaged("says that it has more than 32 decompositions");
  std::uint64_t packets = 0;
  for (std::uint64_t i = 0; i <= decompositions; ++i) {
    const std::uint64_t size = sizes ? number(stream, at + 5 + static_cast<std::size_t>(i), 1) : 0xFF;
    const std::uint64_t shrunk = decompositions - i;
    const std::uint64_t wide = divided_up(static_cast<std::uint64_t>(facts.width), std::uint64_t{1} << shrunk);
    const std::uint64_t high = divided_up(static_cast<std::uint64_t>(facts.height), std::uint64_t{1} << shrunk);
    packets += divided_up(wide, std::uint64_t{1} << (size & 15)) * divided_up(high, std::uint64_t{1} << (size >> 4));
  }
  return packets;
}

// Each packet takes a byte at least, so a file that says more lies; OpenJPEG would look for all of them.
class PacketCount {
 public:
  PacketCount(std::span<const std::byte> stream, const Jpeg2000Facts& facts) : stream_(stream), facts_(facts) {}

  void add_segment(std::uint64_t marker, std::size_t at) {
    constexpr std::uint64_t own_sizes = 1;
    if (marker == cod) {
      layers_ = std::max(layers_, number(stream_, at + 6, 2));
      packets_ = std::max(packets_, packets_of(stream_, at + 9, (number(stream_, at + 4, 1) & own_sizes) != 0, facts_));
    } else if (marker == coc) {
      // Of a component that may have a sample for four pixels.
      const bool sizes = (number(stream_, at + 5, 1) & own_sizes) != 0;
      packets_ = std::max(packets_, packets_of(stream_, at + 6, sizes, facts_) / 4);
    }
  }
  void check() const {
    if (layers_ * packets_ > stream_.size()) damaged("says that it has more packets than bytes");
  }

 private:
  std::span<const std::byte> stream_;
  const Jpeg2000Facts& facts_;
  std::uint64_t layers_ = 1, packets_ = 0;
};

// All markers but those inside of data: of the main header and of each part of a tile.
void check_packets(std::span<const std::byte> stream, const Jpeg2000Facts& facts) {
  PacketCount packets(stream, facts);
  std::size_t at = 2, part_end = 0;
  while (at + 4 <= stream.size()) {
    const std::uint64_t marker = number(stream, at, 2);
    if (marker == eoc) break;
    if (marker == sod) {
      if (part_end <= at || part_end > stream.size()) break;  // the part reaches to the end
      at = part_end;
      continue;
    }
    const std::uint64_t length = number(stream, at + 2, 2);
    if (length < 2) damaged("has a segment of no length");
    if (marker == sot) {
      const std::uint64_t part = number(stream, at + 6, 4);
      part_end = part == 0 ? 0 : at + static_cast<std::size_t>(part);
    }
    packets.add_segment(marker, at);
    at += 2 + static_cast<std::size_t>(length);
  }
  packets.check();
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
  const std::uint64_t tile_width = at_32(24), tile_height = at_32(28);
  if (tile_width == 0 || tile_height == 0) damaged("says that its tiles have no pixels");
  // OpenJPEG takes kilobytes for each.
  constexpr std::uint64_t most_tiles = 256;
  if (divided_up(width, tile_width) * divided_up(height, tile_height) > most_tiles)
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
  check_packets(stream, facts);
  return header;
}

}  // namespace penstock::slide
