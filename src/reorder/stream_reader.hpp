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

/// Reads a stream's records, each into a shared record of its own. Any runner asks; the one that enters the intake
/// reads.
class StreamReader {
 public:
  /// What it works with, all of which outlives it.
  struct Context {
    IssueProgress& intake;
    SharedRecords& records;
    SampleMaker& maker;
    RecordSamples& samples;  ///< get what is read, unless it has children
    Tickets& to_open;        ///< gets what has
    const ThreadSignals& signals;
  };
  StreamReader(const RunSetup& setup, const Chain& chain, const Context& context);

  /// Only while nothing is in work. Begins at `cursor`, which is where a run of records begins.
  void reset(const Cursor& cursor) noexcept;
  /// There is room for a record. Any thread.
  bool can_read() noexcept;
  /// Some records, unless another runner reads, or the loader pauses. Returns how many, ends and failures included.
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
  Cursor at_;  // where the stream stands
  bool begun_ = false;
  std::uint64_t last_ns_ = 0;  // wall time that the last reading took
};

}  // namespace penstock::detail::runtime
