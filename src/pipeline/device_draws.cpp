// SPDX-License-Identifier: Apache-2.0
#include "pipeline/device_draws.hpp"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>

#include "data/decode_whole.hpp"
#include "image/decode_op.hpp"
#include "image/device_image.hpp"
#include "image/device_resample.hpp"
#include "pipeline/ask_stage.hpp"

namespace penstock::detail {

namespace {

// Returns the shape of the image that a step of kind `image` gets. If a step of kind `resample` is directly before that
// step, returns the shape of the image that the `resample` step gets.
ImageShape source_shape(const DeviceProgram& program, std::size_t step, std::span<const Shape> shapes) {
  const bool halved = step > 0 && program.steps[step - 1].kind == DeviceStep::Kind::resample;
  const DeviceStep& first = program.steps[halved ? step - 1 : step];
  const Field& field = first.in.at(first.field);
  const Shape& shape = field.shape.fixed() ? field.shape : shapes[program.sample.slot(first.field)];
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (shape[0] > most || shape[1] > most)
    throw Error(Errc::unsupported, "an image of " + shape.to_string() + " is too large");
  return {static_cast<std::int32_t>(shape[0]), static_cast<std::int32_t>(shape[1]),
          static_cast<std::int32_t>(shape[2])};
}

bool has_op(const DeviceStep& step) {
  return step.kind == DeviceStep::Kind::image && step.out.at(step.field).shape.fixed();
}

// Composes an ImageOp for each step. The ImageOp is empty if the step has no operation.
void compose_row(const DeviceProgram& program, std::uint64_t seed, const Place& place, std::span<const Shape> shapes,
                 std::vector<ImageOp>& ops, const std::string** at) {
  ops.clear();
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const DeviceStep& step = program.steps[i];
    *at = &step.label;
    ops.emplace_back();
    if (has_op(step)) ask_stage([&] { ops.back() = ImageOp(source_shape(program, i, shapes)); });
  }
  alignas(std::max_align_t) std::byte params[ImageStageModel::max_params] = {};
  Size led;  // image size of the field whose draw other fields follow; empty if its images have no fixed size yet
  for (const DeviceDraw& draw : program.draws) {
    if (draw.image == nullptr) continue;
    if (!draw.follows) led = {};
    if (!has_op(program.steps[draw.step])) continue;
    *at = &draw.label;
    ImageOp& op = ops[draw.step];
    const ImageShape shape = op.shape();
    if (draw.follows && !(led == Size{}) && !(shape.size() == led))
      throw Error(Errc::unsupported, "the image is " + op.tensor_shape().to_string() +
                                         ", but that of the stage's first field is " + std::to_string(led.height) +
                                         "x" + std::to_string(led.width) +
                                         ": fields of one image stage agree in height and width");
    if (!draw.follows) {
      led = shape.size();
      Rng rng(seed, draw.key, place);
      ask_stage([&] { draw.image->draw(shape, rng, params); });
    }
    op.filter_with(draw.filter);
    ask_stage([&] { draw.image->compose(params, shape, op); });
    if (op.refused())
      throw Error(Errc::unsupported,
                  "after batch the image stages of a field are one operation, and this one can't join those before "
                  "it; put it before batch");
  }
}

// Returns the shape of each field. If a field's size varies, uses `size`.
std::vector<Shape> shapes_to_try(const DeviceProgram& program, Size size) {
  std::vector<Shape> shapes;
  for (const Field& field : program.sample) {
    std::vector<std::int64_t> dims(field.shape.rank());
    for (std::size_t i = 0; i < dims.size(); ++i)
      dims[i] = field.shape[i] == dynamic ? (i == 0 ? size.height : size.width) : field.shape[i];
    shapes.emplace_back(std::span<const std::int64_t>(dims));
  }
  for (const DeviceStep& step : program.steps)
    if (step.kind == DeviceStep::Kind::decode)
      shapes[program.sample.slot(step.field)] = {size.height, size.width, step.decoder->channels()};
  return shapes;
}

void write_images(const DeviceProgram& program, const std::vector<ImageOp>& ops, DrawRoom& room,
                  const std::string** at) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const DeviceStep& step = program.steps[i];
    *at = &step.label;
    if (step.kind == DeviceStep::Kind::resample) {
      const ImageOp& op = ops[i + 1];
      const ResampleOp cut = DeviceResample::resample_op(op);
      std::memcpy(room.make(*step.draws, sizeof cut), &cut, sizeof cut);
      const std::span<const std::byte> tables = step.executor->resample_tables(op, room.scratch());
      std::memcpy(room.make(*step.tables, tables.size()), tables.data(), tables.size());
    } else if (step.kind == DeviceStep::Kind::image) {
      const bool halved = i > 0 && program.steps[i - 1].kind == DeviceStep::Kind::resample;
      const auto& image = static_cast<const DeviceImage&>(*step.model);
      const PixelOp op = image.pixel_op(halved ? DeviceResample::rest_of(ops[i]) : ops[i]);
      std::memcpy(room.make(*step.draws, sizeof op), &op, sizeof op);
    }
  }
}

