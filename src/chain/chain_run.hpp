// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/extend/sample.hpp>

#include "chain/chain_run_blocks.hpp"
#include "chain/chain_run_counters.hpp"
#include "chain/chain_run_images.hpp"
#include "chain/row_destination.hpp"
#include "chain/runner_state.hpp"
#include "data/scratch.hpp"

namespace penstock::detail::runtime {

class Chain;
class Step;

/// What one runner needs to take samples through a chain: reader, decoders, scratch, cells, counters. One thread at a
/// time may use it.
class ChainRun final : public Cells {
 public:
  /// Prepares for the first `max_steps` steps of the chain.
  ChainRun(const Chain& chain, std::size_t scratch_limit, std::unique_ptr<ReaderModel> its_reader,
           std::size_t max_steps = ~std::size_t{0});

  ScratchArena arena;
  std::unique_ptr<ReaderModel> reader;
  ChainRunImages images;
  std::vector<Cell> spare;
  RowDestination row;
  ChainRunBlocks blocks;
  ChainRunCounters counters;
  RunnerState runner;
  const std::string* at = nullptr;  ///< label of the current stage, for errors
  /// Slot of the source's field whose promised image is being decoded; errors name the field.
  std::optional<std::size_t> decoding;
  std::stop_token stop;
  bool recalls = false;        ///< the cache has the current sample, and the cache's step has not run yet
  ChainRun* parent = nullptr;  ///< parent of the current sample; several runners may read a parent at the same time
  std::uint32_t child = 0;     ///< number of the current sample among its parent's children
  std::unique_ptr<ChainRun> stand_in;  ///< a parent that is made for the current child only

  std::byte* destination(std::size_t number, const Shape& shape) override;

  const Chain& chain() const noexcept { return *chain_; }
  /// Sets up the cells for a step, with the result of the step before it.
  void begin(const Step& step, std::span<std::byte* const> rows);
  /// Sets the cells to the parent's values, which a child may read but not change.
  void adopt();
  /// Sets the memory to which values are appended if their rows differ in size. `outlet` must live until the sample is
  /// made. The function is not inline: if it were, g++ 12 would report the stored pointer as dangling.
  void append_to(RowOutlet& outlet) noexcept;

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena.allocate(bytes); }
  void decode(const Promise& promise, std::byte* out) override;

 private:
  const Chain* chain_;
};

}  // namespace penstock::detail::runtime
