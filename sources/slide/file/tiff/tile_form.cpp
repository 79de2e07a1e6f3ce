// SPDX-License-Identifier: Apache-2.0
#include "file/tiff/tile_form.hpp"

#include <algorithm>
#include <optional>

#include <penstock/error.hpp>

#include "file/errors.hpp"
#include "file/tiff/needs_openslide.hpp"

namespace penstock::slide {

namespace {

constexpr std::uint64_t not_turned = 1;

// Values of tag 259.
enum Compression : std::uint64_t {
  none = 1,
  lzw = 5,
  old_jpeg = 6,
  jpeg = 7,
  adobe_deflate = 8,
  packbits = 32773,
  deflate = 32946,
  jp2k_ycc = 33003,
  jp2k_lossy = 33004,
  jp2k_rgb = 33005,
  jp2k = 34712,
  lerc = 34887,
  lzma = 34925,
  zstd = 50000,
  webp = 50001,
  jpeg_xl = 50002
};

// Returns none for compressions that this library doesn't read.
std::optional<SlideCodec> codec_of(std::uint64_t compression) {
  switch (compression) {
    case jpeg:
      return SlideCodec::jpeg;
    case jp2k_ycc:
    case jp2k_lossy:
    case jp2k_rgb:
    case jp2k:
      return SlideCodec::jpeg2000;
    case none:
      return SlideCodec::uncompressed;
    case adobe_deflate:
    case deflate:
      return SlideCodec::deflate;
    case lzw:
      return SlideCodec::lzw;
    case packbits:
      return SlideCodec::packbits;
    case zstd:
      return SlideCodec::zstd;
    default:
      return std::nullopt;
  }
}

const char* compression_name(std::uint64_t number) {
  switch (number) {
    case old_jpeg:
      return "JPEG of the old kind";
    case lerc:
      return "LERC";
    case lzma:
      return "LZMA";
    case webp:
      return "WebP";
    case jpeg_xl:
      return "JPEG XL";
    default:
      return "unknown";
  }
}

// Values of tag 262.
enum Photometric : std::uint64_t { white_is_zero = 0, black_is_zero = 1, rgb = 2, palette = 3, ycc = 6 };

[[noreturn]] void refuse_photometric(std::uint64_t photometric) {
  leave_to_openslide("its photometric interpretation is " + std::to_string(photometric));
}

[[noreturn]] void refuse_pixels(std::uint64_t samples, std::uint64_t bits) {
  leave_to_openslide("its pixels have " + std::to_string(samples) + " values of " + std::to_string(bits) + " bits");
}

// Returns whether the values of a JPEG's or a JPEG 2000's pixel are RGB. Otherwise they are YCbCr.
bool is_rgb(const Directory& directory, std::uint64_t compression) {
  // These two compressions specify the kind of values.
  if (compression == jp2k_ycc || compression == jp2k_rgb) return compression == jp2k_rgb;
  const std::uint64_t photometric = directory.number(TiffTag::photometric_interpretation, white_is_zero);
  if (photometric != rgb && photometric != ycc) refuse_photometric(photometric);
  return photometric == rgb;
}

StoredValues::Colors colors_of(const Directory& directory) {
  using Colors = StoredValues::Colors;
  if (directory.count(TiffTag::photometric_interpretation) == 0)
    leave_to_openslide("it has no photometric interpretation");
  switch (const std::uint64_t photometric = directory.number(TiffTag::photometric_interpretation, white_is_zero)) {
    case white_is_zero:
      return Colors::white_is_zero;
    case black_is_zero:
      return Colors::black_is_zero;
    case rgb:
      return Colors::rgb;
    case palette:
      return Colors::palette;
    default:
      refuse_photometric(photometric);
  }
}

// Returns what the sample after the colours is. If the file doesn't say it, a fourth sample of RGB is taken for alpha,
// as libtiff does.
StoredValues::Alpha alpha_of(const Directory& directory, StoredValues::Colors colors) {
  using Alpha = StoredValues::Alpha;
  constexpr std::uint64_t multiplied = 1, apart = 2, apart_of_corel = 999;
  const std::vector<std::uint64_t> kinds = directory.numbers(TiffTag::extra_samples, 1);
  const std::uint64_t kind = kinds.empty() ? 0 : kinds.front();
  if (kind == multiplied) return Alpha::multiplied;
  if (kind == apart || kind == apart_of_corel) return Alpha::apart;
  if (kind != 0) leave_to_openslide("its further sample is of the kind " + std::to_string(kind));
  return colors == StoredValues::Colors::rgb ? Alpha::multiplied : Alpha::none;
}

StoredValues read_stored_values(const Directory& directory, SlideCodec codec, std::uint64_t samples,
                                std::uint64_t bits) {
  constexpr std::uint64_t whole_bytes = 8, two_bytes = 16;
  StoredValues values;
  values.colors = colors_of(directory);
  const bool is_palette = values.colors == StoredValues::Colors::palette;
  const std::uint64_t colors = values.colors == StoredValues::Colors::rgb ? 3 : 1;
  if (samples < colors || samples > colors + (is_palette ? 0 : 1) ||
      (bits != whole_bytes && (bits != two_bytes || is_palette)))
    refuse_pixels(samples, bits);
  values.samples = static_cast<std::uint8_t>(samples);
  values.value_bytes = static_cast<std::uint8_t>(bits / whole_bytes);
  if (samples > colors) values.alpha = alpha_of(directory, values.colors);
  constexpr std::uint64_t apart = 2;
  values.planes = samples > 1 && directory.number(TiffTag::planar_configuration, 1) == apart;
  constexpr std::uint64_t usual_order = 1;
  if (directory.number(TiffTag::fill_order, usual_order) != usual_order)
    leave_to_openslide("the bits of its bytes are stored in reverse order");
  // Tiles of the other two codecs have no predictor, whatever the tag says.
  if (codec == SlideCodec::lzw || codec == SlideCodec::deflate || codec == SlideCodec::zstd) {
    constexpr std::uint64_t no_predictor = 1, horizontal = 2;
    const std::uint64_t predictor = directory.number(TiffTag::predictor, no_predictor);
    if (predictor != no_predictor && predictor != horizontal)
      leave_to_openslide("its predictor is " + std::to_string(predictor));
    values.differences = predictor == horizontal;
  }
  return values;
}

// Returns 256 RGB colours. Values have 16 bits. Like libtiff, takes values that are all below 256 for values of 8 bits,
// because some writers store these.
std::vector<std::byte> read_palette(const Directory& directory, const std::string& path) {
  constexpr std::size_t colors = 256;
  const std::vector<std::uint64_t> stored = directory.numbers(TiffTag::color_map, 3 * colors);
  if (directory.count(TiffTag::color_map) != 3 * colors)
    throw error_in(
        path, Errc::corrupt,
        "its palette has " + std::to_string(directory.count(TiffTag::color_map)) + " values; 768 are needed");
  const bool wide = std::ranges::any_of(stored, [](std::uint64_t value) { return value >= 256; });
  std::vector<std::byte> palette;
  for (std::size_t i = 0; i < colors; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      palette.push_back(static_cast<std::byte>(stored[c * colors + i] >> (wide ? 8 : 0)));
  return palette;
}

std::vector<std::byte> read_jpeg_tables(const Directory& directory, const std::string& path) {
  // All tables that one JPEG can use have fewer bytes than this. Longer tables would slow down the decoding of each
  // tile.
  constexpr std::uint64_t most_tables = 16384;
  const std::uint64_t bytes = directory.count(TiffTag::jpeg_tables);
  if (bytes > most_tables)
    throw error_in(path, Errc::corrupt, "the tables of its tiles have " + std::to_string(bytes) + " bytes");
  return directory.bytes(TiffTag::jpeg_tables);
}

// Returns the orientation, 1 to 8. Any other value counts as not turned.
std::uint64_t orientation_of(const Directory& directory) {
  const std::uint64_t orientation = directory.number(TiffTag::orientation, not_turned);
  return orientation >= 1 && orientation <= 8 ? orientation : not_turned;
}

}  // namespace

bool is_tiled(const Directory& directory) {
  return directory.count(TiffTag::tile_width) != 0 || directory.count(TiffTag::tile_length) != 0;
}

bool is_turned(const Directory& directory) { return orientation_of(directory) != not_turned; }

void refuse_turned(const Directory& directory, const std::string& path) {
  if (is_turned(directory))
    throw error_in(path, Errc::unsupported,
                   "its image is stored mirrored or turned (orientation " + std::to_string(orientation_of(directory)) +
                       "); write it anew as it is to be seen");
}

TileForm read_tile_form(const Directory& directory, const std::string& path) {
  refuse_turned(directory, path);
  if (!is_tiled(directory)) leave_to_openslide("its image is not made of tiles");
  const std::uint64_t compression = directory.number(TiffTag::compression, none);
  const std::optional<SlideCodec> codec = codec_of(compression);
  if (!codec)
    leave_to_openslide("its compression is " + std::to_string(compression) + " (" + compression_name(compression) +
                       ")");
  const std::uint64_t bits = directory.number(TiffTag::bits_per_sample, 1);
  const std::uint64_t samples = directory.number(TiffTag::samples_per_pixel, 1);
  const bool is_jpeg = *codec == SlideCodec::jpeg || *codec == SlideCodec::jpeg2000;
  if (is_jpeg && (bits != 8 || samples != 3)) refuse_pixels(samples, bits);
  constexpr std::uint64_t unsigned_numbers = 1, side_by_side = 1;
  if (directory.number(TiffTag::sample_format, unsigned_numbers) != unsigned_numbers)
    leave_to_openslide("its values are no unsigned whole numbers");
  TileForm form{.codec = *codec, .values = {}, .tables = {}};
  if (is_jpeg) {
    if (directory.number(TiffTag::planar_configuration, side_by_side) != side_by_side)
      leave_to_openslide("its colours are stored apart from each other");
    form.rgb = is_rgb(directory, compression);
    if (*codec == SlideCodec::jpeg) form.tables = read_jpeg_tables(directory, path);
  } else {
    form.values = read_stored_values(directory, *codec, samples, bits);
    if (form.values.colors == StoredValues::Colors::palette) form.tables = read_palette(directory, path);
  }
  return form;
}

}  // namespace penstock::slide
