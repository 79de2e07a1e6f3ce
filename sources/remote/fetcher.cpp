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

namespace penstock::remote {

struct Fetcher::Job {
  enum class State : std::uint8_t { waiting, running, pausing, ended };

  Job(const Settings& settings, std::shared_ptr<const FileFacts> file, ByteRange its_range, std::byte* to)
      : transfer(settings, std::move(file), its_range, to), range(its_range) {}
  Job(const Settings& settings, WebAddress address) : transfer(settings, std::move(address)) {}

  bool unused() const noexcept { return announced == 0 && readers == 0; }
  bool failed() const noexcept { return out_of_memory || transfer.error(); }

  Transfer transfer;
  ByteRange range{};
  State state = State::waiting;
  unsigned announced = 0;     // announcements that have not ended
  unsigned readers = 0;       // threads that wait for it, or copy from it
  BufferPool::Buffer buffer;  // null if the bytes go to a reader's memory
  bool keep = false;          // whether the range is looked for in the cache before it is fetched, and kept there
  bool fetched = false;       // its bytes have arrived, in the buffer or in a reader's memory
  bool kept = false;          // the cache has the range
  std::unique_ptr<CacheClaim> claim;
  std::uint64_t shown_bytes = 0;   // how many bytes had arrived when progress was last shown
  Clock::time_point not_before{};  // when it goes on
  // Another process is fetching the range: how far it was when this was last looked at, and when that changed.
  std::int64_t others_progress = 0;
  Clock::time_point others_progressed{};
  bool out_of_memory = false;  // it failed, and there was no memory to say why
  WakeUp* waiting = nullptr;   // the first of a list
};

namespace {

// After this time without a transfer, memory for ranges is freed.
constexpr std::chrono::seconds time_to_trim(5);
// How long a range waits for another process that is fetching it, before it looks again.
constexpr std::chrono::milliseconds time_for_others(20);

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

std::unique_ptr<DiskCache> open_cache(const Remote& options) {
  if (options.cache_bytes == 0) return nullptr;
  return std::make_unique<DiskCache>(options.cache.empty() ? default_cache_folder() : options.cache,
                                     options.cache_bytes);
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
      cache_((check(settings_.options), open_cache(settings_.options))),
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

// -- for readers --

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
  if (cache_ != nullptr)
    for (const auto& file : facts)
      if (file != nullptr && file->can_be_kept) cache_->use(file->key);
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

// -- the thread --

void Fetcher::work() noexcept {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    const Clock::time_point now = Clock::now();
    int timeout_ms = 1000;
    if (std::exchange(some_withdrawn_, false)) drop_withdrawn();
    show_progress(now);
    if (!running_.empty() || !expected_.empty() || !wanted_.empty())
      active_ = now;
    else if (now - active_ > time_to_trim)
      buffers_->trim();
    try {
      begin_requests(lock, now);
      timeout_ms = until_next_pause_ends(now);
    } catch (...) {  // no memory: tries again soon
      timeout_ms = 10;
    }
    lock.unlock();
    int left = 0;
    curl_multi_perform(multi_, &left);
    lock.lock();
    bool any = false;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
      any = true;
      if (message->msg == CURLMSG_DONE) finish(message->easy_handle, message->data.result);
    }
    if (any) continue;  // further requests may begin
    lock.unlock();
    curl_multi_poll(multi_, nullptr, 0, timeout_ms, nullptr);
    lock.lock();
  }
}

// Shows other processes that the ranges that are fetched here make progress, about once a second.
void Fetcher::show_progress(Clock::time_point now) noexcept {
  if (cache_ == nullptr || now - shown_ < std::chrono::seconds(1)) return;
  shown_ = now;
  for (const auto& [handle, job] : running_)
    if (job->claim != nullptr && std::exchange(job->shown_bytes, job->transfer.bytes()) != job->transfer.bytes())
      job->claim->touch();
}

int Fetcher::until_next_pause_ends(Clock::time_point now) const noexcept {
  using std::chrono::milliseconds;
  milliseconds left(1000);
  for (const JobPointer& job : pausing_) left = std::min(left, std::chrono::ceil<milliseconds>(job->not_before - now));
  return static_cast<int>(std::max(left, milliseconds(0)).count());
}

void Fetcher::begin_requests(std::unique_lock<std::mutex>& lock, Clock::time_point now) {
  while (!stops_ && running_.size() < settings_.options.connections) {
    const JobPointer job = next_job(now);
    if (job == nullptr) return;
    begin(lock, job);
  }
}

// Takes the job that begins next. Returns null if there is none, or if there is no memory for it.
Fetcher::JobPointer Fetcher::next_job(Clock::time_point now) {
  const auto rested = std::ranges::find_if(pausing_, [&](const JobPointer& job) { return job->not_before <= now; });
  if (rested != pausing_.end()) {
    JobPointer job = std::move(*rested);
    pausing_.erase(rested);
    return job;
  }
  while (!wanted_.empty() || !expected_.empty()) {
    const bool waits = !wanted_.empty();
    std::deque<JobPointer>& queue = waits ? wanted_ : expected_;
    JobPointer job = queue.front();
    if (!job->transfer.has_destination()) {
      // What a reader wants begins also beyond the limit: other ranges may be freed only after that.
      if (!waits && !buffers_->has_room_for(job->range.bytes)) return nullptr;
      try {
        job->buffer = buffers_->hold(static_cast<std::size_t>(job->range.bytes));
      } catch (const std::bad_alloc&) {
        if (!waits) throw;
        queue.pop_front();
        job->out_of_memory = true;
        end(job);
        continue;
      }
      job->transfer.set_destination(job->buffer.get());
    }
    queue.pop_front();
    return job;
  }
  return nullptr;
}

// Begins a request, if the cache does not have the range. Without the lock while the disk is asked, and while the
// request is prepared, because that calls code of the user.
void Fetcher::begin(std::unique_lock<std::mutex>& lock, const JobPointer& job) {
  job->state = Job::State::running;
  lock.unlock();
  const DiskCache::Outcome outcome = look_in_cache(*job);
  Handle handle = outcome == DiskCache::Outcome::claimed ? prepare(*job) : nullptr;
  lock.lock();
  if (outcome == DiskCache::Outcome::kept) {
    job->kept = true;
    return end(job);
  }
  if (outcome == DiskCache::Outcome::busy) return pause(job, Clock::now() + time_for_others);
  bool begun = false;
  try {
    if (handle != nullptr) {
      connections_change();
      begun = running_.emplace(handle.get(), job).second;
    }
  } catch (...) {
    job->out_of_memory = true;
  }
  if (begun && curl_multi_add_handle(multi_, handle.get()) != CURLM_OK) {
    running_.erase(handle.get());
    job->out_of_memory = true;
    begun = false;
  }
  if (!begun) return end(job);
  static_cast<void>(handle.release());
  ++counts_.requests;
  counts_.most_connections = std::max<std::uint64_t>(counts_.most_connections, running_.size());
}

// Looks for the range of a job that begins. Returns `claimed` if it is to be fetched, with or without a claim.
DiskCache::Outcome Fetcher::look_in_cache(Job& job) const noexcept {
  using Outcome = DiskCache::Outcome;
  if (!job.keep || job.claim != nullptr) return Outcome::claimed;
  std::int64_t progress = 0;
  const Outcome outcome = cache_->claim(job.transfer.facts()->key, job.range, job.claim, progress);
  if (outcome == Outcome::kept) return outcome;
  if (outcome == Outcome::busy) {
    const Clock::time_point now = Clock::now();
    if (std::exchange(job.others_progress, progress) != progress) job.others_progressed = now;
    if (now - job.others_progressed < settings_.options.stalled) return outcome;
  }
  job.keep = job.claim != nullptr;
  return Outcome::claimed;
}

void Fetcher::pause(const JobPointer& job, Clock::time_point until) noexcept {
  if (job->unused()) return end(job);
  job->state = Job::State::pausing;
  job->not_before = until;
  try {
    pausing_.push_back(job);
  } catch (...) {
    job->out_of_memory = true;
    end(job);
  }
}

// Returns null if the request can't be made. The job then says why.
Fetcher::Handle Fetcher::prepare(Job& job) noexcept {
  try {
    try {
      Handle handle = take_handle();
      job.transfer.begin(handle.get());
      return handle;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const Error& error) {
      job.transfer.give_up(error.code(), error.cause());
    } catch (const std::exception& error) {
      job.transfer.give_up(Errc::user, std::string("`token` failed: ") + error.what());
    } catch (...) {
      job.transfer.give_up(Errc::user, "`token` failed");
    }
  } catch (...) {
    job.out_of_memory = true;
  }
  return nullptr;
}

Fetcher::Handle Fetcher::take_handle() {
  if (!spare_.empty()) {
    Handle handle = std::move(spare_.back());
    spare_.pop_back();
    return handle;
  }
  Handle handle(curl_easy_init());
  if (handle == nullptr) throw std::bad_alloc();
  CURL* const of = handle.get();
  curl_easy_setopt(of, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(of, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(of, CURLOPT_BUFFERSIZE, 128L << 10);
  curl_easy_setopt(of, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(of, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(of, CURLOPT_USERAGENT, "penstock");
  if (!settings_.certificates.empty()) curl_easy_setopt(of, CURLOPT_CAINFO, settings_.certificates.c_str());
  spare_.reserve(settings_.options.connections);
  return handle;
}

void Fetcher::finish(CURL* handle, CURLcode result) noexcept {
  const auto found = running_.find(handle);
  const JobPointer job = std::move(found->second);
  connections_change();
  running_.erase(found);
  Transfer::Next next = Transfer::Next::ended;
  try {
    next = job->transfer.end(result);
  } catch (...) {
    job->out_of_memory = true;
  }
  curl_multi_remove_handle(multi_, handle);
  Handle kept(handle);
  if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(kept));
  if (next == Transfer::Next::ended || job->out_of_memory) return end(job);
  counts_.retries += next == Transfer::Next::pause ? 1 : 0;
  pause(job, job->transfer.not_before());
}

// Ends the job, and wakes the threads that wait for it.
void Fetcher::end(const JobPointer& pointer) noexcept {
  Job& job = *pointer;
  job.state = Job::State::ended;
  job.fetched = !job.failed() && !job.kept && !job.unused();
  if (!job.fetched) job.claim.reset();  // another process may fetch the range
  if (job.fetched && job.buffer != nullptr && job.claim != nullptr) keep_later(pointer);
  counts_.bytes += job.transfer.bytes();
  free_if_unused(job);
  for (const WakeUp* waiting = job.waiting; waiting != nullptr;) {
    const WakeUp* const next = waiting->next;  // a thread that is awake may forget its own
    waiting->wake();
    waiting = next;
  }
  job.waiting = nullptr;
}

// Hands a range that has arrived to the thread that writes the cache.
void Fetcher::keep_later(const JobPointer& job) noexcept {
  try {
    keeping_.push_back(job);
    ++job->readers;
    keeper_wake_up_.wake();
  } catch (...) {  // no memory: it is not kept
    job->claim.reset();
  }
}

void Fetcher::keep_ranges() noexcept {
  std::unique_lock lock(mutex_);
  while (!keeping_.empty() || !keeper_stops_) {
    if (keeping_.empty()) {
      lock.unlock();
      keeper_wake_up_.wait();
      keeper_wake_up_.clear();
      lock.lock();
      continue;
    }
    const JobPointer job = std::move(keeping_.front());
    keeping_.pop_front();
    std::unique_ptr<CacheClaim> claim = std::move(job->claim);
    lock.unlock();
    const int code = cache_->keep(*claim, {job->buffer.get(), static_cast<std::size_t>(job->range.bytes)});
    claim.reset();
    lock.lock();
    count_kept(*job, code);
    --job->readers;
    if (free_if_unused(*job) && !expected_.empty()) curl_multi_wakeup(multi_);
  }
}

// Breaks off requests whose jobs have no reader and no announcement.
void Fetcher::drop_withdrawn() noexcept {
  connections_change();
  for (auto at = running_.begin(); at != running_.end();) {
    if (!at->second->unused()) {
      ++at;
      continue;
    }
    curl_multi_remove_handle(multi_, at->first);
    curl_easy_cleanup(at->first);
    end(at->second);
    at = running_.erase(at);
  }
  std::erase_if(pausing_, [this](const JobPointer& job) {
    if (!job->unused()) return false;
    end(job);
    return true;
  });
}

}  // namespace penstock::remote
