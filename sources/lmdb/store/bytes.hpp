// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace penstock::lmdb {

/// Returns the text as an MDB_val. Pass the result only where LMDB does not write to it, because MDB_val has no const.
inline MDB_val value_of(std::string_view text) noexcept { return {text.size(), const_cast<char*>(text.data())}; }
inline std::string_view text_of(const MDB_val& value) noexcept {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}
inline std::span<const std::byte> bytes_of(const MDB_val& value) noexcept {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}
/// Reads a number in the machine's byte order. REQUIRES: the number is within `bytes`.
template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  T number{};
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace penstock::lmdb
