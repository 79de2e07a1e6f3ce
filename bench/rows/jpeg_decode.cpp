// SPDX-License-Identifier: Apache-2.0
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include <stdexcept>

#include <penstock/transforms/decode_jpeg.hpp>

#include "jpeg_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// Uses libjpeg as its documentation says, and keeps its struct and its buffer from picture to picture.
class PlainDecoder {
 public:
  PlainDecoder() {
    info_.err = ::jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr) { throw std::runtime_error("libjpeg refused a picture"); };
    jpeg_create_decompress(&info_);
  }
  PlainDecoder(const PlainDecoder&) = delete;
  PlainDecoder& operator=(const PlainDecoder&) = delete;
  ~PlainDecoder() { ::jpeg_destroy_decompress(&info_); }

  // Decodes rows [top, top + height), with at least the columns [left, left + width).
  const std::uint8_t* decode(std::span<const std::byte> encoded, const Box& box) {
    ::jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
    ::jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    ::jpeg_start_decompress(&info_);
    auto left = static_cast<JDIMENSION>(box.left), width = static_cast<JDIMENSION>(box.width);
    if (width < info_.output_width) ::jpeg_crop_scanline(&info_, &left, &width);
    const std::size_t stride = std::size_t{info_.output_width} * 3;
    if (pixels_.size() < stride * static_cast<std::size_t>(box.height))
      pixels_.resize(stride * static_cast<std::size_t>(box.height));
    if (box.top > 0) ::jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(box.top));
    constexpr JDIMENSION together = 16;
    JSAMPROW rows[together];
    for (JDIMENSION y = 0, height = static_cast<JDIMENSION>(box.height); y < height;) {
      const JDIMENSION some = std::min(together, height - y);
      for (JDIMENSION k = 0; k < some; ++k) rows[k] = pixels_.data() + (y + k) * stride;
      y += ::jpeg_read_scanlines(&info_, rows, some);
    }
    ::jpeg_abort_decompress(&info_);
    return pixels_.data();
  }

 private:
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::vector<std::uint8_t> pixels_;
};

Row against_libjpeg(const RowSpec& spec, const Settings& settings, const JpegJob& job) {
  const std::uint64_t pictures = std::min<std::uint64_t>(job.store().records, 2000);
  const PlainReader reader(job.plain());
  const auto decoding = jpeg_decoder()->start();
  RawScratch scratch;
  PlainDecoder plain;
  std::uint64_t checksum = 0;  // so that the compiler can't leave out a decode
  const auto timed = [&](const JpegJob::Work& work, auto&& decode) {
    const Stopwatch watch;
    for (std::uint64_t i = 0; i < pictures; ++i) checksum += *decode(reader.get(work.order[i]), work.drawn[i].box);
    return Timing{static_cast<double>(pictures) / watch.wall_s(), watch.cpu_s()};
  };
  std::uint64_t ours_round = 0, plain_round = 0;
  Row row = compare(
      spec, settings,
      [&] {
        return timed(job.work(++ours_round), [&](std::span<const std::byte> jpeg, const Box& box) {
          scratch.reset();
          decoding->open(jpeg);
          return decoding->decode(box, false, nullptr, scratch).data;
        });
      },
      [&] {
        return timed(job.work(++plain_round),
                     [&](std::span<const std::byte> jpeg, const Box& box) { return plain.decode(jpeg, box); });
      });
  row.notes.push_back(job.store().description);
  if (checksum == 0) row.notes.push_back("all pictures are black?");
  return row;
}

}  // namespace

Row jpeg_decode_vs_libjpeg(const RowSpec& spec, const Settings& settings) {
  return against_libjpeg(spec, settings, JpegJob(settings, false));
}

Row jpeg_decode_noisy(const RowSpec& spec, const Settings& settings) {
  return against_libjpeg(spec, settings, JpegJob(settings, true));
}

Row jpeg_decode_own_tables(const RowSpec& spec, const Settings& settings) {
  return against_libjpeg(spec, settings, JpegJob(own_tables_store(settings)));
}

}  // namespace penstock::bench
