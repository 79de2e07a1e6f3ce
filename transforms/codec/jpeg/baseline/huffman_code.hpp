// SPDX-License-Identifier: Apache-2.0
// The Huffman code that a table of a JPEG defines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include <jpeglib.h>

namespace penstock::jpeg::baseline {

struct HuffmanCode {
  std::uint8_t counts[17] = {};    // number of codes of each length; counts[0] is 0
  std::uint8_t symbols[256] = {};  // symbols in the order of their codes; shorter codes come first
  int size = 0;                    // number of symbols

  // Returns nothing if the table has more codes than can exist. libjpeg refuses such a table too.
  static std::optional<HuffmanCode> of(const JHUFF_TBL& table);

  bool is_of(const JHUFF_TBL& table) const noexcept;
};

// A code's length (upper 8 bits) and the symbol that it encodes (lower 8 bits); 0 if there is no code.
using Symbol = std::uint16_t;
inline constexpr std::uint32_t length_of(std::uint32_t symbol) { return symbol >> 8; }
inline constexpr std::uint32_t value_of(std::uint32_t symbol) { return symbol & 255; }

// Returns whether a table may have the symbol. Codes of other symbols are treated as missing.
using Allowed = bool (*)(std::uint8_t symbol);

// Returns a table of 2^width entries, one for each value of the next `width` bits. An entry is the symbol of the code
// with which these bits begin. It is 0 if that code is longer than `width`, or missing.
std::vector<Symbol> short_codes(const HuffmanCode& code, int width, Allowed allowed);

// The codes of more than `width` bits. If all codes are filled up to 16 bits and read as numbers, long codes come after
// all shorter codes. So the table begins with the first long code, and is small.
class LongCodes {
 public:
  LongCodes(const HuffmanCode& code, int width, Allowed allowed);

  // Returns the symbol of the long code with which the 16 bits begin, or 0 if they begin with no long code.
  Symbol find(std::uint32_t bits) const noexcept { return bits < first_ ? Symbol{0} : symbols_[bits - first_]; }

 private:
  std::uint32_t first_;  // the smallest 16 bits that do not begin with a short code
  std::vector<Symbol> symbols_;
};

}  // namespace penstock::jpeg::baseline
