// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/environment.hpp"

namespace penstock::lmdb {

/// Memory for one computed key.
using KeyBuffer = std::array<char, 24>;

/// The keys of a store in order, by the records' numbers. Immutable.
class KeyIndex {
 public:
  /// Indexes all keys except the manifest's, as `txn` sees them.
  /// @throws Error(corrupt) if the store has more or fewer records than its tree specifies, or the file is too small
  /// for that number.
  static KeyIndex of(MDB_txn* txn, const Environment& environment);
  /// Uses the numbers below `count` as keys, in 8 bytes, big-endian. The store need not have all these keys.
  static KeyIndex of_numbers(std::uint64_t count) noexcept {
    KeyIndex made;
    made.kind_ = Kind::big_endian;
    made.width_ = sizeof(std::uint64_t);
    made.size_ = count;
    return made;
  }

  std::uint64_t size() const noexcept { return size_; }
  /// Returns a record's key. It is valid until `buffer` is changed or the KeyIndex is destroyed. REQUIRES: `index` is
  /// below `size()`.
  std::string_view key(std::uint64_t index, KeyBuffer& buffer) const noexcept {
    if (kind_ == Kind::table) return listed(index);
    return compute(first_ + index, buffer);
  }
  /// Returns a hash of the keys. Returns 0 after `of_numbers`.
  std::uint64_t hash() const noexcept { return hash_; }
  /// Returns how many passes over all keys were made, 0 or 1.
  unsigned passes() const noexcept { return passes_; }

 private:
  enum class Kind : std::uint8_t { decimal, big_endian, table };

  std::string_view listed(std::uint64_t index) const noexcept {
    const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(ends_[index] - begin)};
  }
  std::string_view compute(std::uint64_t number, KeyBuffer& buffer) const noexcept {
    char* const end = buffer.data() + width_;
    if (kind_ == Kind::decimal) {
      for (char* at = end; at != buffer.data(); number /= 10) *--at = static_cast<char>('0' + number % 10);
    } else {
      for (char* at = end; at != buffer.data(); number >>= 8) *--at = static_cast<char>(number & 0xff);
    }
    return {buffer.data(), width_};
  }
  bool try_consecutive(std::string_view first, std::string_view last, MDB_txn* txn, MDB_dbi table);
  void list_all(MDB_cursor* cursor, const std::string& file, std::uint64_t file_bytes);

  Kind kind_ = Kind::table;
  std::size_t width_ = 0;
  std::uint64_t first_ = 0, size_ = 0, hash_ = 0;
  unsigned passes_ = 0;
  std::vector<std::uint64_t> ends_;
  std::string bytes_;
};

}  // namespace penstock::lmdb
