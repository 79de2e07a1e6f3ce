// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/image_fields.hpp>

#include "chain/step.hpp"

namespace penstock::detail::runtime {

/// One image stage inside a fold.
struct FoldStage {
  /// How the stage gets its random draw. `own`: the stage has one field. `lead`: the stage has several fields, and this
  /// element is for the first of them. `follow`: this element is for another of them, and uses the first field's draw.
  enum class Draw : std::uint8_t { own, lead, follow } draw = Draw::own;
  const ImageStageModel* model;
  std::uint64_t key;
  std::string label;
  std::string field = {};  ///< name of the field at the stage
  Filter filter = Filter::linear;
  std::size_t shared = 0;                   ///< number of the shared draw that the stage leads or follows
  std::vector<MirroredPair> mirrored = {};  ///< points that a mirrored image exchanges
};

/// An encoder inside a fold. It makes a file of the image as it is after `stages` stages.
struct FoldEncoding {
  const ImageEncoder* encoder;
  std::string label;
  Field result;           ///< a new field, or the image's field, whose value the file replaces
  std::size_t stages;     ///< number of the fold's stages before the encoder
  std::size_t slot = 0;   ///< slot of `result`
  bool in_place = false;  ///< the file replaces the image, which ends the fold
};

/// What a decoder shares with the fields that follow its image.
struct TurnParams {
  int orientation = 1;  ///< `ImageDecoding::orientation`
};

/// Neighbouring image stages of one field, folded into one operation. The step includes the decoding before the stages,
/// and encoders between and after the stages.
class ImageStep : public Step {
 public:
  ImageStep(std::string its_label, std::uint64_t its_key, const ImageExecutor& its_executor, std::size_t its_slot)
      : Step(std::move(its_label), its_key), executor(&its_executor), slot(its_slot) {}

  bool run(ChainRun& run, const StepCall& call) const override;
  std::string describe(const CheckOptions& check) const override;
  std::vector<std::string> notes() const override;
  std::vector<std::string> masks() const override;
  bool makes(const Schema&, std::size_t of) const override { return makes_slot(of); }
  std::optional<std::size_t> only_slot() const override { return slot; }
  bool counts(std::size_t of, bool) const override { return makes_slot(of); }
  void follow(const Schema& before) override;
  /// Returns whether the step's field is a file after the step, not an image.
  bool encoded() const noexcept { return !encodings.empty() && encodings.back().in_place; }
  /// Returns whether the step's field gets a new value. If not, encoders only read the image, which stays unchanged.
  bool makes_value() const noexcept { return decoder != nullptr || !stages.empty() || encoded(); }
  std::unique_ptr<ImageDecoding> start_decoding() const override {
    return decoder != nullptr ? decoder->start() : nullptr;
  }

  /// Returns whether a stage's other fields follow this step's draw of that number.
  bool leads(std::size_t shared) const noexcept;

  /// Returns what the step's field is.
  virtual ImageField::Kind kind() const noexcept { return ImageField::Kind::image; }
  /// Returns whether the step adds this field.
  virtual bool adds(const std::string& field) const;

  const ImageExecutor* const executor;
  const std::size_t slot;
  const ImageDecoder* decoder = nullptr;
  std::string decoder_label;
  std::optional<std::size_t> turn = {};  ///< number of the shared draw that gets how the decoder turns the image
  bool makes_mask = false;               ///< this step or a later step resamples the decoder's image by nearest
  std::vector<FoldStage> stages;
  std::vector<FoldEncoding> encodings;  ///< in the order in which they run
  DType element = DType::u8;            ///< type of the images that the step takes, if it has no decoder
  std::string either_end;  ///< shape of the images that the step takes, if the channels could be the first or the last
                           ///< dimension; else empty
  Field result;            ///< the step's field after the step
  std::vector<std::string> left_alone;  ///< notes of plan() about boxes that do not follow the image

 private:
  bool makes_slot(std::size_t of) const noexcept;
  bool interpolates() const noexcept;
  bool takes_mask() const noexcept;
  std::string resampling() const;
  std::string encoding(const CheckOptions& check) const;
};

/// Returns the notes of plan() about a mask that `decoder` decodes. Returns no notes if the decoder keeps labels
/// exactly.
std::vector<std::string> mask_notes(const std::string& field, const ImageDecoder& decoder);

}  // namespace penstock::detail::runtime
