// SPDX-License-Identifier: Apache-2.0
#include "stored_image.hpp"

#include <algorithm>
#include <cstring>

#include "cmyk.hpp"
#include "cuda/nvjpeg.hpp"
#include "excerpt.hpp"

namespace penstock::jpeg {

namespace {

void read_rows(Reader& reader, std::uint8_t* first, std::ptrdiff_t stride, std::int32_t rows) {
  constexpr std::int32_t together = 16;
  JSAMPROW at[together];
  for (std::int32_t y = 0; y < rows;) {
    const std::int32_t some = std::min(together, rows - y);
    for (std::int32_t k = 0; k < some; ++k) at[k] = first + (y + k) * stride;
    const JDIMENSION done = jpeg_read_scanlines(&reader.info(), at, static_cast<JDIMENSION>(some));
    if (done == 0) throw Error(Errc::corrupt, "libjpeg gave no more rows").with_offset(reader.offset());
    y += static_cast<std::int32_t>(done);
  }
}

std::uint8_t* allocate(Scratch& scratch, std::ptrdiff_t bytes) {
  return reinterpret_cast<std::uint8_t*>(scratch.allocate(static_cast<std::size_t>(bytes)));
}

// Reads the next `kept.height` rows, and returns the columns of `kept` unchanged.
Pixels keep_rows(Reader& reader, const Box& kept, const PixelDestination& into, Scratch& scratch) {
  const std::ptrdiff_t channels = reader.shape().channels;
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(reader.info().output_width) * channels;
  const ImageShape shape{kept.height, kept.width, reader.shape().channels};
  if (into.rows == nullptr) {
    std::uint8_t* const pixels = allocate(scratch, row * kept.height);
    read_rows(reader, pixels, row, kept.height);
    return {pixels + kept.left * channels, row, shape};
  }
  if (kept.width * channels == row) {
    read_rows(reader, into.rows, into.stride, kept.height);
    return {into.rows, into.stride, shape};
  }
  std::uint8_t* const pixels = allocate(scratch, row);
  for (std::int32_t y = 0; y < kept.height; ++y) {
    read_rows(reader, pixels, 0, 1);
    std::memcpy(into.rows + y * into.stride, pixels + kept.left * channels,
                static_cast<std::size_t>(kept.width * channels));
  }
  return {into.rows, into.stride, shape};
}

// Reads the next `kept.height` rows of four inks, and converts the columns of `kept` to colours or grey.
Pixels convert_rows(Reader& reader, const Box& kept, PixelDestination into, Scratch& scratch) {
  const int channels = reader.shape().channels;
  const std::ptrdiff_t inks = static_cast<std::ptrdiff_t>(reader.info().output_width) * 4;
  std::uint8_t* const row = allocate(scratch, inks);
  if (into.rows == nullptr) {
    into.stride = std::ptrdiff_t{kept.width} * channels;
    into.rows = allocate(scratch, into.stride * kept.height);
  }
  for (std::int32_t y = 0; y < kept.height; ++y) {
    read_rows(reader, row, 0, 1);
    convert_cmyk(row + std::ptrdiff_t{kept.left} * 4, kept.width, reader.inverted(), channels,
                 into.rows + y * into.stride);
  }
  return {into.rows, into.stride, {kept.height, kept.width, channels}};
}

// Decodes `box` by libjpeg. `reader` has read only the image's header.
Pixels decode_box(Reader& reader, const Box& box, bool verify, const PixelDestination& into, Scratch& scratch) {
  jpeg_decompress_struct& info = reader.info();
  jpeg_start_decompress(&info);
  const ImageShape whole = reader.shape();
  // libjpeg smooths an image that lacks scans. Each pixel then depends on coefficients around it, which a decode of a
  // part would not have. And libjpeg's functions for parts are hardly used, or tested, with reduced images.
  const bool all_rows = reader.lacks_scans() || reader.denominator() != 1;
  JDIMENSION left = 0;
  if (box.width < whole.width && !all_rows) {
    const std::int32_t from = std::max(0, box.left - upsampling_margin);
    const std::int32_t to = std::min(whole.width, box.left + box.width + upsampling_margin);
    left = static_cast<JDIMENSION>(from);
    auto width = static_cast<JDIMENSION>(to - from);
    if (to - from < whole.width) jpeg_crop_scanline(&info, &left, &width);
  }
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(info.output_width) * info.output_components;
  std::uint8_t* spare = nullptr;  // for rows outside of the box
  if (verify || (all_rows && box.top > 0)) spare = allocate(scratch, row);
  if (all_rows) {
    read_rows(reader, spare, 0, box.top);
  } else if (box.top > 0) {
    jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(box.top));
  }
  const Box kept{0, box.left - static_cast<std::int32_t>(left), box.height, box.width};
  const Pixels pixels = info.out_color_space == JCS_CMYK ? convert_rows(reader, kept, into, scratch)
                                                         : keep_rows(reader, kept, into, scratch);
  if (verify) {
    read_rows(reader, spare, 0, whole.height - box.top - box.height);
    jpeg_finish_decompress(&info);
  }
  // Frees libjpeg's memory before the pixels are used.
  jpeg_abort_decompress(&info);
  return pixels;
}

// Returns whether default options make the same pixels of the file. A grey image counts too, although default options
// repeat its values in three channels. Also returns false if the header is not enough to decide.
bool decodes_alike_by_default(Reader& reader, const JpegOptions& options) {
  jpeg_decompress_struct& info = reader.info();
  const JpegOptions usual;
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  const bool loses_colors = options.color == JpegOptions::gray && info.jpeg_color_space != JCS_GRAYSCALE;
  if (options.accept_warnings || inks || loses_colors || info.scale_denom != 1) return false;
  if (std::uint64_t{info.image_width} * info.image_height > usual.max_pixels) return false;
  // Higher limits make a difference only if there are several scans.
  const bool more = options.max_scans > usual.max_scans || options.max_pixels > usual.max_pixels;
  return !more || !jpeg_has_multiple_scans(&info);
}

}  // namespace

