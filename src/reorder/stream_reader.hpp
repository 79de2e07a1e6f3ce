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

/// Reads a stream's records, each into a SharedRecord. Any runner may call `read`; the runner that enters the
/// IssueProgress reads.
class StreamReader {
 public:
  /// The parts of the run that the reader uses. They must outlive the reader.
  struct Context {
    IssueProgress& intake;
    SharedRecords& records;
    SampleMaker& maker;
    RecordSamples& samples;  ///< gets each record, unless the pipeline has a flat_map
    Tickets& to_open;        ///< gets the tickets of records if the pipeline has a flat_map
    const ThreadSignals& signals;
  };
  StreamReader(const RunSetup& setup, const Chain& chain, const Context& context);

  /// Starts at `cursor`. If the stream is shuffled, `cursor` must be at the first record of a run. Call only while no
  /// runner works.
  void reset(const Cursor& cursor) noexcept;
  /// Returns whether there is a record to read and room for it, and no runner reads. Any thread.
  bool can_read() noexcept;
  /// Reads up to 8 records. Reads no record if another runner reads, and stops early if runners should stop. Returns
  /// the number of records, including failures and ends of epochs.
  unsigned read(ChainRun& run) noexcept;

 private:
  bool read_one(ChainRun& run) noexcept;
  enum class BeginResult : std::uint8_t { interrupted, at_record, ended };
  BeginResult begin(ChainRun& parent);
  void fail(SharedRecord& record, bool began) noexcept;
  static void note(ChainRun& parent, ChainRun& run) noexcept;

  const RunSetup& setup_;
  const Chain& chain_;
  const Context context_;
  std::unique_ptr<StreamModel> stream_;
  Cursor at_;  // cursor at the record that is read next
  bool begun_ = false;
  std::uint64_t last_ns_ = 0;  // wall time of the last `read` in nanoseconds
};

}  // namespace penstock::detail::runtime
