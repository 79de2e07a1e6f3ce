// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/convert_boxes.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/box_conversion.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/transforms/image/stage.hpp>

namespace penstock {

namespace {

const char* name_of(BoxFormat format) {
  switch (format) {
    case BoxFormat::xyxy:
      return "xyxy";
    case BoxFormat::xywh:
      return "xywh";
    case BoxFormat::cxcywh:
      return "cxcywh";
    case BoxFormat::xyxy_shares:
      return "xyxy_shares";
    case BoxFormat::xywh_shares:
      return "xywh_shares";
    case BoxFormat::cxcywh_shares:
      return "cxcywh_shares";
  }
  return "";
}

std::string text_of(const BoxConversion& conversion) {
  return std::string(name_of(conversion.from)) + " to " + name_of(conversion.to) +
         (conversion.keeps_share ? "" : ", without the share");
}

// Leaves the image as it is. The boxes that follow it are converted.
class BesideAnImage {
 public:
  struct Params {};
  explicit BesideAnImage(const BoxConversion& conversion) : conversion_(conversion) {}
  Params draw(const ImageShape&, Rng&) const { return {}; }
  void compose(const Params&, const ImageShape&, ImageOp&) const {}
  const BoxConversion& box_conversion() const { return conversion_; }
  std::string name() const { return "convert_boxes"; }
  std::string describe() const { return text_of(conversion_); }
  std::uint64_t version() const { return 0; }

 private:
  BoxConversion conversion_;
};

class Alone {
 public:
  explicit Alone(const BoxConversion& conversion) : conversion_(conversion) {}
  TensorType result(const TensorType& in) const {
    const std::size_t rank = in.shape.rank();
    if (in.dtype != DType::f32 || rank == 0 || (in.shape[rank - 1] != 4 && in.shape[rank - 1] != 5))
      throw Error(Errc::schema_mismatch, "the field is " + std::string(to_string(in.dtype)) + in.shape.to_string() +
                                             ", but boxes are f32[..., 4], or f32[..., 5] with the visible share");
    TensorType out = in;
    if (!conversion_.keeps_share) out.shape[rank - 1] = 4;
    return out;
  }
  void operator()(const TensorView& in, const TensorView& out) const {
    const std::size_t rank = in.shape.rank(), before = static_cast<std::size_t>(in.shape[rank - 1]) * sizeof(float),
                      after = static_cast<std::size_t>(out.shape[rank - 1]) * sizeof(float);
    const std::size_t count = in.bytes() / before;
    for (std::size_t i = 0; i < count; ++i) {
      float box[5];
      std::memcpy(box, in.data + i * before, before);
      convert_box(conversion_, {}, box);
      std::memcpy(out.data + i * after, box, after);
    }
  }
  std::string describe() const { return text_of(conversion_); }
  std::uint64_t version() const { return 0; }

 private:
  BoxConversion conversion_;
};

}  // namespace

Stage convert_boxes(ImageFields fields, const ConvertBoxesOptions& options) {
  const BoxConversion conversion{options.from, options.to, options.keeps_share};
  if (fields.size() == 1) {
    if (in_shares(options.from) != in_shares(options.to))
      throw Error(Errc::invalid_argument,
                  text_of(conversion) + " needs the image's size: {\"image\", boxes(\"" + fields[0].name + "\")}")
          .with_stage("convert_boxes");
    return map(fields[0].name, Alone(conversion), {.name = "convert_boxes"});
  }
  for (std::size_t i = 1; i < fields.size(); ++i)
    if (fields[i].kind != ImageField::Kind::boxes)
      throw Error(Errc::invalid_argument,
                  "field \"" + fields[i].name + "\" must be named as boxes(\"" + fields[i].name + "\")")
          .with_stage("convert_boxes");
  return image_stage(std::move(fields), BesideAnImage(conversion));
}

}  // namespace penstock