void check_limits(const JpegOptions& options, const std::string& who) {
  if (options.max_pixels < 1 || options.max_scans < 1)
    throw Error(Errc::invalid_argument, who + ": max_pixels and max_scans must be at least 1");
}

void check_box(const Box& box, const ImageShape& whole) {
  if (box.top < 0 || box.left < 0 || box.height < 1 || box.width < 1 || box.height > whole.height - box.top ||
      box.width > whole.width - box.left)
    throw Error(Errc::invalid_argument, "a box to decode does not lie inside the image");
}

ImageShape StoredImage::open(std::span<const std::byte> encoded, const JpegContainer& container) {
  reader_.reset();
  encoded_ = encoded;
  container_ = container;
  started_ = decodes_alike_ = false;
  reader_.emplace(encoded, options_, container);
  decodes_alike_ = decodes_alike_by_default(*reader_, options_);
  return shape_ = reader_->shape();
}

namespace {

bool belongs_to_baseline(const Marker& marker) {
  const bool application = marker.code >= first_application && marker.code <= last_application;
  return application || marker.code == comment || marker.code == baseline_frame || marker.code == huffman_tables ||
         marker.code == quantization_tables || marker.code == restart_interval || marker.code == start_of_scan;
}

// A GPU's engine refuses a whole batch because of one file of an unknown kind. So an engine gets only files whose
// markers it surely knows.
bool is_baseline(const Reader& reader) {
  bool baseline = false, usual = true;
  const auto header = reader.bytes().first(static_cast<std::size_t>(reader.offset()));
  const bool read = for_each_marker(header, [&](const Marker& marker) {
    baseline = baseline || marker.code == baseline_frame;
    usual = usual && belongs_to_baseline(marker);
  });
  return read && baseline && usual;
}

bool has_tables(const jpeg_decompress_struct& info, const jpeg_component_info& part) {
  return part.quant_tbl_no >= 0 && part.quant_tbl_no < NUM_QUANT_TBLS &&
         info.quant_tbl_ptrs[part.quant_tbl_no] != nullptr && part.dc_tbl_no >= 0 && part.dc_tbl_no <= 1 &&
         part.ac_tbl_no >= 0 && part.ac_tbl_no <= 1 && info.dc_huff_tbl_ptrs[part.dc_tbl_no] != nullptr &&
         info.ac_huff_tbl_ptrs[part.ac_tbl_no] != nullptr;
}

}  // namespace

