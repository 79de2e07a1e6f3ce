// The canonical Huffman code of a JPEG's table: which symbol each sequence of bits stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include <jpeglib.h>

namespace penstock::jpeg::baseline {

struct HuffmanCode {
  std::uint8_t counts[17] = {};    // codes of each length; counts[0] is 0
  std::uint8_t symbols[256] = {};  // symbols in the order of their codes: shorter ones first
  int size = 0;                    // how many symbols there are

  // None for a table that libjpeg refuses: more codes of a length than there can be.
  static std::optional<HuffmanCode> of(const JHUFF_TBL& table);

  bool is_of(const JHUFF_TBL& table) const noexcept;
};

// The length of a code and its symbol, in 16 bits; 0 where there is none.
using Symbol = std::uint16_t;
inline constexpr std::uint32_t length_of(std::uint32_t symbol) { return symbol >> 8; }
inline constexpr std::uint32_t value_of(std::uint32_t symbol) { return symbol & 255; }

// Which symbols a table may have; the codes of others are like none.
using Allowed = bool (*)(std::uint8_t symbol);

// The first `width` bits of all codes of up to `width` bits: 2^width entries, 0 for those of longer codes.
std::vector<Symbol> short_codes(const HuffmanCode& code, int width, Allowed allowed);

// The codes of more than `width` bits. Few of them are in a file, and what they begin with lies close together.
class LongCodes {
 public:
  LongCodes(const HuffmanCode& code, int width, Allowed allowed);

  // The code that begins the next 16 bits; 0: none of these.
  Symbol find(std::uint32_t bits) const noexcept { return bits < first_ ? Symbol{0} : symbols_[bits - first_]; }

 private:
  std::uint32_t first_;  // the smallest 16 bits that begin with none of the short codes
  std::vector<Symbol> symbols_;
};

}  // namespace penstock::jpeg::baseline
