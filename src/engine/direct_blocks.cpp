#include "engine/direct_placement.hpp"

#include <algorithm>
#include <utility>

#include "base/relax.hpp"
#include "blocks/block_work.hpp"

// A runner's work where records share blocks: it loads some, and makes samples of those that are there.
namespace penstock::detail {

// Which fields of the source end up in a batch as they are read, and how large their rows are there.
std::vector<std::size_t> DirectPlacement::destination_bytes() const {
  std::vector<std::size_t> bytes(data_.source_schema.size());
  for (const Step::Destination& destination : chain_.steps().front()->destinations)
    if (const RowField& field = ring_.layout().row()[destination.row]; field.kind == RowField::Kind::dense)
      bytes[destination.slot] = field.row_bytes;
  return bytes;
}

// Where the rows stand that a block is decoded to.
std::byte* DirectPlacement::destination_of(const Residency& load) const noexcept {
  if (!load.in_batch) return nullptr;
  const Step& read = *chain_.steps().front();
  const auto destination = std::ranges::find(read.destinations, load.field, &Step::Destination::slot);
  return ring_.address(queue_.at(load.first_user / rows_), destination->row, load.first_user % rows_);
}

// True: others wait for a thread, and this one has had its turn.
bool DirectPlacement::work_in_blocks(ChainRun& run) noexcept {
  const Turn turn(executor_);
  bool over = false;
  while (!over && !monitor_.is_paused() && !pool().crowded()) {
    if (!step_in_blocks(run)) {
      for (int i = 0; i < 256 && !has_work(); ++i) relax();
      if (!has_work()) break;
    }
    over = turn.over();
  }
  blocks_->leave(run.blocks.stretch);
  return over;
}

void DirectPlacement::help_in_blocks(ChainRun& run) noexcept {
  step_in_blocks(run);
  blocks_->leave(run.blocks.stretch);
}

// False: there is nothing to do.
bool DirectPlacement::step_in_blocks(ChainRun& run) noexcept {
  if (advises_) advise(run);
  BlockSchedule::Work work = blocks_->take(run.blocks.stretch);
  if (!work) return false;
  if (work.load != nullptr) {
    std::byte* const destination = destination_of(*work.load);
    if (work_on_block(*blocks_, run, std::move(work), destination)) wake_pool();
    return true;
  }
  const std::uint64_t number = *work.sample, row = number % rows_;
  BatchBuffer& buffer = queue_.at(number / rows_);
  if (row < buffer.valid) lend_blocks(*blocks_, run, number, buffer.indices[row]);
  TicketRun one{number, 1};
  if (!make_samples(run, buffer, one)) return true;
  if (blocks_->done(number)) wake_pool();
  finish(buffer, 1);
  return true;
}

BlockSchedule::Feed DirectPlacement::feed(Cursor at) const {
  return [this, at](std::vector<std::uint64_t>& out) mutable {
    // A rank may have no row of a batch, and none of any.
    for (std::uint64_t tries = steps_; tries != 0 && out.empty() && (setup_.epochs == 0 || at.epoch < setup_.epochs);
         --tries) {
      const RankRows part = positions_.rank_rows(at);
      out.resize(static_cast<std::size_t>(part.valid));
      positions_.fill(at.epoch, part.first, out);
      at = positions_.next(at);
    }
  };
}

}  // namespace penstock::detail
