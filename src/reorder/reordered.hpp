#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include <penstock/detail/source_model.hpp>

#include "blocks/block_schedule.hpp"
#include "chain/chain.hpp"
#include "data/cursor.hpp"
#include "order/bijection.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/positions.hpp"
#include "pipeline/run_setup.hpp"
#include "reorder/reorder_buffer.hpp"
#include "reorder/shared_records.hpp"
#include "ring/tickets.hpp"

namespace penstock::detail {

/// What the reordered placement needs of the engine around it.
class ReorderedHost : public BatchOutlet {
 public:
  /// There is work for more runners.
  virtual void wake_runners() noexcept = 0;
  /// The consumer is asked what is skipped.
  virtual void wake_consumer() noexcept = 0;
  /// So many of the buffer's parts are done.
  virtual void finish_parts(BatchBuffer& buffer, std::uint32_t parts) noexcept = 0;
  /// Runners are to leave.
  virtual bool paused() const noexcept = 0;
};

/// What is reckoned for the part of a row whose size its sample tells.
inline constexpr std::size_t appended_row_bytes = 1u << 14;

/// The work of a reordered pipeline's runners. Any of them does whatever there is to do: issues entries, reads a
/// stream, opens shared records, makes samples, retires them. What only one may do at a time is guarded by a flag; the
/// runner that lets go of it, or changes what others wait for, looks once more for itself.
class Reordered {
 public:
  /// All of these outlive it. `blocks`: null where records share none.
  Reordered(const RunSetup& setup, const Chain& chain, std::stop_token stop, BlockSchedule* blocks,
            const BatchRing& ring, ReorderedHost& host);

  /// How many entries, and shared_records, a pipeline wants.
  static std::size_t entries_for(const PipelineData& data, std::size_t max_reorder_bytes, unsigned threads);
  static std::size_t shared_records_for(const PipelineData& data, unsigned threads);
  static std::size_t min_shared_record_bytes(const PipelineData& data);

  /// Begins at `cursor`. Only while nothing is in work.
  void reset(const Cursor& cursor, const QuotaCount& count);
  /// There is something for a runner to do. Any thread.
  bool has_work() noexcept;
  /// Does some of it. False: there was none.
  bool step(ChainRun& run) noexcept;
  /// A record waits until it is known what of it is skipped. The consumer's thread.
  bool asks() noexcept;
  void answer() noexcept;
  /// The buffer being filled, if any. Only while nothing is in work.
  BatchBuffer* open_batch_buffer() const noexcept { return reorder_buffer_.open_batch_buffer(); }
  ReorderBuffer& reorder_buffer() noexcept { return reorder_buffer_; }
  const ReorderBuffer& reorder_buffer() const noexcept { return reorder_buffer_; }
  const SharedRecords* shared_records() const noexcept { return shared_records_ ? &*shared_records_ : nullptr; }

 private:
  bool tidy() noexcept;
  bool can_tidy() noexcept;
  bool can_expand() noexcept;
  bool opened(std::uint64_t number) noexcept;
  void publish(SharedRecord& record) noexcept;
  std::uint64_t expand() noexcept;
  bool see_block() noexcept;
  bool give(SharedRecord& record) noexcept;

  bool vacant(std::uint64_t number) noexcept;
  bool can_issue() noexcept;
  bool issue() noexcept;
  void issue_some(std::uint64_t first, std::uint64_t count) noexcept;
  void want() noexcept;

  bool can_read() noexcept;
  bool read(ChainRun& run) noexcept;
  bool read_one(ChainRun& run) noexcept;
  void fail_read(SharedRecord& record, bool began) noexcept;
  enum class Begun : std::uint8_t { interrupted, at_record, ended };
  Begun begin_stream(ChainRun& parent);

  bool work_in_blocks(ChainRun& run) noexcept;
  void give_back_blocks(std::uint64_t number) noexcept;
  void make(ChainRun& run, TicketRun tickets) noexcept;
  void make_entry(ChainRun& run, ReorderEntry& entry, std::uint64_t ticket);
  bool make_child(ChainRun& run, const SharedRecord& record, const Place& place, std::uint64_t index,
                  std::uint64_t stands_for, const ChainRun*& at_work);
  void open(ChainRun& run, std::uint64_t number) noexcept;
  void open_shared_record(ChainRun& run, SharedRecord& record, std::uint64_t number);
  ChainRun& run_of(SharedRecord& record);
  static void leave(SharedRecord& record) noexcept;
  void collect(ChainRun& parent, ChainRun& run) noexcept;
  static void note_read(ChainRun& parent, ChainRun& run) noexcept;

  const RunSetup& setup_;
  const PipelineData& data_;
  const Chain& chain_;
  const std::stop_token stop_;
  BlockSchedule* const blocks_;
  const BatchRing& ring_;
  ReorderedHost& host_;
  ReorderBuffer reorder_buffer_;
  std::optional<SharedRecords> shared_records_;
  std::unique_ptr<StreamModel> stream_;
  Tickets tickets_, to_open_;
  bool advises_;
  std::uint64_t chunk_;                 // positions that are issued at once
  std::vector<std::uint64_t> indices_;  // of them

  // The runner that retires also gives the samples of shared records their entries. Only the holder of the flag changes
  // what follows, and it may read it relaxed: the flag orders one holder before the next. In numbers of shared records:
  alignas(64) std::atomic<bool> retiring_{false};
  std::atomic<std::uint64_t> entries_issued_{0};
  std::atomic<std::uint64_t> block_begin_{0};  // what is being given out, permuted: a block of records, or one
  std::atomic<std::uint64_t> block_seen_{0};   // of them, how many are there
  std::atomic<bool> block_known_{false};       // all are, or the epoch ends before
  const std::uint64_t block_rows_;             // of a whole one
  std::uint64_t block_size_ = 0, block_given_ = 0, block_number_ = 0;
  bool ends_block_ = false;                   // after it something terminates
  bool begun_ = false;                        // giving out the record in hand
  std::uint32_t next_child_ = 0, child_ = 0;  // of the record in hand; where the next one begins
  std::uint64_t next_position_ = 0;           // where the next block begins
  std::optional<Bijection> permutation_;

  // What the runner that issues positions, or reads the stream, needs; this flag is used as `retiring_` is.
  alignas(64) std::atomic<bool> issuing_{false};
  std::atomic<std::uint64_t> issued_{0};  // entries, or shared records where there are some
  std::atomic<std::uint64_t> wanted_{1};  // at once
  std::atomic<bool> exhausted_{false};    // nothing more is issued
  Positions positions_;
  Cursor read_at_;  // of the stream
  bool stream_begun_ = false;
  std::uint64_t read_ns_ = 0;  // that the last reading of it took

  std::uint64_t answered_ = 0;  // shared_records; the consumer's
};

}  // namespace penstock::detail
