#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/detail/image_stage_model.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/image_fields.hpp>

namespace penstock::detail {

struct BoundStage;

/// One launch after `batch`. Neighbouring image stages of one field are one launch, or two where images change size or
/// are of any size.
struct DeviceStep {
  enum class Kind : std::uint8_t {
    own,       ///< a stage of a user's
    decode,    ///< makes images of encoded ones, each of its own size, for a step of kind `resample`
    resample,  ///< cuts out and resamples images, for the step after it
    image,     ///< the rest of what image stages ask for
  };
  std::string label;
  std::shared_ptr<const DeviceStageModel> model;  ///< null: images that no stage gave one size yet, and of `decode`
  Schema in, out;                                 ///< fields of one row, before it and after it
  std::vector<bool> made;                         ///< true for each field of `out` that it writes
  std::optional<std::size_t> draws;   ///< field of the batch, after the visible ones, that holds what was drawn
  std::size_t draw_bytes = 0;         ///< bytes of a row's draws
  std::optional<std::size_t> tables;  ///< ragged field of the batch, after those: the ResampleTables of each row
  std::optional<std::size_t> pixels;  ///< likewise: the images that runners decoded
  Kind kind = Kind::own;
  std::string field;                        ///< the field it works on; empty for a stage of a user's
  const ImageExecutor* executor = nullptr;  ///< gives its tables
  bool resamples = false;                   ///< one of its stages may
  std::shared_ptr<const ImageDecoder> decoder;
  std::uint64_t key = 0;  ///< key of a decode's draws
};

/// What is drawn for one row for one stage, and for an image stage of several fields for each of them.
struct DeviceDraw {
  std::shared_ptr<const ImageStageModel> image;  ///< null: a stage of a user's
  std::shared_ptr<const DeviceStageModel> own;
  std::string label;
  std::uint64_t key = 0;
  Filter filter = Filter::linear;
  bool follows = false;  ///< takes what the draw before it gave
  std::size_t step = 0;
};

/// The part of a pipeline after `batch`. Immutable.
struct DeviceProgram {
  Schema sample;  ///< fields of a row, as the part before `batch` makes it
  std::vector<DeviceStep> steps;
  std::vector<DeviceDraw> draws;  ///< in the stages' order; those of image stages are of the step of kind `image`

  /// The schema of a row of a delivered batch.
  const Schema& delivered() const noexcept { return steps.back().out; }
  /// `sample`, and after it the fields for what is drawn for each step that draws.
  Schema with_draws() const;
  /// @throws Error(schema_mismatch) where images are of any size still after the last stage, or where a user's stage
  /// would see decoded ones that are.
  void need_fixed_sizes() const;
  /// One of its steps decodes.
  bool decodes() const noexcept;
};

/// Makes a program of stages, one after the other.
class DeviceProgramBuilder {
 public:
  explicit DeviceProgramBuilder(const Schema& sample);
  /// Image stages that stand beside each other are folded, each field's into one step.
  void add_image(const BoundStage& stage, const ImageFields& fields,
                 const std::shared_ptr<const ImageStageModel>& model, const ImageExecutor& executor);
  void add_decode(const BoundStage& stage, const std::string& field, std::shared_ptr<const ImageDecoder> decoder);
  /// A stage that is a launch of its own.
  void add(const BoundStage& stage, const std::shared_ptr<const DeviceStageModel>& model);
  /// @throws Error(schema_mismatch | unsupported) that names the stage which can't be done after `batch`.
  std::shared_ptr<const DeviceProgram> finish();

 private:
  void make_images();
  static DeviceStep first_half(const DeviceStep& step, const ImageOp& op);
  void number_draws();

  std::shared_ptr<DeviceProgram> out_;
  std::vector<Field> results_;  // fields that image steps make, by step
  std::size_t folds_begin_ = 0;
};

/// `stages`: those after `batch`.
std::shared_ptr<const DeviceProgram> make_device_program(const Schema& sample, const std::vector<BoundStage>& stages);

}  // namespace penstock::detail
