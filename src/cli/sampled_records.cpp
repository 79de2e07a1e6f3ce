#include "sampled_records.hpp"

#include <algorithm>
#include <numeric>

namespace penstock::cli {

std::vector<std::uint64_t> sampled_records(std::uint64_t size, std::span<const std::uint64_t> block_ends,
                                           std::uint64_t most) {
  std::vector<std::uint64_t> records;
  if (size <= most) {
    records.resize(size);
    std::iota(records.begin(), records.end(), std::uint64_t{0});
    return records;
  }
  if (block_ends.empty()) {
    // In two steps, as the product could be more than 64 bits hold.
    for (std::uint64_t i = 0; i < most; ++i) records.push_back(i * (size / most) + i * (size % most) / most);
    return records;
  }
  constexpr std::uint64_t fewest_blocks = 200;  // so that one kind of records, side by side, is not all that is seen
  const std::uint64_t blocks = block_ends.size(), rows = std::max<std::uint64_t>(1, size / blocks);
  const std::uint64_t chosen = std::min(blocks, std::max(fewest_blocks, most / rows));
  const std::uint64_t each = (most + chosen - 1) / chosen;
  for (std::uint64_t i = 0; i < chosen; ++i) {
    const std::uint64_t block = i * blocks / chosen;
    const std::uint64_t first = block == 0 ? 0 : block_ends[block - 1];
    const std::uint64_t behind = std::min(block_ends[block], first + each);
    for (std::uint64_t record = first; record < behind; ++record) records.push_back(record);
  }
  return records;
}

}  // namespace penstock::cli
