// SPDX-License-Identifier: Apache-2.0
// The canonical Huffman code of a JPEG's table: the symbol of each sequence of bits.
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
  int size = 0;                    // number of symbols

  // Returns nothing for a table that libjpeg refuses, with more codes of a length than can exist.
  static std::optional<HuffmanCode> of(const JHUFF_TBL& table);

  bool is_of(const JHUFF_TBL& table) const noexcept;
};

// The length of a code and its symbol, in 16 bits; 0 if there is no code.
using Symbol = std::uint16_t;
inline constexpr std::uint32_t length_of(std::uint32_t symbol) { return symbol >> 8; }
inline constexpr std::uint32_t value_of(std::uint32_t symbol) { return symbol & 255; }

// The symbols that a table may have. Codes of other symbols are treated as missing.
using Allowed = bool (*)(std::uint8_t symbol);

// A table by the next `width` bits, for codes of up to `width` bits. It has 2^width entries; those of longer codes are
// 0.
std::vector<Symbol> short_codes(const HuffmanCode& code, int width, Allowed allowed);

// The codes of more than `width` bits. A file has few of them, and their first bits are close together.
class LongCodes {
 public:
  LongCodes(const HuffmanCode& code, int width, Allowed allowed);

  // Returns the code that begins the next 16 bits, or 0 if none of these codes does.
  Symbol find(std::uint32_t bits) const noexcept { return bits < first_ ? Symbol{0} : symbols_[bits - first_]; }

 private:
  std::uint32_t first_;  // the smallest 16 bits that do not begin with a short code
  std::vector<Symbol> symbols_;
};

}  // namespace penstock::jpeg::baseline
