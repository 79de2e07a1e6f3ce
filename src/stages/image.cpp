// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
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
#include "stages/followers.hpp"

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
        out = with_follower(pipeline, field, first, out, *model_, label);
        options += (options.empty() ? "" : ", ") + describe_follower(field);
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
      const Shape shape = result_of(*model_, in.shape, dtype, label);
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
