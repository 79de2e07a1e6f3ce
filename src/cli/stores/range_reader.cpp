// SPDX-License-Identifier: Apache-2.0
#include "stores/range_reader.hpp"

#include <algorithm>
#include <utility>

namespace penstock::cli {

namespace {
constexpr std::size_t most_announced = 3;
}

RangeReader::RangeReader(WebDatasetSource source) : source_(std::move(source)) {}

RangeReader::~RangeReader() { withdraw(); }

void RangeReader::expect(std::span<const std::uint64_t> indices) {
  withdraw();
  upcoming_.clear();
  std::vector<std::uint64_t> before;  // blocks that are in memory when the next sample is read
  for (const Range& range : ranges_) before.push_back(range.block);
  for (const std::uint64_t index : indices) {
    ids_.clear();
    source_.blocks_of(index, ids_);
    for (const std::uint64_t block : ids_)
      if (std::ranges::find(before, block) == before.end()) upcoming_.push_back(block);
    before = ids_;
  }
}

void RangeReader::read(std::uint64_t index, SampleBuilder& out) {
  ids_.clear();
  source_.blocks_of(index, ids_);
  std::erase_if(ranges_, [&](const Range& range) { return std::ranges::find(ids_, range.block) == ids_.end(); });
  for (const std::uint64_t block : ids_)
    if (std::ranges::find(ranges_, block, &Range::block) == ranges_.end()) load(block);
  contents_.clear();
  for (const std::uint64_t block : ids_)
    contents_.emplace_back(std::ranges::find(ranges_, block, &Range::block)->bytes);
  source_.read(index, contents_, out);
}

void RangeReader::announce() {
  while (announced_.size() < most_announced && !upcoming_.empty()) {
    announced_.push_back(upcoming_.front());
    upcoming_.pop_front();
    source_.will_load({&announced_.back(), 1});
  }
}

void RangeReader::withdraw() noexcept {
  source_.will_not_load(announced_);
  announced_.clear();
}

void RangeReader::load(std::uint64_t block) {
  announce();
  Range range{block, std::vector<std::byte>(static_cast<std::size_t>(source_.block_bytes(block)))};
  if (const auto found = std::ranges::find(announced_, block); found != announced_.end()) announced_.erase(found);
  announce();
  source_.load(block, range.bytes);
  ranges_.push_back(std::move(range));
}

}  // namespace penstock::cli
