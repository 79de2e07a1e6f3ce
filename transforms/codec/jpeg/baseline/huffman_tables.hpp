// SPDX-License-Identifier: Apache-2.0
// Tables that decode the next bits of a scan, several symbols per lookup.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "huffman_code.hpp"

namespace penstock::jpeg::baseline {

// A table for the first coefficient of a block, which is coded as a difference.
class DcTable {
 public:
  static constexpr int width = 9;

  // Returns null for a table that libjpeg refuses. Symbols that pictures of 8 bits don't have are treated as missing.
  static std::unique_ptr<const DcTable> of(const JHUFF_TBL& table);

  // Returns the entry for the next `width` bits. Bits 0 to 7 of the entry count the bits of code and value together.
  // Bits 8 to 15 count the value's bits, and bits 16 to 23 the code's. The entry is 0 if the code is longer than
  // `width`, or missing.
  std::uint32_t entry(std::uint32_t bits) const noexcept { return entries_[bits]; }
  // Returns the entry of the code longer than `width` with which the 16 bits begin, or 0 if they begin with no such
  // code.
  std::uint32_t long_entry(std::uint32_t bits) const noexcept {
    const Symbol found = long_.find(bits);
    return found == 0 ? 0 : entry_of(found);
  }
  const HuffmanCode& code() const noexcept { return code_; }

 private:
  explicit DcTable(const HuffmanCode& code);
  static std::uint32_t entry_of(Symbol symbol) noexcept {
    const std::uint32_t length = length_of(symbol), size = value_of(symbol);
    return (length + size) | size << 8 | length << 16;
  }

  HuffmanCode code_;
  LongCodes long_;
  std::uint32_t entries_[1 << width];
};

// A table for the other coefficients of a block. A symbol is the length of a run of zeros and the size of the value
// after the run. The value's bits follow the symbol's code.
//
// An entry is for the next bits of the data. It has symbols whose codes are in these bits; the value of the last symbol
// may end after these bits. It has the number of coefficients by which the symbols advance in the block, plus
// `block_end` if the last symbol ends the block. An entry without a symbol takes no bits and advances by `too_long`.
// Both constants are larger than a block, so one comparison finds both cases.
class AcTable {
 public:
  static constexpr int full_width = 10, skip_width = 11;
  static constexpr std::uint32_t block_end = 128, too_long = 255;
  static constexpr std::uint32_t nowhere = 64;  // the place of a value that belongs to no coefficient

  // Returns null for a table that libjpeg refuses. Symbols that pictures of 8 bits don't have are treated as missing.
  static std::unique_ptr<const AcTable> of(const JHUFF_TBL& table);

  // Returns the entry for the next `full_width` bits. It has up to two values that are not 0. It may have more than two
  // symbols, because the symbols for 16 zeros and for the end of the block have no value. Its bits are:
  //
  //     0-7    bits that all symbols take
  //     8-15   coefficients that the symbols advance by
  //     16-23  place of the first value, counted from the present coefficient; `nowhere` for fewer than two values
  //     24-31  place of the last value, counted likewise; `nowhere` if there is no value
  //     32-47  the first value
  //     52-57  64 less the size of the last value, modulo 64
  //     58-63  number of bits before the last value
  //
  // The entry has the first value itself, because all bits of that value are among the entry's bits. The last value is
  // read from the data.
  std::uint64_t full_entry(std::uint32_t bits) const noexcept { return full_[bits]; }
  // Returns the entry for the next `skip_width` bits, for skipping. It may have any number of symbols. Its bits 0 to 5
  // are the number of bits that all symbols take. Its bits 6 to 15 are the number of coefficients that the symbols
  // advance by.
  std::uint16_t skip_entry(std::uint32_t bits) const noexcept { return skip_[bits]; }
  // Returns the symbol of the code with which the 64 bits begin, or 0 if they begin with no code.
  Symbol symbol(std::uint64_t bits) const noexcept {
    const Symbol found = single_[bits >> (64 - skip_width)];
    return found != 0 ? found : long_.find(static_cast<std::uint32_t>(bits >> 48));
  }
  const HuffmanCode& code() const noexcept { return code_; }

 private:
  struct Taken;
  explicit AcTable(const HuffmanCode& code);
  void fill_skip(std::uint16_t* at, int left, std::uint32_t taken, std::uint32_t advance);
  void fill_full(std::uint64_t* at, int left, const Taken& taken);

  HuffmanCode code_;
  LongCodes long_;
  std::vector<Symbol> single_;
  std::uint64_t full_[1 << full_width];
  std::uint16_t skip_[1 << skip_width];
};

}  // namespace penstock::jpeg::baseline
