// A file's directories through libtiff, which may read so much of it and prints nothing.
#pragma once

#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::slide {

/// What libtiff reads from, and what it says. Stays where it is while the TIFF is open.
struct TiffInput {
  static constexpr std::uint64_t most_read = 96 << 20;  ///< bytes that may be read of all directories, values included

  int descriptor = -1;
  std::uint64_t bytes = 0;  ///< bytes of the file
  std::uint64_t at = 0;
  /// Bytes that it may still read: each value may be told to lie at the same long place.
  std::uint64_t left = most_read;
  bool too_much = false;
  int failed_read = 0;         ///< errno of the first; libtiff passes over some tags that it could not read
  std::string complaint = {};  ///< the first error
};

struct CloseTiff {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
using OpenTiff = std::unique_ptr<TIFF, CloseTiff>;

/// Opens the first directory. Arrays of tiles are not read. @throws Error(corrupt) where libtiff can't, Error(io) where
/// the file can't be read.
OpenTiff open_tiff(TiffInput& input, const std::string& path);
/// Goes to the directory at `offset`. @throws as open_tiff.
void go_to_directory(TIFF* tiff, TiffInput& input, const std::string& path, std::uint64_t offset);

/// A tag's value, or `otherwise`.
template <class T>
T value_of(TIFF* tiff, std::uint32_t tag, T otherwise) {
  T value = 0;
  return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : otherwise;
}

/// A tag's text; empty where there is none.
inline std::string text_of(TIFF* tiff, std::uint32_t tag) {
  const char* text = nullptr;
  return TIFFGetField(tiff, tag, &text) == 1 && text != nullptr ? text : std::string();
}

}  // namespace penstock::slide
