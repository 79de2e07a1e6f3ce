// SPDX-License-Identifier: Apache-2.0
#include "reader.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <jerror.h>

#include "markers.hpp"

namespace penstock::jpeg {

namespace {

constexpr JOCTET ending[2] = {0xff, end_of_image};

std::string pixels_text(const jpeg_decompress_struct& info) {
  return std::to_string(info.image_width) + "x" + std::to_string(info.image_height);
}

// Returns whether the text ends with a segment whose data begins at `at`. Bytes that look like a segment count too.
bool ends_with_segment(std::string_view text, std::size_t at) {
  if (at == text.npos || at < 4) return false;
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(text[i])); };
  const std::size_t end = at - 2 + (byte(at - 2) << 8 | byte(at - 1));
  if (byte(at - 4) != 0xff || end > text.size()) return false;
  // Any number of FFs may come between segments.
  const std::size_t last = text.find_last_not_of('\xff');
  return last == text.npos || last < end;
}

// Some programs use these codes for their own segments, so the beginning of the data is compared too.
bool is_wanted(std::uint8_t code, std::span<const std::uint8_t> data) {
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  return (code == exif_marker && text.starts_with("Exif\0"sv)) ||
         (code == icc_marker && text.starts_with("ICC_PROFILE\0"sv)) ||
         (code == adobe_marker && text.starts_with("Adobe"sv));
}

}  // namespace

std::int32_t denominator_of(JpegOptions::Scale scale) {
  switch (scale) {
    case JpegOptions::Scale::half:
      return 2;
    case JpegOptions::Scale::quarter:
      return 4;
    case JpegOptions::Scale::eighth:
      return 8;
    case JpegOptions::Scale::full:
    case JpegOptions::Scale::fit:
      return 1;
  }
  return 1;
}

Reader::Reader(std::span<const std::byte> encoded, const JpegOptions& options, const JpegContainer& container, Use use)
    : options_(options), use_(use) {
  info_.err = jpeg_std_error(&errors_);
  errors_.error_exit = on_error;
  errors_.emit_message = on_message;
  errors_.output_message = [](j_common_ptr) {};
  info_.client_data = this;
  try {
    jpeg_create_decompress(&info_);
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = on_empty;
    source_.skip_input_data = on_skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    info_.src = &source_;
    progress_.progress_monitor = on_progress;
    info_.progress = &progress_;
    if (!container.tables.empty()) read_tables(container.tables);
    start_at(encoded);
    // libjpeg can keep segments too, but it goes through its whole list for each new segment. With many segments, this
    // would take too long.
    if (use == Use::coefficients)
      for (const int marker : {exif_marker, icc_marker, adobe_marker})
        jpeg_set_marker_processor(&info_, marker, on_segment);
    if (options.apply_orientation) jpeg_set_marker_processor(&info_, exif_marker, on_segment);
    jpeg_read_header(&info_, TRUE);
    set_colors(container.colors);
    check_tables();
    check_kind();
    check_size();
    if (use == Use::pixels) choose_output();
  } catch (...) {
    jpeg_destroy_decompress(&info_);
    throw;
  }
}

void Reader::start_at(std::span<const std::byte> stream) {
  encoded_ = stream;
  source_.next_input_byte = reinterpret_cast<const JOCTET*>(stream.data());
  source_.bytes_in_buffer = stream.size();
  if (stream.size() < 2 || std::to_integer<int>(stream[0]) != 0xff || std::to_integer<int>(stream[1]) != 0xd8)
    throw Error(Errc::corrupt, "not a JPEG: the first two bytes are not FF D8").with_offset(0);
}

// The tables stay in libjpeg's structs until tables of the stream replace them.
void Reader::read_tables(std::span<const std::byte> tables) {
  const auto fail = [](const Error& error) {
    Error told(error.code(), "in the tables given beforehand: " + error.cause());
    throw error.offset() ? told.with_offset(*error.offset()) : told;
  };
  try {
    start_at(tables);
    if (jpeg_read_header(&info_, FALSE) == JPEG_HEADER_OK)
      throw Error(Errc::corrupt, "there is an image in them").with_offset(offset());
  } catch (const Error& error) {
    fail(error);
  }
  if (header_fault_) fail(*header_fault_);
}

// Sets the colours that the file around a stream names. libjpeg would guess them from the stream's markers, or from the
// components' identifiers.
void Reader::set_colors(JpegContainer::Colors colors) {
  if (colors == JpegContainer::Colors::as_marked) return;
  if (info_.num_components != 3)
    throw Error(Errc::corrupt, "the JPEG has " + std::to_string(info_.num_components) +
                                   " components, not the three of the colours that the file around it names")
        .with_offset(offset());
  info_.jpeg_color_space = colors == JpegContainer::Colors::rgb ? JCS_RGB : JCS_YCbCr;
}

