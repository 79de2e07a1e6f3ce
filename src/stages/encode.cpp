// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_executor.hpp>

#include "chain/chain_compiler.hpp"
#include "image/encoders.hpp"
#include "image/way_to_image.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class EncodeStage final : public WorkStage {
 public:
  EncodeStage(std::string field, std::shared_ptr<const ImageEncoder> encoder, const ImageExecutor& executor,
              const std::string& out)
      : field_(std::move(field)),
        out_(out.empty() ? field_ : out),
        encoder_(std::move(encoder)),
        executor_(&executor) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string name = encoder_->name(), label = name + "(" + field_ + ")";
    const Field& in = pipeline.at(field_, label);
    try {
      check_image(in);
      if (pipeline.holds_labels(field_) && !encoder_->lossless())
        throw Error(Errc::invalid_argument, "field \"" + field_ + "\" was decoded as labels, which " + name +
                                                " would change; encode them as PNG, or leave them out");
      if (out_ != field_ && pipeline.schema().find(out_))
        throw Error(Errc::invalid_argument,
                    "there is a field \"" + out_ + "\" already; the fields are " + pipeline.schema().to_string());
    } catch (Error& error) {
      throw error.with_stage(label);
    }
    std::string options = encoder_->describe();
    if (out_ != field_) options += (options.empty() ? "to " : ", to ") + out_;
    pipeline.add_stage(name, label, std::move(options), 0, pipeline.data().schema.with({out_, DType::u8, {dynamic}}));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add_encoding(bound, field_, out_, *encoder_, *executor_);
  }
  bool gives(const std::string& field) const override { return field == out_; }

 private:
  // Checks what the schema shows. The encoder checks each sample.
  void check_image(const Field& in) const {
    const std::string is = "field \"" + field_ + "\" is " + type_text(in);
    if ((in.dtype != DType::u8 && in.dtype != DType::u16) || in.shape.rank() != 3)
      throw Error(Errc::schema_mismatch,
                  is + ", but " + encoder_->name() + " takes images, u8[H, W, C] or u16[H, W, C]; " + way_to_image(in));
    if (!takes_some(*encoder_, in.dtype, in.shape[2]))
      throw Error(Errc::schema_mismatch,
                  is + ", but " + encoder_->name() + " takes " + images_taken(*encoder_) + wide_advice(in));
    for (const std::size_t side : {0u, 1u})
      if (in.shape[side] != dynamic && (in.shape[side] < 1 || in.shape[side] > encoder_->max_side()))
        throw Error(Errc::schema_mismatch, is + ", but " + encoder_->name() + " takes sides of 1 to " +
                                               std::to_string(encoder_->max_side()) + " pixels");
  }

  static std::string wide_advice(const Field& in) {
    return in.dtype == DType::u16 ? "; encode_png keeps 16 bits, and cast(\"" + in.name +
                                        "\", DType::u8) before it values of 0 to 255 alone"
                                  : "";
  }

  const std::string field_, out_;
  const std::shared_ptr<const ImageEncoder> encoder_;
  const ImageExecutor* executor_;
};

}  // namespace

}  // namespace detail::runtime

Stage encode_stage(std::string field, std::shared_ptr<const ImageEncoder> encoder, const ImageExecutor& executor,
                   const std::string& out) {
  if (encoder == nullptr)
    throw Error(Errc::invalid_argument, "there is no encoder").with_stage("encode_stage(" + field + ")");
  return detail::make_stage(detail::runtime::EncodeStage(std::move(field), std::move(encoder), executor, out));
}

}  // namespace penstock
