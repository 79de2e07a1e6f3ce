#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/sample.hpp>

#include "base/counters.hpp"
#include "base/run_delay.hpp"
#include "chain/measured_samples.hpp"
#include "data/row_layout.hpp"
#include "data/scratch.hpp"

namespace penstock::detail {

/// What the first field of a stage with several drew, for the others.
struct SharedDraw {
  alignas(std::max_align_t) std::byte params[ImageStageModel::max_params];
  ImageShape shape;                    ///< shape of the first field, before the stage
  const std::string* field = nullptr;  ///< name of the first field
};

class Chain;
class Step;
class TraceLane;

/// What one runner owns to run chains: reader, decoders, scratch, cells, counters. One thread at a time.
class ChainRun final : public Cells {
 public:
  /// A run of the first `max_steps` steps of the chain.
  ChainRun(const Chain& chain, std::size_t scratch_limit, std::unique_ptr<ReaderModel> its_reader,
           std::size_t max_steps = ~std::size_t{0});

  ScratchArena arena;
  std::unique_ptr<ReaderModel> reader;
  std::vector<std::unique_ptr<ImageDecoding>> decoders;  ///< one per step that has one
  /// Decodings of the stages after `batch`, made on first use.
  std::vector<std::unique_ptr<ImageDecoding>> batch_decoders;
  std::vector<bool> decodes_on_device;  ///< for each step after `batch`: a device does its decode
  std::vector<SharedDraw> shared_draws;
  std::vector<ImageOp> image_ops;  ///< operations on images in the stages after `batch`
  std::vector<Shape> shapes;       ///< shapes of the values that those stages draw for
  std::vector<Cell> spare;
  std::vector<std::byte*> rows;                    ///< destination of each field of the row in work
  std::vector<RaggedRow> varying;                  ///< fields of that row that are not dense, where `rows` is given
  std::vector<std::span<const std::byte>> blocks;  ///< blocks lent to the reader for the sample in work
  std::optional<Error> block_failure;
  std::uint64_t stretch = ~std::uint64_t{0};  ///< stretch of samples of blocks that its runner works on; ~0: none
  std::vector<StepCounters> counters;         ///< one per step
  StepCounters loads;  ///< what it did for the source beside reading samples, loads of blocks and advice: all of it,
                       ///< not what measured chains stand for
  ChainCounters totals;
  ChainCounters parents, reads;                       ///< counts for shared records, and for records of a stream
  std::unique_ptr<MeasuredSamples> measured_samples;  ///< what its measured chains took, one by one; null: not kept
  std::unique_ptr<MeasuredSamples> measured_loads;    ///< what its measured loads of blocks took; null: not kept
  DelayMeter delay;                                   ///< how long the runner that has it waited for a core
  int thread = 0;                                     ///< the one that works with it, as the system numbers it;
                                                      ///< 0: none. Under the monitor's mutex
  std::uint64_t blocked = 0;                          ///< what `times_blocked` last said of its thread
  std::uint64_t sample_ns = 0;                        ///< wall time of the last measured chain; 0 = none yet
  std::uint64_t load_count = 0;                       ///< blocks that it loaded
  std::uint64_t load_ns = 0;                          ///< wall time of the last measured load
  const std::string* at = nullptr;                    ///< label of the stage in work, for errors
  std::optional<std::size_t> decoding;  ///< slot of the source's field whose promised image is in work, for errors
  TraceLane* trace = nullptr;           ///< its line of the timeline; null: none is kept
  std::stop_token stop;
  bool recalls = false;                ///< the cache has the sample in work
  ChainRun* parent = nullptr;          ///< what the sample in work is a child of; read by several runners at once
  std::uint32_t child = 0;             ///< which child it is
  std::unique_ptr<ChainRun> stand_in;  ///< the parent of one child alone, which is made of another record

  std::byte* destination(std::size_t row, const Shape& shape) override;

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
  RowOutlet* outlet_ = nullptr;
};

}  // namespace penstock::detail
