// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/encode_png.hpp>

#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "writer.hpp"

namespace penstock {

namespace {

void check_encoding(const EncodePngOptions& options) {
  if (options.compression < 0 || options.compression > 9)
    throw Error(Errc::invalid_argument,
                "encode_png: compression " + std::to_string(options.compression) + " is not 0 to 9");
}

class PngEncoder final : public ImageEncoder {
 public:
  explicit PngEncoder(const EncodePngOptions& options) : options_(options) { check_encoding(options); }
  std::string name() const override { return "encode_png"; }
  std::string describe() const override { return "compression " + std::to_string(options_.compression); }
  bool takes(DType element, std::int32_t channels) const override {
    return (element == DType::u8 || element == DType::u16) && channels >= 1 && channels <= 4;
  }
  bool lossless() const override { return true; }
  void encode(const Pixels& pixels, EncodedFile& out, Scratch& scratch) const override {
    png::Writer(out, scratch).write(pixels, options_.compression);
  }

 private:
  EncodePngOptions options_;
};

}  // namespace

std::vector<std::byte> encode_png(const Pixels& pixels, const EncodePngOptions& options) {
  return encoded_bytes(PngEncoder(options), pixels);
}

std::shared_ptr<const ImageEncoder> png_encoder(const EncodePngOptions& options) {
  return std::make_shared<const PngEncoder>(options);
}

Stage encode_png(std::string field, const EncodePngStageOptions& options) {
  return encode_stage(std::move(field), png_encoder({.compression = options.compression}), image_executor(),
                      options.out);
}

}  // namespace penstock