Reader::~Reader() { jpeg_destroy_decompress(&info_); }

ImageShape Reader::shape() const noexcept {
  return {static_cast<std::int32_t>(info_.output_height), static_cast<std::int32_t>(info_.output_width),
          options_.color == JpegOptions::gray || info_.out_color_space == JCS_GRAYSCALE ? 1 : 3};
}

bool Reader::in_file() const noexcept {
  return source_.next_input_byte == reinterpret_cast<const JOCTET*>(encoded_.data()) + offset();
}

bool Reader::lacks_scans() const noexcept {
  if (info_.progressive_mode == FALSE || info_.coef_bits == nullptr) return false;
  for (int c = 0; c < info_.num_components; ++c)
    for (int k = 0; k < DCTSIZE2; ++k)
      if (info_.coef_bits[c][k] != 0) return true;
  return false;
}

// libjpeg uses the standard's tables if tables are missing. So a file without tables can be whole. But if its header
// has a fault too, the file is damaged.
void Reader::check_tables() {
  tables_complete_ = true;
  // A header may name a table beyond libjpeg's four: arithmetic coding has 16 tables, and damage can make any number.
  const auto there = [](const auto& tables, int number) {
    return number >= 0 && number < NUM_HUFF_TBLS && tables[number] != nullptr;
  };
  for (int c = 0; c < info_.comps_in_scan; ++c) {
    const jpeg_component_info& component = *info_.cur_comp_info[c];
    const bool dc = there(info_.dc_huff_tbl_ptrs, component.dc_tbl_no),
               ac = info_.progressive_mode != FALSE || there(info_.ac_huff_tbl_ptrs, component.ac_tbl_no);
    tables_complete_ = tables_complete_ && dc && ac;
  }
  if (!header_fault_ || info_.arith_code != FALSE) return;
  if (!tables_complete_) throw Error(*header_fault_);
  refuse_other_tables();
}

// Later scans may lack tables too. Sets each missing table to an impossible one, so that libjpeg fails instead of using
// the standard's table. Tables that come later in the file replace impossible tables.
void Reader::refuse_other_tables() {
  for (JHUFF_TBL** const tables : {info_.dc_huff_tbl_ptrs, info_.ac_huff_tbl_ptrs}) {
    for (int number = 0; number < NUM_HUFF_TBLS; ++number) {
      if (tables[number] != nullptr) continue;
      JHUFF_TBL* const table = jpeg_alloc_huff_table(reinterpret_cast<j_common_ptr>(&info_));
      std::ranges::fill(table->bits, UINT8{0});
      table->bits[1] = 3;  // three codes of one bit, of which only two can exist
      tables[number] = table;
    }
  }
}

void Reader::check_kind() {
  const auto refuse = [this](const std::string& cause) { throw Error(Errc::unsupported, cause).with_offset(offset()); };
  if (info_.data_precision != 8)
    refuse("a JPEG of " + std::to_string(info_.data_precision) + " bits is not supported; 8 bits are");
  if (use_ == Use::coefficients) return;
  if (info_.arith_code) refuse("arithmetic coding in a JPEG is not supported; re-encode the image");
  const bool inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  if (inks && options_.cmyk == JpegOptions::Cmyk::refused)
    refuse("the JPEG is CMYK, which `cmyk = refused` leaves out; `inverted` converts it to RGB");
  if (!inks && info_.jpeg_color_space != JCS_GRAYSCALE && info_.jpeg_color_space != JCS_YCbCr &&
      info_.jpeg_color_space != JCS_RGB)
    refuse("a JPEG of " + std::to_string(info_.num_components) + " components of unknown meaning is not supported");
}

