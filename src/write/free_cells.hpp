// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "write/finished_cells.hpp"

namespace penstock::detail::runtime {

/// Keeps the FinishedCells of stored samples for reuse. All kept FinishedCells together have at most
/// `small_finished_bytes` bytes. One thread at a time may use it.
class FreeCells {
 public:
  /// `most`: the largest number of FinishedCells that are ever kept at a time. The caller must not add more.
  explicit FreeCells(std::size_t most) { free_.reserve(most); }

  /// Returns one of the kept FinishedCells, or null if none is kept.
  std::unique_ptr<FinishedCells> take() noexcept {
    if (free_.empty()) return nullptr;
    std::unique_ptr<FinishedCells> cells = std::move(free_.back());
    free_.pop_back();
    bytes_ -= cells->capacity();
    return cells;
  }
  /// Keeps `cells` and returns null, or returns `cells` if there is no room.
  std::unique_ptr<FinishedCells> add(std::unique_ptr<FinishedCells> cells) noexcept {
    if (cells == nullptr || bytes_ + cells->capacity() > small_finished_bytes) return cells;
    bytes_ += cells->capacity();
    free_.push_back(std::move(cells));
    return nullptr;
  }

 private:
  // The FinishedCells that were used last are at the end and are taken first, because their memory is most likely in a
  // cache.
  std::vector<std::unique_ptr<FinishedCells>> free_;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::detail::runtime
