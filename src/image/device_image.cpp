// SPDX-License-Identifier: Apache-2.0
#include "image/device_image.hpp"

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>

#include "image/cuda/kernels.hpp"

namespace penstock::detail {

namespace {

PixelWork::Result result_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return PixelWork::Result::u8;
    case DType::f16:
      return PixelWork::Result::f16;
    case DType::bf16:
      return PixelWork::Result::bf16;
    default:
      return PixelWork::Result::f32;
  }
}

}  // namespace

DeviceImage::DeviceImage(Field in, Field out, Layout layout)
    : in_(std::move(in)), out_(std::move(out)), layout_(layout) {}

ImageShape DeviceImage::shape() const noexcept {
  return {static_cast<std::int32_t>(in_.shape[0]), static_cast<std::int32_t>(in_.shape[1]),
          static_cast<std::int32_t>(in_.shape[2])};
}

PixelOp DeviceImage::pixel_op(const ImageOp& op) const {
  if (op.resamples())
    throw Error(
        Errc::unsupported,
        "the image is resampled, which no stage said that it would do; override `bool resamples() const` of the "
        "one that does");
  const DType dtype = op.result_dtype();
  if (dtype != out_.dtype || op.layout != layout_ || !(op.tensor_shape() == out_.shape))
    throw Error(Errc::schema_mismatch, "field \"" + out_.name + "\" was declared " +
                                           std::string(to_string(out_.dtype)) + out_.shape.to_string() +
                                           ", but the stages make " + std::string(to_string(dtype)) +
                                           op.tensor_shape().to_string());
  PixelOp out;
  out.top = op.box.top;
  out.left = op.box.left;
  out.turns = (op.transpose ? PixelOp::transpose : 0u) | (op.flip_x ? PixelOp::flip_x : 0u) |
              (op.flip_y ? PixelOp::flip_y : 0u) | (op.margin.mode == Padding::Mode::reflect ? PixelOp::reflect : 0u);
  out.above = op.margin.top, out.below = op.margin.bottom;
  out.before = op.margin.left, out.after = op.margin.right;
  for (std::size_t c = 0; c < op.margin.fill.size(); ++c) out.fill[c] = static_cast<std::uint8_t>(op.margin.fill[c]);
  std::copy(op.scale.begin(), op.scale.end(), out.scale);
  std::copy(op.bias.begin(), op.bias.end(), out.bias);
  return out;
}

void DeviceImage::run(BatchView in, BatchView out, StreamRef stream) const {
  const TensorView from = in[in_.name], to = out[out_.name];
  PixelWork work;
  work.in = reinterpret_cast<const std::uint8_t*>(from.data);
  work.out = to.data;
  work.ops = reinterpret_cast<const PixelOp*>(in.draws);
  work.images = in.rows;
  work.in_height = shape().height;
  work.in_width = shape().width;
  work.channels = shape().channels;
  work.result = result_of(out_.dtype);
  work.planar = layout_ == Layout::chw;
  work.height = static_cast<std::int32_t>(out_.shape[work.planar ? 1 : 0]);
  work.width = static_cast<std::int32_t>(out_.shape[work.planar ? 2 : 1]);
  if (stream.device().kind == Device::Kind::gpu) return make_pixels_on_gpu(work, stream);
  launch_on_host(
      stream, "image", [work] { make_pixels(work); },
      {{from.data, from.bytes(), false}, {in.draws, in.rows * sizeof(PixelOp), false}, {to.data, to.bytes(), true}});
}

void make_pixels(const PixelWork& work) {
  for (std::uint64_t image = 0; image < work.images; ++image)
    for (std::int32_t y = 0; y < work.height; ++y)
      for (std::int32_t x = 0; x < work.width; ++x) make_pixel(work, image, y, x);
}

}  // namespace penstock::detail
