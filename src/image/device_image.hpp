// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/schema.hpp>

#include "image/image_pixel.hpp"

namespace penstock::detail {

/// Does what the image stages after `batch` ask for, except resampling: crops, margins, flips, turns and conversion.
/// Reads one PixelOp per row.
class DeviceImage final : public DeviceStageModel {
 public:
  /// `in`: a field of u8 [H, W, C]. `out`: the same field after the stages, in the layout `layout`.
  DeviceImage(Field in, Field out, Layout layout);

  Schema schema(const Schema& in) const override { return in.with(out_); }
  void run(BatchView in, BatchView out, StreamRef stream) const override;
  std::size_t draw_bytes() const override { return sizeof(PixelOp); }
  void draw(Rng&, void*) const override {}  ///< does nothing, because `draw_row` writes the PixelOp
  std::vector<std::string> writes() const override { return {out_.name}; }
  std::string name() const override { return "image"; }

  ImageShape shape() const noexcept;
  /// Returns what the kernel needs of `op`. @throws Error(unsupported) if `op` resamples; Error(schema_mismatch) if the
  /// result of `op` does not fit the field `out`.
  PixelOp pixel_op(const ImageOp& op) const;

 private:
  Field in_, out_;
  Layout layout_;
};

/// Makes pixels on the host, one by one.
void make_pixels(const PixelWork& work);

}  // namespace penstock::detail
