#include <penstock/transforms/encode_jpeg.hpp>

#include <string>

#include "compressor.hpp"

namespace penstock {

namespace {

std::vector<std::byte> compress(const Pixels& pixels, const EncodeJpegOptions& options) {
  jpeg::Compressor compressor("encode_jpeg", Errc::invalid_argument);
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
  return compressor.take();
}

}  // namespace

std::vector<std::byte> encode_jpeg(const Pixels& pixels, const EncodeJpegOptions& options) {
  const ImageShape& shape = pixels.shape;
  if (pixels.data == nullptr || shape.element != DType::u8 || (shape.channels != 1 && shape.channels != 3) ||
      shape.height < 1 || shape.width < 1 || shape.height > JPEG_MAX_DIMENSION || shape.width > JPEG_MAX_DIMENSION)
    throw Error(Errc::invalid_argument,
                "encode_jpeg takes u8 images of 1 or 3 channels with sides of 1 to 65500 pixels");
  if (options.quality < 1 || options.quality > 100)
    throw Error(Errc::invalid_argument, "encode_jpeg: quality " + std::to_string(options.quality) + " is not 1 to 100");
  if (options.subsampling != 444 && options.subsampling != 422 && options.subsampling != 440 &&
      options.subsampling != 420)
    throw Error(Errc::invalid_argument,
                "encode_jpeg: subsampling " + std::to_string(options.subsampling) + " is not 444, 422, 440 or 420");
  if (options.restart_rows < 0) throw Error(Errc::invalid_argument, "encode_jpeg: restart_rows is negative");
  return compress(pixels, options);
}

}  // namespace penstock
