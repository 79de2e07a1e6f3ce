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
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/state.hpp>

#include "base/counters.hpp"
#include "base/run_delay.hpp"
#include "data/row_layout.hpp"
#include "data/scratch.hpp"
#include "pipeline/batch_bounds.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// One image stage inside a fold.
struct FoldPart {
  /// Where a stage has several fields, the first one's part draws and the others' parts do the same.
  enum class Draw : std::uint8_t { own, lead, follow } draw = Draw::own;
  const ImageStageModel* model;
  std::uint64_t key;
  std::string label;
  Filter filter = Filter::linear;
  std::size_t shared = 0;  ///< which of the chain's shared draws it leads or follows
};

/// What the first field of a stage with several drew, for the others.
struct SharedDraw {
  alignas(std::max_align_t) std::byte params[ImageStageModel::max_params];
  ImageShape shape;                    ///< of the first field, before the stage
  const std::string* field = nullptr;  ///< its name
};

/// One step of a chain: the read, a map, or a run of neighbouring image stages that act on one field.
struct Step {
  enum class Kind : std::uint8_t {
    read,
    map,
    field_map,
    image,
    select,
    filter,
    flat_map,
    cache,
    draws
  } kind = Kind::read;
  std::string label;
  std::uint64_t key = 0;
  Schema schema;                     ///< after this step
  std::size_t fields = 0;            ///< of `schema`
  std::vector<std::size_t> varying;  ///< slots it writes whose size is only known from the value
  /// How slots differ from the step before: not at all; kept ones move down and new ones follow; in some other way.
  enum class Renumber : std::uint8_t { no, down, freely } renumber = Renumber::no;
  std::vector<std::ptrdiff_t> from;  ///< old slot of each new slot, -1 = none; where it renumbers
  std::vector<std::size_t> cleared;  ///< slots whose old value can't be read as the new type
  std::size_t in_slot = 0, out_slot = 0;
  const TransformModel* map = nullptr;
  const FieldMapModel* field_map = nullptr;
  const FilterModel* filter = nullptr;
  const FlatMapModel* flat_map = nullptr;
  DType in_dtype{}, out_dtype{};  ///< of a field map
  /// Of its result: that of the input, a fixed one, the one the model gives for the input's, or the callable's choice.
  enum class ResultShape : std::uint8_t { as_input, fixed, asked, decided } result_shape = ResultShape::as_input;
  Shape fixed_shape;
  std::string renamed_from, renamed_to;  ///< of a `select` that does that
  const ImageDecoder* decoder = nullptr;
  std::string decoder_label;
  const ImageExecutor* executor = nullptr;
  std::vector<FoldPart> parts;
  DType element = DType::u8;  ///< of the images that an image step without a decoder takes
  Field result;               ///< what an image step makes
  struct Home {
    std::size_t slot, row;
  };
  std::vector<Home> homes;          ///< slots whose final value this step makes, and the batch fields they are
  std::vector<Home> varying_homes;  ///< the same of fields that are not dense
};

class Chain;

/// What one runner owns to run chains: reader, decoders, scratch, cells, counters. One thread at a time.
class ChainRun final : public Cells {
 public:
  /// For the first `most_steps` of the chain.
  ChainRun(const Chain& chain, std::size_t scratch_limit, std::unique_ptr<ReaderModel> its_reader,
           std::size_t most_steps = ~std::size_t{0});

  ScratchArena arena;
  std::unique_ptr<ReaderModel> reader;
  std::vector<std::unique_ptr<ImageDecoding>> decoders;  ///< one per step that has one
  std::vector<SharedDraw> shared_draws;
  std::vector<ImageOp> image_ops;  ///< of the stages after `batch`
  std::vector<std::byte*> draws;   ///< where theirs go
  std::vector<Cell> spare;
  std::vector<std::byte*> rows;                    ///< places of the row in work
  std::vector<RaggedRow> varying;                  ///< its fields that are not dense, where `rows` is given
  std::vector<std::span<const std::byte>> blocks;  ///< lent to the reader for the sample in work
  std::optional<Error> block_failure;
  RowOutlet* outlet = nullptr;         ///< what such fields are appended to; where there are some
  std::vector<StepCounters> counters;  ///< one per step
  ChainCounters totals;
  ChainCounters parents, reads;     ///< of shared_records, and of records of a stream
  DelayMeter delay;                 ///< of the runner that has it
  std::uint64_t sample_ns = 0;      ///< wall time of the last measured chain; 0 = none yet
  const std::string* at = nullptr;  ///< label of the stage in work, for errors
  std::stop_token stop;
  bool recalls = false;                ///< the cache has the sample in work
  ChainRun* parent = nullptr;          ///< what the sample in work is a child of; read by several runners at once
  std::uint32_t child = 0;             ///< which one
  std::unique_ptr<ChainRun> stand_in;  ///< the parent of one child alone, which is made of another record

