// SPDX-License-Identifier: Apache-2.0
// Headers and directories of TIFF files: classic ones and BigTIFF, in either order of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace make_slides {

struct TiffForm {
  bool big = false;  ///< BigTIFF, whose offsets have 8 bytes
  bool big_endian = false;
};

/// What the values of an entry are, by TIFF's numbers.
enum class TiffType : std::uint16_t {
  ascii = 2,
  shorts = 3,
  longs = 4,
  rationals = 5,  ///< each of two numbers
  undefined = 7,
  directories = 13,  ///< offsets of directories: type 18 in a BigTIFF
  offsets = 16       ///< type 4 in a classic file
};

/// The tags that a slide has, by TIFF's numbers.
enum class TiffTag : std::uint16_t {
  new_subfile_type = 254,
  image_width = 256,
  image_length = 257,
  bits_per_sample = 258,
  compression = 259,
  photometric = 262,
  image_description = 270,
  samples_per_pixel = 277,
  x_resolution = 282,
  y_resolution = 283,
  planar_configuration = 284,
  resolution_unit = 296,
  software = 305,
  tile_width = 322,
  tile_length = 323,
  tile_offsets = 324,
  tile_byte_counts = 325,
  sub_ifds = 330,
  jpeg_tables = 347,
  ycbcr_subsampling = 530
};

/// One image's entries.
class TiffDirectory {
 public:
  /// Replaces the tag's entry, if it has one.
  void set(TiffTag tag, TiffType type, std::vector<std::uint64_t> values);
  void set_text(TiffTag tag, std::string_view text);
  void set_bytes(TiffTag tag, std::span<const std::byte> bytes);

  /// Bytes of the directory, with all that lies outside of its entries; a multiple of 8.
  std::uint64_t bytes(const TiffForm& form) const noexcept;
  /// As it stands in the file at offset `at`, a multiple of 8; `next` is the offset of the one after it, or 0.
  std::vector<std::byte> written(const TiffForm& form, std::uint64_t at, std::uint64_t next) const;

 private:
  struct Entry {
    TiffTag tag;
    TiffType type;
    std::vector<std::uint64_t> values;
  };
  static std::size_t value_bytes(TiffType type, const TiffForm& form) noexcept;
  static std::uint64_t all_bytes(const Entry& entry, const TiffForm& form) noexcept;
  static std::uint64_t table_bytes(std::size_t entries, const TiffForm& form) noexcept;
  std::vector<Entry> entries_;  ///< by tag, as TIFF wants them
};

/// How many bytes of a file's beginning its header has at most.
inline constexpr std::uint64_t tiff_header_bytes = 16;
/// A header: 8 bytes, of a BigTIFF 16.
std::vector<std::byte> tiff_header(const TiffForm& form, std::uint64_t first_directory);

}  // namespace make_slides
