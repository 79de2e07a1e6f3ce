// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <penstock/extend/cache.hpp>
#include <penstock/sources/lmdb_cache.hpp>

#include "cache/cache_writer.hpp"
#include "store/advice.hpp"
#include "store/environment.hpp"
#include "store/files.hpp"
#include "store/key_index.hpp"
#include "store/record.hpp"
#include "store/use_lock.hpp"
#include "store/value_addresses.hpp"

namespace penstock::lmdb {

/// An open cache on disk. It knows which records the cache has. If this process writes to the cache, this object also
/// has the thread that writes. Any thread. A child made by fork() may use only what is in memory, and not the store's
/// file.
class CacheStore final : public penstock::RecordCache, public std::enable_shared_from_this<CacheStore> {
 public:
  /// Only `open_cache` calls this, because a process must not open a store twice. @throws Error(state_mismatch |
  /// invalid_argument | corrupt | unsupported | out_of_memory | io).
  CacheStore(const std::string& path, const LmdbCacheOptions& options, const penstock::CacheKey& key);

  bool has(std::uint64_t index) const noexcept override { return index < records_ && bit(present_, index); }
  std::unique_ptr<penstock::CacheReader> open_reader() override;
  void offer(std::uint64_t index, Sample& sample) noexcept override;
  bool wants_advice() const noexcept override { return true; }
  void will_need(std::span<const std::uint64_t> indices) noexcept override { advice_->will_need(indices); }
  std::vector<std::string> notes() const override;

  const penstock::CacheKey& key() const noexcept { return key_; }
  /// Returns false in a child made by fork().
  bool usable() const noexcept { return environment_->usable(); }

  // -- for readers --
  const std::shared_ptr<Environment>& environment() const noexcept { return environment_; }
  const RecordLayout& layout() const noexcept { return layout_; }
  std::uint64_t records() const noexcept { return records_; }
  bool verifies() const noexcept { return options_.verify_checksum; }
  /// Returns the number of commits of this process. A transaction that began before the last commit may not see all
  /// records.
  std::uint64_t commits() const noexcept { return commits_.load(std::memory_order_acquire); }
  /// Returns whether another process may have written records of which this process does not know.
  bool others_write() const noexcept { return writer_ == nullptr; }
  void learn(std::uint64_t index) noexcept;
  /// Notes that a record is damaged. If this process writes to the cache, a later `offer` of the record replaces it.
  void note_damage(std::uint64_t index) noexcept;
  /// Returns the addresses of values in a snapshot. Returns null for a new snapshot shortly after a commit, because the
  /// next commit may soon replace that snapshot.
  std::shared_ptr<ValueAddresses> addresses(std::size_t snapshot);

 private:
  using Bits = std::vector<std::atomic<std::uint64_t>>;
  static bool bit(const Bits& bits, std::uint64_t index) noexcept {
    return (bits[index / 64].load(std::memory_order_acquire) >> (index % 64) & 1) != 0;
  }
  static bool set(Bits& bits, std::uint64_t index) noexcept {
    return (bits[index / 64].fetch_or(std::uint64_t{1} << (index % 64), std::memory_order_acq_rel) >> (index % 64) &
            1) == 0;
  }
  static void clear(Bits& bits, std::uint64_t index) noexcept {
    bits[index / 64].fetch_and(~(std::uint64_t{1} << (index % 64)), std::memory_order_acq_rel);
  }
  void open_environment();
  bool begin_writing();
  void remove_mark() const;
  void wait_for_the_writer();
  void find_records();
  void committed(std::span<const WaitingRecord> records);
  void complete_if_full();

  const StoreFiles files_;
  const UseLock use_;
  const LmdbCacheOptions options_;
  const penstock::CacheKey key_;
  const std::uint64_t records_;
  const RecordLayout layout_;
  const KeyIndex keys_;
  std::shared_ptr<Environment> environment_;
  std::uint64_t max_bytes_ = 0;
  bool complete_ = false;  // whether the manifest says that the cache is complete; set by the thread that opens the
                           // cache, later by the writing thread
  Bits present_, offered_, damaged_;
  std::atomic<std::uint64_t> kept_{0}, declined_{0}, damages_{0}, mended_{0}, commits_{0};
  std::atomic<std::int64_t> last_commit_ns_{0};
  std::unique_ptr<ValueAddresses> addresses_of_advice_;
  std::unique_ptr<ValueAdviser> advice_;
  std::mutex addresses_mutex_;
  std::shared_ptr<ValueAddresses> addresses_;
  std::size_t addresses_snapshot_ = ~std::size_t{0};
  std::unique_ptr<CacheWriter> writer_;  // must be the last member: its thread uses the others
};

}  // namespace penstock::lmdb
