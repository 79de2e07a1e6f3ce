// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/encode_png.hpp>

#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "writer.hpp"

namespace penstock {

namespace {

const char* effort_name(EncodePngOptions::Effort effort) {
  switch (effort) {
    case EncodePngOptions::fast:
      return "fast";
    case EncodePngOptions::normal:
      return "normal";
    case EncodePngOptions::small:
      return "small";
  }
  throw Error(Errc::invalid_argument, "encode_png: effort is not fast, normal or small");
}

class PngEncoder final : public ImageEncoder {
 public:
  explicit PngEncoder(const EncodePngOptions& options)
      : effort_(options.effort),
        name_(effort_name(effort_)),
        compressors_(effort_ == EncodePngOptions::small ? 12 : 6) {}
  std::string name() const override { return "encode_png"; }
  std::string describe() const override { return std::string("effort ") + name_; }
  bool takes(DType element, std::int32_t channels) const override {
    return (element == DType::u8 || element == DType::u16) && channels >= 1 && channels <= 4;
  }
  bool lossless() const override { return true; }
  void encode(const Pixels& pixels, EncodedFile& out, Scratch& scratch) const override {
    png::Writer(out, scratch, effort_ == EncodePngOptions::fast ? nullptr : &compressors_).write(pixels);
  }

 private:
  EncodePngOptions::Effort effort_;
  const char* name_;
  mutable png::Compressors compressors_;  // of libdeflate's level
};

}  // namespace

std::vector<std::byte> encode_png(const Pixels& pixels, const EncodePngOptions& options) {
  return encoded_bytes(PngEncoder(options), pixels);
}

std::shared_ptr<const ImageEncoder> png_encoder(const EncodePngOptions& options) {
  return std::make_shared<const PngEncoder>(options);
}

Stage encode_png(std::string field, const EncodePngStageOptions& options) {
  return encode_stage(std::move(field), png_encoder({.effort = options.effort}), image_executor(), options.out);
}

}  // namespace penstock
