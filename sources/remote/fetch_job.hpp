// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "buffer_pool.hpp"
#include "cache/disk_cache.hpp"
#include "fetcher.hpp"
#include "transfer.hpp"
#include "wake_up.hpp"

namespace penstock::remote {

/// A range on its way, or a question for a file's facts. Guarded by the fetcher's mutex.
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

}  // namespace penstock::remote
