// The directories of a TIFF file: what each says of its image.
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
  image_description = 270,
  orientation = 274,
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
  sub_directories = 330,
  sample_format = 339,
  jpeg_tables = 347,
  xmp = 700
};

/// The entries of one directory, which are read once; of a tag that stands there twice, the first. A value is read from
/// the file when it is asked for, so the file has to be there as long.
/// All that give values: @throws Error(corrupt) for too long a value, and one that reaches beyond the file; Error(io).
/// Whole numbers and bytes: Error(corrupt) for a value of another type. A real number or a text of another type is as if
/// it were not there: a slide can be read without.
class Directory {
 public:
  /// @throws Error(corrupt | io) for one that can't be read, or has too many entries.
  Directory(TiffFile& file, std::uint64_t offset);

  /// How many values there are; 0 where the tag is not there.
  std::uint64_t count(TiffTag tag) const noexcept;
  /// A whole number: one value, or several that are all the same; `otherwise` where there is none.
  /// @throws Error(corrupt) where they differ.
  std::uint64_t number(TiffTag tag, std::uint64_t otherwise) const;
  /// Whole numbers, the first ones of more than `most`.
  std::vector<std::uint64_t> numbers(TiffTag tag, std::uint64_t most) const;
  /// The first value, where it is a positive number; else 0.
  float real(TiffTag tag) const;
  /// What stands there up to the first 0; empty where no text does.
  std::string text(TiffTag tag) const;
  std::vector<std::byte> bytes(TiffTag tag) const;
  /// Where whole numbers lie; none where the tag isn't there, or has others than of 2, 4 or 8 bytes.
  std::optional<StoredArray> array(TiffTag tag) const;
  /// Where the directory that follows lies; 0: none does. @throws Error(corrupt | io).
  std::uint64_t next() const;

 private:
  struct Entry {
    TiffTag tag;
    std::uint16_t type;
    std::uint64_t count;
    std::uint64_t offset;  ///< where its values lie, be it in the entry
  };
  const Entry* find(TiffTag tag) const noexcept;
  /// Bytes of its first `count` values.
  std::vector<std::byte> values(const Entry& entry, std::uint64_t count) const;
  [[noreturn]] void fail(const Entry& entry, const std::string& what) const;
  [[noreturn]] void fail_type(const Entry& entry, const char* wanted) const;

  TiffFile* file_;
  std::uint64_t begin_;            // where the entries begin
  std::vector<std::byte> stored_;  // the entries as they stand there
  std::vector<Entry> entries_;
};

struct DirectoryChain {
  std::vector<Directory> directories;  ///< in their order
  std::string broken_by;               ///< why the chain is not followed to its end; empty: it is
};

/// @throws Error(corrupt | io) where the first directory can't be read. What is wrong with a later one ends the chain.
DirectoryChain read_directories(TiffFile& file);

}  // namespace penstock::slide
