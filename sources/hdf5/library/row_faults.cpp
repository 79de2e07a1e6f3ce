// SPDX-License-Identifier: Apache-2.0
#include "library/row_faults.hpp"

#include <algorithm>
#include <map>
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

void RowFaults::add(const RowPattern& rows, Why why) {
  if (rows.first_in(rows.from, rows.to)) faults_.push_back({rows, std::move(why)});
}

void RowFaults::sort() {
  std::ranges::stable_sort(faults_, {}, [](const Fault& fault) { return fault.rows.first(); });
  std::map<std::int64_t, std::vector<Place>> groups;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const RowPattern& rows = faults_[i].rows;
    if (rows.together()) {
      groups[0].push_back({rows.first(), rows.end(), i});
    } else {
      const std::int64_t place = rows.start % rows.stride;
      groups[rows.stride].push_back({place, place + rows.block, i});
    }
  }
  groups_.clear();
  for (auto& [distance, places] : groups) {
    std::ranges::sort(places, {}, &Place::begin);
    std::int64_t end = 0;
    for (Place& place : places) end = place.end = std::max(end, place.end);
    groups_.push_back({distance, std::move(places)});
  }
}

const std::string* RowFaults::find(std::int64_t begin, std::int64_t end) const {
  const std::string* found = nullptr;
  any_of(begin, end, [&](const RowPattern&, const Why& why) {
    found = why.get();
    return true;
  });
  return found;
}

std::vector<std::string> RowFaults::words() const {
  constexpr std::size_t most = 4;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(most, faults_.size()); ++i)
    words.push_back(faults_[i].rows.words() + " can't be read: " + *faults_[i].why);
  if (faults_.size() > most)
    words.push_back("of " + std::to_string(faults_.size() - most) + " more of its parts the rows can't be read");
  return words;
}

std::vector<std::uint64_t> RowFaults::stretches() const {
  constexpr std::size_t most = std::size_t{1} << 16;
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  for (const Fault& fault : faults_) {
    const RowPattern& rows = fault.rows;
    for (std::int64_t begin = rows.first(), end = rows.end(); begin < end && blocks.size() <= most;) {
      const std::int64_t in = (begin - rows.start) % rows.stride;
      const std::int64_t until = rows.together() ? end : std::min(end, begin + rows.block - in);
      blocks.emplace_back(begin, until);
      begin = rows.first_in(until, end).value_or(end);
    }
  }
  std::vector<std::uint64_t> found;
  if (blocks.size() > most) return found;
  std::ranges::sort(blocks);
  for (const auto& [begin, end] : blocks)
    if (!found.empty() && static_cast<std::uint64_t>(begin) <= found.back())
      found.back() = std::max(found.back(), static_cast<std::uint64_t>(end));
    else
      found.insert(found.end(), {static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)});
  return found;
}

}  // namespace penstock::hdf5
