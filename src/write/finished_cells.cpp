// SPDX-License-Identifier: Apache-2.0
#include "write/finished_cells.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock::detail::runtime {

namespace {

// Up to this number of bytes, the size of the memory is rounded up to a power of two, so that a slightly larger sample
// finds room later. Larger sizes are not rounded up.
constexpr std::uint64_t usual_bytes = 64 << 10;
// Copying fewer bytes than this costs less than taking the memory.
constexpr std::uint64_t worth_taking_bytes = 4096;

}  // namespace

std::size_t FinishedCells::bytes_of(std::size_t slot) const {
  return static_cast<std::size_t>(cells[slot].shape.elements()) * size_of((*schema)[slot].dtype);
}

FinishedCells::Bytes FinishedCells::take(ChainRun& run) {
  schema = run.schema;
  cells.resize(run.cells.size());
  std::uint64_t all = 0;
  for (std::size_t slot = 0; slot < cells.size(); ++slot) {
    const std::byte* const value = run.value(slot);
    cells[slot] = {};
    cells[slot].data = value;
    cells[slot].shape = run.cells[slot].shape;
    cells[slot].writable = run.cells[slot].writable;
    all += bytes_of(slot);
  }
  // Frees this object's memory if an earlier sample was much larger. Otherwise much unused memory would be held, and
  // not counted, while the new sample waits.
  if (arena_ && arena_->capacity() > std::max<std::uint64_t>(4 * all, 256 << 10)) arena_.reset();
  if (arena_)
    arena_->reset();
  else
    arena_.emplace(ScratchArena::no_limit, std::min(std::bit_ceil(all + 64 * cells.size()), usual_bytes));
  // Takes the scratch itself if the values are not small and have more than half as many bytes as the scratch.
  const bool takes_memory = all >= worth_taking_bytes && run.arena.capacity() < 2 * all;
  if (takes_memory) arena_->swap_memory(run.arena);
  for (std::size_t slot = 0; slot < cells.size(); ++slot) {
    if (takes_memory && arena_->holds(cells[slot].data)) continue;
    const std::size_t bytes = bytes_of(slot);
    std::byte* const to = arena_->allocate(std::max<std::size_t>(bytes, 1));
    if (bytes != 0) std::memcpy(to, cells[slot].data, bytes);
    cells[slot].data = to;
    cells[slot].writable = true;
  }
  return {all, takes_memory ? std::max<std::uint64_t>(all, arena_->capacity()) : all};
}

}  // namespace penstock::detail::runtime
