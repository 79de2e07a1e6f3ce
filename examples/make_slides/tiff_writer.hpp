// SPDX-License-Identifier: Apache-2.0
// Makes headers and directories of classic TIFF files and BigTIFF files, in either order of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace make_slides {

struct TiffForm {
  bool big = false;  ///< whether it is a BigTIFF, whose offsets have 8 bytes
  bool big_endian = false;
};

/// The types of an entry's values, with TIFF's numbers.
enum class TiffType : std::uint16_t {
  ascii = 2,
  shorts = 3,
  longs = 4,
  rationals = 5,  ///< each value has two numbers
  undefined = 7,
  directories = 13,  ///< offsets of directories; written as type 18 in a BigTIFF
  offsets = 16       ///< offsets in the file; written as type 4 in a classic file
};

/// The tags that slides have, with TIFF's numbers.
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

/// The entries of one image.
class TiffDirectory {
 public:
  /// Sets the entry of a tag. Replaces the entry if there is one.
  void set(TiffTag tag, TiffType type, std::vector<std::uint64_t> values);
  void set_text(TiffTag tag, std::string_view text);
  void set_bytes(TiffTag tag, std::span<const std::byte> bytes);

  /// Returns the bytes of the directory, including the values that are outside its entries. They are a multiple of 8.
  std::uint64_t bytes(const TiffForm& form) const noexcept;
  /// Returns the directory as bytes for offset `at` of the file, which must be a multiple of 8. `next`: the offset of
  /// the next directory, or 0.
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
  std::vector<Entry> entries_;  ///< sorted by tag, as TIFF requires
};

/// The largest number of bytes that a header has.
inline constexpr std::uint64_t tiff_header_bytes = 16;
/// Returns a header. It has 8 bytes, or 16 bytes in a BigTIFF.
std::vector<std::byte> tiff_header(const TiffForm& form, std::uint64_t first_directory);

}  // namespace make_slides
