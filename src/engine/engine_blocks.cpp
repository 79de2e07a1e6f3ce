#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/relax.hpp"
#include "blocks/block_work.hpp"
#include "engine/engine.hpp"

// A runner's work where records share blocks: it loads some, and makes samples of those that are there.
namespace penstock::detail {

// Which fields of the source end up in a batch as they are read, and how large their rows are there.
std::vector<std::size_t> Engine::place_bytes() const {
  std::vector<std::size_t> bytes(data_->source_schema.size());
  for (const Step::Home& home : chain_.steps().front().homes)
    if (const RowField& field = slots_.layout().row()[home.row]; field.kind == RowField::Kind::dense)
      bytes[home.slot] = field.row_bytes;
  return bytes;
}

// Where the rows stand that a block is decoded to.
std::byte* Engine::place_of(const Residency& load) const noexcept {
  if (!load.placed) return nullptr;
  const Step& read = chain_.steps().front();
  const auto home = std::ranges::find(read.homes, load.field, &Step::Home::slot);
  return slots_.place(slot_of(load.first_user / rows_), home->row, load.first_user % rows_);
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
    std::byte* const place = place_of(*work.load);
    if (work_on_block(*blocks_, run, std::move(work), place)) wake_runners();
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
      const RankRows part = data_->rank_rows(at);
      out.resize(static_cast<std::size_t>(part.valid));
      data_->fill_batch(at.epoch, part.first, out);
      at = data_->next_batch(at);
    }
  };
}

}  // namespace penstock::detail
