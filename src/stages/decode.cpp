// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_executor.hpp>

#include "chain/chain_compiler.hpp"
#include "pipeline/device_program.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class DecodeStage final : public WorkStage {
 public:
  DecodeStage(std::string field, std::shared_ptr<const ImageDecoder> decoder, const ImageExecutor& executor)
      : field_(std::move(field)), decoder_(std::move(decoder)), executor_(&executor) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string name = decoder_->name(), label = name + "(" + field_ + ")";
    const Field& in = pipeline.at(field_, label);
    if (pipeline.data().batch) return join_after_batch(pipeline, in, name, label);
    if (in.dtype != DType::u8 || in.shape.rank() != 1)
      throw Error(Errc::schema_mismatch, "field \"" + field_ + "\" is " + type_text(in) + ", not encoded bytes u8[?]")
          .with_stage(label);
    pipeline.add_stage(
        name, label, decoder_->describe(), 0,
        pipeline.data().schema.with({field_, decoder_->dtype(), Shape{dynamic, dynamic, decoder_->channels()}}));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    ImageStep& step = chain.begin_image(bound.label, bound.key, *executor_, bound.out.slot(field_));
    step.decoder = decoder_.get();
    step.decoder_label = bound.label;
    step.result = bound.out[step.slot];
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

  const std::string field_;
  const std::shared_ptr<const ImageDecoder> decoder_;
  const ImageExecutor* executor_;
};

}  // namespace

}  // namespace detail::runtime

Pixels ImageDecoding::decode_reduced(const Reduction&, const Box&, bool, Scratch&) {
  throw Error(Errc::unsupported, "the decoder decodes no reduced images");
}

Stage decode_stage(std::string field, std::shared_ptr<const ImageDecoder> decoder, const ImageExecutor& executor) {
  if (decoder == nullptr)
    throw Error(Errc::invalid_argument, "there is no decoder").with_stage("decode_stage(" + field + ")");
  return detail::make_stage(detail::runtime::DecodeStage(std::move(field), std::move(decoder), executor));
}

}  // namespace penstock
