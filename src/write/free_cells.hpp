// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "write/finished_cells.hpp"

namespace penstock::detail::runtime {

/// Cells of stored samples, kept for reuse; limited to few bytes. One thread at a time.
class FreeCells {
 public:
  /// `most`: most cells.
  explicit FreeCells(std::size_t most) { free_.reserve(most); }

  /// Returns null if it is empty.
  std::unique_ptr<FinishedCells> take() noexcept {
    if (free_.empty()) return nullptr;
    std::unique_ptr<FinishedCells> cells = std::move(free_.back());
    free_.pop_back();
    bytes_ -= cells->capacity();
    return cells;
  }
  /// Returns the cells if there is no room for them.
  std::unique_ptr<FinishedCells> add(std::unique_ptr<FinishedCells> cells) noexcept {
    if (cells == nullptr || bytes_ + cells->capacity() > small_finished_bytes) return cells;
    bytes_ += cells->capacity();
    free_.push_back(std::move(cells));
    return nullptr;
  }

 private:
  std::vector<std::unique_ptr<FinishedCells>> free_;  // the last used ones, whose memory is warm, at the end
  std::size_t bytes_ = 0;
};

}  // namespace penstock::detail::runtime
