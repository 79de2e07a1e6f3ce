// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::lmdb {

/// The next few values that a reader will read, in order. They were found together, in one transaction. One thread at a
/// time.
class ValuesAhead {
 public:
  static constexpr std::size_t most = 16;

  void forget() noexcept { next_ = count_ = 0; }
  /// Adds a value. At most `most` values may be added between two calls of `forget`.
  void add(std::uint64_t index, const MDB_val& value) noexcept { values_[count_++] = {index, value}; }
  /// Takes the next value if it is record `index`'s, and prefetches the value after it. Returns false if there is no
  /// next value, or it is another record's.
  bool take(std::uint64_t index, MDB_val& value) noexcept {
    if (next_ == count_ || values_[next_].index != index) return false;
    value = values_[next_++].value;
    fetch_next();
    return true;
  }
  /// Prefetches the beginning of the next value. The processor does not prefetch it by itself, and may first have to
  /// look up the address of its page.
  void fetch_next() const noexcept {
    constexpr std::size_t line = 64, lines = 4;
    if (next_ == count_) return;
    const MDB_val& value = values_[next_].value;
    for (std::size_t at = 0; at < std::min(value.mv_size, line * lines); at += line)
      __builtin_prefetch(static_cast<const char*>(value.mv_data) + at);
  }

 private:
  struct Value {
    std::uint64_t index;
    MDB_val value;
  };
  std::array<Value, most> values_;  // only the elements from next_ to count_ are valid
  std::size_t next_ = 0, count_ = 0;
};

}  // namespace penstock::lmdb
