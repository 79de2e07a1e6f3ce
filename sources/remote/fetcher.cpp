// SPDX-License-Identifier: Apache-2.0
#include "fetcher.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/process_id.hpp>

#include "fetch_job.hpp"

namespace penstock::remote {

namespace {

void begin_curl() {
  static const CURLcode begun = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (begun != CURLE_OK) throw Error(Errc::io, "libcurl can't be used").with_source("remote");
}

void check(const Remote& options) {
  const auto require = [](bool good, const char* rule) {
    if (!good) throw Error(Errc::invalid_argument, rule).with_source("remote");
  };
  require(options.connections >= 1 && options.connections <= 256, "`connections` is 1 to 256");
  require(options.range_bytes >= 4096 && options.range_bytes <= std::size_t{1} << 30, "`range_bytes` is 4,096 to 2^30");
  require(options.first_pause.count() >= 1 && options.longest_pause >= options.first_pause,
          "`first_pause` is at least 1 ms, and `longest_pause` is not shorter");
  require(options.stalled.count() >= 1 && options.give_up >= options.stalled,
          "`stalled` is at least 1 s, and `give_up` is not shorter");
  const std::uint64_t least = DiskCache::least_bytes(options.range_bytes);
  if (options.cache_bytes != 0 && options.cache_bytes < least)
    throw Error(Errc::invalid_argument,
                "`cache_bytes` is 0, or at least " + std::to_string(least) + ", which one range of `range_bytes` needs")
        .with_source("remote");
  for (const std::string& line : options.headers)
    require(line.find(':') != std::string::npos && line.find_first_of("\r\n") == std::string::npos,
            "each of `headers` is \"Name: value\", without a line break");
}

// A default folder that can't be used is no error: in many containers, no folder of the user's can be written.
std::unique_ptr<DiskCache> open_cache(const Remote& options, std::string& no_cache) {
  if (options.cache_bytes == 0) return nullptr;
  if (!options.cache.empty()) return std::make_unique<DiskCache>(options.cache, options.cache_bytes);
  try {
    return std::make_unique<DiskCache>(default_cache_folder(), options.cache_bytes);
  } catch (const Error& error) {
    no_cache = error.cause();
    if (!error.file().empty()) no_cache = error.file() + ": " + no_cache;
    return nullptr;
  }
}

CURLM* make_multi(const Remote& options) {
  begin_curl();
  CURLM* const multi = curl_multi_init();
  if (multi == nullptr) throw std::bad_alloc();
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(options.connections));
  return multi;
}

}  // namespace

Fetcher::Fetcher(Remote options)
    : settings_(std::move(options)),
      process_(process_id()),
      cache_((check(settings_.options), open_cache(settings_.options, counts_.no_cache))),
      multi_(make_multi(settings_.options)),
      buffers_(std::make_shared<BufferPool>(settings_.options.range_bytes, settings_.options.connections)),
      thread_([this] { work(); }) {
  if (cache_ != nullptr) keeper_ = std::thread([this] { keep_ranges(); });
}

Fetcher::~Fetcher() {
  if (process_id() != process_) {
    thread_.detach();  // it is in another process
    if (keeper_.joinable()) keeper_.detach();
    static_cast<void>(cache_.release());
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  curl_multi_wakeup(multi_);
  thread_.join();
  if (keeper_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      keeper_stops_ = true;
    }
    keeper_wake_up_.wake();
    keeper_.join();
  }
  for (const auto& [handle, job] : running_) {
    curl_multi_remove_handle(multi_, handle);
    curl_easy_cleanup(handle);
  }
  spare_.clear();
  curl_multi_cleanup(multi_);
}

void Fetcher::require_own_process() const {
  if (process_id() != process_)
    throw Error(Errc::forked, "the connections belong to the process that opened them; open the file in this one")
        .with_source("remote");
}

