#include "block_work.hpp"

#include <algorithm>
#include <utility>

#include "clock.hpp"
#include "engine.hpp"
#include "failure.hpp"
#include "relax.hpp"

// A runner's work where records share blocks: it loads some, and makes samples of those that are there.
namespace penstock::detail {

bool outgrow(const BlockModel& model, std::size_t limit) noexcept {
  try {
    const std::uint64_t blocks = model.blocks();
    std::uint64_t left = limit;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const std::uint64_t bytes = model.block_bytes(b);
      if (bytes > left) return true;
      left -= bytes;
    }
  } catch (...) {
    // Whoever needs that block will say so.
  }
  return false;
}

bool work_on_block(BlockSchedule& blocks, ChainRun& run, BlockSchedule::Work work) noexcept {
  const std::uint64_t blocked = times_blocked();
  const Clocks begun = read_clocks();
  run.counters[0].bytes.add(work.load->bytes);
  const bool more = blocks.load(std::move(work.load));
  const Clocks ended = read_clocks();
  const std::uint64_t cpu_ns = ended.cpu_ns - begun.cpu_ns, wall_ns = ended.wall_ns - begun.wall_ns;
  run.counters[0].cpu_ns.add(cpu_ns);
  if (wall_ns > cpu_ns && times_blocked() != blocked) run.counters[0].wait_ns.add(wall_ns - cpu_ns);
  run.reads.wall_ns.add(wall_ns);
  return more;
}

void lend_blocks(BlockSchedule& blocks, ChainRun& run, std::uint64_t sample, std::uint64_t index) noexcept {
  run.block_failure.reset();
  try {
    if (blocks.blocks_of(sample, index, run.blocks)) run.reader->lend(index, run.blocks, nullptr);
  } catch (...) {
    run.block_failure = described_error("read");
    if (run.block_failure) run.reader->lend(index, {}, &*run.block_failure);
  }
}

// Where a block's rows have their places side by side in the batch it is loaded for, and no stage changes the field, it
// is decoded right there. Not where all blocks can stay in memory: then the next epoch has them for nothing.
void Engine::place_block(Residency& load) noexcept {
  if (!places_blocks_) return;
  try {
    const std::optional<BlockRows> rows = data_->source->block_model()->rows_of(load.block);
    if (!rows || rows->records == 0) return;
    const Step& read = chain_.steps().front();
    const auto home = std::ranges::find(read.homes, rows->field, &Step::Home::slot);
    if (home == read.homes.end() || slots_.layout().row()[home->row].row_bytes * rows->records != load.bytes) return;
    const std::uint64_t row = load.first_user % rows_;
    const Slot& slot = slot_of(load.first_user / rows_);
    if (row + rows->records > slot.valid) return;
    for (std::uint64_t n = 0; n < rows->records; ++n)
      if (slot.indices[row + n] != rows->first + n) return;
    blocks_->place(load, rows->records, slots_.place(slot, home->row, row));
  } catch (...) {
    // It is loaded as any other then.
  }
}

// True: others wait for a thread, and this one has had its turn.
bool Engine::work_in_blocks(ChainRun& run) noexcept {
  const std::uint64_t begun = now_ns();
  while (!paused()) {
    if (!step_in_blocks(run)) {
      for (int i = 0; i < 256 && !has_work(); ++i) relax();
      if (!has_work()) return false;
    }
    if (executor_->waiting() != 0 && now_ns() - begun > turn_ns) return true;
  }
  return false;
}

// False: there is nothing to do.
bool Engine::step_in_blocks(ChainRun& run) noexcept {
  if (advises_) advise();
  BlockSchedule::Work work = blocks_->take();
  if (!work) return false;
  if (work.load != nullptr) {
    place_block(*work.load);
    if (work_on_block(*blocks_, run, std::move(work))) wake_runners();
    return true;
  }
  const std::uint64_t number = *work.sample, row = number % rows_;
  Slot& slot = slot_of(number / rows_);
  if (row < slot.valid) lend_blocks(*blocks_, run, number, slot.indices[row]);
  if (!make_samples(run, slot, {number, 1})) return true;
  if (blocks_->done(number)) wake_runners();
  finish_parts(slot, 1);
  return true;
}

BlockSchedule::Feed Engine::feed(Cursor at) const {
  if (data_->settled()) {
    Positions positions(*data_);
    positions.begin(at);
    return [this, positions](std::vector<std::uint64_t>& out) mutable {
      constexpr std::uint64_t at_once = 256;
      if (options_.epochs != 0 && !positions.endless() && positions.epoch() >= options_.epochs) return;
      out.resize(static_cast<std::size_t>(std::min(at_once, positions.left())));
      positions.fill(0, out);
      positions.skip(out.size());
    };
  }
  return [this, at](std::vector<std::uint64_t>& out) mutable {
    // A rank may have no row of a batch, and none of any.
    for (std::uint64_t tries = steps_;
         tries != 0 && out.empty() && (options_.epochs == 0 || at.epoch < options_.epochs); --tries) {
      const RankRows part = data_->rank_rows(at.number);
      out.resize(static_cast<std::size_t>(part.valid));
      data_->fill(at.epoch, part.first, out);
      if (++at.number == steps_) at = {at.epoch + 1, 0, 0, 0};
    }
  };
}

}  // namespace penstock::detail
