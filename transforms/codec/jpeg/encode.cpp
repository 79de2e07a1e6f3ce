#include <penstock/transforms/encode_jpeg.hpp>

#include <string>

#include "errors.hpp"

namespace penstock {

namespace {

// libjpeg writes into `out` through a buffer that is its last, unfinished part.
class Encoder {
 public:
  Encoder() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr common) {
      const Errc code = jpeg::code_of(*common->err);
      throw Error(code == Errc::out_of_memory ? code : Errc::invalid_argument, "encode_jpeg: " + jpeg::message(common));
    };
    errors_.output_message = [](j_common_ptr) {};
    info_.client_data = this;
    jpeg_create_compress(&info_);
    target_.init_destination = [](j_compress_ptr info) { of(info).grow(); };
    target_.empty_output_buffer = [](j_compress_ptr info) -> boolean {
      of(info).target_.free_in_buffer = 0;
      of(info).grow();
      return TRUE;
    };
    target_.term_destination = [](j_compress_ptr info) {
      Encoder& self = of(info);
      self.out_.resize(self.out_.size() - self.target_.free_in_buffer);
    };
    info_.dest = &target_;
  }
  ~Encoder() { jpeg_destroy_compress(&info_); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  std::vector<std::byte> run(const Pixels& pixels, const EncodeJpegOptions& options) {
    const ImageShape& shape = pixels.shape;
    info_.image_width = static_cast<JDIMENSION>(shape.width);
    info_.image_height = static_cast<JDIMENSION>(shape.height);
    info_.input_components = shape.channels;
    info_.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, options.quality, TRUE);
    if (shape.channels == 3) {
      info_.comp_info[0].h_samp_factor = options.subsampling == 420 || options.subsampling == 422 ? 2 : 1;
      info_.comp_info[0].v_samp_factor = options.subsampling == 420 || options.subsampling == 440 ? 2 : 1;
    }
    if (options.progressive) jpeg_simple_progression(&info_);
    info_.restart_in_rows = options.restart_rows;
    jpeg_start_compress(&info_, TRUE);
    for (std::int32_t y = 0; y < shape.height; ++y) {
      // libjpeg does not write to its input.
      auto* row = const_cast<JSAMPLE*>(pixels.data + y * pixels.stride);
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return std::move(out_);
  }

 private:
  static Encoder& of(j_compress_ptr info) { return *static_cast<Encoder*>(info->client_data); }

  void grow() {
    const std::size_t full = out_.size(), more = full < 16384 ? 16384 : full;
    out_.resize(full + more);
    target_.next_output_byte = reinterpret_cast<JOCTET*>(out_.data() + full);
    target_.free_in_buffer = more;
  }

  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_destination_mgr target_{};
  std::vector<std::byte> out_;
};

}  // namespace

std::vector<std::byte> encode_jpeg(const Pixels& pixels, const EncodeJpegOptions& options) {
  const ImageShape& shape = pixels.shape;
  if (pixels.data == nullptr || (shape.channels != 1 && shape.channels != 3) || shape.height < 1 || shape.width < 1 ||
      shape.height > JPEG_MAX_DIMENSION || shape.width > JPEG_MAX_DIMENSION)
    throw Error(Errc::invalid_argument, "encode_jpeg takes images of 1 or 3 channels with sides of 1 to 65500 pixels");
  if (options.quality < 1 || options.quality > 100)
    throw Error(Errc::invalid_argument, "encode_jpeg: quality " + std::to_string(options.quality) + " is not 1 to 100");
  if (options.subsampling != 444 && options.subsampling != 422 && options.subsampling != 440 &&
      options.subsampling != 420)
    throw Error(Errc::invalid_argument,
                "encode_jpeg: subsampling " + std::to_string(options.subsampling) + " is not 444, 422, 440 or 420");
  if (options.restart_rows < 0) throw Error(Errc::invalid_argument, "encode_jpeg: restart_rows is negative");
  return Encoder().run(pixels, options);
}

}  // namespace penstock
