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
  unsigned announced = 0;      // announcements that have not ended
  unsigned readers = 0;        // threads that wait for it, or copy from it
  BufferPool::Buffer buffer;   // null if the bytes go to a reader's memory
  bool out_of_memory = false;  // it failed, and there was no memory to say why
  WakeUp* waiting = nullptr;   // the first of a list
};

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
  for (const std::string& line : options.headers)
    require(line.find(':') != std::string::npos && line.find_first_of("\r\n") == std::string::npos,
            "each of `headers` is \"Name: value\", without a line break");
}

CURLM* make_multi(const Remote& options) {
  check(options);
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
      multi_(make_multi(settings_.options)),
      buffers_(settings_.options.range_bytes, settings_.options.range_bytes * settings_.options.connections),
      thread_([this] { work(); }) {}

Fetcher::~Fetcher() {
  if (process_id() != process_) {
    thread_.detach();  // it is in another process
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  curl_multi_wakeup(multi_);
  thread_.join();
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

void Fetcher::read(const std::shared_ptr<const FileFacts>& file, std::uint64_t offset, std::span<std::byte> out) {
  require_own_process();
  const ByteRange range{offset, out.size()};
  std::optional<WakeUp> wake_up;
  try {
    wake_up.emplace();
  } catch (...) {
    withdraw(*file, {&range, 1});  // the announcement ends with this read all the same
    throw;
  }
  std::unique_lock lock(mutex_);
  JobPointer job = take_announced({file.get(), offset, out.size()});
  counts_.announced_reads += job != nullptr ? 1 : 0;
  // What failed before it was read may be there now.
  if (job != nullptr && job->state == Job::State::ended && job->failed()) job = nullptr;
  if (job == nullptr) {
    job = std::make_shared<Job>(settings_, file, range, out.data());
    wanted_.push_back(job);
  } else if (job->state == Job::State::waiting && std::erase(expected_, job) != 0) {
    wanted_.push_back(job);
    if (job->announced == 0) job->transfer.set_destination(out.data());  // no other reader wants it
  }
  ++job->readers;
  ++counts_.reads;
  counts_.waited_reads += job->state != Job::State::ended ? 1 : 0;
  if (job->state == Job::State::waiting) curl_multi_wakeup(multi_);
  wait_for(lock, *job, *wake_up);
  lock.unlock();
  // No thread changes the job from here on. Its memory stays while `readers` is not 0.
  if (!job->failed() && job->buffer != nullptr) std::memcpy(out.data(), job->buffer.get(), out.size());
  lock.lock();
  --job->readers;
  give_up_copy({file.get(), offset, out.size()}, job);
  const bool more = free_if_unused(*job) && !expected_.empty();
  lock.unlock();
  if (more) curl_multi_wakeup(multi_);
  if (job->failed()) (void)facts_of(*job);
}

// If others have announced the range as well, and there is no room for further ranges, gives the range up: it is
// transferred again for the others. Otherwise readers that are late would stop all others.
void Fetcher::give_up_copy(const Key& key, const JobPointer& job) noexcept {
  if (job->announced == 0 || job->buffer == nullptr || buffers_.has_room_for(settings_.options.range_bytes)) return;
  const auto found = announced_.find(key);
  if (found == announced_.end() || found->second != job) return;
  try {
    auto again = std::make_shared<Job>(settings_, job->transfer.facts(), job->range, nullptr);
    again->announced = job->announced;
    expected_.push_back(again);
    found->second = std::move(again);
    job->announced = 0;
  } catch (...) {  // no memory: the copy stays
  }
}

// Frees a job's memory if the job has no reader and no announcement. Returns whether it did.
bool Fetcher::free_if_unused(Job& job) noexcept {
  if (job.buffer == nullptr || !job.unused()) return false;
  buffers_.give_back(std::move(job.buffer), job.range.bytes);
  return true;
}

void Fetcher::announce(const std::shared_ptr<const FileFacts>& file, std::span<const ByteRange> ranges) noexcept {
  if (process_id() != process_) return;
  const std::lock_guard lock(mutex_);
  try {
    for (const ByteRange& range : ranges) {
      if (range.bytes == 0 || range.offset > file->size || range.bytes > file->size - range.offset) continue;
      const Key key{file.get(), range.offset, range.bytes};
      const auto found = announced_.find(key);
      if (found != announced_.end()) {
        ++found->second->announced;
        continue;
      }
      const auto job = std::make_shared<Job>(settings_, file, range, nullptr);
      expected_.push_back(job);
      announced_.emplace(key, job);
      job->announced = 1;
    }
  } catch (...) {  // no memory: the other ranges are read without an announcement
    std::erase_if(expected_, [](const JobPointer& job) { return job->announced == 0; });
  }
  curl_multi_wakeup(multi_);
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
  return counts_;
}

// -- the thread --

void Fetcher::work() noexcept {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    const Clock::time_point now = Clock::now();
    int timeout_ms = 1000;
    if (std::exchange(some_withdrawn_, false)) drop_withdrawn();
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

int Fetcher::until_next_pause_ends(Clock::time_point now) const noexcept {
  using std::chrono::milliseconds;
  milliseconds left(1000);
  for (const JobPointer& job : pausing_)
    left = std::min(left, std::chrono::ceil<milliseconds>(job->transfer.not_before() - now));
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
  const auto rested =
      std::ranges::find_if(pausing_, [&](const JobPointer& job) { return job->transfer.not_before() <= now; });
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
      if (!waits && !buffers_.has_room_for(job->range.bytes)) return nullptr;
      try {
        job->buffer = buffers_.take(job->range.bytes);
      } catch (const std::bad_alloc&) {
        if (!waits) throw;
        queue.pop_front();
        job->out_of_memory = true;
        end(*job);
        continue;
      }
      job->transfer.set_destination(job->buffer.get());
    }
    queue.pop_front();
    return job;
  }
  return nullptr;
}

// Begins a request. Without the lock while it is prepared, because that calls code of the user.
void Fetcher::begin(std::unique_lock<std::mutex>& lock, const JobPointer& job) {
  job->state = Job::State::running;
  lock.unlock();
  Handle handle = prepare(*job);
  lock.lock();
  bool begun = false;
  try {
    if (handle != nullptr) {
      pausing_.reserve(pausing_.size() + running_.size() + 1);  // so that `finish` needs no memory
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
  if (!begun) return end(*job);
  static_cast<void>(handle.release());
  ++counts_.requests;
  counts_.most_connections = std::max<std::uint64_t>(counts_.most_connections, running_.size());
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
  curl_easy_setopt(of, CURLOPT_BUFFERSIZE, 512L << 10);
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
  if (next == Transfer::Next::ended || job->out_of_memory || job->unused()) return end(*job);
  counts_.retries += next == Transfer::Next::pause ? 1 : 0;
  job->state = Job::State::pausing;
  pausing_.push_back(job);
}

// Ends the job, and wakes the threads that wait for it.
void Fetcher::end(Job& job) noexcept {
  job.state = Job::State::ended;
  counts_.bytes += job.transfer.bytes();
  free_if_unused(job);
  for (const WakeUp* waiting = job.waiting; waiting != nullptr;) {
    const WakeUp* const next = waiting->next;  // a thread that is awake may forget its own
    waiting->wake();
    waiting = next;
  }
  job.waiting = nullptr;
}

// Breaks off requests whose jobs have no reader and no announcement.
void Fetcher::drop_withdrawn() noexcept {
  for (auto at = running_.begin(); at != running_.end();) {
    if (!at->second->unused()) {
      ++at;
      continue;
    }
    curl_multi_remove_handle(multi_, at->first);
    curl_easy_cleanup(at->first);
    end(*at->second);
    at = running_.erase(at);
  }
  std::erase_if(pausing_, [this](const JobPointer& job) {
    if (!job->unused()) return false;
    end(*job);
    return true;
  });
}

}  // namespace penstock::remote
