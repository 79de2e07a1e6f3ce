// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_writer.hpp"

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include <penstock/error.hpp>

#include "cache/cache_key.hpp"
#include "common/block_signals.hpp"
#include "store/bytes.hpp"
#include "store/errors.hpp"

namespace penstock::lmdb {

namespace {

// A transaction begins when this many bytes wait, or this long after the thread found the first waiting record. A
// commit waits for the disk, so it should have much to write. But the more records wait, the more are lost if the
// process is killed.
constexpr std::size_t max_waiting_bytes = 8u << 20;
constexpr std::chrono::milliseconds enough_time{200};
// Limits of one transaction. They also limit how many records are lost if a transaction fails. A record that is larger
// than `transaction_bytes` gets a transaction of its own.
constexpr std::size_t transaction_bytes = 32u << 20;
constexpr std::size_t transaction_records = 4096;

std::size_t bytes_of(std::span<const WaitingRecord> records) noexcept {
  std::size_t bytes = 0;
  for (const WaitingRecord& record : records) bytes += record.bytes;
  return bytes;
}

}  // namespace

CacheWriter::CacheWriter(std::shared_ptr<Environment> environment, Limits limits, Tell committed, Tell lost)
    : environment_(std::move(environment)),
      limits_(limits),
      // With a small queue, a transaction begins when the queue is half full, so that few records are refused while
      // the thread waits.
      enough_bytes_(std::min(max_waiting_bytes, limits.max_queue_bytes / 2)),
      committed_(std::move(committed)),
      lost_(std::move(lost)) {}

CacheWriter::~CacheWriter() {
  if (!environment_->usable()) {
    static_cast<void>(thread_.release());  // the thread is the parent's
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_ != nullptr) thread_->join();
}

bool CacheWriter::reserve(std::size_t bytes) noexcept {
  if (ended_.load(std::memory_order_relaxed) || !environment_->usable()) return false;
  const std::size_t before = queued_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  // A record that is larger than the whole queue may wait if no other record does.
  if (before == 0 || before + bytes <= limits_.max_queue_bytes) return true;
  give_up(bytes);
  return false;
}

void CacheWriter::put(WaitingRecord record) {
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = record.bytes;
  queue_.push_back(std::move(record));
  if (thread_ == nullptr) {
    try {
      thread_ = std::make_unique<std::thread>([this] { run(); });
    } catch (const std::exception& error) {
      queue_.pop_back();
      // Gives up, because trying again with every record would take more time than the cache saves.
      why_ = std::string("the thread that writes it could not be started: ") + error.what();
      ended_.store(true, std::memory_order_relaxed);
      throw;
    }
  }
  waiting_bytes_ += bytes;
  if (queue_.size() == 1 || waiting_bytes_ >= enough_bytes_) changed_.notify_all();
}

std::string CacheWriter::ended() const {
  const std::lock_guard lock(mutex_);
  return why_.empty() && ended_.load(std::memory_order_relaxed) ? "writing to it failed" : why_;
}

// Stops writing permanently. `why` returns the reason as a text, and may fail for lack of memory.
template <class Say>
void CacheWriter::stop_writing(Say&& why) noexcept {
  const std::lock_guard lock(mutex_);
  ended_.store(true, std::memory_order_relaxed);
  try {
    if (why_.empty()) why_ = why();
  } catch (...) {
  }
}

void CacheWriter::run() noexcept {
  common::block_signals();
  for (;;) {
    std::vector<WaitingRecord> records;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      changed_.wait_for(lock, enough_time, [&] { return stop_ || waiting_bytes_ >= enough_bytes_; });
      if (queue_.empty()) return;
      records.swap(queue_);
      waiting_bytes_ = 0;
    }
    write(std::move(records));
  }
}

// Writes records in the order of their keys, which is also the order of the tree's pages.
void CacheWriter::write(std::vector<WaitingRecord> records) noexcept {
  std::ranges::sort(records, {}, &WaitingRecord::index);
  for (std::span<WaitingRecord> left(records); !left.empty();) {
    std::span<WaitingRecord> some = left;
    bool written = false;
    try {
      if (!ended_.load(std::memory_order_relaxed)) {
        if (const std::size_t fitting = count_for_one(left); fitting != 0) {
          some = left.first(fitting);
          written = write_some(some);
        } else {
          stop_writing([&] {
            return "it is full: it may have " + std::to_string(limits_.file_bytes >> 20) +
                   " MiB (`max_bytes`, or what the disk had free)";
          });
        }
      }
      if (written) committed_(some);
    } catch (const std::exception& error) {
      stop_writing([&] { return std::string("writing to it failed: ") + error.what(); });
    }
    if (!written) lost_(some);
    for (WaitingRecord& record : some) {
      record.data.reset();
      give_up(record.bytes);
    }
    left = left.subspan(some.size());
  }
}

// Returns how many of the records, from the first on, the next transaction writes. That number keeps the transaction
// and the file within their limits. Counts the most bytes that each record can take: its part of a half-full leaf, or
// separate pages. Adds some new pages for the tree.
std::size_t CacheWriter::count_for_one(std::span<const WaitingRecord> records) const {
  MDB_envinfo info{};
  MDB_stat stat{};
  check(mdb_env_info(environment_->handle(), &info), "writing to the cache", environment_->file());
  check(mdb_env_stat(environment_->handle(), &stat), "writing to the cache", environment_->file());
  constexpr std::uint64_t tree_pages = 12, node_bytes = 32;
  const std::uint64_t page = stat.ms_psize;
  std::uint64_t used = (static_cast<std::uint64_t>(info.me_last_pgno) + 1 + tree_pages) * page;
  std::size_t count = 0, bytes = 0;
  for (const WaitingRecord& record : records) {
    const std::uint64_t node = record.bytes + node_bytes;
    used += node < page / 2 ? 2 * node : (node / page + 1) * page + 2 * node_bytes;
    bytes += record.bytes;
    if (used > limits_.file_bytes || count == transaction_records || (count != 0 && bytes > transaction_bytes)) break;
    ++count;
  }
  return count;
}

bool CacheWriter::write_some(std::span<const WaitingRecord> records) {
  MDB_txn* txn = nullptr;
  int code = mdb_txn_begin(environment_->handle(), nullptr, 0, &txn);
  for (std::size_t i = 0; code == 0 && i < records.size(); ++i) {
    std::array<char, cache_key_bytes> buffer{};
    MDB_val key = value_of(cache_key(records[i].index, buffer)), value{records[i].bytes, records[i].data.get()};
    code = mdb_put(txn, environment_->table(), &key, &value, records[i].replaces ? 0 : MDB_NOOVERWRITE);
    if (code == MDB_KEYEXIST) code = 0;
  }
  if (code == 0) code = mdb_txn_commit(std::exchange(txn, nullptr));
  if (txn != nullptr) mdb_txn_abort(txn);
  if (code == MDB_MAP_FULL) {
    stop_writing([] { return "it is full"; });
    return false;
  }
  if (code != 0) {
    stop_writing(
        [&] { return write_error(code, "writing to it failed", environment_->file(), bytes_of(records)).cause(); });
    return false;
  }
  return true;
}

}  // namespace penstock::lmdb