std::vector<std::shared_ptr<const FileFacts>> Fetcher::ask(std::span<const WebAddress> files,
                                                           bool some_may_be_missing) {
  require_own_process();
  std::vector<JobPointer> jobs;
  for (const WebAddress& file : files) {
    jobs.push_back(std::make_shared<Job>(settings_, file));
    jobs.back()->readers = 1;
  }
  std::unique_lock lock(mutex_);
  wanted_.insert(wanted_.end(), jobs.begin(), jobs.end());
  lock.unlock();
  curl_multi_wakeup(multi_);
  std::vector<std::shared_ptr<const FileFacts>> facts;
  try {
    for (const JobPointer& job : jobs) {
      WakeUp wake_up;
      lock.lock();
      wait_for(lock, *job, wake_up);
      lock.unlock();
      facts.push_back(some_may_be_missing && job->transfer.is_missing() ? nullptr : facts_of(*job));
    }
  } catch (...) {
    lock.lock();
    for (const JobPointer& job : jobs) {
      job->readers = 0;
      std::erase(wanted_, job);
    }
    some_withdrawn_ = true;
    lock.unlock();
    curl_multi_wakeup(multi_);
    throw;
  }
  if (cache_ == nullptr) return facts;
  std::uint64_t not_keepable = 0;
  for (const auto& file : facts) {
    if (file == nullptr) continue;
    if (file->can_be_kept)
      cache_->use(file->key);
    else
      ++not_keepable;
  }
  lock.lock();
  counts_.not_keepable += not_keepable;
  return facts;
}

std::shared_ptr<const FileFacts> Fetcher::facts_of(const Job& job) {
  if (job.out_of_memory) throw std::bad_alloc();
  if (job.transfer.error()) throw Error(*job.transfer.error());
  return job.transfer.facts();
}

// Ends an announcement, for a reader or because it is withdrawn. Returns null if the range is not announced.
Fetcher::JobPointer Fetcher::take_announced(const Key& key) noexcept {
  const auto found = announced_.find(key);
  if (found == announced_.end()) return nullptr;
  JobPointer job = found->second;
  if (--job->announced == 0) announced_.erase(found);
  return job;
}

void Fetcher::wait_for(std::unique_lock<std::mutex>& lock, Job& job, WakeUp& wake_up) noexcept {
  if (job.state == Job::State::ended) return;
  wake_up.next = std::exchange(job.waiting, &wake_up);
  lock.unlock();
  const Clock::time_point before = Clock::now();
  wake_up.wait();
  lock.lock();
  counts_.waited_s += std::chrono::duration<double>(Clock::now() - before).count();
}

// Whether a range is kept on the disk: such as a loader reads, of a file whose changes show.
bool Fetcher::keeps(const FileFacts& file, ByteRange range) const noexcept {
  const std::size_t most = settings_.options.range_bytes;
  return cache_ != nullptr && file.can_be_kept && range.offset % most == 0 &&
         range.bytes == std::min<std::uint64_t>(most, file.size - range.offset);
}

void Fetcher::read(const std::shared_ptr<const FileFacts>& file, std::uint64_t offset, std::span<std::byte> out) {
  require_own_process();
  const ByteRange range{offset, out.size()};
  // The cache may lose a range again before it is read.
  for (int tries = 3; keeps(*file, range) && tries > 0; --tries)
    if (read_kept(*file, range, out) || fetch(file, range, {out.data()}, true)) return;
  fetch(file, range, {out.data()}, false);
}

std::shared_ptr<const std::byte> Fetcher::lend(const std::shared_ptr<const FileFacts>& file, ByteRange range) {
  require_own_process();
  std::shared_ptr<const std::byte> lent;
  for (int tries = 3; keeps(*file, range) && tries > 0; --tries) {
    lent = cache_->map(file->key, range);
    if (lent != nullptr) count_cached(*file, range);
    if (lent != nullptr || fetch(file, range, {nullptr, &lent}, true)) return lent;
  }
  fetch(file, range, {nullptr, &lent}, false);
  return lent;
}

// Reads a range from the cache. Returns false if it is not there.
bool Fetcher::read_kept(const FileFacts& file, ByteRange range, std::span<std::byte> out) noexcept {
  if (!cache_->read(file.key, range, out)) return false;
  count_cached(file, range);
  return true;
}

