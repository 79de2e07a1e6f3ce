// SPDX-License-Identifier: Apache-2.0
// Slides for tests, written in the plainest way, with pixels that are known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/test_images.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace penstock_test {

// A tile as it is stored, and as it is decoded.
struct StoredTile {
  Bytes stream;
  Image pixels;
};

// What else than one level stands in the file.
enum class SlideLevels {
  tiff,    // lower levels follow, marked as reduced images
  aperio,  // they follow unmarked, and the description says what they are
  ome      // they are sub-directories
};

struct SlideForm {
  std::int32_t width = 200, height = 140, tile_width = 64, tile_height = 64;
  std::array<int, 2> luma{2, 2};  // sampling factors
  bool rgb = false;               // values are RGB, components have the numbers 0, 1, 2, and no marker says it
  bool big_tiff = false, big_endian = false;
  bool own_tables = false;   // in each tile, not in tag 347
  bool short_sizes = false;  // sizes of tiles in 16 bits
  int quality = 80;
  std::uint64_t seed = 0;
  // Instead of what belongs there.
  std::uint16_t compression = 7, bits = 8, samples = 3, planes = 1;
  std::uint16_t photometric = 0xffff;  // tag 262; by default what `samples` and `rgb` say
  // Further entries of each level's directory: tag, and values of 16 bits.
  std::vector<std::pair<std::uint16_t, std::vector<std::uint16_t>>> entries = {};
  bool strips = false;
  // Encodes tiles of another kind than JPEG; where colours are stored apart, the planes of a tile one after the other.
  std::function<StoredTile(const Image&)> encode = {};
  // In place of a photograph: all pixels of a level, tiles that reach beyond it included.
  std::function<Image(const penstock::ImageShape&)> draw = {};
  // Below the first.
  std::vector<std::array<std::int32_t, 2>> lower = {};  // width and height
  SlideLevels layout = SlideLevels::tiff;
  bool thumbnail = false;                                // a directory of strips after the first
  std::string description = {};                          // tag 270
  std::string software = {};                             // 305
  std::uint32_t per_unit = 0;                            // pixels, tags 282 and 283
  std::uint16_t unit = 3;                                // centimetres
  std::uint16_t orientation = 0, lower_orientation = 0;  // of the first level, and of those below
  bool reduced = false;                                  // level 0 is marked as a reduced image, too
};

struct WrittenSlide {
  std::string path;
  SlideForm form;
  Image pixels;                                         // level 0, as libjpeg alone decodes it
  std::vector<Image> lower = {};                        // the levels below it
  std::vector<std::uint64_t> offsets = {}, sizes = {};  // of tiles, in the file
  std::uint64_t offsets_at = 0, sizes_at = 0;           // where these are said, in elements of
  std::uint32_t offset_bytes = 4, size_bytes = 4;
  std::vector<std::array<std::uint64_t, 2>> lower_at = {};  // the same of each level below: of offsets, and of sizes

  // Changes the file.
  void set_size(std::uint64_t tile, std::uint64_t bytes) const;
  void set_offset(std::uint64_t tile, std::uint64_t offset) const;
  // Of a level below the first.
  void leave_out_below(std::size_t level, std::uint64_t tile) const;
  void overwrite(std::uint64_t at, const Bytes& bytes) const;
};

// A form whose tiles are plain pixels, of one value, or of three, which may lie apart. A grey pixel has the red one's.
SlideForm plain_form(SlideForm form);
// The form, or `plain_form` of it if it has no encoder, with the bits of each byte in reverse order. We leave such a
// slide to OpenSlide.
SlideForm openslide_form(SlideForm form);
// Why we do.
inline constexpr const char* why_openslide_form = "the bits of its bytes are stored in reverse order";

// One micrometre a pixel, with next to no loss: areas of one colour keep it.
SlideForm micron_slide(std::int32_t width, std::int32_t height);

WrittenSlide write_slide(const std::string& path, const SlideForm& form = {});

// Several images in one file, one after the other. The first says what form the file's numbers have.
std::vector<WrittenSlide> write_images(const std::string& path, const std::vector<SlideForm>& forms);

}  // namespace penstock_test
