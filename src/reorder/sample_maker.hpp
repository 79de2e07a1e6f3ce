// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>

#include "chain/chain.hpp"
#include "reorder/reorder_buffer.hpp"
#include "reorder/shared_records.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// Makes samples in the rows of their entries, and makes shared records. Any runner may use it, each with its own
/// ChainRun, but no two runners may work on the same entry or record.
class SampleMaker {
 public:
  /// The arguments must outlive this object.
  SampleMaker(const RunSetup& setup, const Chain& chain, std::stop_token stop, ReorderBuffer& buffer);

  /// Makes the entry's sample. `ticket`: the entry's number. @throws std::bad_alloc if there is no memory even for the
  /// error.
  void make(ChainRun& run, ReorderEntry& entry, std::uint64_t ticket);
  /// Makes the values that all samples of the record share, unless the record's outcome is already known. `number`: the
  /// record's number. @throws std::bad_alloc if there is no memory even for the error.
  void open(ChainRun& run, SharedRecord& record, std::uint64_t number);
  /// Returns the ChainRun that holds the values of a record. @throws std::bad_alloc.
  ChainRun& run_of(SharedRecord& record);

 private:
  bool make_child(ChainRun& run, const SharedRecord& record, const Place& place, std::uint64_t index,
                  std::uint64_t stands_for, const ChainRun*& at_work);
  void collect(ChainRun& parent, ChainRun& run) noexcept;

  const RunSetup& setup_;
  const PipelineData& data_;
  const Chain& chain_;
  const std::stop_token stop_;
  ReorderBuffer& buffer_;
};

}  // namespace penstock::detail::runtime