// Returns whether the device decodes this image. If the device can decode it, a random draw decides. So the result does
// not depend on the number of threads. The device can't verify images, so it decodes none if images must be verified.
bool is_for_device(const DeviceProgram& program, std::size_t number, std::uint64_t seed, const Place& place,
                   const ImageDecoding& opened, const DrawRoom& room) {
  const DeviceStep& step = program.steps[number];
  if (!room.decodes_on_device(number) || room.verifies() || !opened.for_batches()) return false;
  const double share = step.decoder->host_share();
  return share <= 0 || (share < 1 && Rng(seed, step.key, place).uniform() >= share);
}

void decode_row(const DeviceProgram& program, std::size_t number, std::uint64_t seed, const Place& place,
                std::span<Shape> shapes, DrawRoom& room) {
  const DeviceStep& step = program.steps[number];
  const std::size_t slot = program.sample.slot(step.field);
  ImageDecoding& decoding = room.decoding(number);
  const auto bytes = static_cast<std::size_t>(shapes[slot].elements());
  const ImageShape shape = decoding.open({room.value(slot), bytes});
  if (const char* const text = decoding.remark()) room.remark(text);
  shapes[slot] = {shape.height, shape.width, shape.channels};
  if (!step.out.at(step.field).shape.admits(shapes[slot]))
    throw Error(Errc::schema_mismatch, "the image is " + shapes[slot].to_string() + ", where " +
                                           step.out.at(step.field).shape.to_string() + " was said");
  // Checks the size, which is the same whether a runner or the device decodes the image.
  room.require_size(slot, shapes[slot].elements());
  const bool device = is_for_device(program, number, seed, place, decoding, room);
  const DecodeOp op{shape.height, shape.width, shape.channels, device ? DecodeOp::By::device : DecodeOp::By::runner};
  std::memcpy(room.make(*step.draws, sizeof op), &op, sizeof op);
  std::byte* const out = room.make(*step.pixels, device ? 0 : static_cast<std::size_t>(shapes[slot].elements()));
  if (!device) decode_whole(decoding, shape, room.verifies(), out, room.scratch());
}

}  // namespace

std::vector<ImageOp> try_row(const DeviceProgram& program, const std::string** at) {
  std::vector<ImageOp> ops;
  std::optional<Error> first;
  // No stage is likely to resize to these sides. If a stage resized to the size that the image has already, it would do
  // nothing, and so hide that a later stage can't follow a resize.
  for (const Size size : {Size{509, 521}, Size{4099, 4093}, Size{65521, 65519}, Size{61, 67}}) try {
      compose_row(program, 0, {}, shapes_to_try(program, size), ops, at);
      return ops;
    } catch (Error& error) {
      if (!first) first = error.with_stage(**at);
    }
  *at = nullptr;
  throw *first;
}

void draw_row(const DeviceProgram& program, std::uint64_t seed, const Place& place, std::span<Shape> shapes,
              DrawRoom& room, std::vector<ImageOp>& ops, const std::string** at) {
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (const DeviceStep& step = program.steps[i]; step.kind == DeviceStep::Kind::decode) {
      *at = &step.label;
      decode_row(program, i, seed, place, shapes, room);
    }
  compose_row(program, seed, place, shapes, ops, at);
  write_images(program, ops, room, at);
  for (const DeviceDraw& draw : program.draws) {
    if (draw.own == nullptr) continue;
    *at = &draw.label;
    alignas(DeviceStageModel::max_draws) std::byte drawn[DeviceStageModel::max_draws] = {};
    Rng rng(seed, draw.key, place);
    draw.own->draw(rng, drawn);
    const DeviceStep& step = program.steps[draw.step];
    std::memcpy(room.make(*step.draws, step.draw_bytes), drawn, step.draw_bytes);
  }
}

}  // namespace penstock::detail
