// SPDX-License-Identifier: Apache-2.0
// Decodes one block of 8 x 8 coefficients from bits.
#pragma once

#include <cstdint>

#include "bit_reader.hpp"
#include "huffman_tables.hpp"

namespace penstock::jpeg::baseline {

// All coefficients must be 0 before a block is decoded into this. The code that uses the coefficients sets them to 0
// again.
struct alignas(64) Block {
  std::int16_t coefficients[64];  // coefficients in natural order: row by row
  std::int16_t spare[8];          // values that belong to no coefficient are written here
  std::uint32_t known;            // all coefficients after the first `known`, in zigzag order, are 0
};

// Maps zigzag order to natural order; places beyond the block map to `spare`.
struct NaturalOrder {
  std::uint8_t at[192];

  constexpr NaturalOrder() : at() {
    int x = 0, y = 0;
    bool up = true;
    for (int i = 0; i < 64; ++i) {
      at[i] = static_cast<std::uint8_t>(y * 8 + x);
      if (up ? x == 7 : y != 7 && x == 0) {
        ++y;
        up = !up;
      } else if (up ? y == 0 : y == 7) {
        ++x;
        up = !up;
      } else {
        x += up ? 1 : -1;
        y += up ? -1 : 1;
      }
    }
    for (int i = 64; i < 192; ++i) at[i] = 64;
  }
};
inline constexpr NaturalOrder natural_order;

#define PENSTOCK_INLINE inline __attribute__((always_inline))
#define PENSTOCK_RARE(condition) __builtin_expect(static_cast<bool>(condition), 0)

// Returns the next difference. Sets `damaged` if the next bits begin with no code.
PENSTOCK_INLINE std::int32_t dc_difference(BitReader& reader, const DcTable& table, bool& damaged) {
  std::uint32_t entry = table.entry(reader.peek<DcTable::width>());
  if (PENSTOCK_RARE(entry == 0)) {
    entry = table.long_entry(reader.peek<16>());
    damaged |= entry == 0;
  }
  const std::int32_t difference = signed_value(reader.bits() << (entry >> 16), entry >> 8 & 255);
  reader.take(entry);
  return difference;
}

// Returns whether the block ends at `at`: after its last coefficient, or by the symbol for its end.
PENSTOCK_INLINE bool ends_block(std::uint32_t at) { return at == 64 || at - (AcTable::block_end + 1) < 63; }

// Decodes one symbol for coefficient `at`. Returns the place of the next coefficient, plus `block_end` if the symbol
// ends the block. Writes the value into `block` unless `block` is null. A value with a place beyond the block is
// written to the block's last place, like in libjpeg. Sets `damaged`, and ends the block, if the next bits begin with
// no code.
PENSTOCK_INLINE std::uint32_t single_symbol(BitReader& reader, const AcTable& table, std::uint32_t at,
                                            std::int16_t* block, bool& damaged) {
  reader.refill();
  const Symbol symbol = table.symbol(reader.bits());
  if (symbol == 0) {
    damaged = true;
    return at + AcTable::block_end;
  }
  const std::uint32_t length = length_of(symbol), run = value_of(symbol) >> 4, size = value_of(symbol) & 15;
  if (size == 0) {
    reader.take(length);
    return run == 15 ? at + 16 : at + AcTable::block_end;
  }
  const std::int32_t value = signed_value(reader.bits() << length, size);
  reader.take(length + size);
  const std::uint32_t place = at + run;
  if (block != nullptr) block[place > 63 ? 63 : natural_order.at[place]] = static_cast<std::int16_t>(value);
  return place + 1;
}

// Decodes the next block. `dc` has the first coefficient of the component's previous block. It is set to the first
// coefficient of this block.
PENSTOCK_INLINE void decode_block(BitReader& reader, const DcTable& dc_table, const AcTable& ac_table, std::int32_t& dc,
                                  Block& block, bool& damaged) {
  std::int16_t* const to = block.coefficients;
  reader.refill();
  dc += dc_difference(reader, dc_table, damaged);
  to[0] = static_cast<std::int16_t>(dc);
  std::uint64_t at = 1, entry;
  const auto step = [&]() __attribute__((always_inline)) {
    entry = ac_table.full_entry(reader.peek<AcTable::full_width>());
    to[natural_order.at[at + static_cast<std::uint8_t>(entry >> 16)]] = static_cast<std::int16_t>(entry >> 32);
    // Computes the same as signed_value(). If the entry has no value, the result is written to `spare`.
    const std::uint64_t bits = reader.bits() << (entry >> 58);
    const auto negative = static_cast<std::uint64_t>(~static_cast<std::int64_t>(bits) >> 63);
    const std::uint64_t value = (((bits ^ negative) >> (entry >> 52 & 63)) ^ negative) - negative;
    to[natural_order.at[at + static_cast<std::uint8_t>(entry >> 24)]] = static_cast<std::int16_t>(value);
    at += static_cast<std::uint8_t>(entry >> 8);
    reader.take(entry);
  };
  for (;;) {
    // A step takes at most 20 bits. So a refill is enough for the difference and one step, or for two steps.
    step();
    if (at < 64) {
      reader.refill();
      step();
      if (at < 64) continue;
    }
    if (PENSTOCK_RARE(!ends_block(static_cast<std::uint32_t>(at)))) {
      // The entry has no symbol, or its symbols do not fit into the block. Its bits are put back, and then
      // a single symbol is taken.
      reader.put_back(static_cast<std::uint8_t>(entry));
      at = single_symbol(reader, ac_table, static_cast<std::uint32_t>(at) - static_cast<std::uint8_t>(entry >> 8), to,
                         damaged);
      if (at < 64) {
        reader.refill();
        continue;
      }
      if (at < AcTable::block_end) at = 64;
    }
    block.known = static_cast<std::uint32_t>(at == 64 ? 64 : at - AcTable::block_end);
    return;
  }
}

// Skips the next block, but sets `dc` like decode_block().
PENSTOCK_INLINE void skip_block(BitReader& reader, const DcTable& dc_table, const AcTable& ac_table, std::int32_t& dc,
                                bool& damaged) {
  reader.refill();
  dc += dc_difference(reader, dc_table, damaged);
  std::uint32_t at = 1, entry;
  const auto step = [&]() __attribute__((always_inline)) {
    entry = ac_table.skip_entry(reader.peek<AcTable::skip_width>());
    at += entry >> 6;
    reader.take(entry);
  };
  for (;;) {
    step();
    if (at < 64) {
      reader.refill();
      step();
      if (at < 64) continue;
    }
    if (PENSTOCK_RARE(!ends_block(at))) {
      reader.put_back(entry & 63);
      at = single_symbol(reader, ac_table, at - (entry >> 6), nullptr, damaged);
      if (at < 64) {
        reader.refill();
        continue;
      }
    }
    return;
  }
}

}  // namespace penstock::jpeg::baseline
