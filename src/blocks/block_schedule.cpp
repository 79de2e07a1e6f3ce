#include "blocks/block_schedule.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include "base/alignment.hpp"
#include "base/failure.hpp"

namespace penstock::detail {

namespace {
// Blocks without a known next use go first, and of those the one that was used longest ago.
constexpr std::uint64_t never = std::uint64_t{1} << 63;
}  // namespace

BlockSchedule::BlockSchedule(const BlockModel& model, std::size_t limit_bytes, std::uint64_t lookahead,
                             std::size_t in_flight, MemoryResource& memory, std::vector<std::size_t> place_bytes)
    : model_(model),
      limit_(std::min(limit_bytes, std::numeric_limits<std::size_t>::max() / 4)),
      lookahead_(lookahead),
      memory_(memory),
      in_flight_(in_flight),
      place_bytes_(std::move(place_bytes)),
      samples_(in_flight) {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(in_flight);
  ready_ = decltype(ready_)(std::greater<>(), std::move(numbers));
}

BlockSchedule::~BlockSchedule() {
  for (Sample& sample : samples_)
    for (auto& block : sample.blocks) drop(block);
  for (auto& load : loads_) load.reset();
  for (auto& [block, stay] : stays_) drop(stay.residency);
  free(spares_);
}

void BlockSchedule::reset(Feed feed) {
  const std::lock_guard lock(mutex_);
  feed_ = std::move(feed);
  fed_.clear();
  fed_at_ = 0;
  fetched_.clear();
  upcoming_.clear();
  next_uses_.clear();
  placed_.reset();
  planned_ = 0;
  for (Sample& sample : samples_)
    for (auto& block : sample.blocks) drop(block);
  for (Sample& sample : samples_) sample.blocks.clear();
  while (!ready_.empty()) ready_.pop();
  loads_.clear();
  by_next_use_.clear();
  planned_bytes_ = 0;
  out_of_memory_ = false;
  for (auto at = stays_.begin(); at != stays_.end();) {
    Stay& stay = at->second;
    if (!stay.residency->done || stay.residency->failure) {  // planned and never loaded, or worth another try
      drop(stay.residency);
      at = stays_.erase(at);
      continue;
    }
    stay.last_use = 0;
    stay.key = key_of(at->first, 0);
    by_next_use_.emplace(stay.key, at->first);
    planned_bytes_ += stay.residency->bytes;
    ++at;
  }
  update();
}

void BlockSchedule::prepare(std::uint64_t count) noexcept {
  try {
    while (upcoming_.size() + fetched_.size() < count + lookahead_ && fetch()) {
    }
  } catch (...) {  // an order that fails does so again when it is asked for the samples themselves
    feed_ = nullptr;
    fed_.clear();
    fed_at_ = 0;
  }
}

void BlockSchedule::issue(std::uint64_t first, std::uint64_t of_feed, std::uint64_t count) noexcept {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t number = first; number < first + count; ++number) {
    Sample& sample = samples_[number % in_flight_];
    sample.blocks.clear();
    sample.missing = 0;
    sample.too_large = 0;
    sample.planned = false;
    try {
      if (number - first < of_feed && !out_of_memory_) plan(number, of_feed - (number - first));
    } catch (...) {
      out_of_memory_ = true;
    }
    if (sample.missing == 0) ready_.push(number);
  }
  update();
}

// -- the plan --

// One more sample of the feed. False: there are no more.
bool BlockSchedule::fetch() {
  if (fed_at_ == fed_.size()) {
    std::vector<std::uint64_t> more;
    if (feed_) feed_(more);
    if (more.empty()) return false;
    fed_ = std::move(more);
    fed_at_ = 0;
  }
  Upcoming next;
  next.index = fed_[fed_at_];
  describe(next);
  fetched_.push_back(std::move(next));
  ++fed_at_;
  return true;
}

// What it needs. Where the source can't say that, its reader will tell why.
void BlockSchedule::describe(Upcoming& next) const {
  try {
    model_.blocks_of(next.index, next.blocks);
    for (const std::uint64_t block : next.blocks) next.distinct.emplace_back(block, 0);
    std::ranges::sort(next.distinct);
    next.distinct.erase(std::unique(next.distinct.begin(), next.distinct.end()), next.distinct.end());
    for (auto& [block, bytes] : next.distinct) {
      bytes = static_cast<std::size_t>(model_.block_bytes(block));
      if (__builtin_add_overflow(next.bytes, bytes, &next.bytes)) next.bytes = std::numeric_limits<std::size_t>::max();
      if (next.bytes == std::numeric_limits<std::size_t>::max()) break;
    }
    if (!place_bytes_.empty() && next.distinct.size() == 1) next.rows = model_.rows_of(next.distinct.front().first);
    next.known = true;
  } catch (...) {
    next.blocks.clear();
    next.distinct.clear();
  }
}