  std::byte* place(std::size_t row, const Shape& shape) override;

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena.allocate(bytes); }

 private:
  const Chain* chain_;
};

/// A pipeline's per-sample part, compiled: one sample through all its stages. Immutable; any thread, a ChainRun each.
class Chain {
 public:
  explicit Chain(std::shared_ptr<const PipelineData> data);

  /// Runs one sample: from the reading on, or, where the run has a parent, from the step after those that the parent
  /// went through. `rows`, when not empty, holds the place of each field of the final schema: values end up there.
  /// Without, they end up anywhere: in the run's scratch or in the store, until the next run. Where this sample
  /// `stands_for` others, its steps are timed. False: a filter left it out. Throws whatever a stage throws.
  bool run(ChainRun& run, const Place& place, std::uint64_t index, std::span<std::byte* const> rows,
           std::uint64_t stands_for = 0) const;

  /// Number of the step that a child begins with: the flat_map, or what is after a stream's reading; 0 = none, samples
  /// have no parents.
  std::size_t children_begin() const noexcept { return children_begin_; }
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

  const std::vector<Step>& steps() const noexcept { return steps_; }
  /// Number of the step that is a cache; 0: there is none. Those before it are not run where it has the record.
  std::size_t cache_step() const noexcept { return cache_step_; }
  /// Of the batch; null without one.
  const RowLayout* layout() const noexcept { return layout_ ? &*layout_ : nullptr; }
  const BatchBounds& bounds() const noexcept { return *bounds_; }
  std::size_t shared_draws() const noexcept { return shared_draws_; }
  const PipelineData& data() const noexcept { return *data_; }

 private:
  void compile();
  void add_image(const BoundStage& stage, const ImageItem& item);
  std::size_t last_image_step(const std::string& field, const ImageExecutor* executor) const;
  std::size_t moved_to_the_end(std::size_t at);
  void add_rename(Step step, const RenameItem& item);
  void relate_steps();
  void assign_homes();
  void check_fixed_sizes();
  std::size_t first_step(ChainRun& run, std::uint64_t index) const;
  void recall(ChainRun& run, std::size_t number, std::uint64_t index, std::span<std::byte* const> rows) const;
  void refuse_draws(std::size_t number, Context& context) const;
  void begin(ChainRun& run, const Step& step, std::span<std::byte* const> rows) const;
  bool run_steps(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                 std::span<std::byte* const> rows) const;
  bool run_measured(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                    std::span<std::byte* const> rows, std::uint64_t stands_for) const;
  void run_field_map(ChainRun& run, const Step& step, Context& context) const;
  bool execute(ChainRun& run, std::size_t number, const Place& place, std::uint64_t index,
               std::span<std::byte* const> rows) const;
  static void adopt(ChainRun& run);
  void check_size(const ChainRun& run, const Step& step) const;
  void check_values(const ChainRun& run, const Step& step) const;
  void finish(ChainRun& run, std::span<std::byte* const> rows) const;
  void finish_varying(ChainRun& run, std::span<std::byte* const> rows) const;

  std::shared_ptr<const PipelineData> data_;
  std::vector<Step> steps_;
  std::size_t children_begin_ = 0;
  std::size_t cache_step_ = 0;
  std::size_t images_begin_ = 1;  ///< while compiling: the first of the image steps that end `steps_`
  std::size_t shared_draws_ = 0;
  std::vector<std::size_t> row_bytes_;  ///< of each field of the final schema; 0 where it is not dense
  std::optional<RowLayout> layout_;
  std::optional<BatchBounds> bounds_;
  std::uint64_t seed_;
  CheckOptions check_;
};

/// Draws, folds and executes one image step. `run.at` names the part in work.
void run_fold(ChainRun& run, const Step& step, std::size_t number, const Place& place, std::uint64_t seed,
              const CheckOptions& check);

}  // namespace penstock::detail
