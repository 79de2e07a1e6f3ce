// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include <penstock/extend/byte_source.hpp>
#include <penstock/sources/remote.hpp>

#include "buffer_pool.hpp"
#include "cache/disk_cache.hpp"
#include "transfer.hpp"
#include "wake_up.hpp"

namespace penstock::remote {

/// Transfers ranges of files, on one thread, over a limited number of connections. A second thread writes the cache.
/// Ranges that a reader waits for come first, then announced ranges, in their order. Any thread.
class Fetcher {
 public:
  /// @throws Error(invalid_argument) for options that can't work.
  explicit Fetcher(Remote options);
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;
  ~Fetcher();

  const Remote& options() const noexcept { return settings_.options; }

  /// Asks for the facts of files, all at the same time. If some may be missing, these have none. @throws the Error of
  /// the first file that can't be opened.
  std::vector<std::shared_ptr<const FileFacts>> ask(std::span<const WebAddress> files, bool some_may_be_missing);
  /// Fills `out` with a range. @throws Error like ByteSource::read.
  void read(const std::shared_ptr<const FileFacts>& file, std::uint64_t offset, std::span<std::byte> out);
  /// Fills memory of the client's own with a range. @throws the same.
  std::shared_ptr<const std::byte> lend(const std::shared_ptr<const FileFacts>& file, ByteRange range);
  void announce(const std::shared_ptr<const FileFacts>& file, std::span<const ByteRange> ranges) noexcept;
  void withdraw(const FileFacts& file, std::span<const ByteRange> ranges) noexcept;
  /// Withdraws all announcements of a file.
  void withdraw_all(const FileFacts& file) noexcept;
  /// Takes up to `most` bytes of a loader's memory, in whole ranges. Announced ranges that have arrived may then have
  /// that much more. Takes at most one range for each connection.
  MemoryAhead take_memory(std::size_t most) const;
  RemoteCounts counts() const;
  FetchCounts fetched() const;
  /// Returns null without a cache.
  DiskCache* cache() const noexcept { return cache_.get(); }

 private:
  using Key = std::tuple<const FileFacts*, std::uint64_t, std::uint64_t>;
  struct Job;
  using JobPointer = std::shared_ptr<Job>;
  struct FreeHandle {
    void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
  };
  using Handle = std::unique_ptr<CURL, FreeHandle>;

  void require_own_process() const;
  bool keeps(const FileFacts& file, ByteRange range) const noexcept;
  bool read_kept(const FileFacts& file, ByteRange range, std::span<std::byte> out) noexcept;
  /// Where a range goes: to `bytes`, or else to memory of the client's own, which `lent` then points to.
  struct Destination {
    std::byte* bytes = nullptr;
    std::shared_ptr<const std::byte>* lent = nullptr;
  };
  bool fetch(const std::shared_ptr<const FileFacts>& file, ByteRange range, Destination to, bool keep);
  void count_cached(const FileFacts& file, ByteRange range) noexcept;
  void count_time(RemoteCounts& counts, Clock::time_point now) const noexcept;
  void connections_change() noexcept;
  void count_kept(Job& job, int code) noexcept;
  void wait_for(std::unique_lock<std::mutex>& lock, Job& job, WakeUp& wake_up) noexcept;
  static std::shared_ptr<const FileFacts> facts_of(const Job& job);
  JobPointer take_announced(const Key& key) noexcept;
  void give_up_copy(const Key& key, const JobPointer& job) noexcept;
  void drop(const JobPointer& job) noexcept;
  bool free_if_unused(Job& job) noexcept;

  void work() noexcept;
  void begin_requests(std::unique_lock<std::mutex>& lock, Clock::time_point now);
  JobPointer next_job(Clock::time_point now);
  void begin(std::unique_lock<std::mutex>& lock, const JobPointer& job);
  DiskCache::Outcome look_in_cache(Job& job) const noexcept;
  void pause(const JobPointer& job, Clock::time_point until) noexcept;
  Handle prepare(Job& job) noexcept;
  Handle take_handle();
  void finish(CURL* handle, CURLcode result) noexcept;
  void end(const JobPointer& job) noexcept;
  void keep_later(const JobPointer& job) noexcept;
  void keep_ranges() noexcept;
  void drop_withdrawn() noexcept;
  void show_progress(Clock::time_point now) noexcept;
  int until_next_pause_ends(Clock::time_point now) const noexcept;

  const Settings settings_;
  const int process_;
  RemoteCounts counts_;  // guarded by the mutex
  std::unique_ptr<DiskCache> cache_;
  CURLM* const multi_;
  mutable std::mutex mutex_;
  // Guarded by the mutex:
  std::map<Key, JobPointer> announced_;
  std::deque<JobPointer> wanted_, expected_;  // waiting jobs: with a reader; only announced
  std::vector<JobPointer> pausing_;
  std::map<CURL*, JobPointer> running_;
  std::deque<JobPointer> keeping_;  // fetched jobs that the cache is to keep
  const std::shared_ptr<BufferPool> buffers_;
  Clock::time_point counted_until_{};  // for `busy_s` and `full_s`
  bool stops_ = false, keeper_stops_ = false, some_withdrawn_ = false;

  std::vector<Handle> spare_;   // used by the thread alone
  Clock::time_point shown_{};   // when progress was last shown, likewise
  Clock::time_point active_{};  // when there was last a range to transfer, likewise
  WakeUp keeper_wake_up_;
  std::thread thread_, keeper_;  // one transfers, the other writes the cache
};

}  // namespace penstock::remote
