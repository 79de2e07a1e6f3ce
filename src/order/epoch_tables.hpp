// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace penstock::detail {

/// The key of a table: the seed of an order, an epoch, and the number of a stretch of the epoch. `stretch` is 0 if
/// tables are for whole epochs.
struct EpochKey {
  std::uint64_t seed = 0, epoch = 0, stretch = 0;
  friend bool operator==(const EpochKey&, const EpochKey&) = default;
};

/// Tables that an order builds, each for one epoch or for a stretch of an epoch. Keeps the tables that were used last.
/// Several tables are needed, because two are in use when one epoch ends and the next begins. Also, a resume goes back
/// to an earlier epoch. A table depends only on its key. So dropping a table costs time, but never changes a result.
/// `Table::bytes()` returns the size of a table. Any thread may call `get`. If another thread is building the table,
/// the call waits. Calls for other tables don't wait.
template <class Table>
class EpochTables {
 public:
  static constexpr std::size_t max_entries = 64;       ///< a small number, because entries are searched one by one
  static constexpr std::size_t max_bytes = 64u << 20;  ///< the most bytes that all tables have together
  /// This number of tables, those that were used last, are kept even if they exceed `max_bytes`.
  static constexpr std::size_t always_kept = 2;

  template <class Build>
  std::shared_ptr<const Table> get(const EpochKey& key, Build build) {
    const std::shared_ptr<Entry> entry = find(key);
    const std::lock_guard building(entry->mutex);
    if (entry->table == nullptr) {
      auto table = std::make_shared<const Table>(build());
      const std::lock_guard lock(mutex_);
      entry->bytes = table->bytes();
      entry->table = std::move(table);
      trim();
    }
    return entry->table;
  }

 private:
  struct Entry {
    EpochKey key;
    std::mutex mutex;  ///< held while the table is built
    std::shared_ptr<const Table> table;
    std::size_t bytes = 0;
  };

  std::shared_ptr<Entry> find(const EpochKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(entries_, [&](const auto& entry) { return entry->key == key; });
    if (found != entries_.end()) {
      std::rotate(entries_.begin(), found, found + 1);
    } else {
      auto entry = std::make_shared<Entry>();
      entry->key = key;
      entries_.insert(entries_.begin(), std::move(entry));
      trim();
    }
    return entries_.front();
  }

  // Drops the entries that were used longest ago. `entries_` is sorted by last use, the latest first.
  void trim() {
    std::size_t kept = 0, bytes = 0;
    while (kept < entries_.size() && kept < max_entries) {
      bytes += entries_[kept]->bytes;
      if (bytes > max_bytes && kept >= always_kept) break;
      ++kept;
    }
    entries_.resize(kept);
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace penstock::detail
