// SPDX-License-Identifier: Apache-2.0
#include "huffman_code.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

namespace penstock::jpeg::baseline {

namespace {

// Calls `each(length, code, symbol)` with every code of the lengths from `shortest` to `longest`.
template <class Each>
void for_each_code(const HuffmanCode& huffman, int shortest, int longest, Each&& each) {
  std::uint32_t code = 0;
  const std::uint8_t* symbol = huffman.symbols;
  for (int length = 1; length <= longest; ++length) {
    for (int i = 0; i < huffman.counts[length]; ++i, ++code, ++symbol)
      if (length >= shortest) each(length, code, *symbol);
    code <<= 1;
  }
}

Symbol symbol_of(int length, std::uint8_t value, Allowed allowed) {
  return allowed(value) ? static_cast<Symbol>(length << 8 | value) : Symbol{0};
}

}  // namespace

std::optional<HuffmanCode> HuffmanCode::of(const JHUFF_TBL& table) {
  HuffmanCode huffman;
  std::copy_n(table.bits + 1, 16, huffman.counts + 1);
  std::uint32_t code = 0;
  for (int length = 1; length <= 16; ++length) {
    code += huffman.counts[length];
    huffman.size += huffman.counts[length];
    // No code may have only ones.
    if (huffman.counts[length] != 0 && code >= std::uint32_t{1} << length) return std::nullopt;
    code <<= 1;
  }
  if (huffman.size > 256) return std::nullopt;
  std::copy_n(table.huffval, huffman.size, huffman.symbols);
  return huffman;
}

bool HuffmanCode::is_of(const JHUFF_TBL& table) const noexcept {
  return std::memcmp(counts + 1, table.bits + 1, 16) == 0 &&
         std::memcmp(symbols, table.huffval, static_cast<std::size_t>(size)) == 0;
}

std::vector<Symbol> short_codes(const HuffmanCode& code, int width, Allowed allowed) {
  std::vector<Symbol> entries(std::size_t{1} << width, 0);
  for_each_code(code, 1, width, [&](int length, std::uint32_t bits, std::uint8_t value) {
    const std::size_t wide = std::size_t{1} << (width - length);
    std::fill_n(entries.begin() + static_cast<std::ptrdiff_t>(bits * wide), wide, symbol_of(length, value, allowed));
  });
  return entries;
}

LongCodes::LongCodes(const HuffmanCode& code, int width, Allowed allowed) {
  std::uint32_t next = 0;
  for (int length = 1; length <= width; ++length) next = (next + code.counts[length]) << 1;
  first_ = (next >> 1) << (16 - width);
  symbols_.assign((std::size_t{1} << 16) - first_, 0);
  for_each_code(code, width + 1, 16, [&](int length, std::uint32_t bits, std::uint8_t value) {
    const std::size_t wide = std::size_t{1} << (16 - length);
    std::fill_n(symbols_.begin() + static_cast<std::ptrdiff_t>(bits * wide - first_), wide,
                symbol_of(length, value, allowed));
  });
}

}  // namespace penstock::jpeg::baseline
