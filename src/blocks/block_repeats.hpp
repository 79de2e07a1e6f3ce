// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace penstock::detail::runtime {

/// Estimates how many decodes are of blocks that were already decoded in the same pass over the data. If there are very
/// many blocks, counts only blocks at regular distances. One thread at a time may use it.
class BlockRepeats {
 public:
  explicit BlockRepeats(std::uint64_t blocks) noexcept : step_((blocks + most - 1) / most), blocks_(blocks) {}

  /// Counts a decode if its block is among the counted blocks. @throws std::bad_alloc, only for the first decode that
  /// is counted.
  void decoded(std::uint64_t block, std::uint64_t pass) {
    if (block >= blocks_ || block % step_ != 0) return;
    if (last_.empty()) last_.resize(static_cast<std::size_t>((blocks_ - 1) / step_ + 1));
    const auto now = static_cast<std::uint32_t>(pass + 1);
    std::uint32_t& last = last_[static_cast<std::size_t>(block / step_)];
    if (last == now) again_ += step_;
    last = now;
  }
  std::uint64_t again() const noexcept { return again_; }

 private:
  static constexpr std::uint64_t most = 1u << 18;  // the most blocks that are counted; they take 1 MiB
  const std::uint64_t step_, blocks_;
  std::vector<std::uint32_t> last_;  // for each counted block: number of its last pass + 1; 0: never decoded
  std::uint64_t again_ = 0;
};

}  // namespace penstock::detail::runtime
