// SPDX-License-Identifier: Apache-2.0
// The threads of a Fetcher: the one that transfers, and the one that writes the cache.
#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "fetch_job.hpp"
#include "fetcher.hpp"

namespace penstock::remote {

namespace {

// After this time without a transfer, memory for ranges is freed.
constexpr std::chrono::seconds time_to_trim(5);
// How long a range waits for another process that is fetching it, before it looks again.
constexpr std::chrono::milliseconds time_for_others(20);

}  // namespace

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
    const bool is_first = job.others_progressed == Clock::time_point();
    if (std::exchange(job.others_progress, progress) != progress || is_first) job.others_progressed = now;
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
