// SPDX-License-Identifier: Apache-2.0
#include "huffman_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

namespace penstock::jpeg::baseline {

namespace {

// The largest number of bits that a value of an 8-bit picture has: T.81, F.1.2.1 and F.1.2.2.
constexpr int most_dc_bits = 11, most_ac_bits = 10;
constexpr int block_size = 64, zero_run = 15;

// The largest size of a difference, in bits, that libjpeg accepts in a table.
constexpr int most_bits_of_libjpeg = 15;

bool is_dc(std::uint8_t symbol) { return symbol <= most_dc_bits; }
bool is_ac(std::uint8_t symbol) { return (symbol & 15) <= most_ac_bits; }

// Fills the `wide` entries from `at` on with copies of the first `part` entries.
template <class Entry>
void repeat(Entry* at, std::size_t part, std::size_t wide) {
  for (std::size_t done = part; done < wide; done *= 2) std::memcpy(at + done, at, done * sizeof(Entry));
}

}  // namespace

std::unique_ptr<const DcTable> DcTable::of(const JHUFF_TBL& table) {
  const std::optional<HuffmanCode> code = HuffmanCode::of(table);
  if (!code) return nullptr;
  const auto refused = [](std::uint8_t symbol) { return symbol > most_bits_of_libjpeg; };
  if (std::any_of(code->symbols, code->symbols + code->size, refused)) return nullptr;
  return std::unique_ptr<const DcTable>(new DcTable(*code));
}

DcTable::DcTable(const HuffmanCode& code) : code_(code), long_(code, width, is_dc) {
  const std::vector<Symbol> symbols = short_codes(code, width, is_dc);
  for (std::size_t i = 0; i < symbols.size(); ++i) entries_[i] = symbols[i] == 0 ? 0 : entry_of(symbols[i]);
}

std::unique_ptr<const AcTable> AcTable::of(const JHUFF_TBL& table) {
  const std::optional<HuffmanCode> code = HuffmanCode::of(table);
  if (!code) return nullptr;
  return std::unique_ptr<const AcTable>(new AcTable(*code));
}

// What the symbols of an entry have taken so far: bits, coefficients and values.
struct AcTable::Taken {
  std::uint32_t bits = 0, advance = 0;
  int values = 0;
  std::uint32_t first_place = nowhere, last_place = nowhere;
  std::uint32_t last_size = 0, last_begin = 0;

  std::uint64_t entry() const {
    return std::uint64_t{bits} | std::uint64_t{advance} << 8 | std::uint64_t{first_place} << 16 |
           std::uint64_t{last_place} << 24 | std::uint64_t{(64 - last_size) & 63} << 52 |
           std::uint64_t{last_begin} << 58;
  }
};

AcTable::AcTable(const HuffmanCode& code)
    : code_(code), long_(code, skip_width, is_ac), single_(short_codes(code, skip_width, is_ac)) {
  fill_skip(skip_, skip_width, 0, 0);
  fill_full(full_, full_width, {});
}

// Fills the 2^left entries from `at` on, one for each value of the `left` bits after the symbols that were taken. Each
// code has a range of these entries, and the ranges are in the order of the codes. A code may be followed by the bits
// of a value. The part of its range for the first value is filled, and then copied for the other values.
void AcTable::fill_skip(std::uint16_t* at, int left, std::uint32_t taken, std::uint32_t advance) {
  const auto entry = [](std::uint32_t bits, std::uint32_t by) { return static_cast<std::uint16_t>(bits | by << 6); };
  std::uint16_t* const end = at + (std::size_t{1} << left);
  const std::uint16_t none = taken == 0 ? entry(0, too_long) : entry(taken, advance);
  const std::uint8_t* symbol = code_.symbols;
  for (int length = 1; length <= left; ++length) {
    for (int i = 0; i < code_.counts[length]; ++i, ++symbol) {
      const int run = *symbol >> 4, size = *symbol & 15, used = length + size;
      const std::size_t wide = std::size_t{1} << (left - length);
      const std::uint32_t next_taken = taken + static_cast<std::uint32_t>(used),
                          next_advance = advance + static_cast<std::uint32_t>(run) + 1;
      if (size == 0 && run != zero_run) {
        std::fill_n(at, wide, entry(next_taken, advance + block_end));
      } else if (next_advance >= block_size || size > most_ac_bits) {
        std::fill_n(at, wide, none);
      } else if (used >= left) {
        std::fill_n(at, wide, entry(next_taken, next_advance));
      } else {
        fill_skip(at, left - used, next_taken, next_advance);
        repeat(at, wide >> size, wide);
      }
      at += wide;
    }
  }
  std::fill(at, end, none);
}

// Fills entries like fill_skip(). If entries have two values, the first value differs between the copies, and is
// written into each copy.
void AcTable::fill_full(std::uint64_t* at, int left, const Taken& taken) {
  std::uint64_t* const end = at + (std::size_t{1} << left);
  Taken nothing = taken;
  if (taken.bits == 0) nothing.advance = too_long;
  const std::uint64_t none = nothing.entry();
  const std::uint8_t* symbol = code_.symbols;
  for (int length = 1; length <= left; ++length) {
    for (int i = 0; i < code_.counts[length]; ++i, ++symbol) {
      const int run = *symbol >> 4, size = *symbol & 15, used = length + size;
      const std::size_t wide = std::size_t{1} << (left - length);
      Taken next = taken;
      next.bits += static_cast<std::uint32_t>(used);
      if (size == 0 && run != zero_run) {
        next.advance += block_end;
        std::fill_n(at, wide, next.entry());
        at += wide;
        continue;
      }
      next.advance += static_cast<std::uint32_t>(run) + 1;
      if (next.advance >= block_size || size > most_ac_bits || (size != 0 && taken.values == 2)) {
        std::fill_n(at, wide, none);
        at += wide;
        continue;
      }
      if (size != 0) {
        ++next.values;
        next.first_place = taken.values == 1 ? taken.last_place : nowhere;
        next.last_place = next.advance - 1;
        next.last_size = static_cast<std::uint32_t>(size);
        next.last_begin = taken.bits + static_cast<std::uint32_t>(length);
      }
      if (used >= left) {
        std::fill_n(at, wide, next.entry());
      } else {
        const std::size_t part = wide >> size;
        fill_full(at, left - used, next);
        if (size == 0 || next.values != 1) {
          repeat(at, part, wide);
        } else {
          const int values = 1 << size;
          for (int bits = values - 1; bits >= 0; --bits) {
            const int value = bits < values / 2 ? bits - values + 1 : bits;
            const std::uint64_t first = std::uint64_t{static_cast<std::uint16_t>(value)} << 32;
            for (std::size_t k = 0; k < part; ++k) {
              const bool has_two = (at[k] >> 16 & 255) != nowhere;
              at[static_cast<std::size_t>(bits) * part + k] = at[k] | (has_two ? first : 0);
            }
          }
        }
      }
      at += wide;
    }
  }
  std::fill(at, end, none);
}

}  // namespace penstock::jpeg::baseline
