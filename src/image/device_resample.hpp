#pragma once

#include <string>
#include <vector>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/schema.hpp>

#include "image/resample_work.hpp"

namespace penstock::detail {

/// Cuts images out of a batch's own, which may be of any size, and resamples them: the first half of what image stages
/// after `batch` ask for, of which DeviceImage does the rest. Reads a ResampleOp a row, and its ResampleTables.
class DeviceResample final : public DeviceStageModel {
 public:
  /// `in`: u8 [H, W, C], of one size or ragged; `out`: the same field as u8 of the size that the stages leave.
  DeviceResample(Field in, Field out);

  Schema schema(const Schema& in) const override { return in.with(out_); }
  void run(BatchView in, BatchView out, StreamRef stream) const override;
  std::size_t draw_bytes() const override { return sizeof(ResampleOp); }
  void draw(Rng&, void*) const override {}  ///< composed of what the stages draw
  std::vector<std::string> writes() const override { return {out_.name}; }
  std::string name() const override { return "resample"; }

  static ResampleOp resample_op(const ImageOp& op);
  /// What is left of `op` after it: from what it keeps, laid down from the top left corner on.
  static ImageOp rest_of(const ImageOp& op);

 private:
  Field in_, out_;
};

/// Resamples images on the host, tile by tile.
void resample_images(const ResampleWork& work);

}  // namespace penstock::detail
