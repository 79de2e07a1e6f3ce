// SPDX-License-Identifier: Apache-2.0
#include "stages/followers.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

namespace {

void check_mirrored(const ImageField& field, const Field& in, const std::string& label) {
  const std::size_t rank = in.shape.rank();
  const std::int64_t points = rank < 2 ? dynamic : in.shape[rank - 2];
  std::set<std::int64_t> named;
  for (const auto& [first, second] : field.mirrored)
    for (const std::int64_t point : {std::int64_t{first}, std::int64_t{second}})
      if (points == dynamic || point >= points || !named.insert(point).second)
        throw Error(Errc::schema_mismatch,
                    "field \"" + field.name + "\" is " + type_text(in) + ", and point " + std::to_string(point) +
                        " of a mirrored pair is " +
                        (points == dynamic ? "of no fixed list of points: [..., K, 2] or [..., K, 3] is needed"
                         : point >= points ? "not one of its " + std::to_string(points) + " points"
                                           : "named twice"))
            .with_stage(label);
}

Schema with_shape(const Schema& out, const Field& in, const Shape& shape) {
  return out.with({in.name, in.dtype, shape, shape.fixed() ? Collate::dense() : in.collate});
}

const char* follows_as(ImageField::Kind kind) {
  switch (kind) {
    case ImageField::Kind::boxes:
      return " as boxes";
    case ImageField::Kind::points:
      return " as points";
    case ImageField::Kind::instance_masks:
      return " as instance masks";
    default:
      return " as crop";
  }
}

}  // namespace

Shape result_of(const ImageStageModel& model, const Shape& in, DType& dtype, const std::string& label) {
  try {
    return model.schema(in, dtype);
  } catch (const Error& error) {
    throw Error(error).with_stage(label);
  }
}

Schema with_follower(PipelineBuilder& pipeline, const ImageField& field, const Field& first, const Schema& out,
                     const ImageStageModel& model, const std::string& label) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Errc::schema_mismatch, "field \"" + field.name + "\" " + why).with_stage(label);
  };
  if (pipeline.data().batch) refuse("follows an image, which it does before batch: put the stage there");
  if (field.kind == ImageField::Kind::crop_box) {
    if (out.find(field.name)) refuse("is there already, and crop_box makes a new field: give it another name");
    return out.with({field.name, DType::f32, {4}});
  }
  const Field& in = pipeline.at(field.name, label);
  const std::size_t rank = in.shape.rank();
  if (field.kind == ImageField::Kind::instance_masks) {
    if ((in.dtype != DType::u8 && in.dtype != DType::u16) || rank != 3)
      refuse("is " + type_text(in) + ", but instance masks are u8[N, H, W] or u16[N, H, W]");
    for (const std::size_t side : {0u, 1u})
      if (in.shape[side + 1] != first.shape[side] && in.shape[side + 1] != dynamic && first.shape[side] != dynamic)
        refuse("is " + type_text(in) + ", but \"" + first.name + "\" is " + type_text(first) +
               ": masks have the height and width of their image");
    DType dtype = in.dtype;
    const Shape shape = result_of(model, {in.shape[1], in.shape[2], 1}, dtype, label);
    if (shape[2] != 1) refuse("holds [N, H, W], and this stage puts the channels first");
    if (dtype != in.dtype) refuse("holds labels, which this stage would convert to " + std::string(to_string(dtype)));
    return with_shape(out, in, {in.shape[0], shape[0], shape[1]});
  }
  const bool boxes = field.kind == ImageField::Kind::boxes;
  const std::int64_t columns = rank == 0 ? 0 : in.shape[rank - 1], least = boxes ? 4 : 2;
  if (in.dtype != DType::f32 || (columns != least && columns != least + 1))
    refuse("is " + type_text(in) +
           (boxes ? ", but boxes are f32[..., 4], or f32[..., 5] with the visible share: cast "
                    "it before, and bring corners into pixels with convert_boxes"
                  : ", but points are f32[..., 2], or f32[..., 3] with their visibility: cast "
                    "it before"));
  if (!field.mirrored.empty()) check_mirrored(field, in, label);
  const BoxConversion* const conversion = model.box_conversion();
  if (conversion == nullptr) return with_shape(out, in, in.shape);
  if (!boxes) refuse("has points, and this stage converts boxes");
  std::vector<std::int64_t> dims(in.shape.dims().begin(), in.shape.dims().end());
  if (!conversion->keeps_share) dims.back() = 4;
  return with_shape(out, in, Shape(std::span<const std::int64_t>(dims)));
}

std::string describe_follower(const ImageField& field) {
  std::string text = field.name + follows_as(field.kind);
  for (const auto& [first, second] : field.mirrored) text += " " + std::to_string(first) + "-" + std::to_string(second);
  return text;
}

}  // namespace penstock::detail::runtime