// A range was read from the cache: that ends its announcement, too.
void Fetcher::count_cached(const FileFacts& file, ByteRange range) noexcept {
  const std::lock_guard lock(mutex_);
  const JobPointer job = take_announced({&file, range.offset, range.bytes});
  ++counts_.reads;
  ++counts_.cached_reads;
  counts_.cached_bytes += range.bytes;
  if (job == nullptr) return;
  ++counts_.announced_reads;
  drop(job);
  curl_multi_wakeup(multi_);
}

// Fetches a range. Returns false if the cache has it now.
bool Fetcher::fetch(const std::shared_ptr<const FileFacts>& file, ByteRange range, Destination to, bool keep) {
  std::optional<WakeUp> wake_up;
  try {
    wake_up.emplace();
  } catch (...) {
    withdraw(*file, {&range, 1});  // the announcement ends with this read all the same
    throw;
  }
  std::unique_lock lock(mutex_);
  const Key key{file.get(), range.offset, range.bytes};
  JobPointer job = take_announced(key);
  counts_.announced_reads += job != nullptr ? 1 : 0;
  // What failed before it was read may be there now. What is in the cache alone was looked for there.
  if (job != nullptr && job->state == Job::State::ended && !(job->fetched && job->buffer != nullptr)) job = nullptr;
  if (job == nullptr) {
    job = std::make_shared<Job>(settings_, file, range, to.bytes);
    job->keep = keep;
    wanted_.push_back(job);
  } else if (job->state == Job::State::waiting && std::erase(expected_, job) != 0) {
    wanted_.push_back(job);
    if (job->announced == 0) job->transfer.set_destination(to.bytes);  // no other reader wants it
  }
  ++job->readers;
  ++counts_.reads;
  counts_.waited_reads += job->state != Job::State::ended ? 1 : 0;
  if (job->state == Job::State::waiting) curl_multi_wakeup(multi_);
  wait_for(lock, *job, *wake_up);
  const bool fetched = job->fetched;
  const std::unique_ptr<CacheClaim> claim = fetched && job->buffer == nullptr ? std::move(job->claim) : nullptr;
  lock.unlock();
  // The job's memory stays while `readers` is not 0.
  if (fetched && to.lent != nullptr)
    *to.lent = job->buffer;
  else if (fetched && job->buffer != nullptr)
    std::memcpy(to.bytes, job->buffer.get(), static_cast<std::size_t>(range.bytes));
  const int not_kept = claim != nullptr ? cache_->keep(*claim, {to.bytes, static_cast<std::size_t>(range.bytes)}) : 0;
  lock.lock();
  if (claim != nullptr) count_kept(*job, not_kept);
  if (!fetched && job->kept) --counts_.reads;  // it is read again
  --job->readers;
  give_up_copy(key, job);
  const bool more = free_if_unused(*job) && !expected_.empty();
  lock.unlock();
  if (more) curl_multi_wakeup(multi_);
  if (fetched) return true;
  if (job->failed()) (void)facts_of(*job);
  return false;
}

// Counts a range that the cache was to keep. `code`: what DiskCache::keep returned.
void Fetcher::count_kept(Job& job, int code) noexcept {
  job.kept = code == 0;
  ++(code == 0 ? counts_.kept : counts_.not_kept);
  if (code == 0) return;
  try {
    counts_.why_not_kept = code == DiskCache::no_room ? "the cache is full of files that are in use"
                                                      : std::string("writing the cache failed: ") + std::strerror(code);
  } catch (...) {  // no memory for the reason
  }
}

// If others have announced the range as well, and there is no room for further ranges, gives the range up: it is
// transferred again for the others. Otherwise readers that are late would stop all others.
void Fetcher::give_up_copy(const Key& key, const JobPointer& job) noexcept {
  if (job->announced == 0 || job->buffer == nullptr || job->kept ||
      buffers_->has_room_for(settings_.options.range_bytes))
    return;
  const auto found = announced_.find(key);
  if (found == announced_.end() || found->second != job) return;
  try {
    auto again = std::make_shared<Job>(settings_, job->transfer.facts(), job->range, nullptr);
    again->keep = job->keep;
    again->announced = job->announced;
    expected_.push_back(again);
    found->second = std::move(again);
    job->announced = 0;
  } catch (...) {  // no memory: the copy stays
  }
}

