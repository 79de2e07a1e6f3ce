#pragma once

#include <cstdint>

#include "blocks/block_schedule.hpp"
#include "chain/chain.hpp"

namespace penstock::detail::runtime {

/// Loads a block, to `destination` where it goes into a batch, on the account of `run`'s reading. True: there is more
/// to do than there was.
bool work_on_block(BlockSchedule& blocks, ChainRun& run, BlockSchedule::Work work,
                   std::byte* destination = nullptr) noexcept;
/// Gives the run's reader the blocks of a sample that is taken, or what is wrong with them.
void lend_blocks(BlockSchedule& blocks, ChainRun& run, std::uint64_t sample, std::uint64_t index) noexcept;

}  // namespace penstock::detail::runtime
