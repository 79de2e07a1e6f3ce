// SPDX-License-Identifier: Apache-2.0
#include "stores/sampled_records.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace penstock::cli {

std::vector<std::uint64_t> sampled_records(std::uint64_t size, std::span<const std::uint64_t> block_ends,
                                           SampledRecordLimits sample) {
  constexpr std::uint64_t fewest = 16;  // chosen even if `most_read` is lower
  const std::uint64_t most = std::min(sample.most, std::max(fewest, sample.most_read));
  std::vector<std::uint64_t> records;
  if (size <= most) {
    records.resize(size);
    std::iota(records.begin(), records.end(), std::uint64_t{0});
    return records;
  }
  if (block_ends.empty()) {
    // Computed in two steps, because i * size might not fit into 64 bits.
    for (std::uint64_t i = 0; i < most; ++i) records.push_back(i * (size / most) + i * (size % most) / most);
    return records;
  }
  // Chooses runs of consecutive records, spread evenly over the store. If blocks are small, a run is about as long as a
  // block.
  constexpr std::uint64_t fewest_runs = 200;  // enough for records of many kinds
  const std::uint64_t rows = std::max<std::uint64_t>(1, size / block_ends.size());
  const std::uint64_t worth_reading = std::max(fewest, sample.most_read / rows);
  const std::uint64_t runs = std::min({most, worth_reading, std::max(fewest_runs, most / rows)});
  const std::uint64_t each = (most + runs - 1) / runs;
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::uint64_t place = i * (size / runs) + i * (size % runs) / runs;
    const auto end = std::ranges::upper_bound(block_ends, place);
    const std::uint64_t begin = end == block_ends.begin() ? 0 : *std::prev(end);
    // If the block is at least as long as the run, the run is inside the block. Otherwise the run begins with the block
    // and may end after it.
    std::uint64_t record = *end - begin < each ? begin : std::min(place, *end - each);
    const std::uint64_t after = std::min(size, record + each);
    for (record = std::max(record, next); record < after; ++record) records.push_back(record);
    next = std::max(next, after);
  }
  return records;
}

}  // namespace penstock::cli
