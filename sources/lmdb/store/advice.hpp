#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "store/environment.hpp"
#include "store/key_index.hpp"
#include "store/places.hpp"

namespace penstock::lmdb {

/// Asks the kernel for values that are read soon, as long as it seems to help: looking a value up and asking for it
/// costs more than reading it when it is in the page cache already.
///
/// *Asking*: every value of a call is asked for, a few are looked at; once those were all resident for some calls, it
/// becomes *watching*: now and then one value is looked at. One that is not resident, or a page fault that went to the
/// disk somewhere in the process, makes it asking again. Any thread.
class Advice {
 public:
  /// `keys` and `places` must outlive this.
  Advice(std::shared_ptr<Environment> environment, const KeyIndex& keys, Places& places);
  Advice(const Advice&) = delete;
  Advice& operator=(const Advice&) = delete;
  ~Advice();

  void will_need(std::span<const std::uint64_t> indices) noexcept;
  std::uint64_t values_advised() const noexcept { return values_advised_.load(std::memory_order_relaxed); }

 private:
  struct Helper;
  std::unique_ptr<Helper> take();
  void give_back(std::unique_ptr<Helper> helper);
  bool worth_asking(std::span<const std::uint64_t> indices, Helper& helper);
  void ask(std::span<const std::uint64_t> indices, Helper& helper);

  const std::shared_ptr<Environment> environment_;
  const KeyIndex& keys_;
  Places& places_;
  std::atomic<int> calls_to_ask_{0};
  std::atomic<std::uint64_t> values_unwatched_{~std::uint64_t{0} >> 1};  // the first call looks
  std::atomic<long> disk_faults_{-1};
  std::atomic<std::uint64_t> values_advised_{0};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Helper>> idle_;
};

}  // namespace penstock::lmdb
