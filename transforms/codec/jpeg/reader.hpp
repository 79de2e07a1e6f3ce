// SPDX-License-Identifier: Apache-2.0
// One JPEG being read from memory: libjpeg's structs, its callbacks, and checks of what the header declares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "errors.hpp"
#include "last_occurrence.hpp"
#include "markers.hpp"

#include <penstock/extend/jpeg_stream_decoder.hpp>

namespace penstock::jpeg {

// Returns by how much the output is smaller than the image; 1 for `fit`.
std::int32_t denominator_of(JpegOptions::Scale scale);

// libjpeg's structs keep tables after an image is decoded. A damaged file could then be decoded with the tables of the
// file before it. So each file has its own structs, which take less than a microsecond to make.
//
// Callbacks may throw through libjpeg's C code. Its frames hold nothing that needs cleaning up, and ~Reader() frees the
// memory that libjpeg allocated.
class Reader {
 public:
  // `coefficients` also accepts what `pixels` refuses: arithmetic coding, and components of unknown meaning. It keeps
  // the markers that a copy of the image needs.
  enum class Use : std::uint8_t { pixels, coefficients };

  // Reads the header. @throws like JpegStreamDecoder::open.
  Reader(std::span<const std::byte> encoded, const JpegOptions& options, const JpegContainer& container = {},
         Use use = Use::pixels);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Chooses the size of the output: the image's, divided by `denominator` (1, 2, 4 or 8) and rounded up. Call it before
  // libjpeg goes beyond the header.
  void reduce(std::int32_t denominator);
  std::int32_t denominator() const noexcept { return static_cast<std::int32_t>(info_.scale_denom); }

  jpeg_decompress_struct& info() noexcept { return info_; }
  // Returns the shape of the output.
  ImageShape shape() const noexcept;
  std::span<const std::byte> encoded() const noexcept { return encoded_; }
  std::span<const std::uint8_t> bytes() const noexcept {
    return {reinterpret_cast<const std::uint8_t*>(encoded_.data()), encoded_.size()};
  }
  // Returns the segments that were kept, in the order of the file: Exif data if the orientation or coefficients are
  // needed; colour profiles and Adobe's marker if coefficients are needed.
  std::span<const Segment> segments() const noexcept { return segments_; }
  // Returns whether 255 means no ink in an image of four inks.
  bool inverted() const noexcept { return options_.cmyk == JpegOptions::Cmyk::inverted || info_.saw_Adobe_marker; }
  // Returns whether all tables of the first scan were read, and libjpeg has given no warning. With `accept_warnings`,
  // warnings do not count.
  bool sound_header() const noexcept { return tables_complete_ && !header_fault_; }
  // Returns whether the image is progressive and the scans that were read lack some coefficients, or the last bits of
  // some.
  bool lacks_scans() const noexcept;
  // Returns the number of bytes that were read.
  std::uint64_t offset() const noexcept { return encoded_.size() - source_.bytes_in_buffer; }
  // Returns true if the next byte is in the file, and false if it replaces missing data.
  bool in_file() const noexcept;

 private:
  static Reader& of(j_common_ptr common) { return *static_cast<Reader*>(common->client_data); }
  [[noreturn]] static void on_error(j_common_ptr common);
  static void on_message(j_common_ptr common, int level);
  static boolean on_segment(j_decompress_ptr info);
  static boolean on_empty(j_decompress_ptr info);
  static void on_skip(j_decompress_ptr info, long bytes);
  static void on_progress(j_common_ptr common);
  bool costs_no_pixel();
  bool is_padding_before_end() const;
  void start_at(std::span<const std::byte> stream);
  void read_tables(std::span<const std::byte> tables);
  void set_colors(JpegContainer::Colors colors);
  void check_tables();
  void refuse_other_tables();
  void check_kind();
  void check_size();
  void choose_output();

  std::span<const std::byte> encoded_;  // the data that is read
  JpegOptions options_;
  Use use_;
  bool tables_complete_ = false;       // all tables of the first scan were read
  std::optional<Error> header_fault_;  // a warning that becomes an error if Huffman tables are missing
  std::uint64_t most_scans_ = 0;       // the most scans that an image of this size may have
  std::vector<Segment> segments_;
  LastOccurrence adobe_{"Adobe"}, jfif_{"JFIF"}, exif_{"Exif"};  // find the words before bytes that libjpeg skips
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
};

}  // namespace penstock::jpeg
