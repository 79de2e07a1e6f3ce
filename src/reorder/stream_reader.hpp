// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include <penstock/detail/source_model.hpp>

#include "chain/chain.hpp"
#include "data/cursor.hpp"
#include "reorder/issue_progress.hpp"
#include "reorder/record_samples.hpp"
#include "reorder/sample_maker.hpp"
#include "reorder/shared_records.hpp"
#include "reorder/thread_signals.hpp"
#include "ring/run_setup.hpp"
#include "ring/tickets.hpp"

namespace penstock::detail::runtime {

/// Reads a stream's records, each into its own shared record. Any runner may call it; the one that enters the intake
/// reads.
class StreamReader {
 public:
  /// What it works with; all of it must outlive it.
  struct Context {
    IssueProgress& intake;
    SharedRecords& records;
    SampleMaker& maker;
    RecordSamples& samples;  ///< receives the records without children
    Tickets& to_open;        ///< receives the records with children
    const ThreadSignals& signals;
  };
  StreamReader(const RunSetup& setup, const Chain& chain, const Context& context);

  /// Starts at `cursor`, which must be the beginning of a run of records. Call only while nothing is being processed.
  void reset(const Cursor& cursor) noexcept;
  /// Returns whether there is room for a record. Any thread.
  bool can_read() noexcept;
  /// Reads some records, unless another runner reads or the loader pauses. Returns how many, including ends and
  /// failures.
  unsigned read(ChainRun& run) noexcept;

 private:
  bool read_one(ChainRun& run) noexcept;
  enum class Begun : std::uint8_t { interrupted, at_record, ended };
  Begun begin(ChainRun& parent);
  void fail(SharedRecord& record, bool began) noexcept;
  static void note(ChainRun& parent, ChainRun& run) noexcept;

  const RunSetup& setup_;
  const Chain& chain_;
  const Context context_;
  std::unique_ptr<StreamModel> stream_;
  Cursor at_;  // the position of the stream
  bool begun_ = false;
  std::uint64_t last_ns_ = 0;  // wall time of the last reading
};

}  // namespace penstock::detail::runtime
