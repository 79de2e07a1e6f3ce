#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::hdf5 {

/// Rows at equal distances: `count` blocks of `block` rows, whose first rows are `stride` apart. Those from `from` on
/// and before `to` count.
struct RowPattern {
  std::int64_t start = 0, stride = 1, count = 1, block = 0;
  std::int64_t from = 0, to = 0;

  static RowPattern of_rows(std::int64_t first, std::int64_t end) {
    return {first, end - first, 1, end - first, first, end};
  }

  bool together() const noexcept { return count == 1 || stride == block; }
  /// The first of its rows in [begin, end).
  std::optional<std::int64_t> first_in(std::int64_t begin, std::int64_t end) const noexcept;
  /// The row that has so many of its rows before it.
  std::int64_t row(std::int64_t number) const noexcept { return start + number / block * stride + number % block; }
  std::int64_t first() const noexcept { return first_in(from, to).value_or(to); }
  /// No row of it is here or beyond.
  std::int64_t end() const noexcept;
  /// "row 3", "rows 3 to 9", "some of the rows 0 to 98"
  std::string words() const;
};

/// Rows of a dataset that can't be read, and why. Looking is linear in the patterns that lie around a row; where these
/// are ranges that do not overlap, it takes the logarithm of their number.
class RowFaults {
 public:
  void add(const RowPattern& rows, std::string why);
  /// Before it is asked, and after the last `add`.
  void sort();

  bool empty() const noexcept { return faults_.empty(); }
  std::size_t size() const noexcept { return faults_.size(); }
  /// Why the first row of these that is found can't be read; null where all can be.
  const std::string* find(std::int64_t begin, std::int64_t end) const noexcept;
  /// Calls `act(rows, why)` for each that has rows in [begin, end).
  template <class Act>
  void for_each(std::int64_t begin, std::int64_t end, Act act) const {
    for (std::size_t i = before(end); i-- > 0 && ends_[i] > begin;)
      if (faults_[i].rows.first_in(begin, end)) act(faults_[i].rows, faults_[i].why);
  }
  /// The first few, in words: "rows 3 to 9 can't be read: …"
  std::vector<std::string> words() const;

 private:
  struct Fault {
    RowPattern rows;
    std::string why;
  };
  /// How many of them begin before this row.
  std::size_t before(std::int64_t row) const noexcept;

  std::vector<Fault> faults_;
  std::vector<std::int64_t> ends_;  ///< of each and all before it, the largest end
};

}  // namespace penstock::hdf5
