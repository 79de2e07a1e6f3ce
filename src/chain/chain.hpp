#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

/// A pipeline's per-sample part, compiled: one sample through all its stages. Immutable; any thread, a ChainRun each.
class Chain {
 public:
  explicit Chain(std::shared_ptr<const PipelineData> data);
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  /// Runs one sample: from the reading on, or, where the run has a parent, from the step after those that the parent
  /// went through. `rows`, when not empty, holds the destination of each field of the final schema: values end up
  /// there. Without, they end up anywhere: in the run's scratch or in the store, until the next run. Where this sample
  /// `stands_for` others, its steps are timed. False: a filter left it out. Throws whatever a stage throws.
  bool run(ChainRun& run, const Place& place, std::uint64_t index, std::span<std::byte* const> rows,
           std::uint64_t stands_for = 0) const;

  /// Number of the step that a child begins with: the flat_map, or what is after a stream's reading; 0 = none, samples
  /// have no parents.
  std::size_t children_begin() const noexcept { return program_.children_begin; }
  /// Makes a parent: what stands before `children_begin()`. It keeps its values when its reader goes on. False: a
  /// filter left it out.
  bool open(ChainRun& parent, const Place& place, std::uint64_t index, std::uint64_t stands_for = 0) const;
  /// How many children it has; 1 without flat_map.
  std::uint32_t count(ChainRun& parent, const Place& place, std::uint64_t index) const;
  /// Reads a stream's next record into a parent, which keeps it; false at the epoch's end. What stands after the
  /// reading is then left to `open`.
  bool read(ChainRun& parent, StreamModel& stream) const;

  /// The exception in flight as an Error that knows stage, source, file, key and index. Call inside a catch block.
  Error describe_failure(const ChainRun& run, std::uint64_t index) const;

  /// Runs these steps alone, each on what the one before it left. False: a filter left the sample out.
  bool run_steps(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                 std::span<std::byte* const> rows) const;

  const std::vector<std::unique_ptr<Step>>& steps() const noexcept { return program_.steps; }
  /// Number of the step that is a cache; 0: there is none. Those before it are not run where it has the record.
  std::size_t cache_step() const noexcept { return program_.cache_step; }
  /// Layout of the batch's rows; null without a batch.
  const RowLayout* layout() const noexcept { return layout_ ? &*layout_ : nullptr; }
  const BatchBounds& bounds() const noexcept { return *bounds_; }
  std::size_t shared_draws() const noexcept { return program_.shared_draws; }
  const PipelineData& data() const noexcept { return *data_; }

 private:
  std::size_t first_step(ChainRun& run, std::uint64_t index) const;
  bool run_measured(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                    std::span<std::byte* const> rows, std::uint64_t stands_for) const;
  StepCall call_of(std::size_t number, const Place& place, std::uint64_t index,
                   std::span<std::byte* const> rows) const noexcept;
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
  const std::string* cached_by_ = nullptr;  // label of a cache that allows no draws before it
  // Bytes of a row's values, for each field of the final schema; 0 where the field is not dense.
  std::vector<std::size_t> row_bytes_;
};

}  // namespace penstock::detail::runtime
