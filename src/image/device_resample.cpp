// SPDX-License-Identifier: Apache-2.0
#include "image/device_resample.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <penstock/extend/device_stage.hpp>

#include "image/cuda/kernels.hpp"
#include "image/resample_tile.hpp"

namespace penstock::detail {

DeviceResample::DeviceResample(Field in, Field out) : in_(std::move(in)), out_(std::move(out)) {}

ResampleOp DeviceResample::resample_op(const ImageOp& op) {
  ResampleOp out;
  out.stride = static_cast<std::uint64_t>(op.source.width) * op.source.pixel_bytes();
  out.first = static_cast<std::uint64_t>(op.box.top) * out.stride +
              static_cast<std::uint64_t>(op.box.left) * op.source.pixel_bytes();
  out.height = op.kept.height;
  out.width = op.kept.width;
  out.columns = op.box.width;
  out.transpose = op.transpose ? 1 : 0;
  return out;
}

ImageOp DeviceResample::rest_of(const ImageOp& op) {
  ImageShape kept{op.kept.height, op.kept.width, op.source.channels, op.source.element};
  if (op.transpose) std::swap(kept.height, kept.width);
  ImageOp rest(kept);
  rest.margin = op.margin;
  if (op.transpose) {
    std::swap(rest.margin.top, rest.margin.left);
    std::swap(rest.margin.bottom, rest.margin.right);
  }
  rest.flip_x = op.flip_x, rest.flip_y = op.flip_y;
  rest.converted = op.converted, rest.dtype = op.dtype, rest.layout = op.layout;
  rest.scale = op.scale, rest.bias = op.bias;
  return rest;
}

void DeviceResample::run(BatchView in, BatchView out, StreamRef stream) const {
  const TensorView from = in[in_.name], to = out[out_.name];
  ResampleWork work;
  work.in = reinterpret_cast<const std::uint8_t*>(from.data);
  TensorView offsets;
  if (in_.collate.kind == Collate::Kind::ragged) {
    offsets = in.packed(in_.name).offsets;
    work.offsets = reinterpret_cast<const std::int64_t*>(offsets.data);
  } else {
    work.image_bytes = static_cast<std::uint64_t>(in_.shape.elements());
  }
  work.tables = in.tables.data.data;
  work.table_offsets = reinterpret_cast<const std::int64_t*>(in.tables.offsets.data);
  work.ops = reinterpret_cast<const ResampleOp*>(in.draws);
  work.out = reinterpret_cast<std::uint8_t*>(to.data);
  work.images = in.rows;
  work.height = static_cast<std::int32_t>(out_.shape[0]);
  work.width = static_cast<std::int32_t>(out_.shape[1]);
  work.channels = static_cast<std::int32_t>(out_.shape[2]);
  if (stream.device().kind == Device::Kind::gpu) return resample_on_gpu(work, stream);
  launch_on_host(stream, "resample", [work] { resample_images(work); },
                 {{from.data, from.bytes(), false},
                  {offsets.data, offsets.data == nullptr ? 0 : offsets.bytes(), false},
                  {in.tables.data.data, in.tables.data.bytes(), false},
                  {in.tables.offsets.data, in.tables.offsets.bytes(), false},
                  {in.decoded.data, in.decoded.bytes, false},
                  {in.draws, in.rows * sizeof(ResampleOp), false},
                  {to.data, to.bytes(), true}});
}

namespace {

template <int channels>
void make_tile(const ResampleWork& work, std::uint64_t image, std::int32_t top, std::int32_t left) {
  using Tile = ResampleTile<channels>;
  const Tile tile(work, image, top, left);
  if (tile.blank())
    for (std::int32_t thread = 0; thread < Tile::threads; ++thread) tile.write_zeros(thread);
  if (!tile.has_pixels()) return;
  // A GPU does not clear this memory, so the host fills it with ones instead of zeros. Then the zeros that `add` needs
  // must come from `write_zeros_around`, as on a GPU.
  alignas(16) std::uint32_t between[Tile::cells];
  std::fill(std::begin(between), std::end(between), ~std::uint32_t{0});
  for (std::int32_t thread = 0; thread < Tile::threads; ++thread) Tile::write_zeros_around(thread, between);
  typename Tile::Sums sums[Tile::threads];
  for (auto& of_thread : sums)
    for (auto& pixel : of_thread)
      for (std::uint32_t& sum : pixel) sum = tile.rounding();
  for (std::int32_t from = tile.low(); from < tile.high(); from += Tile::stretch) {
    for (std::int32_t thread = 0; thread < Tile::threads; ++thread) tile.make_rows(thread, from, between);
    for (std::int32_t thread = 0; thread < Tile::threads; ++thread)
      tile.add(thread, tile.column_of(thread), from, between, sums[thread]);
  }
  for (std::int32_t thread = 0; thread < Tile::threads; ++thread) tile.write(thread, sums[thread]);
}

template <int channels>
void resample_all(const ResampleWork& work) {
  using Tile = ResampleTile<channels>;
  for (std::uint64_t image = 0; image < work.images; ++image) {
    const ResampleOp& op = work.ops[image];
    const std::int32_t height = op.height == 0 ? work.height : op.height;
    const std::int32_t width = op.height == 0 ? work.width : op.width;
    for (std::int32_t top = 0; top < height; top += Tile::height)
      for (std::int32_t left = 0; left < width; left += Tile::width) make_tile<channels>(work, image, top, left);
  }
}

}  // namespace

void resample_images(const ResampleWork& work) {
  switch (work.channels) {
    case 1:
      return resample_all<1>(work);
    case 2:
      return resample_all<2>(work);
    case 3:
      return resample_all<3>(work);
    default:
      return resample_all<4>(work);
  }
}

}  // namespace penstock::detail
