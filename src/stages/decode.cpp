// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_stage.hpp>

#include "chain/chain_compiler.hpp"
#include "pipeline/device_program.hpp"
#include "pipeline/pipeline_builder.hpp"
#include "stages/followers.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// How a decoder turns and mirrors the stored image.
struct TurnStage {
  TurnParams draw(const ImageShape&, Rng&) const { return {}; }
  void compose(const TurnParams& params, const ImageShape&, ImageOp& op) const { op.orient(params.orientation); }
  Shape schema(const Shape& in) const { return {dynamic, dynamic, in[2]}; }
};

class DecodeStage final : public WorkStage {
 public:
  DecodeStage(ImageFields fields, std::shared_ptr<const ImageDecoder> decoder, const ImageExecutor& executor)
      : fields_(std::move(fields)), field_(fields_[0].name), decoder_(std::move(decoder)), executor_(&executor) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string name = decoder_->name(), label = name + "(" + fields_.names() + ")";
    check_fields(label);
    const Field& in = pipeline.at(field_, label);
    if (pipeline.data().batch && fields_.size() == 1) return join_after_batch(pipeline, in, name, label);
    if (in.dtype != DType::u8 || in.shape.rank() != 1)
      throw Error(Errc::schema_mismatch, "field \"" + field_ + "\" is " + type_text(in) + ", not encoded bytes u8[?]")
          .with_stage(label);
    const Field decoded{field_, decoder_->dtype(), Shape{dynamic, dynamic, decoder_->channels()}};
    Schema out = pipeline.data().schema.with(decoded);
    std::string options = decoder_->describe();
    for (std::size_t i = 1; i < fields_.size(); ++i) {
      out = with_follower(pipeline, fields_[i], decoded, out, turn(), label);
      options += ", " + describe_follower(fields_[i]);
    }
    pipeline.add_stage(name, label, std::move(options), 0, std::move(out));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add_decoding(bound, fields_, *decoder_, turn(), *executor_);
  }
  void launch(const BoundStage& bound, DeviceProgramBuilder& program) const override {
    program.add_decode(bound, field_, decoder_);
  }
  std::optional<bool> gives_labels(const std::string& field) const override {
    return field == field_ ? std::optional(decoder_->labels()) : std::nullopt;
  }
  std::optional<bool> awaits_resize(const std::string& field) const override {
    return field == field_ ? std::optional(decoder_->reduces()) : std::nullopt;
  }

 private:
  // The turn that the fields of `fields_` after the first follow.
  static const ImageStageModel& turn() {
    static const ImageStageOf<TurnStage> model{TurnStage()};
    return model;
  }

  void check_fields(const std::string& label) const {
    const auto refuse = [&](const std::string& why) { throw Error(Errc::invalid_argument, why).with_stage(label); };
    if (fields_[0].filter != Filter::linear)
      refuse("a decoder resamples nothing, so \"" + field_ + "\" is named without a filter");
    for (std::size_t i = 1; i < fields_.size(); ++i)
      if (fields_[i].kind == ImageField::Kind::image || fields_[i].kind == ImageField::Kind::crop_box)
        refuse("\"" + fields_[i].name +
               "\" can't follow a decoder, only boxes, points and instance masks can; decode each image by a stage of "
               "its own");
    if (fields_.size() > 1 && !decoder_->scaling().empty() && !decoder_->reduces())
      refuse("boxes and other fields that follow a decoder are of the whole image (" + decoder_->scaling() +
             "): leave the scale out, or say `fit`");
  }

  void join_after_batch(PipelineBuilder& pipeline, const Field& in, const std::string& name,
                        const std::string& label) const {
    if (in.dtype != DType::u8 || in.shape.rank() != 1 || in.collate.kind != Collate::Kind::ragged)
      throw Error(Errc::schema_mismatch, "field \"" + field_ + "\" is " + type_text(in) +
                                             ", not encoded bytes u8[?] that are ragged; say ragged(\"" + field_ +
                                             "\") before batch")
          .with_stage(label);
    if (decoder_->dtype() != DType::u8 || decoder_->channels() == dynamic)
      throw Error(
          Errc::unsupported,
          "after batch images are decoded to 8 bits and a number of channels that is known; choose a color that "
          "says it, or put the stage before batch")
          .with_stage(label);
    if (decoder_->reduces())
      throw Error(Errc::unsupported,
                  "after batch no resize can tell at which size images are to be decoded; put the stage before batch, "
                  "or choose a fixed size")
          .with_stage(label);
    pipeline.add_device_stage(
        name, label, decoder_->describe(), 0,
        pipeline.schema().with({field_, DType::u8, {dynamic, dynamic, decoder_->channels()}, Collate::ragged()}));
  }

  const ImageFields fields_;
  const std::string field_;  // the image
  const std::shared_ptr<const ImageDecoder> decoder_;
  const ImageExecutor* executor_;
};

}  // namespace

}  // namespace detail::runtime

Pixels ImageDecoding::decode_reduced(const Reduction&, const Box&, bool, Scratch&) {
  throw Error(Errc::unsupported, "the decoder decodes no reduced images");
}

Stage decode_stage(ImageFields fields, std::shared_ptr<const ImageDecoder> decoder, const ImageExecutor& executor) {
  if (decoder == nullptr)
    throw Error(Errc::invalid_argument, "there is no decoder").with_stage("decode_stage(" + fields.names() + ")");
  return detail::make_stage(detail::runtime::DecodeStage(std::move(fields), std::move(decoder), executor));
}

}  // namespace penstock
