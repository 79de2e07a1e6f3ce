// SPDX-License-Identifier: Apache-2.0
// The directories of a TIFF file, which describe its images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file/level.hpp"
#include "file/tiff/tiff_file.hpp"

namespace penstock::slide {

enum class TiffTag : std::uint16_t {
  new_subfile_type = 254,
  subfile_type = 255,
  image_width = 256,
  image_length = 257,
  bits_per_sample = 258,
  compression = 259,
  photometric_interpretation = 262,
  fill_order = 266,
  image_description = 270,
  orientation = 274,
  samples_per_pixel = 277,
  x_resolution = 282,
  y_resolution = 283,
  planar_configuration = 284,
  resolution_unit = 296,
  software = 305,
  predictor = 317,
  color_map = 320,
  tile_width = 322,
  tile_length = 323,
  tile_offsets = 324,
  tile_byte_counts = 325,
  sub_directories = 330,
  extra_samples = 338,
  sample_format = 339,
  jpeg_tables = 347,
  xmp = 700
};

/// One directory. The constructor reads its entries; if two entries have the same tag, the first one counts. Values are
/// read when they are asked for, so `file` must outlive this object. All functions that return values @throw Error(io),
/// and Error(corrupt) for a value that is too long or extends past the end of the file. Where a whole number or bytes
/// are asked for, a value of a different type is Error(corrupt). Where a real number or a text is asked for, a value of
/// a different type counts as missing, because a slide can be read without it.
class Directory {
 public:
  /// @throws Error(corrupt | io) if the directory can't be read, or has too many entries.
  Directory(TiffFile& file, std::uint64_t offset);

  /// Returns the number of values; 0 if the tag is missing.
  std::uint64_t count(TiffTag tag) const noexcept;
  /// Returns a whole number; `otherwise` if the tag is missing. The entry may have several values. @throws
  /// Error(corrupt) if these differ, or if there are more than 65535.
  std::uint64_t number(TiffTag tag, std::uint64_t otherwise) const;
  /// Returns the first `most` whole numbers, or all if there are fewer.
  std::vector<std::uint64_t> numbers(TiffTag tag, std::uint64_t most) const;
  /// Returns the first value if it is a positive number; otherwise 0.
  float real(TiffTag tag) const;
  /// Returns the text up to its first zero byte; empty if the value is not a text.
  std::string text(TiffTag tag) const;
  /// Returns all bytes of the value; empty if the tag is missing.
  std::vector<std::byte> bytes(TiffTag tag) const;
  /// Returns where an array of whole numbers is in the file. Returns none if the tag is missing, or its values are not
  /// unsigned whole numbers of 2, 4 or 8 bytes.
  std::optional<StoredArray> array(TiffTag tag) const;
  /// Returns the offset of the following directory; 0: there is none. @throws Error(corrupt | io).
  std::uint64_t next() const;

 private:
  struct Entry {
    TiffTag tag;
    std::uint16_t type;
    std::uint64_t count;
    std::uint64_t offset;  ///< offset of its values in the file; the values may be in the entry itself
  };
  const Entry* find(TiffTag tag) const noexcept;
  /// Returns the bytes of the entry's first `count` values.
  std::vector<std::byte> values(const Entry& entry, std::uint64_t count) const;
  [[noreturn]] void fail(const Entry& entry, const std::string& what) const;
  [[noreturn]] void fail_type(const Entry& entry, const char* wanted) const;

  TiffFile* file_;
  std::uint64_t begin_;            // offset of the entries in the file
  std::vector<std::byte> stored_;  // the entries as stored
  std::vector<Entry> entries_;
};

struct DirectoryChain {
  std::vector<Directory> directories;  ///< in the order of the chain
  std::string broken_by;               ///< why the chain is not followed to its end; empty: it is
};

/// Reads all directories of a file. A fault in a later directory ends the chain. @throws Error(corrupt) if the
/// file's header or its first directory is faulty; Error(io) if any directory can't be read.
DirectoryChain read_directories(TiffFile& file);

}  // namespace penstock::slide
