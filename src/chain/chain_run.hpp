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

/// What one runner owns to run chains: reader, decoders, scratch, cells, counters. One thread at a time.
class ChainRun final : public Cells {
 public:
  /// A run of the first `max_steps` steps of the chain.
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
  const std::string* at = nullptr;      ///< label of the stage in work, for errors
  std::optional<std::size_t> decoding;  ///< slot of the source's field whose promised image is in work, for errors
  std::stop_token stop;
  bool recalls = false;                ///< the cache has the sample in work
  ChainRun* parent = nullptr;          ///< what the sample in work is a child of; read by several runners at once
  std::uint32_t child = 0;             ///< which child it is
  std::unique_ptr<ChainRun> stand_in;  ///< the parent of one child alone, which is made of another record

  std::byte* destination(std::size_t number, const Shape& shape) override;

  const Chain& chain() const noexcept { return *chain_; }
  /// Sets the cells up for a step, with what the one before it left.
  void begin(const Step& step, std::span<std::byte* const> rows);
  /// Begins with the parent's values, which a child may read but not write to.
  void adopt();
  /// Where fields without a size of their own are appended to from now on; it must live until the sample is made.
  /// Not inline, as g++ 12 takes what is kept for a pointer that dangles.
  void append_to(RowOutlet& outlet) noexcept;

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena.allocate(bytes); }
  void decode(const Promise& promise, std::byte* out) override;

 private:
  const Chain* chain_;
};

}  // namespace penstock::detail::runtime
