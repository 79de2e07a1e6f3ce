#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "write/finished_cells.hpp"

namespace penstock::detail::runtime {

/// Cells of samples that are stored, for others; few bytes of them. One thread at a time.
class FreeCells {
 public:
  /// There are `most` at most.
  explicit FreeCells(std::size_t most) { free_.reserve(most); }

  /// Null: there are none.
  std::unique_ptr<FinishedCells> take() noexcept {
    if (free_.empty()) return nullptr;
    std::unique_ptr<FinishedCells> cells = std::move(free_.back());
    free_.pop_back();
    bytes_ -= cells->capacity();
    return cells;
  }
  /// Gives those back that there is no room for.
  std::unique_ptr<FinishedCells> add(std::unique_ptr<FinishedCells> cells) noexcept {
    if (cells == nullptr || bytes_ + cells->capacity() > small_finished_bytes) return cells;
    bytes_ += cells->capacity();
    free_.push_back(std::move(cells));
    return nullptr;
  }

 private:
  std::vector<std::unique_ptr<FinishedCells>> free_;  // at the end the last used, whose memory is warm
  std::size_t bytes_ = 0;
};

}  // namespace penstock::detail::runtime
