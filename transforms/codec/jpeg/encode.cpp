// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/encode_jpeg.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "compressor.hpp"

namespace penstock {

namespace {

void compress(const Pixels& pixels, const EncodeJpegOptions& options, EncodedFile& out) {
  jpeg::Compressor compressor("encode_jpeg", out, Errc::invalid_argument);
  jpeg_compress_struct& info = compressor.info();
  const ImageShape& shape = pixels.shape;
  info.image_width = static_cast<JDIMENSION>(shape.width);
  info.image_height = static_cast<JDIMENSION>(shape.height);
  info.input_components = shape.channels;
  info.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  if (shape.channels == 3) {
    info.comp_info[0].h_samp_factor = options.subsampling == 420 || options.subsampling == 422 ? 2 : 1;
    info.comp_info[0].v_samp_factor = options.subsampling == 420 || options.subsampling == 440 ? 2 : 1;
  }
  if (options.progressive) jpeg_simple_progression(&info);
  info.restart_in_rows = options.restart_rows;
  jpeg_start_compress(&info, TRUE);
  for (std::int32_t y = 0; y < shape.height; ++y) {
    // libjpeg does not write to its input.
    auto* row = const_cast<JSAMPLE*>(pixels.data + y * pixels.stride);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
}

void check_encoding(const EncodeJpegOptions& options) {
  if (options.quality < 1 || options.quality > 100)
    throw Error(Errc::invalid_argument, "encode_jpeg: quality " + std::to_string(options.quality) + " is not 1 to 100");
  if (options.subsampling != 444 && options.subsampling != 422 && options.subsampling != 440 &&
      options.subsampling != 420)
    throw Error(Errc::invalid_argument,
                "encode_jpeg: subsampling " + std::to_string(options.subsampling) + " is not 444, 422, 440 or 420");
  if (options.restart_rows < 0) throw Error(Errc::invalid_argument, "encode_jpeg: restart_rows is negative");
}

class JpegEncoder final : public ImageEncoder {
 public:
  JpegEncoder(const EncodeJpegOptions& options, bool keep_stored) : options_(options), keep_stored_(keep_stored) {
    check_encoding(options);
  }
  std::string name() const override { return "encode_jpeg"; }
  std::string describe() const override {
    std::string text =
        "quality " + std::to_string(options_.quality) + ", subsampling " + std::to_string(options_.subsampling);
    if (options_.progressive) text += ", progressive";
    if (options_.restart_rows != 0) text += ", restart_rows " + std::to_string(options_.restart_rows);
    if (keep_stored_) text += ", keep_stored";
    return text;
  }
  bool takes(DType element, std::int32_t channels) const override {
    return element == DType::u8 && (channels == 1 || channels == 3);
  }
  std::int32_t max_side() const override { return JPEG_MAX_DIMENSION; }
  std::string keeps() const override {
    return keep_stored_ ? "stored JPEGs are kept where nothing was done to the image" : "";
  }
  void encode(const Pixels& pixels, EncodedFile& out, Scratch&) const override { compress(pixels, options_, out); }
  std::span<const std::byte> take(EncodedImage& image, Scratch& scratch) const override {
    return keep_stored_ ? image.stored_jpeg(scratch) : std::span<const std::byte>();
  }

 private:
  EncodeJpegOptions options_;
  bool keep_stored_;
};

}  // namespace

std::vector<std::byte> encode_jpeg(const Pixels& pixels, const EncodeJpegOptions& options) {
  const ImageShape& shape = pixels.shape;
  if (pixels.data == nullptr || shape.element != DType::u8 || (shape.channels != 1 && shape.channels != 3) ||
      shape.height < 1 || shape.width < 1 || shape.height > JPEG_MAX_DIMENSION || shape.width > JPEG_MAX_DIMENSION)
    throw Error(Errc::invalid_argument,
                "encode_jpeg takes u8 images of 1 or 3 channels with sides of 1 to 65500 pixels");
  check_encoding(options);
  jpeg::FileInMemory file;
  compress(pixels, options, file);
  return file.take();
}

std::shared_ptr<const ImageEncoder> jpeg_encoder(const EncodeJpegOptions& options, bool keep_stored) {
  return std::make_shared<const JpegEncoder>(options, keep_stored);
}

Stage encode_jpeg(std::string field, const EncodeJpegStageOptions& options) {
  const EncodeJpegOptions encoding{.quality = options.quality,
                                   .subsampling = options.subsampling,
                                   .progressive = options.progressive,
                                   .restart_rows = options.restart_rows};
  return encode_stage(std::move(field), jpeg_encoder(encoding, options.keep_stored), image_executor(), options.out);
}

}  // namespace penstock
