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
#include "chain/chain_run_branches.hpp"
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
  /// Makes the ChainRun of a branch of the outer ChainRun's chain.
  ChainRun(const Chain& chain, ChainRun& its_outer);

  ScratchArena& arena;  ///< a branch has the arena of the outermost ChainRun
  std::unique_ptr<ReaderModel> reader;
  ChainRunImages images;
  std::vector<Cell> spare;
  RowDestination row;
  ChainRunBlocks blocks;
  ChainRunBranches branches;
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
  ChainRun* chain_run() noexcept override { return this; }

  const Chain& chain() const noexcept { return *chain_; }
  /// Sets up the cells for a step, with the result of the step before it.
  void begin(const Step& step, std::span<std::byte* const> rows);
  /// Sets the cells to the parent's values, which a child may read but not change.
  void adopt();
  /// For a branch: takes over from the outer ChainRun what changes from sample to sample.
  void follow_outer();
  /// For a branch: makes its cells the cells of the outer ChainRun.
  void hand_over();
  /// Calls give(counters, runs) for this chain's steps and those of its branches, in the order of `Chain::all_steps`.
  /// `runs`: how often a step of a branch ran; 0 for the steps of this chain.
  template <class F>
  void for_each_counter(F give) const {
    for (std::size_t i = 0; i < counters.steps.size(); ++i) give(counters.steps[i], runs_of_branch(i));
    for (const auto& branch : branches.inner) branch->for_each_counter(give);
  }
  /// Calls f(branch of this ChainRun, the same branch of `other`) for each branch, with the branches inside them.
  template <class F>
  void with_branches(ChainRun& other, F f) {
    for (std::size_t i = 0; i < branches.inner.size(); ++i) {
      f(*branches.inner[i], *other.branches.inner[i]);
      branches.inner[i]->with_branches(*other.branches.inner[i], f);
    }
  }

  /// Sets the memory to which values are appended if their rows differ in size. `outlet` must live until the sample is
  /// made. The function is not inline: if it were, g++ 12 would report the stored pointer as dangling.
  void append_to(RowOutlet& outlet) noexcept;

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena.allocate(bytes); }
  void decode(const Promise& promise, std::byte* out) override;

 private:
  void prepare(std::size_t max_steps);
  std::uint64_t runs_of_branch(std::size_t step) const noexcept;

  ScratchArena own_arena_;
  const Chain* chain_;
};

}  // namespace penstock::detail::runtime