void Reader::check_size() {
  const std::uint64_t pixels = std::uint64_t{info_.image_width} * info_.image_height;
  if (pixels > options_.max_pixels)
    throw Error(Errc::limit_exceeded, "the JPEG declares " + pixels_text(info_) +
                                          " pixels, above max_pixels = " + std::to_string(options_.max_pixels))
        .with_offset(offset());
  const auto blocks = [this](const jpeg_component_info& component) {
    const auto along = [](std::uint64_t side, int factor, int most) {
      const auto unit = static_cast<std::uint64_t>(most) * DCTSIZE;
      return (side * static_cast<std::uint64_t>(factor) + unit - 1) / unit;
    };
    return along(info_.image_width, component.h_samp_factor, info_.max_h_samp_factor) *
           along(info_.image_height, component.v_samp_factor, info_.max_v_samp_factor);
  };
  // With Huffman codes, each block takes at least one bit. This check limits the work that a small file can cause. With
  // arithmetic coding, any number of blank blocks may take only a few bytes, so it has a separate limit.
  if (!options_.accept_warnings && info_.arith_code == FALSE &&
      blocks(info_.comp_info[0]) > std::uint64_t{encoded_.size()} * 8)
    throw Error(Errc::corrupt, "the JPEG declares " + pixels_text(info_) + " pixels, which can't be in its " +
                                   std::to_string(encoded_.size()) + " bytes: it is cut off, or the header is damaged")
        .with_offset(offset());
  constexpr std::uint64_t blank_blocks = 1 << 16, blocks_of_a_byte = 64;
  if (info_.arith_code != FALSE &&
      blocks(info_.comp_info[0]) > blank_blocks + blocks_of_a_byte * std::uint64_t{encoded_.size()})
    throw Error(Errc::limit_exceeded, "the arithmetic-coded JPEG declares " + pixels_text(info_) +
                                          " pixels, above 2^22 and 4096 for each of its " +
                                          std::to_string(encoded_.size()) + " bytes: re-encode it with Huffman codes")
        .with_offset(offset());
  const std::uint64_t limit = options_.max_pixels > UINT64_MAX / 4 ? UINT64_MAX : options_.max_pixels * 3;
  if (use_ == Use::coefficients || jpeg_has_multiple_scans(&info_)) {
    std::uint64_t bytes = 0;
    for (int c = 0; c < info_.num_components; ++c) bytes += blocks(info_.comp_info[c]) * sizeof(JBLOCK);
    if (bytes > limit)
      throw Error(Errc::limit_exceeded, "the coefficients of this JPEG of " + pixels_text(info_) + " pixels take " +
                                            std::to_string(bytes) + " bytes, above 3 x max_pixels")
          .with_offset(offset());
  }
  constexpr std::uint64_t working_memory = 64 << 20, most = std::numeric_limits<long>::max();
  info_.mem->max_memory_to_use = static_cast<long>(std::min(limit, most - working_memory) + working_memory);
  // Limits the number of scans, because a scan of a few bytes makes libjpeg go through all blocks.
  constexpr std::uint64_t whole_images = 12, usual_limit = JpegOptions{}.max_pixels;
  most_scans_ = std::min(std::max(usual_limit, options_.max_pixels), UINT64_MAX / whole_images) * whole_images /
                std::max(pixels, std::uint64_t{1});
}

void Reader::choose_output() {
  const bool gray = options_.color == JpegOptions::gray ||
                    (options_.color == JpegOptions::as_stored && info_.jpeg_color_space == JCS_GRAYSCALE);
  const bool inks = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  info_.out_color_space = inks ? JCS_CMYK : gray ? JCS_GRAYSCALE : JCS_RGB;
  info_.dct_method = JDCT_ISLOW;
  info_.do_fancy_upsampling = TRUE;
  info_.do_block_smoothing = TRUE;
  reduce(denominator_of(options_.scale));
}

void Reader::reduce(std::int32_t denominator) {
  info_.scale_num = 1;
  info_.scale_denom = static_cast<unsigned>(denominator);
  jpeg_calc_output_dimensions(&info_);
}

void Reader::on_error(j_common_ptr common) {
  const std::optional<Error>& fault = of(common).header_fault_;
  if (fault && common->err->msg_code == JERR_BAD_HUFF_TABLE) throw Error(*fault);
  Error error(code_of(*common->err), "libjpeg: " + message(common));
  throw error.with_offset(of(common).offset());
}

void Reader::on_message(j_common_ptr common, int level) {
  if (level >= 0) return;
  ++common->err->num_warnings;
  Reader& reader = of(common);
  if (reader.options_.accept_warnings) return;
  const bool harmless = reader.costs_no_pixel();
  if (harmless && reader.header_fault_) return;
  Error error = Error(Errc::corrupt, "libjpeg warns: " + message(common)).with_offset(reader.offset());
  if (!harmless) throw error;
  reader.header_fault_ = std::move(error);
}

