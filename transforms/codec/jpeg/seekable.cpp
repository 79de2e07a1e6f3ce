// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/seekable_jpeg.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/map.hpp>

#include "compressor.hpp"
#include "markers.hpp"
#include "reader.hpp"

namespace penstock {

namespace {

using jpeg::Compressor;
using jpeg::Reader;

void check_options(const SeekableOptions& options) {
  if (options.every < 1 || options.max_pixels < 1 || options.max_scans < 1)
    throw Error(Errc::invalid_argument, "seekable_jpeg: every, max_pixels and max_scans must be at least 1");
}

// Returns the divisor of `mcus` whose ratio to `wanted` is nearest to 1. If two are equally near, returns the larger,
// which makes the smaller file.
std::int32_t nearest_divisor(std::int32_t mcus, std::int32_t wanted) {
  std::int32_t best = 1;
  for (std::int32_t d = 2; d <= mcus; ++d) {
    if (mcus % d != 0) continue;
    // `best` is below `d`, because divisors are tried in ascending order. So d is nearer if d / wanted <= wanted /
    // best.
    if (d <= wanted || std::int64_t{d} * best <= std::int64_t{wanted} * wanted) best = d;
  }
  return best;
}

std::int32_t mcus_of_a_row(const jpeg_compress_struct& info) {
  // If a scan has only one component, each MCU is one block, whatever the sampling factors.
  int factor = 1;
  if (info.num_components > 1)
    for (int c = 0; c < info.num_components; ++c) factor = std::max(factor, info.comp_info[c].h_samp_factor);
  const std::int32_t mcu = DCTSIZE * factor;
  return (static_cast<std::int32_t>(info.image_width) + mcu - 1) / mcu;
}

// Refuses an image that lacks scans. libjpeg smooths a progressive image that lacks scans, but would not smooth the
// baseline image that is written, so the pixels would differ.
void check_complete(const jpeg_decompress_struct& info) {
  for (int c = 0; c < info.num_components; ++c) {
    bool complete = info.comp_info[c].quant_table != nullptr;
    if (info.progressive_mode != FALSE)
      for (int k = 0; k < DCTSIZE2; ++k) complete = complete && info.coef_bits[c][k] == 0;
    if (!complete)
      throw Error(Errc::corrupt, "the JPEG lacks scans: it holds no more than a preview of component " +
                                     std::to_string(c) + "; re-encode the image");
  }
}

// Refuses an image whose components can't share a scan. A decoder need not accept more than four components, or more
// than ten blocks per MCU.
void check_interleaves(const jpeg_decompress_struct& info) {
  int blocks = 0;
  for (int c = 0; c < info.num_components; ++c)
    blocks += info.comp_info[c].h_samp_factor * info.comp_info[c].v_samp_factor;
  if (info.num_components > MAX_COMPS_IN_SCAN || (info.num_components > 1 && blocks > C_MAX_BLOCKS_IN_MCU))
    throw Error(Errc::unsupported, "the JPEG's " + std::to_string(info.num_components) +
                                       " components can't be joined in one scan; re-encode the image");
}

void copy_segments(const Reader& from, jpeg_compress_struct& to) {
  for (const jpeg::Segment& segment : from.segments())
    jpeg_write_marker(&to, segment.code, segment.data.data(), static_cast<unsigned>(segment.data.size()));
}

class Rewriting {
 public:
  Rewriting(std::string field, const SeekableOptions& options) : field_(std::move(field)), options_(options) {
    check_options(options_);
  }
  std::string name() const { return "seekable_jpeg(" + field_ + ")"; }
  std::uint64_t version() const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    const auto every = static_cast<std::uint64_t>(options_.every),
               scans = static_cast<std::uint64_t>(options_.max_scans);
    return ((every * odd) ^ scans) * odd ^ options_.max_pixels;
  }
  Schema schema(const Schema& in) const {
    Field field = in.at(field_);
    if (field.dtype != DType::u8 || field.shape.rank() != 1)
      throw Error(Errc::schema_mismatch, "field \"" + field_ + "\" is " + std::string(to_string(field.dtype)) +
                                             field.shape.to_string() +
                                             ", but a JPEG's bytes are u8[?]; the fields are " + in.to_string())
          .with_stage(name());
    field.shape = {dynamic};
    return in.with(std::move(field));
  }
  void operator()(Sample& sample, Context&) const {
    const auto in = sample.view<const std::uint8_t, 1>(field_);
    const std::vector<std::byte> bytes = seekable_jpeg(std::as_bytes(in.flat()), options_);
    const auto out = sample.emplace<std::uint8_t, 1>(field_, {static_cast<std::int64_t>(bytes.size())});
    std::memcpy(out.data(), bytes.data(), bytes.size());
  }

 private:
  std::string field_;
  SeekableOptions options_;
};

}  // namespace

std::vector<std::byte> seekable_jpeg(std::span<const std::byte> encoded, const SeekableOptions& options) {
  check_options(options);
  const JpegOptions limits{.max_pixels = options.max_pixels, .max_scans = options.max_scans};
  Reader reader(encoded, limits, {}, Reader::Use::coefficients);
  jpeg_decompress_struct& from = reader.info();
  check_interleaves(from);
  jvirt_barray_ptr* const coefficients = jpeg_read_coefficients(&from);
  check_complete(from);

  jpeg::FileInMemory file;
  Compressor compressor("seekable_jpeg", file);
  jpeg_compress_struct& to = compressor.info();
  jpeg_copy_critical_parameters(&from, &to);
  // The markers that define the colours are copied unchanged. So decoders that use markers differently from libjpeg
  // make the same colours of both files.
  to.write_JFIF_header = from.saw_JFIF_marker;
  to.write_Adobe_marker = FALSE;
  to.optimize_coding = TRUE;
  to.restart_interval = static_cast<unsigned>(nearest_divisor(mcus_of_a_row(to), options.every));
  jpeg_write_coefficients(&to, coefficients);
  copy_segments(reader, to);
  jpeg_finish_compress(&to);
  return file.take();
}

Stage seekable_jpeg(std::string field, const SeekableOptions& options) {
  return map(Rewriting(std::move(field), options));
}

}  // namespace penstock
