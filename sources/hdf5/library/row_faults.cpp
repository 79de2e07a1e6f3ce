#include "library/row_faults.hpp"

#include <algorithm>
#include <utility>

namespace penstock::hdf5 {

std::optional<std::int64_t> RowPattern::first_in(std::int64_t begin, std::int64_t end) const noexcept {
  begin = std::max({begin, from, start});
  end = std::min(end, to);
  if (block <= 0 || begin >= end) return std::nullopt;
  const std::int64_t number = (begin - start) / stride;
  if (number >= count) return std::nullopt;
  if ((begin - start) % stride < block) return begin;
  if (number + 1 >= count) return std::nullopt;
  const std::int64_t next = start + (number + 1) * stride;
  return next < end ? std::optional(next) : std::nullopt;
}

std::int64_t RowPattern::end() const noexcept { return std::min(to, start + (count - 1) * stride + block); }

std::string RowPattern::words() const {
  const std::int64_t begin = first(), last = end() - 1;
  if (begin == last) return "row " + std::to_string(begin);
  return (together() ? "rows " : "some of the rows ") + std::to_string(begin) + " to " + std::to_string(last);
}

void RowFaults::add(const RowPattern& rows, std::string why) {
  if (rows.first_in(rows.from, rows.to)) faults_.push_back({rows, std::move(why)});
}

void RowFaults::sort() {
  std::ranges::stable_sort(faults_, {}, [](const Fault& fault) { return fault.rows.first(); });
  ends_.clear();
  for (const Fault& fault : faults_) ends_.push_back(std::max(ends_.empty() ? 0 : ends_.back(), fault.rows.end()));
}

std::size_t RowFaults::before(std::int64_t row) const noexcept {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(faults_, row, {}, [](const Fault& fault) { return fault.rows.first(); }) -
      faults_.begin());
}

const std::string* RowFaults::find(std::int64_t begin, std::int64_t end) const noexcept {
  for (std::size_t i = before(end); i-- > 0 && ends_[i] > begin;)
    if (faults_[i].rows.first_in(begin, end)) return &faults_[i].why;
  return nullptr;
}

std::vector<std::string> RowFaults::words() const {
  constexpr std::size_t most = 4;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(most, faults_.size()); ++i)
    words.push_back(faults_[i].rows.words() + " can't be read: " + faults_[i].why);
  if (faults_.size() > most)
    words.push_back("of " + std::to_string(faults_.size() - most) + " more of its parts the rows can't be read");
  return words;
}

}  // namespace penstock::hdf5
