// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/schema.hpp>

#include "image/resample_work.hpp"

namespace penstock::detail {

/// Cuts a box out of each image of a batch, and resamples the box. The images may differ in size. This is the first
/// half of the image stages after `batch`; DeviceImage does the rest. Reads one ResampleOp per row, and the row's
/// ResampleTables.
class DeviceResample final : public DeviceStageModel {
 public:
  /// `in`: a field of u8 [H, W, C], with a fixed size or ragged. `out`: the same field as u8, with the size after the
  /// stages.
  DeviceResample(Field in, Field out);

  Schema schema(const Schema& in) const override { return in.with(out_); }
  void run(BatchView in, BatchView out, StreamRef stream) const override;
  std::size_t draw_bytes() const override { return sizeof(ResampleOp); }
  void draw(Rng&, void*) const override {}  ///< does nothing, because `draw_row` writes the ResampleOp
  std::vector<std::string> writes() const override { return {out_.name}; }
  std::string name() const override { return "resample"; }

  static ResampleOp resample_op(const ImageOp& op);
  /// Returns what is left to do of `op` after this step. The pixels that `op` keeps are then at the top left corner of
  /// this step's result.
  static ImageOp rest_of(const ImageOp& op);

 private:
  Field in_, out_;
};

/// Resamples images on the host, tile by tile.
void resample_images(const ResampleWork& work);

}  // namespace penstock::detail
