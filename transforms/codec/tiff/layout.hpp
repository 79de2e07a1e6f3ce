// SPDX-License-Identifier: Apache-2.0
// What a TIFF's directory and the options say about the image, and about the strips or tiles that it is made from.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/transforms/decode_tiff.hpp>

#include "directories.hpp"
#include "file.hpp"

namespace penstock::tiff {

enum class Meaning : std::uint8_t { gray, inverted_gray, colors, palette };
enum class Opacity : std::uint8_t { none, separate, multiplied };

class Layout {
 public:
  // Checks all that the directory says. @throws like ImageDecoding::open.
  Layout(const File& file, const Directory& directory, const TiffOptions& options);

  // Shape of the image as it is stored, with the channels that are asked for.
  ImageShape shape() const noexcept;

  Meaning meaning = Meaning::gray;
  Opacity opacity = Opacity::none;
  int bits = 8;
  int samples = 1;      // values per pixel in the file
  bool planes = false;  // there are several samples, and each has strips or tiles of its own
  bool tiled = false;
  std::int32_t width = 0, height = 0;
  std::int32_t chunk_width = 0, chunk_height = 0;  // of a strip or tile
  std::uint32_t chunks = 0;                        // of one plane
  std::uint16_t compression = 1;
  bool predicts = false;  // values are stored as differences from the pixel before
  int orientation = 1;
  TiffOptions options;

  bool is_labels() const noexcept { return options.color == TiffOptions::labels; }
  // Values per pixel, and bytes per row, of a strip or tile as libtiff returns it.
  int chunk_samples() const noexcept { return planes ? 1 : samples; }
  std::size_t chunk_row_bytes() const noexcept {
    return (static_cast<std::size_t>(chunk_width) * static_cast<std::size_t>(chunk_samples() * bits) + 7) / 8;
  }
  std::uint32_t chunks_across() const noexcept { return static_cast<std::uint32_t>((width - 1) / chunk_width + 1); }
  // Returns whether rows of a strip or tile are rows of the image, without a conversion.
  bool rows_are_image() const noexcept;

 private:
  void check_meaning(const File& file, const Directory& directory);
  void check_values(const File& file);
  void check_compression(const File& file);
  void check_chunks(const File& file, const Directory& directory);
};

}  // namespace penstock::tiff
