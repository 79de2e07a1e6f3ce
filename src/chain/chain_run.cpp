// SPDX-License-Identifier: Apache-2.0
#include "chain/chain_run.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "chain/chain.hpp"
#include "data/decode_whole.hpp"

namespace penstock::detail::runtime {

ChainRun::ChainRun(const Chain& chain, std::size_t scratch_limit, std::unique_ptr<ReaderModel> its_reader,
                   std::size_t max_steps)
    : arena(own_arena_), reader(std::move(its_reader)), own_arena_(scratch_limit), chain_(&chain) {
  prepare(max_steps);
}

ChainRun::ChainRun(const Chain& chain, ChainRun& its_outer) : arena(its_outer.arena), own_arena_(0), chain_(&chain) {
  branches.outer = &its_outer;
  prepare(~std::size_t{0});
}

void ChainRun::prepare(std::size_t max_steps) {
  const Chain& chain = *chain_;
  const auto& steps = chain.steps();
  max_bytes = chain.data().check_value().max_sample_bytes;
  counters.steps.resize(steps.size());
  images.decoders.resize(steps.size());
  images.shared_draws.resize(chain.shared_draws());
  if (chain.layout() != nullptr) row.varying.resize(chain.layout()->varying());
  for (std::size_t i = 0; i < std::min(steps.size(), max_steps); ++i) images.decoders[i] = steps[i]->start_decoding();
  for (const Chain::ChainBranch& branch : chain.branches())
    branches.inner.push_back(std::make_unique<ChainRun>(*branch.chain, *this));
}

void ChainRun::begin(const Step& step, std::span<std::byte* const> destinations) {
  if (step.starts_anew(*this)) {
    if (branches.outer == nullptr) arena.reset();
    decoding.reset();
    if (cells.size() != step.fields) cells.resize(step.fields);
    for (std::size_t slot = 0; slot < step.fields; ++slot) {
      cells[slot].data = nullptr;
      cells[slot].promise = nullptr;
      cells[slot].destination = nullptr;
      cells[slot].row = 0;
    }
  } else if (step.renumber == Step::Renumber::down) {
    std::size_t slot = 0;
    for (; slot < step.fields && step.from[slot] >= 0; ++slot)
      if (const auto old = static_cast<std::size_t>(step.from[slot]); old != slot) cells[slot] = cells[old];
    cells.resize(slot);
    cells.resize(step.fields);
  } else if (step.renumber == Step::Renumber::freely) {
    spare.assign(step.schema.size(), Cell{});
    for (std::size_t i = 0; i < step.from.size(); ++i)
      if (step.from[i] >= 0) spare[i] = cells[static_cast<std::size_t>(step.from[i])];
    std::swap(cells, spare);
  }
  schema = &step.schema;
  for (const std::size_t slot : step.cleared) {
    cells[slot].data = nullptr;
    cells[slot].promise = nullptr;
  }
  if (branches.outer != nullptr) {
    for (const Step::Destination destination : step.destinations) {
      const Cell& to = branches.outer->cells[branches.first_slot + destination.row];
      cells[destination.slot].destination = to.destination;
      cells[destination.slot].row = to.row;
    }
  } else if (!destinations.empty()) {
    for (const Step::Destination destination : step.destinations)
      cells[destination.slot].destination = destinations[destination.row];
    for (const Step::Destination destination : step.varying_destinations)
      cells[destination.slot].row = static_cast<std::uint32_t>(destination.row + 1);
  }
}

void ChainRun::adopt() {
  arena.reset();
  decoding.reset();
  schema = parent->schema;
  cells = parent->cells;
  for (Cell& cell : cells) {
    cell.destination = nullptr;
    cell.row = 0;
    cell.writable = false;
  }
}

// An error names "read" as its stage, no matter which stage needs the image's pixels.
void ChainRun::decode(const Promise& promise, std::byte* out) {
  const std::string* const stage = std::exchange(at, &chain_->steps().front()->label);
  decoding = promise.slot;
  const ScratchArena::Mark mark = arena.mark();
  decode_whole(*promise.image, promise.shape, chain_->data().check_value().verify, out, arena);
  arena.rewind(mark);
  decoding.reset();
  at = stage;
}

void ChainRun::follow_outer() {
  runner.trace = branches.outer->runner.trace;
  if (!(stop == branches.outer->stop)) stop = branches.outer->stop;
}

// A promise names the slot of the source's field, and the outer chain's source has other slots.
void ChainRun::hand_over() {
  for (std::size_t slot = 0; slot < cells.size(); ++slot) {
    Cell& to = branches.outer->cells[branches.first_slot + slot];
    to = cells[slot];
    if (to.promise == nullptr) continue;
    auto* const promise = ::new (arena.allocate(sizeof(Promise))) Promise(*to.promise);
    promise->slot = branches.first_slot + slot;
    to.promise = promise;
  }
  branches.outer->copied_bytes += std::exchange(copied_bytes, 0);
}

// The steps before a cache run only for samples that it does not have.
std::uint64_t ChainRun::runs_of_branch(std::size_t step) const noexcept {
  if (branches.outer == nullptr) return 0;
  return (step < chain_->cache_step() ? counters.totals.made : counters.totals.samples).get();
}

void ChainRun::append_to(RowOutlet& outlet) noexcept { row.outlet = &outlet; }

// Returns the memory for a value of this shape that becomes a row of the batch. A value that is too long for its row
// gets scratch, because a later stage may still cut the value, or a filter may leave out the sample.
std::byte* ChainRun::destination(std::size_t number, const Shape& shape) {
  if (branches.outer != nullptr) return branches.outer->destination(number, shape);
  const RowField& field = (*chain_->layout())[number];
  RaggedRow& out = row.varying[field.varying];
  const std::uint64_t bytes = shape.elements() * size_of(chain_->data().schema[number].dtype);
  if (field.appended())
    out = {row.outlet->append(static_cast<std::size_t>(bytes)), shape};
  else if (shape[0] <= field.to)
    out = {row.fields[number], shape};
  else
    return arena.allocate(static_cast<std::size_t>(bytes));
  return out.data;
}

}  // namespace penstock::detail::runtime
