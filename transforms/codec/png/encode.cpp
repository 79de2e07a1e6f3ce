// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/encode_png.hpp>

#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "writer.hpp"

namespace penstock {

namespace {

struct Level {
  const char* name;
  int of_libdeflate;
};

Level level_of(EncodePngOptions::Effort effort) {
  switch (effort) {
    case EncodePngOptions::fast:
      return {"fast", 4};
    case EncodePngOptions::normal:
      return {"normal", 6};
    case EncodePngOptions::small:
      return {"small", 12};
  }
  throw Error(Errc::invalid_argument, "encode_png: effort is not fast, normal or small");
}

class PngEncoder final : public ImageEncoder {
 public:
  explicit PngEncoder(const EncodePngOptions& options)
      : level_(level_of(options.effort)), compressors_(level_.of_libdeflate) {}
  std::string name() const override { return "encode_png"; }
  std::string describe() const override { return std::string("effort ") + level_.name; }
  bool takes(DType element, std::int32_t channels) const override {
    return (element == DType::u8 || element == DType::u16) && channels >= 1 && channels <= 4;
  }
  bool lossless() const override { return true; }
  void encode(const Pixels& pixels, EncodedFile& out, Scratch& scratch) const override {
    png::Writer(out, scratch, compressors_).write(pixels);
  }

 private:
  const Level level_;
  mutable png::Compressors compressors_;
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