// The plan knows so many samples ahead, however many are fetched.
void BlockSchedule::look_ahead() {
  while (upcoming_.size() < 1 + lookahead_ && !fetched_.empty()) {
    const std::uint64_t use = planned_ + upcoming_.size();
    upcoming_.push_back(std::move(fetched_.front()));
    fetched_.pop_front();
    for (const auto& [block, bytes] : upcoming_.back().distinct) {
      std::deque<std::uint64_t>& uses = next_uses_[block];
      uses.push_back(use);
      if (uses.size() != 1) continue;
      const auto found = stays_.find(block);
      if (found == stays_.end()) continue;
      by_next_use_.erase({found->second.key, block});
      found->second.key = use;
      by_next_use_.emplace(use, block);
    }
  }
}

std::uint64_t BlockSchedule::key_of(std::uint64_t block, std::uint64_t last_use) const {
  const auto uses = next_uses_.find(block);
  return uses != next_uses_.end() && !uses->second.empty() ? uses->second.front() : never + (never >> 1) - last_use;
}

void BlockSchedule::stay(std::uint64_t block, Stay stay) {
  stay.key = key_of(block, stay.last_use);
  by_next_use_.emplace(stay.key, block);
  stays_[block] = std::move(stay);
}

// True where this sample and those after it are the rows of the block, side by side in the batch, of which `left` are
// to come, and no other is known to need it.
bool BlockSchedule::can_be_placed(const Upcoming& now, std::uint64_t left) const {
  if (!now.rows || now.rows->first != now.index) return false;
  const auto& [field, first, records] = *now.rows;
  const auto& [block, bytes] = now.distinct.front();
  if (records == 0 || records > left || records - 1 > upcoming_.size() || bytes % records != 0) return false;
  if (field >= place_bytes_.size() || place_bytes_[field] == 0 || place_bytes_[field] != bytes / records) return false;
  const auto uses = next_uses_.find(block);
  if ((uses == next_uses_.end() ? 0 : uses->second.size()) != records - 1) return false;
  for (std::uint64_t n = 1; n < records; ++n) {
    const Upcoming& next = upcoming_[n - 1];
    if (next.index != first + n || next.distinct.size() != 1 || next.distinct.front().first != block) return false;
  }
  return true;
}

void BlockSchedule::plan(std::uint64_t number, std::uint64_t left) {
  look_ahead();
  if (upcoming_.empty()) return;
  const Upcoming now = std::move(upcoming_.front());
  upcoming_.pop_front();
  const std::uint64_t use = planned_++;
  for (const auto& [block, bytes] : now.distinct) {
    const auto uses = next_uses_.find(block);
    uses->second.pop_front();
    if (uses->second.empty()) next_uses_.erase(uses);
  }
  if (!now.known) return;
  Sample& sample = samples_[number % in_flight_];
  sample.index = now.index;
  if (now.bytes > limit_) {
    sample.too_large = now.bytes;
    sample.planned = true;
    return;
  }
  if (placed_ != nullptr && use >= placed_end_) placed_.reset();
  if (placed_ == nullptr && planned_bytes_ + now.bytes > limit_ && now.rows &&
      !stays_.contains(now.distinct.front().first) && can_be_placed(now, left)) {
    placed_ = std::make_shared<Residency>();
    std::tie(placed_->block, placed_->bytes) = now.distinct.front();
    placed_->first_user = number;
    placed_->field = now.rows->field;
    placed_->placed = true;
    placed_end_ = use + now.rows->records;
    ++counts_.loads;
    loads_.push_back(placed_);
  }
  if (placed_ != nullptr) {
    ++counts_.uses;
    if (!placed_->done) {
      placed_->waiters.push_back(number);
      ++sample.missing;
    }
    sample.blocks.assign(now.blocks.size(), placed_);
    sample.planned = true;
    return;
  }
  // Its own blocks are not what makes room.
  std::vector<Stay> kept(now.distinct.size());
  std::size_t missing = 0;
  for (std::size_t i = 0; i < now.distinct.size(); ++i) {
    const auto& [block, bytes] = now.distinct[i];
    const auto found = stays_.find(block);
    if (found == stays_.end()) {
      missing += bytes;
      continue;
    }
    by_next_use_.erase({found->second.key, block});
    kept[i] = std::move(found->second);
    stays_.erase(found);
  }
  make_room(missing);
  for (std::size_t i = 0; i < now.distinct.size(); ++i) {
    Stay& it = kept[i];
    if (it.residency == nullptr) {
      it.residency = std::make_shared<Residency>();
      std::tie(it.residency->block, it.residency->bytes) = now.distinct[i];
      it.residency->first_user = number;
      planned_bytes_ += it.residency->bytes;
      ++counts_.loads;
      loads_.push_back(it.residency);
    }
    it.last_use = use + 1;
    ++counts_.uses;
    if (!it.residency->done) {
      it.residency->waiters.push_back(number);
      ++sample.missing;
    }
  }
  for (const std::uint64_t block : now.blocks) {
    const auto at = std::ranges::lower_bound(now.distinct, std::pair{block, std::size_t{0}});
    sample.blocks.push_back(kept[static_cast<std::size_t>(at - now.distinct.begin())].residency);
  }
  for (std::size_t i = 0; i < now.distinct.size(); ++i) stay(now.distinct[i].first, std::move(kept[i]));
  sample.planned = true;
}

