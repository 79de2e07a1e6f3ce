#include "reorder/settled.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "blocks/block_work.hpp"

// Which samples are made, and in what order they get their cells.
namespace penstock::detail {

namespace {

constexpr std::size_t most_cells = 1u << 22;
constexpr std::uint64_t most_bounded_cells = 4096;
constexpr std::uint64_t positions_at_once = 64;
constexpr std::size_t moves_at_once = 16;

// What became of it is what becomes of all its samples.
bool decided(const Origin& origin) noexcept {
  return origin.terminates || origin.broken || origin.made.fatal || origin.made.masked || !origin.made.kept ||
         origin.count == 0;
}

}  // namespace

std::size_t Settled::cells_for(const PipelineData& data, std::size_t settle_bytes, unsigned threads) {
  const RowLayout layout(data.schema);
  const std::size_t row =
      std::max<std::size_t>(Settle::row_bytes(layout) + (layout.appends() ? appended_row_bytes : 0), 1);
  // Where sizes end a batch it has fewer rows than it may have.
  const std::size_t batch = static_cast<std::size_t>(
      data.bounded ? std::min<std::uint64_t>(data.most_rows(), most_bounded_cells) : data.most_rows());
  const std::size_t wanted = settle_bytes != 0 ? settle_bytes / row : batch;
  return std::clamp<std::size_t>(wanted, std::size_t{4} * threads, most_cells);
}

std::size_t Settled::origins_for(const PipelineData& data, unsigned threads) {
  if (data.stream_window != 0) return static_cast<std::size_t>(2 * data.stream_window);
  return data.flat_maps || data.source->is_stream() ? std::size_t{4} * threads : 0;
}

// A record as it is read, and, where stages follow before it is shared, room to work on it.
std::size_t Settled::least_origin_bytes(const PipelineData& data) {
  constexpr std::size_t varying = 1u << 16, stages = 1u << 20;
  std::size_t bytes = 0;
  for (const Field& f : data.source_schema)
    bytes += f.shape.fixed() ? static_cast<std::size_t>(f.shape.elements()) * size_of(f.dtype) + 64 : varying;
  return data.flat_maps ? bytes + stages : bytes;
}

Settled::Settled(std::shared_ptr<const PipelineData> data, const Chain& chain, const SettledOptions& options,
                 const Slots& slots, SettledHost& host)
    : data_(std::move(data)),
      chain_(chain),
      options_(options),
      slots_(slots),
      host_(host),
      settle_(*data_, chain.bounds(), options.cells, *options.memory, options.epochs, options.cell_limit),
      tickets_(settle_.size(), options.threads),
      to_open_(std::max<std::size_t>(options.origins, 1), options.threads),
      advises_(data_->source->wants_advice()),
      block_rows_(std::max<std::uint64_t>(data_->stream_window, 1)),
      positions_(*data_) {
  if (options.origins != 0) origins_.emplace(options.origins);
  if (data_->source->is_stream()) stream_ = data_->source->open_stream();
  const std::size_t ring = origins_ ? options.origins : settle_.size();
  chunk_ = std::clamp<std::uint64_t>(ring / 4, 1, positions_at_once);
  indices_.resize(chunk_);
}

void Settled::reset(const Cursor& cursor, const QuotaCount& count) {
  settle_.reset(cursor, count);
  tickets_.reset();
  to_open_.reset();
  if (origins_) origins_->reset();
  const auto zero = [](auto&... values) { (values.store(0, std::memory_order_relaxed), ...); };
  zero(cells_issued_, block_begin_, block_seen_, issued_);
  block_known_.store(false, std::memory_order_relaxed);
  exhausted_.store(false, std::memory_order_relaxed);
  permutation_.reset();
  positions_.begin(cursor);
  read_at_ = cursor;
  stream_begun_ = false;
  block_size_ = block_given_ = 0;
  next_child_ = 0;
  begun_ = false;
  answered_ = 0;
  child_ = cursor.child;
  // What is given out begins with a whole block of the stream.
  block_number_ = cursor.position / block_rows_;
  next_position_ = stream_ != nullptr ? cursor.position % block_rows_ : 0;
  read_at_.position = block_number_ * block_rows_;
  if (options_.epochs != 0 && cursor.epoch >= options_.epochs) exhausted_.store(true, std::memory_order_relaxed);
  want();
}

bool Settled::has_work() noexcept {
  return tickets_.available() || to_open_.available() || (options_.blocks != nullptr && options_.blocks->available()) ||
         (can_tidy() && !settling_.load(std::memory_order_seq_cst)) || (stream_ != nullptr ? can_read() : can_issue());
}

bool Settled::step(ChainRun& run) noexcept {
  bool did = tidy();
  if (stream_ == nullptr) did = issue() || did;
  if (const TicketRun tickets = tickets_.take(tickets_at_once(run.sample_ns)); tickets.count != 0) {
    make(run, tickets);
    tidy();
    return true;
  }
  if (options_.blocks != nullptr && work_in_blocks(run)) {
    tidy();
    return true;
  }
  if (const TicketRun ticket = to_open_.take(1); ticket.count != 0) {
    open(run, ticket.first);
    tidy();
    return true;
  }
  if (stream_ != nullptr) did = read(run) || did;
  return did;
}

// -- settling, and giving the samples of origins their cells --

bool Settled::can_tidy() noexcept { return settle_.decidable() || can_expand(); }

bool Settled::tidy() noexcept {
  bool did = false;
  while (can_tidy()) {
    if (settling_.exchange(true, std::memory_order_seq_cst)) return did;
    std::array<Settle::Move, moves_at_once> moves;
    const std::size_t count = settle_.decide(moves, host_);
    const std::uint64_t expanded = expand();
    settling_.store(false, std::memory_order_seq_cst);
    for (std::size_t i = 0; i < count;) {
      Slot* const slot = moves[i].slot;
      std::uint32_t parts = 0;
      for (; i < count && moves[i].slot == slot; ++i, ++parts) settle_.carry_out(moves[i], slots_);
      host_.finish_parts(*slot, parts);
    }
    if (expanded != 0) host_.wake_runners();
    did = true;
  }
  return did;
}

bool Settled::can_expand() noexcept {
  if (!origins_) return false;
  if (block_known_.load(std::memory_order_seq_cst))
    return settle_.vacant(cells_issued_.load(std::memory_order_seq_cst));
  const std::uint64_t number =
      block_begin_.load(std::memory_order_seq_cst) + block_seen_.load(std::memory_order_seq_cst);
  return opened(number);
}

// Its place in the ring may still be another's.
bool Settled::opened(std::uint64_t number) noexcept {
  return number < issued_.load(std::memory_order_seq_cst) &&
         origins_->at(number).opened.load(std::memory_order_seq_cst);
}

// It is made, or read: its samples may get their cells, unless the consumer has a say in it.
void Settled::publish(Origin& origin) noexcept {
  if (options_.skips == nullptr) {
    origin.opened.store(true, std::memory_order_seq_cst);
    return;
  }
  origin.asks.store(true, std::memory_order_seq_cst);
  host_.wake_consumer();
}

bool Settled::asks() noexcept {
  return options_.skips != nullptr && origins_ && answered_ < issued_.load(std::memory_order_seq_cst) &&
         origins_->at(answered_).asks.load(std::memory_order_seq_cst);
}

void Settled::answer() noexcept {
  for (; asks(); ++answered_) {
    Origin& origin = origins_->at(answered_);
    if (!decided(origin)) options_.skips->choose(origin);
    origin.asks.store(false, std::memory_order_seq_cst);
    origin.opened.store(true, std::memory_order_seq_cst);
  }
}

// Looks for the rest of the block in hand. True: all of it is there, or what comes before its end.
bool Settled::see_block() noexcept {
  const std::uint64_t begin = block_begin_.load(std::memory_order_relaxed);
  std::uint64_t seen = block_seen_.load(std::memory_order_relaxed);
  ends_block_ = false;
  while (seen != block_rows_ && !ends_block_) {
    if (!opened(begin + seen)) break;
    if (origins_->at(begin + seen).terminates)
      ends_block_ = true;
    else
      ++seen;
  }
  block_seen_.store(seen, std::memory_order_seq_cst);
  if (seen != block_rows_ && !ends_block_) return false;
  block_size_ = seen;
  block_given_ = std::min(std::exchange(next_position_, 0), seen);
  permutation_.reset();
  if (data_->stream_window != 0 && seen != 0)
    permutation_.emplace(
        seen,
        hash_mix(hash_mix(hash_mix(data_->seed_value(), data_->stream_key), origins_->at(begin).epoch), block_number_));
  // Those that were delivered before a resume.
  for (std::uint64_t i = 0; i < block_given_; ++i)
    origins_->at(begin + (permutation_ ? (*permutation_)(i) : i)).vacant.store(true, std::memory_order_seq_cst);
  block_known_.store(true, std::memory_order_seq_cst);
  return true;
}

// Gives samples of opened origins their cells, in order, as long as there are both. Returns how many.
std::uint64_t Settled::expand() noexcept {
  std::uint64_t expanded = 0;
  while (can_expand()) {
    if (!block_known_.load(std::memory_order_relaxed) && !see_block()) continue;
    const std::uint64_t begin = block_begin_.load(std::memory_order_relaxed);
    if (block_given_ != block_size_ || ends_block_) {
      if (!settle_.vacant(cells_issued_.load(std::memory_order_relaxed))) break;
      const std::uint64_t given =
          block_given_ != block_size_ && permutation_ ? (*permutation_)(block_given_) : block_given_;
      Origin& origin = origins_->at(begin + given);
      ++expanded;
      if (!give(origin)) continue;  // there are more samples of it
      if (block_given_ != block_size_) {
        ++block_given_;
        if (block_given_ != block_size_ || ends_block_) continue;
      }
    }
    block_number_ = ends_block_ ? 0 : block_number_ + 1;
    block_begin_.store(begin + block_size_ + (ends_block_ ? 1 : 0), std::memory_order_seq_cst);
    block_seen_.store(0, std::memory_order_seq_cst);
    block_known_.store(false, std::memory_order_seq_cst);
  }
  if (expanded != 0) tickets_.raise(cells_issued_.load(std::memory_order_relaxed));
  return expanded;
}

// One cell. True: it was the origin's last.
bool Settled::give(Origin& origin) noexcept {
  const bool is_decided = decided(origin);
  const std::uint32_t count = is_decided ? 1 : origin.count;
  if (!begun_) {
    begun_ = true;
    next_child_ = std::min(std::exchange(child_, 0), count - 1);
    origin.left.store(count - next_child_, std::memory_order_relaxed);
  }
  const std::uint64_t number = cells_issued_.load(std::memory_order_relaxed);
  SettleCell& cell = settle_.take(number);
  cell.place = {origin.epoch, origin.position, next_child_, origin.made.attempt};
  cell.index = origin.made.index;
  cell.origin = &origin;
  cell.decided = is_decided;
  cell.skipped = !is_decided && next_child_ < origin.skipped.size() && origin.skipped[next_child_];
  const bool through = ++next_child_ == count;
  cell.last = origin.end || (origin.last && through);
  const Cursor at =
      stream_ == nullptr ? origin.at : Cursor{origin.epoch, 0, block_number_ * block_rows_ + block_given_, 0};
  cell.position = at.position;
  if (cell.last)
    cell.next = {origin.epoch + 1, 0, 0, 0};
  else
    cell.next = {at.epoch, 0, through ? at.position + 1 : at.position, through ? 0 : next_child_};
  if (through) begun_ = false;
  cells_issued_.store(number + 1, std::memory_order_seq_cst);
  return through;
}

// -- issuing positions --

bool Settled::vacant(std::uint64_t number) noexcept {
  return origins_ ? origins_->at(number).vacant.load(std::memory_order_seq_cst) : settle_.vacant(number);
}

bool Settled::can_issue() noexcept {
  if (exhausted_.load(std::memory_order_seq_cst) || issuing_.load(std::memory_order_seq_cst)) return false;
  const std::uint64_t number = issued_.load(std::memory_order_seq_cst);
  const std::uint64_t wanted = wanted_.load(std::memory_order_seq_cst);
  return wanted != 0 && vacant(number) && vacant(number + wanted - 1);
}

bool Settled::issue() noexcept {
  bool did = false;
  while (can_issue() && !host_.paused()) {
    if (issuing_.exchange(true, std::memory_order_seq_cst)) return did;
    const std::uint64_t first = issued_.load(std::memory_order_relaxed);
    std::uint64_t count = 0;
    while (count < wanted_.load(std::memory_order_relaxed) && vacant(first + count)) ++count;
    if (count != 0 && !exhausted_.load(std::memory_order_relaxed)) issue_some(first, count);
    issuing_.store(false, std::memory_order_seq_cst);
    did = true;
  }
  return did;
}

// Positions become cells, or origins. An order that fails does so at its own position, however many are asked for at
// once; what comes before that is made.
void Settled::issue_some(std::uint64_t first, std::uint64_t count) noexcept {
  std::uint64_t good = 0;
  bool failed = false;
  std::optional<Error> error;
  try {
    positions_.fill(0, {indices_.data(), count});
    good = count;
  } catch (...) {
    for (; good < count && !failed; good += failed ? 0 : 1) try {
        positions_.fill(good, {&indices_[good], 1});
      } catch (...) {
        failed = true;
        error = described_error("order");
      }
  }
  const std::uint64_t issued = good + (failed ? 1 : 0);
  for (std::uint64_t i = 0; i < issued; ++i) {
    const Place place = positions_.place(i);
    Made* made = nullptr;
    bool* broken = nullptr;
    if (origins_) {
      Origin& origin = origins_->take(first + i);
      origin.epoch = place.epoch;
      origin.position = place.position;
      origin.index = origin.made.index = indices_[i];
      origin.at = positions_.at(i);
      origin.last = positions_.last(i);
      made = &origin.made;
      broken = &origin.broken;
    } else {
      SettleCell& cell = settle_.take(first + i);
      cell.place = place;
      cell.position = positions_.at(i).position;
      cell.index = indices_[i];
      cell.last = positions_.last(i);
      cell.next = positions_.behind(i);
      made = &cell.made;
      broken = &cell.broken;
    }
    if (i < good) continue;
    *broken = !error;
    made->fatal = std::move(error);
    break;
  }
  positions_.skip(issued);
  if (failed || (options_.epochs != 0 && !positions_.endless() && positions_.epoch() >= options_.epochs))
    exhausted_.store(true, std::memory_order_seq_cst);
  want();
  issued_.store(first + issued, std::memory_order_seq_cst);
  if (options_.blocks != nullptr) {
    options_.blocks->prepare(good);
    options_.blocks->issue(first, good, issued);
  } else {
    (origins_ ? to_open_ : tickets_).raise(first + issued);
  }
  host_.wake_runners();
  if (advises_ && good != 0) data_->source->will_need({indices_.data(), good});
}

// A block, or what is read of some: a sample, or the record that its children share.
bool Settled::work_in_blocks(ChainRun& run) noexcept {
  BlockSchedule::Work work = options_.blocks->take();
  if (!work) return false;
  if (work.load != nullptr) {
    if (work_on_block(*options_.blocks, run, std::move(work))) host_.wake_runners();
    return true;
  }
  const std::uint64_t number = *work.sample;
  lend_blocks(*options_.blocks, run, number, origins_ ? origins_->at(number).index : settle_.cell(number).index);
  if (origins_)
    open(run, number);
  else
    make(run, {number, 1});
  return true;
}

// Before the cell or origin may become another's, whose blocks stand in the same place.
void Settled::give_back_blocks(std::uint64_t number) noexcept {
  if (options_.blocks != nullptr && options_.blocks->done(number)) host_.wake_runners();
}

// As many as are issued at once, and no more than the epoch has.
void Settled::want() noexcept { wanted_.store(std::min(chunk_, positions_.left()), std::memory_order_seq_cst); }

}  // namespace penstock::detail
