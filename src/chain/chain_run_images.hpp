// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/shape.hpp>

namespace penstock::detail::runtime {

/// What a stage with several fields drew for its first field. Its other fields use the same draw.
struct SharedDraw {
  alignas(std::max_align_t) std::byte params[ImageStageModel::max_params];
  ImageShape shape;                    ///< shape of the first field's image before the stage
  Filter filter = Filter::linear;      ///< filter of the first field
  const std::string* field = nullptr;  ///< name of the first field
};

/// Working state of the image stages in one ChainRun.
struct ChainRunImages {
  std::vector<std::unique_ptr<ImageDecoding>> decoders;  ///< one element per step; null for a step without a decoder
  std::vector<SharedDraw> shared_draws;
  std::vector<ImageOp> follow_ops;  ///< memory for the operations of a FollowStep
  /// Decodings of the stages after `batch`, created on first use.
  std::vector<std::unique_ptr<ImageDecoding>> batch_decoders;
  std::vector<bool> decodes_on_device;  ///< for each step after `batch`: whether a device does its decoding
  std::vector<ImageOp> batch_ops;       ///< operations on images in the stages after `batch`
  std::vector<Shape> batch_shapes;      ///< shapes of the sample's values before the stages after `batch`
};

}  // namespace penstock::detail::runtime
