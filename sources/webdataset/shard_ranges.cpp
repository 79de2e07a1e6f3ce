// SPDX-License-Identifier: Apache-2.0
#include "shard_ranges.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace penstock::webdataset {

namespace {
// More than the connections of a client may have, so that these do not wait for a plan.
constexpr std::uint64_t blocks_announced = 64;
// A scan needs few ranges ahead, because several shards are scanned at the same time.
constexpr std::uint64_t ranges_ahead = 4;
}  // namespace

ShardRanges::ShardRanges(Files files, Files index_files)
    : files_(std::move(files)), index_files_(std::move(index_files)) {
  constexpr std::size_t usual = std::size_t{8} << 20;
  for (const auto& file : files_) range_bytes_ = std::max(range_bytes_, file->range_bytes());
  if (range_bytes_ == 0) range_bytes_ = usual;
  for (const auto& file : files_) first_.push_back(first_.back() + (file->size() + range_bytes_ - 1) / range_bytes_);
}

ShardRanges::Place ShardRanges::place_of(std::uint64_t block) const noexcept {
  const auto shard = static_cast<std::size_t>(std::ranges::upper_bound(first_, block) - first_.begin()) - 1;
  const std::uint64_t offset = (block - first_[shard]) * range_bytes_;
  return {shard, {offset, std::min<std::uint64_t>(range_bytes_, files_[shard]->size() - offset)}};
}

void ShardRanges::blocks_of(std::size_t shard, const ShardIndex& index, std::uint64_t sample,
                            std::vector<std::uint64_t>& ids) const {
  const auto before = static_cast<std::ptrdiff_t>(ids.size());
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    const std::uint64_t last = first_[shard] + (end - 1) / range_bytes_;
    for (std::uint64_t block = first_[shard] + begin / range_bytes_; block <= last; ++block)
      if (std::find(ids.begin() + before, ids.end(), block) == ids.end()) ids.push_back(block);
  };
  for (const Entry& member : index.entries.of(sample))
    if (member.readable()) add(index.lead(member.offset).begin, member.offset + member.size);
  if (index.is_claimed() && sample + 1 == index.samples()) add(index.end, index.bytes);
}

void ShardRanges::load(std::uint64_t block, std::span<std::byte> bytes) const {
  const Place place = place_of(block);
  files_[place.shard]->read(place.range.offset, bytes.first(static_cast<std::size_t>(place.range.bytes)));
}

std::shared_ptr<const std::byte> ShardRanges::lend(std::uint64_t block) const {
  const Place place = place_of(block);
  return files_[place.shard]->lend(place.range);
}

BlocksAhead ShardRanges::blocks_ahead() const noexcept { return {blocks_announced, blocks_announced * range_bytes_}; }

void ShardRanges::will_load(std::span<const std::uint64_t> blocks) const noexcept {
  for (const std::uint64_t block : blocks) {
    const Place place = place_of(block);
    files_[place.shard]->will_read({&place.range, 1});
  }
}

void ShardRanges::will_not_load(std::span<const std::uint64_t> blocks) const noexcept {
  for (const std::uint64_t block : blocks) {
    const Place place = place_of(block);
    files_[place.shard]->will_not_read({&place.range, 1});
  }
}

MemoryAhead ShardRanges::take_memory(std::size_t most) const {
  std::uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file->size();
  return files_.empty() ? MemoryAhead() : files_.front()->take_memory(std::min<std::uint64_t>(most, bytes));
}

std::vector<ByteRange> ranges_of(const ByteSource& file) {
  const std::uint64_t bytes = file.size(), step = file.range_bytes() == 0 ? bytes : file.range_bytes();
  std::vector<ByteRange> ranges;
  for (std::uint64_t at = 0; at < bytes; at += step) ranges.push_back({at, std::min(step, bytes - at)});
  return ranges;
}

std::string read_announced(const ByteSource& file) {
  const std::vector<ByteRange> ranges = ranges_of(file);
  std::size_t next = 0;
  try {
    std::string text(static_cast<std::size_t>(file.size()), '\0');
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(text));
    while (next < ranges.size()) {
      const ByteRange range = ranges[next++];
      file.read(range.offset,
                bytes.subspan(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.bytes)));
    }
    return text;
  } catch (...) {
    file.will_not_read(std::span(ranges).subspan(next));
    throw;
  }
}

StreamedShard::StreamedShard(const ShardRanges& shards, std::size_t shard)
    : shards_(shards),
      shard_(shard),
      name_(shards.file(shard).name()),
      announced_begin_(shards.first_block(shard)),
      announced_end_(announced_begin_),
      loaded_(shards.blocks()) {}

StreamedShard::~StreamedShard() {
  for (; announced_begin_ < announced_end_; ++announced_begin_) shards_.will_not_load({&announced_begin_, 1});
}

void StreamedShard::load(std::uint64_t block) const {
  if (block == loaded_) return;
  const std::uint64_t end = shards_.first_block(shard_ + 1);
  // Ranges between are skipped, where a member is larger than one.
  for (; announced_begin_ < std::min(block, announced_end_); ++announced_begin_)
    shards_.will_not_load({&announced_begin_, 1});
  announced_begin_ = std::max(announced_begin_, block);
  announced_end_ = std::max(announced_end_, announced_begin_);
  for (; announced_end_ < std::min(block + ranges_ahead, end); ++announced_end_)
    shards_.will_load({&announced_end_, 1});
  loaded_ = shards_.blocks();
  range_.resize(static_cast<std::size_t>(shards_.block_bytes(block)));
  announced_begin_ = std::max(announced_begin_, block + 1);
  shards_.load(block, range_);
  loaded_ = block;
}

void StreamedShard::read(char* to, std::size_t count, std::uint64_t offset) const {
  while (count != 0) {
    const std::uint64_t number = offset / shards_.range_bytes(), in_range = offset % shards_.range_bytes();
    load(shards_.first_block(shard_) + number);
    const std::size_t part = std::min(count, range_.size() - static_cast<std::size_t>(in_range));
    std::memcpy(to, range_.data() + in_range, part);
    to += part, count -= part, offset += part;
  }
}

}  // namespace penstock::webdataset
