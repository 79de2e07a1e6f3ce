#pragma once

#include <cstdint>
#include <stop_token>

#include "chain/chain.hpp"
#include "reorder/reorder_buffer.hpp"
#include "reorder/shared_records.hpp"
#include "ring/run_setup.hpp"

namespace penstock::detail::runtime {

/// Makes samples in the rows of their entries, and the records that they share. Any runner, each with a ChainRun of its
/// own, and none with an entry or a record that another one has in hand.
class SampleMaker {
 public:
  /// These outlive it.
  SampleMaker(const RunSetup& setup, const Chain& chain, std::stop_token stop, ReorderBuffer& buffer);

  /// `ticket`: the entry's number. @throws std::bad_alloc where there is no memory even to say what failed.
  void make(ChainRun& run, ReorderEntry& entry, std::uint64_t ticket);
  /// Makes what all samples of the record share, unless it is known already what becomes of it. `number`: the record's.
  /// @throws std::bad_alloc, likewise.
  void open(ChainRun& run, SharedRecord& record, std::uint64_t number);
  /// Where the values of a record are. @throws what taking memory does.
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
