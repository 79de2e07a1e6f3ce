// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "blocks/block_schedule.hpp"
#include "chain/chain.hpp"

namespace penstock::detail::runtime {

/// Loads a block, to `destination` if it goes into a batch. Counts as reading of `run`. Returns whether there is more
/// to do than before.
bool work_on_block(BlockSchedule& blocks, ChainRun& run, BlockSchedule::Work work,
                   std::byte* destination = nullptr) noexcept;
/// Gives the run's reader the blocks of a sample, or the error of its blocks.
void lend_blocks(BlockSchedule& blocks, ChainRun& run, std::uint64_t sample, std::uint64_t index) noexcept;

}  // namespace penstock::detail::runtime
