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

/// One launch after `batch`. Neighbouring image stages of one field are one launch, or two launches if images are
/// resampled or differ in size.
struct DeviceStep {
  enum class Kind : std::uint8_t {
    own,       ///< a user's stage
    decode,    ///< decodes images, which may differ in size, for a step of kind `resample`
    resample,  ///< cuts out and resamples images, for the step after it
    image,     ///< does what image stages ask for, except resampling
  };
  std::string label;
  std::shared_ptr<const DeviceStageModel>
      model;                          ///< null for kind `decode`, and for kind `image` if images still differ in size
  Schema in, out;                     ///< fields of one row before the step and after it
  std::vector<bool> made;             ///< for each field of `out`, whether the step writes it
  std::optional<std::size_t> draws;   ///< the batch's hidden field with the draws; none if the step has no draws
  std::size_t draw_bytes = 0;         ///< bytes of a row's draws
  std::optional<std::size_t> tables;  ///< the batch's hidden, ragged field with the ResampleTables of each row
  std::optional<std::size_t> pixels;  ///< the batch's hidden, ragged field with the images that runners decoded
  Kind kind = Kind::own;
  std::string field;                        ///< the field that the step works on; empty for a user's stage
  const ImageExecutor* executor = nullptr;  ///< makes the ResampleTables
  bool resamples = false;                   ///< whether one of the step's stages may resample
  std::shared_ptr<const ImageDecoder> decoder;
  std::uint64_t key = 0;  ///< for kind `decode`: key of the step's draws
};

/// One draw for a row. An image stage has a draw per field, and a user's stage has a draw if it has draw bytes.
struct DeviceDraw {
  std::shared_ptr<const ImageStageModel> image;  ///< null for a user's stage
  std::shared_ptr<const DeviceStageModel> own;
  std::string label;
  std::uint64_t key = 0;
  Filter filter = Filter::linear;
  bool follows = false;  ///< whether the field uses the result of the draw for the stage's first field
  std::size_t step = 0;
};

/// The part of a pipeline after `batch`. Immutable.
struct DeviceProgram {
  Schema sample;  ///< fields of a row after the last stage before `batch`
  std::vector<DeviceStep> steps;
  std::vector<DeviceDraw> draws;  ///< in the order of the stages; the `step` of an image stage's draw has kind `image`

  /// Returns the schema of a row of a delivered batch.
  const Schema& delivered() const noexcept { return steps.back().out; }
  /// Returns `sample`, followed by the hidden fields of each step. These are a "draws" field if the step has draws, a
  /// "tables" field for kind `resample`, and a "pixels" field for kind `decode`.
  Schema with_draws() const;
  /// Checks that all images of a field get one size.
  /// @throws Error(schema_mismatch) if images still differ in size after the last stage, or if a user's stage would get
  /// decoded images that differ in size.
  void need_fixed_sizes() const;
  /// Returns whether a step is of kind `decode`.
  bool decodes() const noexcept;
  /// Returns whether the host can run all steps on a batch's own memory, without a second buffer.
  bool in_place() const;
};

/// Makes a program from stages that are added one after the other.
class DeviceProgramBuilder {
 public:
  explicit DeviceProgramBuilder(const Schema& sample);
  /// Adds an image stage. Neighbouring image stages of one field become one step.
  void add_image(const BoundStage& stage, const ImageFields& fields,
                 const std::shared_ptr<const ImageStageModel>& model, const ImageExecutor& executor);
  void add_decode(const BoundStage& stage, const std::string& field, std::shared_ptr<const ImageDecoder> decoder);
  /// Adds a stage that is a launch of its own.
  void add(const BoundStage& stage, const std::shared_ptr<const DeviceStageModel>& model);
  /// Returns the program. @throws Error(schema_mismatch | unsupported) if a stage can't run after `batch`; the error
  /// names the stage.
  std::shared_ptr<const DeviceProgram> finish();

 private:
  void make_images();
  static DeviceStep first_half(const DeviceStep& step, const ImageOp& op);
  void number_draws();

  std::shared_ptr<DeviceProgram> out_;
  std::vector<Field> results_;  // for each step, the field that it makes if it is of kind `image`
  std::size_t folds_begin_ = 0;
};

/// Makes the program of `stages`, the stages after `batch`.
std::shared_ptr<const DeviceProgram> make_device_program(const Schema& sample, const std::vector<BoundStage>& stages);

}  // namespace penstock::detail
