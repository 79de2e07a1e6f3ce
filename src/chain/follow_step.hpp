// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <penstock/extend/image_op.hpp>
#include <penstock/stages/image_fields.hpp>

#include "chain/chain_run_images.hpp"
#include "chain/image_step.hpp"

namespace penstock::detail::runtime {

/// What neighbouring image stages do to a field that follows their image: boxes, points, instance masks, or a new field
/// with the crop that a stage drew. Runs after the step of the image, which draws.
class FollowStep final : public ImageStep {
 public:
  using Kind = ImageField::Kind;
  FollowStep(std::string its_label, std::uint64_t its_key, const ImageExecutor& its_executor, std::size_t its_slot,
             Kind its_kind)
      : ImageStep(std::move(its_label), its_key, its_executor, its_slot), kind_(its_kind) {}

  bool run(ChainRun& run, const StepCall& call) const override;
  std::string describe(const CheckOptions& check) const override;
  std::vector<std::string> notes() const override { return {}; }
  std::vector<std::string> masks() const override { return {}; }
  void follow(const Schema& before) override { schema = before.with(result); }
  Kind kind() const noexcept override { return kind_; }
  bool adds(const std::string& field) const override { return kind_ == Kind::crop_box && result.name == field; }

 private:
  void move_rows(ChainRun& run) const;
  void note_crop(ChainRun& run) const;
  void make_masks(ChainRun& run, bool fold) const;
  std::vector<ImageOp>& mask_ops(ChainRun& run, const ImageShape& shape, bool fold) const;

  const Kind kind_;
};

}  // namespace penstock::detail::runtime
