#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "library/selection.hpp"

namespace penstock::hdf5 {

/// What of a virtual dataset of these dimensions lies in some mapping.
class Coverage {
 public:
  explicit Coverage(std::span<const std::int64_t> dims) : dims_(dims) {}

  void add(const Selection& to);
  struct Gaps {
    std::string words;     ///< what lies in none; empty: nothing
    bool overlap = false;  ///< there is or may be such, and mappings that overlap
  };
  /// Where mappings overlap in a way that is not worth telling apart, the words say that some may.
  Gaps gaps();

 private:
  /// Rows of a mapping, or a block of them.
  struct Part {
    std::int64_t begin = 0, end = 0;
    std::size_t mapping = 0;
    std::vector<Selection::Axis> axes;  ///< further dimensions are there as a whole
  };
  /// False where it is not worth finding out, too.
  bool apart();
  bool may_meet(const Part& a, const Part& b) const noexcept;

  std::span<const std::int64_t> dims_;
  std::vector<RowPattern> rows_;
  std::vector<Part> parts_;
  std::size_t mappings_ = 0;
  std::int64_t points_ = 0;  ///< of all; some may count twice
  bool whole_rows_ = true, whole_ = false;
};

}  // namespace penstock::hdf5