void BlockSchedule::make_room(std::size_t bytes) {
  while (planned_bytes_ + bytes > limit_) {
    const auto farthest = std::prev(by_next_use_.end());
    const auto found = stays_.find(farthest->second);
    planned_bytes_ -= found->second.residency->bytes;
    by_next_use_.erase(farthest);
    drop(found->second.residency);
    stays_.erase(found);
  }
}

// -- the work --

bool BlockSchedule::load_can_begin() const noexcept {
  return !loads_.empty() &&
         (out_of_memory_ || loads_.front()->placed || loads_.front()->bytes <= limit_ - std::min(limit_, used_bytes_));
}

void BlockSchedule::update() noexcept {
  available_.store(!ready_.empty() || load_can_begin(), std::memory_order_seq_cst);
}

BlockSchedule::Work BlockSchedule::take() noexcept {
  const std::lock_guard lock(mutex_);
  Work work;
  const bool loads = load_can_begin();
  if (!ready_.empty() && (!loads || ready_.top() < loads_.front()->first_user)) {
    work.sample = ready_.top();
    ready_.pop();
  } else if (loads) {
    work.load = std::move(loads_.front());
    loads_.pop_front();
    if (!work.load->placed) used_bytes_ += work.load->bytes;
  }
  update();
  return work;
}

bool BlockSchedule::load(std::shared_ptr<Residency> load, std::byte* place) noexcept {
  std::byte* data = place;
  std::optional<Error> failure;
  bool failed = false;
  try {
    if (!load->placed) data = take_memory(load->bytes);
    model_.load(load->block, {data, load->bytes});
  } catch (...) {
    failed = true;
    failure = described_error("read");
  }
  const std::lock_guard lock(mutex_);
  counts_.peak_bytes = std::max(counts_.peak_bytes, used_bytes_);
  load->data = data;
  if (failed) load->failure = failure ? std::move(*failure) : no_memory();
  load->done = true;
  for (const std::uint64_t waiter : load->waiters)
    if (--samples_[waiter % in_flight_].missing == 0) ready_.push(waiter);
  load->waiters.clear();
  drop(load);
  update();
  return available();
}

bool BlockSchedule::blocks_of(std::uint64_t number, std::uint64_t index, std::vector<std::span<const std::byte>>& out) {
  out.clear();
  // Nobody else touches a sample, or its blocks, from `take`, which was under the mutex, to `done`.
  const Sample& sample = samples_[number % in_flight_];
  if (!sample.planned || sample.index != index) return false;
  if (sample.too_large != 0)
    throw Error(Errc::limit_exceeded, "the record needs blocks of " + std::to_string(sample.too_large) +
                                          " bytes at once, but there are " + std::to_string(limit_) +
                                          " for blocks; raise `block_bytes`, or `memory`");
  for (const auto& block : sample.blocks) {
    if (block->failure) throw Error(*block->failure);
    out.emplace_back(block->data, block->bytes);
  }
  return true;
}

bool BlockSchedule::done(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  const bool before = load_can_begin();
  Sample& sample = samples_[number % in_flight_];
  for (auto& block : sample.blocks) drop(block);
  sample.blocks.clear();
  update();
  return !before && load_can_begin();
}

// The last one that holds it gives its memory back.
void BlockSchedule::drop(std::shared_ptr<Residency>& residency) noexcept {
  if (residency != nullptr && residency.use_count() == 1 && residency->done && !residency->placed) {
    used_bytes_ -= residency->bytes;
    if (residency->data != nullptr) {
      try {
        spares_.emplace_back(residency->data, residency->bytes);
        spare_bytes_ += residency->bytes;
      } catch (...) {
        memory_.deallocate(residency->data, residency->bytes, alignment);
      }
    }
  }
  residency.reset();
}

// Blocks are mostly of one size: what the last one left is there for the next.
std::byte* BlockSchedule::take_memory(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  // One at a time, or what one is about to free would stand beside what another allocates. Not under the other mutex:
  // a resource is a user's code.
  const std::lock_guard one_at_a_time(memory_mutex_);
  Spares unwanted;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = spares_.size(); i-- > 0;) {
      if (spares_[i].second != bytes) continue;
      std::byte* const data = spares_[i].first;
      spares_[i] = spares_.back();
      spares_.pop_back();
      spare_bytes_ -= bytes;
      return data;
    }
    unwanted = spares_beyond(limit_ - std::min(limit_, used_bytes_));
  }
  free(unwanted);
  return static_cast<std::byte*>(memory_.allocate(bytes, alignment));
}

// Taken out of the spares, so that no more than so many bytes of them are left.
BlockSchedule::Spares BlockSchedule::spares_beyond(std::size_t bytes) noexcept {
  Spares out;
  if (spare_bytes_ <= bytes) return out;
  out.swap(spares_);
  spare_bytes_ = 0;
  return out;
}

void BlockSchedule::free(const Spares& spares) noexcept {
  for (const auto& [data, bytes] : spares) memory_.deallocate(data, bytes, alignment);
}

BlockSchedule::Counts BlockSchedule::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace penstock::detail