bool StoredImage::suits_engines() const {
  if (reader_->denominator() != 1) return false;
  const jpeg_decompress_struct& info = const_cast<Reader&>(*reader_).info();
  const auto bytes = reader_->bytes();
  if (bytes.size() < 2 || bytes[bytes.size() - 2] != 0xff || bytes[bytes.size() - 1] != end_of_image) return false;
  if (!reader_->sound_header() || !is_baseline(*reader_) || info.data_precision != 8 ||
      info.comps_in_scan != info.num_components || shape().height > max_engine_side || shape().width > max_engine_side)
    return false;
  const jpeg_component_info* const parts = info.comp_info;
  for (int i = 0; i < info.num_components; ++i)
    if (!has_tables(info, parts[i])) return false;
  const int across = parts[0].h_samp_factor, down = parts[0].v_samp_factor;
  if (info.num_components == 1) return info.jpeg_color_space == JCS_GRAYSCALE && across == 1 && down == 1;
  if (info.num_components != 3 || info.jpeg_color_space != JCS_YCbCr) return false;
  if (parts[1].h_samp_factor != 1 || parts[1].v_samp_factor != 1 || parts[2].h_samp_factor != 1 ||
      parts[2].v_samp_factor != 1)
    return false;
  // libjpeg doesn't interpolate chroma of only one or two columns; engines do.
  if (across == 2 && shape().width <= 4) return false;
  return (across == 1 && down == 1) || (across == 2 && (down == 1 || down == 2));
}

Pixels StoredImage::decode(const Box& box, bool verify, PixelDestination into, Scratch& scratch) {
  if (!reader_ || started_) open(encoded_, container_);
  reader_->reduce(denominator_of(options_.scale));
  return decode_now(box, verify, into, scratch);
}

Pixels StoredImage::decode_reduced(std::int32_t denominator, const Box& box, bool verify, Scratch& scratch) {
  if (!reader_ || started_) open(encoded_, container_);
  reader_->reduce(denominator);
  PixelDestination into;
  return decode_now(box, verify, into, scratch);
}

Pixels StoredImage::decode_now(const Box& box, bool verify, PixelDestination& into, Scratch& scratch) {
  // With `accept_warnings`, libjpeg guesses around damage, and would guess differently for a part than for the whole.
  if (!verify && !options_.accept_warnings) {
    if (const auto segments = needed_segments(*reader_, box, scratch)) {
      if (const auto pixels = decode_segments(*segments, box, into, scratch)) return *pixels;
    }
  }
  if (const auto pixels = decode_baseline(box, verify, nullptr, into, scratch)) return *pixels;
  started_ = true;
  return decode_box(*reader_, box, verify, into, scratch);
}

// Returns nothing if libjpeg must decode. If this function has allocated memory by then, `into` refers to that memory,
// so that libjpeg's pixels go there.
std::optional<Pixels> StoredImage::decode_baseline(const Box& box, bool verify, const Segments* segments,
                                                   PixelDestination& into, Scratch& scratch) {
  if constexpr (PENSTOCK_JPEG_BASELINE == 0) return std::nullopt;
  if (options_.decoder == JpegOptions::Decoder::libjpeg || !reader_->in_file()) return std::nullopt;
  if (baseline_.begin(reader_->info())) return std::nullopt;
  const int channels = shape_.channels;
  if (into.rows == nullptr) {
    into.stride = std::ptrdiff_t{box.width} * channels;
    into.rows = allocate(scratch, into.stride * box.height);
  }
  const baseline::Request request{box, verify, segments, into.rows, into.stride};
  if (baseline_.decode(reader_->bytes(), static_cast<std::size_t>(reader_->offset()), request, scratch))
    return std::nullopt;
  return Pixels{into.rows, into.stride, {box.height, box.width, channels}};
}

// Returns nothing if the segments are damaged. The caller then decodes the box from the file itself, so that the error
// has the damage's offset in the file.
std::optional<Pixels> StoredImage::decode_segments(const Segments& segments, Box box, PixelDestination& into,
                                                   Scratch& scratch) {
  if (const auto pixels = decode_baseline(box, false, &segments, into, scratch)) return pixels;
  const Excerpt part = excerpt(*reader_, segments, scratch);
  box.top -= part.shows.top / reader_->denominator();
  box.left -= part.shows.left / reader_->denominator();
  try {
    Reader reader(part.encoded, options_, container_);
    reader.reduce(reader_->denominator());
    return decode_box(reader, box, false, into, scratch);
  } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
    return std::nullopt;
  }
}

}  // namespace penstock::jpeg
