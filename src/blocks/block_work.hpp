// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "blocks/block_schedule.hpp"
#include "chain/chain.hpp"

namespace penstock::detail::runtime {

/// Loads the block of `work`, to `destination` if the block goes into a batch. Counts the time as reading time of
/// `run`. Returns whether there is work to do.
bool work_on_block(BlockSchedule& blocks, ChainRun& run, BlockSchedule::Work work,
                   std::byte* destination = nullptr) noexcept;
/// Gives the reader of `run` the blocks of a sample, or the error of a block that could not be loaded. Gives it nothing
/// if no blocks were planned for the record; then the reader loads them by itself.
void lend_blocks(BlockSchedule& blocks, ChainRun& run, std::uint64_t sample, std::uint64_t index) noexcept;

}  // namespace penstock::detail::runtime