// Frees a job's memory if no reader needs it, now or later. Returns whether it did.
bool Fetcher::free_if_unused(Job& job) noexcept {
  if (job.buffer == nullptr || job.readers != 0 || (job.announced != 0 && !job.kept)) return false;
  buffers_->let_go(job.range.bytes);
  job.buffer.reset();
  return true;
}

void Fetcher::announce(const std::shared_ptr<const FileFacts>& file, std::span<const ByteRange> ranges) noexcept {
  if (process_id() != process_) return;
  const std::lock_guard lock(mutex_);
  bool any = false;
  try {
    for (const ByteRange& range : ranges) {
      if (range.bytes == 0 || range.offset > file->size || range.bytes > file->size - range.offset) continue;
      if (keeps(*file, range) && cache_->has_map(file->key, range)) continue;  // reading it ahead would only cost time
      any = true;
      const Key key{file.get(), range.offset, range.bytes};
      const auto found = announced_.find(key);
      if (found != announced_.end()) {
        ++found->second->announced;
        continue;
      }
      const auto job = std::make_shared<Job>(settings_, file, range, nullptr);
      job->keep = keeps(*file, range);
      expected_.push_back(job);
      announced_.emplace(key, job);
      job->announced = 1;
    }
  } catch (...) {  // no memory: the other ranges are read without an announcement
    std::erase_if(expected_, [](const JobPointer& job) { return job->announced == 0; });
  }
  if (any) curl_multi_wakeup(multi_);
}

void Fetcher::withdraw(const FileFacts& file, std::span<const ByteRange> ranges) noexcept {
  if (process_id() != process_) return;
  const std::lock_guard lock(mutex_);
  for (const ByteRange& range : ranges)
    if (const JobPointer job = take_announced({&file, range.offset, range.bytes}); job != nullptr) drop(job);
  curl_multi_wakeup(multi_);
}

void Fetcher::withdraw_all(const FileFacts& file) noexcept {
  if (process_id() != process_) return;
  const std::lock_guard lock(mutex_);
  const auto begin = announced_.lower_bound({&file, 0, 0});
  auto end = begin;
  for (; end != announced_.end() && std::get<0>(end->first) == &file; ++end) {
    end->second->announced = 0;
    drop(end->second);
  }
  announced_.erase(begin, end);
  curl_multi_wakeup(multi_);
}

// Drops the job if it has no reader and no announcement.
void Fetcher::drop(const JobPointer& job) noexcept {
  if (!job->unused()) return;
  if (job->state == Job::State::waiting)
    std::erase(expected_, job);
  else if (job->state == Job::State::ended)
    free_if_unused(*job);
  else
    some_withdrawn_ = true;
}

MemoryAhead Fetcher::take_memory(std::size_t most) const {
  if (process_id() != process_) return {};
  const std::size_t each = settings_.options.range_bytes;
  return BufferPool::raise(buffers_, std::min<std::size_t>(most / each, settings_.options.connections) * each);
}

RemoteCounts Fetcher::counts() const {
  require_own_process();
  const std::lock_guard lock(mutex_);
  RemoteCounts counts = counts_;
  count_time(counts, Clock::now());
  return counts;
}

FetchCounts Fetcher::fetched() const {
  if (process_id() != process_) return {};
  const RemoteCounts so_far = counts();
  return {.bytes = so_far.bytes,
          .reads = so_far.reads,
          .waited_reads = so_far.waited_reads,
          .waited_s = so_far.waited_s,
          .busy_s = so_far.busy_s,
          .full_s = so_far.full_s,
          .retries = so_far.retries,
          .not_kept = so_far.not_kept,
          .connections = settings_.options.connections,
          .counter = this};
}

// Counts the time up to now, in which the connections that are in use now were in use.
void Fetcher::count_time(RemoteCounts& counts, Clock::time_point now) const noexcept {
  const double seconds = std::chrono::duration<double>(now - counted_until_).count();
  counts.busy_s += seconds * static_cast<double>(running_.size());
  if (running_.size() == settings_.options.connections) counts.full_s += seconds;
}

// Call before `running_` changes.
void Fetcher::connections_change() noexcept {
  const Clock::time_point now = Clock::now();
  count_time(counts_, now);
  counted_until_ = now;
}

}  // namespace penstock::remote
