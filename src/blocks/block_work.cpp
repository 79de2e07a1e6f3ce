// SPDX-License-Identifier: Apache-2.0
#include "blocks/block_work.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/trace.hpp"
#include "chain/source_work.hpp"

namespace penstock::detail::runtime {

namespace {
// Loading a block of this size takes much longer than asking the kernel whether the thread waited.
constexpr std::size_t bytes_worth_asking = 1u << 16;
}  // namespace

bool work_on_block(BlockSchedule& blocks, ChainRun& run, BlockSchedule::Work work, std::byte* destination) noexcept {
  const TracedRange traced(run.runner.trace, "load block", work.load->block);
  run.counters.loads.bytes.add(work.load->bytes);
  const std::uint64_t stands_for = measures_load(run.counters.load_count++, run.counters.load_ns);
  if (stands_for == 0) return blocks.load(std::move(work.load), destination);
  const std::uint64_t index = work.load->index;
  SourceWorkTimer measured(run, stands_for, work.load->bytes >= bytes_worth_asking);
  const bool more = blocks.load(std::move(work.load), destination);
  run.counters.load_ns = measured.end();
  if (run.counters.measured_loads != nullptr)
    run.counters.measured_loads->add(
        {.index = index, .read_ns = run.counters.load_ns, .weight = static_cast<double>(stands_for)});
  return more;
}

void lend_blocks(BlockSchedule& blocks, ChainRun& run, std::uint64_t sample, std::uint64_t index) noexcept {
  run.blocks.failure.reset();
  try {
    if (blocks.blocks_of(sample, index, run.blocks.lent)) run.reader->lend(index, run.blocks.lent, nullptr);
  } catch (...) {
    run.blocks.failure = described_error("read");
    if (run.blocks.failure) run.reader->lend(index, run.blocks.lent, &*run.blocks.failure);
  }
}

}  // namespace penstock::detail::runtime
