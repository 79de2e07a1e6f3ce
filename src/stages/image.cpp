// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/image_executor.hpp>

#include "chain/chain_compiler.hpp"
#include "image/way_to_image.hpp"
#include "pipeline/device_program.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class ImageStage final : public WorkStage {
 public:
  ImageStage(ImageFields fields, std::shared_ptr<const ImageStageModel> model, const ImageExecutor& executor)
      : fields_(std::move(fields)), model_(std::move(model)), executor_(&executor) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string name = model_->name(), label = name + "(" + fields_.names() + ")";
    std::string options = model_->describe();
    Schema out = pipeline.schema();
    const Field& first = pipeline.at(fields_[0].name, label);
    for (const ImageField& field : fields_) {
      if (field.kind != ImageField::Kind::image) {
        out = with_follower(pipeline, field, first, out, label);
        options += (options.empty() ? "" : ", ") + field.name + follows_as(field.kind);
        for (const auto& [a, b] : field.mirrored) options += " " + std::to_string(a) + "-" + std::to_string(b);
        continue;
      }
      const Field& in = pipeline.at(field.name, label);
      const bool after_batch = static_cast<bool>(pipeline.data().batch);
      if ((in.dtype != DType::u8 && in.dtype != DType::u16) || in.shape.rank() != 3)
        throw Error(Errc::schema_mismatch, "field \"" + field.name + "\" is " + type_text(in) +
                                               ", but image stages take u8[H, W, C]" +
                                               (after_batch ? " after batch" : " or u16[H, W, C]") + "; " +
                                               (in.dtype == DType::f32 && in.shape.rank() <= 3 && &field != &fields_[0]
                                                    ? "boxes and points that follow the image are named as boxes(\"" +
                                                          field.name + "\") or points(\"" + field.name + "\")"
                                                    : way_to_image(in)))
            .with_stage(label);
      if (in.dtype == DType::u16 && after_batch)
        throw Error(Errc::schema_mismatch,
                    "field \"" + field.name + "\" is " + type_text(in) +
                        ", but image stages take u8[H, W, C] after batch; put the stage before "
                        "batch, where values of 16 bits stay as they are, or decode it to 8 bits")
            .with_stage(label);
      constexpr std::int64_t most_channels = 4;
      if (const std::int64_t channels = in.shape[2]; channels != dynamic && channels > most_channels)
        throw Error(Errc::schema_mismatch,
                    "field \"" + field.name + "\" is " + type_text(in) +
                        ", but image stages take [H, W, C] with 1 to 4 channels, and its last dimension is " +
                        std::to_string(channels) + "; move the channels there by a map before it")
            .with_stage(label);
      if (in.dtype == DType::u16 && model_->resamples() && field.filter != Filter::nearest)
        throw Error(Errc::schema_mismatch,
                    "field \"" + field.name + "\" is " + type_text(in) +
                        ", but values of 16 bits are resampled by nearest only: crop it to size, name it with "
                        "Filter::nearest, or decode it to 8 bits")
            .with_stage(label);
      if (field.filter == Filter::linear && (model_->resamples() || fields_.size() > 1) &&
          pipeline.holds_labels(field.name))
        refuse_labels(pipeline, field, name, label);
      for (const std::size_t side : {0u, 1u})
        if (in.shape[side] != first.shape[side] && in.shape[side] != dynamic && first.shape[side] != dynamic)
          throw Error(Errc::schema_mismatch, "field \"" + first.name + "\" is " + type_text(first) + ", but \"" +
                                                 field.name + "\" is " + type_text(in) +
                                                 ": fields of one image stage agree in height and width")
              .with_stage(label);
      DType dtype = in.dtype;
      const Shape shape = result_of(in.shape, dtype, label);
      out = out.with({field.name, dtype, shape, shape.fixed() ? Collate::dense() : in.collate});
      if (field.filter == Filter::nearest) options += (options.empty() ? "" : ", ") + field.name + " by nearest";
    }
    pipeline.add_stage_anywhere(name, label, std::move(options), model_->version(), std::move(out));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add_image(bound, fields_, *model_, *executor_);
  }
  void launch(const BoundStage& bound, DeviceProgramBuilder& program) const override {
    program.add_image(bound, fields_, model_, *executor_);
  }
  std::optional<bool> awaits_resize(const std::string& field) const override {
    const bool takes = std::ranges::any_of(
        fields_, [&](const ImageField& of) { return of.name == field && of.kind == ImageField::Kind::image; });
    return takes && model_->resamples() ? std::optional(false) : std::nullopt;
  }
  bool draws() const override { return model_->draws(); }
  bool versioned() const override { return model_->versioned(); }

 private:
  // Returns what the stage makes of an image. @throws Error with the stage's label.
  Shape result_of(const Shape& in, DType& dtype, const std::string& label) const {
    try {
      return model_->schema(in, dtype);
    } catch (const Error& error) {
      throw Error(error).with_stage(label);
    }
  }

  // Returns `out` with what the stage makes of a field that follows the image `first`.
  Schema with_follower(PipelineBuilder& pipeline, const ImageField& field, const Field& first, const Schema& out,
                       const std::string& label) const {
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
      const Shape shape = result_of({in.shape[1], in.shape[2], 1}, dtype, label);
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
    const BoxConversion* const conversion = model_->box_conversion();
    if (conversion == nullptr) return with_shape(out, in, in.shape);
    if (!boxes) refuse("has points, and this stage converts boxes");
    std::vector<std::int64_t> dims(in.shape.dims().begin(), in.shape.dims().end());
    if (!conversion->keeps_share) dims.back() = 4;
    return with_shape(out, in, Shape(std::span<const std::int64_t>(dims)));
  }

  static void check_mirrored(const ImageField& field, const Field& in, const std::string& label) {
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

  static Schema with_shape(const Schema& out, const Field& in, const Shape& shape) {
    return out.with({in.name, in.dtype, shape, shape.fixed() ? Collate::dense() : in.collate});
  }

  static const char* follows_as(ImageField::Kind kind) {
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

  // Throws the error for labels that the stage would resample like a picture.
  [[noreturn]] void refuse_labels(const PipelineBuilder& pipeline, const ImageField& labels, const std::string& name,
                                  const std::string& label) const {
    std::string pictures, masks;
    for (const ImageField& field : fields_) {
      const bool is_mask = &field == &labels || pipeline.holds_labels(field.name);
      (is_mask ? masks : pictures) += (is_mask || !pictures.empty() ? ", " : "") + ('"' + field.name + '"');
    }
    throw Error(Errc::invalid_argument,
                "field \"" + labels.name +
                    "\" was decoded as labels, which are never interpolated, but is named as a "
                    "picture here: write " +
                    (pictures.empty() ? "mask(\"" + labels.name + "\") for it"
                                      : name + "({" + pictures + masks + "}, ...), the picture first"))
        .with_stage(label);
  }

  const ImageFields fields_;
  const std::shared_ptr<const ImageStageModel> model_;
  const ImageExecutor* executor_;
};

}  // namespace

}  // namespace detail::runtime

Stage detail::make_image_stage(ImageFields fields, std::shared_ptr<const ImageStageModel> model,
                               const ImageExecutor& executor) {
  return make_stage(runtime::ImageStage(std::move(fields), std::move(model), executor));
}

}  // namespace penstock
