#include "store/advice.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "store/lookup.hpp"

namespace penstock::lmdb {

namespace {

constexpr int calls_to_ask = 16;            // after the last sign that values are not resident
constexpr int calls_to_ask_at_first = 4;    // before there is any sign
constexpr std::uint64_t watch_every = 256;  // values
constexpr std::size_t looks_a_call = 4;
constexpr std::size_t pages_looked_at = 64;  // of one value

struct Range {
  std::uintptr_t begin = 0, end = 0;
};

std::uintptr_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Of a file that this user can't write to, the kernel says yes to everything; then only page faults tell.
bool resident(Range range) noexcept {
  std::array<unsigned char, pages_looked_at> pages{};
  const std::size_t count = std::min<std::size_t>((range.end - range.begin) / page_bytes(), pages.size());
  if (::mincore(reinterpret_cast<void*>(range.begin), count * page_bytes(), pages.data()) != 0) return true;
  return std::all_of(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(count),
                     [](unsigned char p) { return (p & 1) != 0; });
}

// Of the whole process: a runner's faults are a sign as well.
long disk_faults() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt;
}

}  // namespace

struct Advice::Helper {
  Helper(std::shared_ptr<Environment> environment, const KeyIndex& keys, Places& places)
      : lookup(std::move(environment), keys, places) {}

  // The pages of a record's value; empty where there is none.
  Range find(std::uint64_t index) {
    MDB_val value{};
    if (index >= lookup.records() || lookup.find(index, value) != 0 || value.mv_size == 0) return {};
    const auto begin = reinterpret_cast<std::uintptr_t>(value.mv_data);
    const std::uintptr_t mask = page_bytes() - 1;
    return {begin & ~mask, (begin + value.mv_size + mask) & ~mask};
  }

  Lookup lookup;
  std::vector<Range> ranges;
};

Advice::Advice(std::shared_ptr<Environment> environment, const KeyIndex& keys, Places& places)
    : environment_(std::move(environment)), keys_(keys), places_(places) {}

Advice::~Advice() = default;

std::unique_ptr<Advice::Helper> Advice::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto helper = std::move(idle_.back());
      idle_.pop_back();
      return helper;
    }
  }
  return std::make_unique<Helper>(environment_, keys_, places_);
}

void Advice::give_back(std::unique_ptr<Helper> helper) {
  helper->lookup.pause();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(helper));
}

void Advice::will_need(std::span<const std::uint64_t> indices) noexcept {
  if (indices.empty() || !environment_->usable()) return;
  const bool asking = calls_to_ask_.load(std::memory_order_relaxed) > 0;
  if (!asking) {
    // Nobody looks until enough values have gone by.
    const std::uint64_t seen = values_unwatched_.fetch_add(indices.size(), std::memory_order_relaxed) + indices.size();
    if (seen < watch_every) return;
    values_unwatched_.store(0, std::memory_order_relaxed);
  }
  try {
    auto helper = take();
    if (asking || worth_asking(indices, *helper)) ask(indices, *helper);
    give_back(std::move(helper));
  } catch (...) {
    // Advice only: whatever is wrong, the read will say it.
  }
}

bool Advice::worth_asking(std::span<const std::uint64_t> indices, Helper& helper) {
  const long faults = disk_faults();
  const long before = disk_faults_.exchange(faults, std::memory_order_relaxed);
  bool worth = before != faults;  // at first always
  if (!worth) {
    const Range range = helper.find(indices[indices.size() / 2]);
    worth = range.end != range.begin && !resident(range);
  }
  if (worth) calls_to_ask_.store(before < 0 ? calls_to_ask_at_first : calls_to_ask, std::memory_order_relaxed);
  return worth;
}

void Advice::ask(std::span<const std::uint64_t> indices, Helper& helper) {
  auto& ranges = helper.ranges;
  ranges.clear();
  for (const std::uint64_t index : indices) {
    const Range range = helper.find(index);
    if (range.end != range.begin) ranges.push_back(range);
  }
  if (ranges.empty()) return;

  bool all_resident = true;
  const std::size_t step = std::max<std::size_t>(ranges.size() / looks_a_call, 1);
  for (std::size_t i = 0; i < ranges.size() && all_resident; i += step) all_resident = resident(ranges[i]);
  if (all_resident) {
    calls_to_ask_.fetch_sub(1, std::memory_order_relaxed);
  } else {
    calls_to_ask_.store(calls_to_ask, std::memory_order_relaxed);
  }

  values_advised_.fetch_add(ranges.size(), std::memory_order_relaxed);
  std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.begin < b.begin; });
  Range merged = ranges.front();
  const auto advise = [](Range range) {
    ::madvise(reinterpret_cast<void*>(range.begin), range.end - range.begin, MADV_WILLNEED);
  };
  for (const Range range : std::span(ranges).subspan(1)) {
    if (range.begin <= merged.end) {
      merged.end = std::max(merged.end, range.end);
    } else {
      advise(merged);
      merged = range;
    }
  }
  advise(merged);
}

}  // namespace penstock::lmdb
