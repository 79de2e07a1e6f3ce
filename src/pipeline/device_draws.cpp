#include "pipeline/device_draws.hpp"

#include <cstring>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>

#include "device/device_image.hpp"

namespace penstock::detail {

namespace {

// What a stage can't do with these images is no mistake in this call's arguments.
void ask_stage(const auto& stage) {
  try {
    stage();
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument) throw;
    throw Error(Errc::unsupported, error.cause());
  }
}

ImageShape shape_of_image(const Field& field) {
  return {static_cast<std::int32_t>(field.shape[0]), static_cast<std::int32_t>(field.shape[1]),
          static_cast<std::int32_t>(field.shape[2])};
}

}  // namespace

void compose_row(const DeviceProgram& program, std::uint64_t seed, const Place& place, std::vector<ImageOp>& ops,
                 const std::string** at) {
  ops.clear();
  for (const DeviceStep& step : program.steps)
    ops.push_back(step.image ? ImageOp(shape_of_image(step.in.at(step.field))) : ImageOp());
  alignas(std::max_align_t) std::byte params[ImageStageModel::max_params];
  for (const DeviceDraw& draw : program.draws) {
    if (draw.image == nullptr) continue;
    *at = &draw.label;
    ImageOp& op = ops[draw.step];
    const ImageShape shape = op.shape();
    if (!draw.follows) {
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

void draw_row(const DeviceProgram& program, std::uint64_t seed, const Place& place,
              std::span<std::byte* const> destinations, std::vector<ImageOp>& ops, const std::string** at) {
  compose_row(program, seed, place, ops, at);
  std::size_t next = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const DeviceStep& step = program.steps[i];
    if (!step.draws) continue;
    std::byte* const to = destinations[next++];
    *at = &step.label;
    if (step.image) {
      const PixelOp op = static_cast<const DeviceImage&>(*step.model).pixel_op(ops[i]);
      std::memcpy(to, &op, sizeof op);
    }
  }
  for (const DeviceDraw& draw : program.draws) {
    if (draw.own == nullptr) continue;
    *at = &draw.label;
    alignas(DeviceStageModel::max_draws) std::byte drawn[DeviceStageModel::max_draws] = {};
    Rng rng(seed, draw.key, place);
    draw.own->draw(rng, drawn);
    std::size_t number = 0;
    for (std::size_t i = 0; i < draw.step; ++i) number += program.steps[i].draws ? 1 : 0;
    std::memcpy(destinations[number], drawn, program.steps[draw.step].draw_bytes);
  }
}

}  // namespace penstock::detail