// Returns whether all pixels are still what the file says, despite the current warning.
bool Reader::costs_no_pixel() {
  switch (errors_.msg_code) {
    case JWRN_JFIF_MAJOR:
      return true;
    case JWRN_EXTRANEOUS_DATA: {
      const bool in_header = info_.input_scan_number == 0;
      if (!in_header) return is_padding_before_end();
      // Bytes are left over after a scan if its data was decoded wrongly. Bytes that are left over before the first
      // scan may be a segment whose marker is damaged. Without a segment with tables, decoding fails. But without
      // Adobe's or JFIF's segment, colours may be wrong, and without Exif data the image is not turned.
      const auto skipped = static_cast<std::size_t>(errors_.msg_parm.i[0]);
      const std::string_view text(reinterpret_cast<const char*>(encoded_.data()), offset());
      const std::string_view around = text.substr(text.size() - std::min(text.size(), skipped + 2));
      const std::string_view before = text.substr(0, text.size() - std::min(text.size(), skipped));
      const auto has = [&](std::string_view word) { return around.find(word) != around.npos; };
      // The skipped bytes may also be the rest of a segment whose length is too small.
      const auto ends = [&](LastOccurrence& word) { return ends_with_segment(before, word.place_in(before)); };
      const bool colors = has("Adobe") || has("JFIF") || (info_.saw_Adobe_marker == FALSE && ends(adobe_)) ||
                          (info_.saw_JFIF_marker == FALSE && ends(jfif_));
      return !colors && !(options_.apply_orientation && (has("Exif") || ends(exif_)));
    }
    case JWRN_NOT_SEQUENTIAL:
      // Some programs write zeros where the standard has 0, 63, 0, 0. Only decoders of progressive images
      // use these numbers.
      return tables_complete_ && info_.Ss == 0 && info_.Se == 0 && info_.Ah == 0 && info_.Al == 0;
    default:
      return false;
  }
}

// Returns whether the skipped bytes are zeros before the end marker. Some programs fill files up with zeros.
bool Reader::is_padding_before_end() const {
  if (errors_.msg_parm.i[1] != end_of_image) return false;
  const auto skipped = static_cast<std::size_t>(errors_.msg_parm.i[0]), end = static_cast<std::size_t>(offset());
  const auto zeros = encoded_.first(end).last(std::min(end, skipped));
  return std::ranges::all_of(zeros, [](std::byte byte) { return byte == std::byte{0}; });
}

// Handles a segment that libjpeg would copy into its list, or skip. For Adobe's segment, sets what libjpeg would have
// read from it.
boolean Reader::on_segment(j_decompress_ptr info) {
  Reader& reader = of(reinterpret_cast<j_common_ptr>(info));
  jpeg_source_mgr& source = *info->src;
  if (source.bytes_in_buffer < 2) return on_empty(info);
  const long length = source.next_input_byte[0] << 8 | source.next_input_byte[1];
  on_skip(info, 2);
  // A length counts its own two bytes, so a length below 2 is damaged. libjpeg continues directly after such a length.
  const long bytes = std::max(length - 2, 0L);
  if (static_cast<std::size_t>(bytes) <= source.bytes_in_buffer) {
    const Segment segment{static_cast<std::uint8_t>(info->unread_marker),
                          {source.next_input_byte, static_cast<std::size_t>(bytes)}};
    if (is_wanted(segment.code, segment.data)) reader.segments_.push_back(segment);
    constexpr std::size_t adobe_bytes = 12;
    if (segment.code == adobe_marker && segment.data.size() >= adobe_bytes && is_wanted(segment.code, segment.data)) {
      info->saw_Adobe_marker = TRUE;
      info->Adobe_transform = segment.data[adobe_bytes - 1];
    }
  }
  on_skip(info, bytes);
  return TRUE;
}

boolean Reader::on_empty(j_decompress_ptr info) {
  Reader& reader = of(reinterpret_cast<j_common_ptr>(info));
  if (!reader.options_.accept_warnings)
    throw Error(Errc::corrupt, "the JPEG ends before its image does: it is cut off")
        .with_offset(reader.encoded_.size());
  ++info->err->num_warnings;
  info->src->next_input_byte = ending;
  info->src->bytes_in_buffer = sizeof(ending);
  return TRUE;
}

void Reader::on_skip(j_decompress_ptr info, long bytes) {
  if (bytes <= 0) return;
  if (static_cast<std::size_t>(bytes) > info->src->bytes_in_buffer) {
    on_empty(info);
    return;
  }
  info->src->next_input_byte += bytes;
  info->src->bytes_in_buffer -= static_cast<std::size_t>(bytes);
}

void Reader::on_progress(j_common_ptr common) {
  Reader& reader = of(common);
  if (reader.info_.input_scan_number > reader.options_.max_scans)
    throw Error(Errc::limit_exceeded,
                "the JPEG has more than max_scans = " + std::to_string(reader.options_.max_scans) + " scans")
        .with_offset(reader.offset());
  if (static_cast<std::uint64_t>(reader.info_.input_scan_number) > reader.most_scans_)
    throw Error(Errc::limit_exceeded,
                "the JPEG of " + pixels_text(reader.info_) + " pixels has more than " +
                    std::to_string(reader.most_scans_) +
                    " scans, above 12 x 2^28 pixels in all: re-encode it, or raise max_pixels above 2^28")
        .with_offset(reader.offset());
}

}  // namespace penstock::jpeg
