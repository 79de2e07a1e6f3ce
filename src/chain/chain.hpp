// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>
#include <penstock/state.hpp>

#include "chain/chain_compiler.hpp"
#include "chain/chain_run.hpp"
#include "chain/step.hpp"
#include "data/row_layout.hpp"
#include "pipeline/pipeline_data.hpp"
#include "ring/batch_bounds.hpp"

namespace penstock::detail::runtime {

/// The compiled stages of a pipeline that work on one sample. Takes one sample through all these stages. Immutable. Any
/// thread may use it, each with a ChainRun of its own.
class Chain {
 public:
  /// `name`: the name of the branch whose stages they are; empty for a whole pipeline.
  explicit Chain(std::shared_ptr<const PipelineData> data, const std::string& name = {});
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  /// Makes one sample. Begins with reading, or with the cache if that has the record. If the ChainRun has a parent,
  /// begins with the step after the parent's steps. `rows` holds the destination of each field of the final schema, or
  /// is empty. If `rows` is empty, values stay in the ChainRun's scratch or in the store until the ChainRun's next
  /// sample. `stands_for`: number of samples that this sample's timing represents; 0 = not timed. Returns false if a
  /// filter left the sample out. Throws whatever a stage throws.
  bool run(ChainRun& run, const Place& place, std::uint64_t index, std::span<std::byte* const> rows,
           std::uint64_t stands_for = 0) const;

  /// Returns the number of the step that a child begins with: the flat_map, or the step after a stream's reading.
  /// Returns 0 if samples have no parents.
  std::size_t children_begin() const noexcept { return program_.children_begin; }
  /// Makes a parent with the steps before `children_begin()`. The parent keeps its values when its reader reads the
  /// next record. Returns false if a filter left the parent out.
  bool open(ChainRun& parent, const Place& place, std::uint64_t index, std::uint64_t stands_for = 0) const;
  /// Returns how many children the parent has; 1 without flat_map.
  std::uint32_t count(ChainRun& parent, const Place& place, std::uint64_t index) const;
  /// Reads a stream's next record into a parent, which keeps the values. `open` runs the steps after the reading.
  /// Returns false at the epoch's end.
  bool read(ChainRun& parent, StreamModel& stream) const;

  /// Makes the sample of a branch, in the middle of the reading of the whole's sample. Values are written where the
  /// cells of the outer ChainRun have their destinations, and stay in the cells of `run`. Throws whatever a stage
  /// throws.
  void run_branch(ChainRun& run, std::uint64_t index) const;

  /// Returns the exception in flight as an Error with stage, source, file, key and index. Call inside a catch block.
  Error describe_failure(const ChainRun& run, std::uint64_t index) const;

  /// Runs only the steps from `first` up to but not including `last`, each on the result of the step before it. Returns
  /// false if a filter left the sample out.
  bool run_steps(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                 std::span<std::byte* const> rows) const;

  const std::vector<std::unique_ptr<Step>>& steps() const noexcept { return program_.steps; }
  /// The chain of a part of a join.
  struct ChainBranch {
    std::uint64_t key;
    std::string name;
    std::unique_ptr<const Chain> chain;
  };
  /// Returns the chains of the source's parts that have stages, in the order of the parts.
  const std::vector<ChainBranch>& branches() const noexcept { return branches_; }
  /// Returns the number of a branch; none if there is no such branch.
  std::optional<std::size_t> find_branch(std::uint64_t key) const noexcept;
  /// Returns the steps of this chain and then those of its branches, with their own branches.
  std::vector<const Step*> all_steps() const;
  /// Returns the number of the step that is a cache; 0: there is no cache. If the cache has a record, the steps before
  /// the cache do not run for the record.
  std::size_t cache_step() const noexcept { return program_.cache_step; }
  /// Returns the layout of the batch's rows; null if the pipeline has no batch stage.
  const RowLayout* layout() const noexcept { return layout_ ? &*layout_ : nullptr; }
  const BatchBounds& bounds() const noexcept { return *bounds_; }
  std::size_t shared_draws() const noexcept { return program_.shared_draws; }
  const PipelineData& data() const noexcept { return *data_; }

 private:
  std::size_t first_step(ChainRun& run, std::uint64_t index) const;
  bool run_measured(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                    std::span<std::byte* const> rows, std::uint64_t stands_for) const;
  StepCall call_of(const ChainRun& run, std::size_t number, const Place& place, std::uint64_t index,
                   std::span<std::byte* const> rows) const noexcept;
  void add_branches(const std::string& name);
  bool execute(ChainRun& run, std::size_t number, const Place& place, std::uint64_t index,
               std::span<std::byte* const> rows) const;
  void finish(ChainRun& run, std::span<std::byte* const> rows) const;
  void finish_varying(ChainRun& run, std::span<std::byte* const> rows) const;

  const std::shared_ptr<const PipelineData> data_;
  std::optional<RowLayout> layout_;
  std::optional<BatchBounds> bounds_;
  const std::uint64_t seed_;
  const CheckOptions check_;
  const ChainProgram program_;
  std::vector<ChainBranch> branches_;
  std::vector<std::pair<std::uint64_t, std::size_t>> branch_numbers_;  // key and number of each branch, by key
  // Label of a cache that allows no draws before it; null: there is no such cache.
  const std::string* cached_by_ = nullptr;
  // For each field of the final schema: bytes of a row; 0 if the field is not dense.
  std::vector<std::size_t> row_bytes_;
};

}  // namespace penstock::detail::runtime
