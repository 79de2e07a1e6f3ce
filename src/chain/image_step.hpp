#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/schema.hpp>

#include "chain/step.hpp"

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

/// A run of neighbouring image stages that act on one field, folded into one operation, and the decoding before them.
class ImageStep final : public Step {
 public:
  ImageStep(std::string its_label, std::uint64_t its_key, const ImageExecutor& its_executor, std::size_t its_slot)
      : Step(std::move(its_label), its_key), executor(&its_executor), slot(its_slot) {}

  bool run(ChainRun& run, const StepCall& call) const override;
  std::string describe(const CheckOptions& check) const override;
  std::vector<std::string> notes() const override;
  bool makes(const Schema&, std::size_t of) const override { return of == slot; }
  std::optional<std::size_t> only_slot() const override { return slot; }
  void follow(const Schema& before) override;
  bool takes_mask() const noexcept;
  std::unique_ptr<ImageDecoding> start_decoding() const override {
    return decoder != nullptr ? decoder->start() : nullptr;
  }

  const ImageExecutor* const executor;
  const std::size_t slot;
  const ImageDecoder* decoder = nullptr;
  std::string decoder_label;
  bool makes_mask = false;  ///< what its decoder makes is resampled by nearest, here or in a later step
  std::vector<FoldPart> parts;
  DType element = DType::u8;  ///< of the images that it takes, where it has no decoder
  Field result;

 private:
  std::string resampling() const;
};

}  // namespace penstock::detail
