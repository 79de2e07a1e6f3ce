// SPDX-License-Identifier: Apache-2.0
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

/// One launch after `batch`. Neighbouring image stages of one field are one launch, or two if images change size or are
/// of any size.
struct DeviceStep {
  enum class Kind : std::uint8_t {
    own,       ///< a user's stage
    decode,    ///< decodes images, each of its own size, for a step of kind `resample`
    resample,  ///< cuts out and resamples images, for the step after it
    image,     ///< does the rest of what image stages ask for
  };
  std::string label;
  std::shared_ptr<const DeviceStageModel>
      model;                          ///< null for kind `decode`, and while the images have not got one size
  Schema in, out;                     ///< fields of one row before the step and after it
  std::vector<bool> made;             ///< true for each field of `out` that the step writes
  std::optional<std::size_t> draws;   ///< field of the batch, after the visible ones, that holds what was drawn
  std::size_t draw_bytes = 0;         ///< bytes of a row's draws
  std::optional<std::size_t> tables;  ///< ragged field of the batch, after the draws: the ResampleTables of each row
  std::optional<std::size_t> pixels;  ///< ragged field of the batch: the images that runners decoded
  Kind kind = Kind::own;
  std::string field;                        ///< the field it works on; empty for a user's stage
  const ImageExecutor* executor = nullptr;  ///< makes the tables
  bool resamples = false;                   ///< one of its stages may resample
  std::shared_ptr<const ImageDecoder> decoder;
  std::uint64_t key = 0;  ///< key of a decode's draws
};

/// One draw for a row: for each stage one, and for an image stage of several fields one per field.
struct DeviceDraw {
  std::shared_ptr<const ImageStageModel> image;  ///< null: a user's stage
  std::shared_ptr<const DeviceStageModel> own;
  std::string label;
  std::uint64_t key = 0;
  Filter filter = Filter::linear;
  bool follows = false;  ///< uses the result of the draw before it
  std::size_t step = 0;
};

/// The part of a pipeline after `batch`. Immutable.
struct DeviceProgram {
  Schema sample;  ///< fields of a row as it is made before `batch`
  std::vector<DeviceStep> steps;
  std::vector<DeviceDraw> draws;  ///< in the stages' order; draws of image stages belong to the step of kind `image`

  /// Returns the schema of a row of a delivered batch.
  const Schema& delivered() const noexcept { return steps.back().out; }
  /// Returns `sample`, followed by the fields for the draws of each step that draws.
  Schema with_draws() const;
  /// Checks the sizes of images.
  /// @throws Error(schema_mismatch) if images are still of any size after the last stage, or if a user's stage would
  /// get decoded images of any size.
  void need_fixed_sizes() const;
  /// Returns whether one of its steps decodes.
  bool decodes() const noexcept;
};

/// Makes a program of stages, one after the other.
class DeviceProgramBuilder {
 public:
  explicit DeviceProgramBuilder(const Schema& sample);
  /// Adds an image stage. Neighbouring image stages are folded, for each field into one step.
  void add_image(const BoundStage& stage, const ImageFields& fields,
                 const std::shared_ptr<const ImageStageModel>& model, const ImageExecutor& executor);
  void add_decode(const BoundStage& stage, const std::string& field, std::shared_ptr<const ImageDecoder> decoder);
  /// Adds a stage that is a launch of its own.
  void add(const BoundStage& stage, const std::shared_ptr<const DeviceStageModel>& model);
  /// Returns the program. @throws Error(schema_mismatch | unsupported) that names a stage that can't be done after
  /// `batch`.
  std::shared_ptr<const DeviceProgram> finish();

 private:
  void make_images();
  static DeviceStep first_half(const DeviceStep& step, const ImageOp& op);
  void number_draws();

  std::shared_ptr<DeviceProgram> out_;
  std::vector<Field> results_;  // fields that image steps make, by step
  std::size_t folds_begin_ = 0;
};

/// Makes the program of `stages`, the stages after `batch`.
std::shared_ptr<const DeviceProgram> make_device_program(const Schema& sample, const std::vector<BoundStage>& stages);

}  // namespace penstock::detail
