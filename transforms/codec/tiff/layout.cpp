// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <algorithm>
#include <string>

#include <penstock/error.hpp>

namespace penstock::tiff {

namespace {

[[noreturn]] void unsupported(const std::string& what) { throw Error(Errc::unsupported, what); }

std::string size_text(std::uint64_t width, std::uint64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

std::string meaning_name(std::uint16_t photometric) {
  switch (photometric) {
    case PHOTOMETRIC_MASK:
      return "a transparency mask";
    case PHOTOMETRIC_SEPARATED:
      return "CMYK or other inks";
    case PHOTOMETRIC_YCBCR:
      return "YCbCr that is not JPEG";
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
    case PHOTOMETRIC_ITULAB:
      return "CIELab";
    case PHOTOMETRIC_CFA:
      return "the raw values of a camera";
    case PHOTOMETRIC_LOGL:
    case PHOTOMETRIC_LOGLUV:
      return "logarithms of light";
    default:
      return "of an unknown meaning (PhotometricInterpretation " + std::to_string(photometric) + ")";
  }
}

// Most bytes that a compression makes of one; 0 if there is no bound.
std::uint64_t most_bytes(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return 1032;
    case COMPRESSION_LZW:
      return 4096;
    default:
      return 0;
  }
}

}  // namespace

Layout::Layout(const File& file, const Directory& directory, const TiffOptions& wanted) : options(wanted) {
  // find_page's caller has compared these with `max_pixels`.
  width = static_cast<std::int32_t>(directory.width), height = static_cast<std::int32_t>(directory.height);
  if (file.field<std::uint32_t>(TIFFTAG_IMAGEWIDTH) != directory.width ||
      file.field<std::uint32_t>(TIFFTAG_IMAGELENGTH) != directory.height)
    throw Error(Errc::corrupt, "the TIFF declares its size twice").with_offset(directory.offset);
  if (file.field<std::uint32_t>(TIFFTAG_IMAGEDEPTH) > 1) unsupported("the TIFF has a volume, not an image");
  const auto turned = file.field<std::uint16_t>(TIFFTAG_ORIENTATION);
  if (options.apply_orientation && turned >= 1 && turned <= 8) orientation = turned;
  check_compression(file);
  check_meaning(file, directory);
  check_values(file);
  check_chunks(file, directory);
}

ImageShape Layout::shape() const noexcept {
  const bool colors = meaning == Meaning::colors || meaning == Meaning::palette;
  int channels = 1;
  if (options.color == TiffOptions::rgb) channels = 3;
  if (options.color == TiffOptions::rgba) channels = 4;
  if (options.color == TiffOptions::as_stored) channels = (colors ? 3 : 1) + (opacity != Opacity::none ? 1 : 0);
  return {height, width, channels, options.dtype};
}

bool Layout::rows_are_image() const noexcept {
  if (planes) return false;
  if (bits != static_cast<int>(8 * size_of(options.dtype)) || samples != shape().channels) return false;
  if (is_labels()) return true;
  return (meaning == Meaning::gray || meaning == Meaning::colors) && opacity != Opacity::multiplied &&
         (opacity != Opacity::none || samples == (meaning == Meaning::colors ? 3 : 1)) &&
         (options.color != TiffOptions::gray || samples == 1);
}

void Layout::check_compression(const File& file) {
  compression = file.field<std::uint16_t>(TIFFTAG_COMPRESSION);
  predicts = compression != COMPRESSION_NONE && TIFFIsCODECConfigured(compression) != 0 &&
             file.field<std::uint16_t>(TIFFTAG_PREDICTOR) == PREDICTOR_HORIZONTAL;
  constexpr std::uint16_t read[] = {COMPRESSION_NONE,     COMPRESSION_PACKBITS,      COMPRESSION_LZW,
                                    COMPRESSION_DEFLATE,  COMPRESSION_ADOBE_DEFLATE, COMPRESSION_JPEG,
                                    COMPRESSION_ZSTD,     COMPRESSION_LZMA,          COMPRESSION_WEBP,
                                    COMPRESSION_CCITTRLE, COMPRESSION_CCITTRLEW,     COMPRESSION_CCITTFAX3,
                                    COMPRESSION_CCITTFAX4};
  if (std::ranges::find(read, compression) == std::end(read))
    unsupported("the TIFF's compression " + std::to_string(compression) +
                " is not decoded: store it with Deflate, LZW or Zstandard");
  if (TIFFIsCODECConfigured(compression) == 0)
    unsupported("the installed libtiff was built without the TIFF's compression " + std::to_string(compression));
}

void Layout::check_meaning(const File& file, const Directory& directory) {
  std::uint16_t photometric = 0;
  if (!directory.meaning)
    throw Error(Errc::corrupt, "the TIFF does not say what its values mean: PhotometricInterpretation is missing");
  // Without a palette, libtiff takes indices for grey.
  if (TIFFGetField(file.get(), TIFFTAG_PHOTOMETRIC, &photometric) != 1 || photometric != *directory.meaning)
    throw Error(Errc::corrupt, "the TIFF has no values of the meaning that it declares, or no palette")
        .with_offset(directory.offset);
  planes = file.field<std::uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
  switch (photometric) {
    case PHOTOMETRIC_MINISBLACK:
      meaning = Meaning::gray;
      break;
    case PHOTOMETRIC_MINISWHITE:
      meaning = Meaning::inverted_gray;
      break;
    case PHOTOMETRIC_RGB:
      meaning = Meaning::colors;
      break;
    case PHOTOMETRIC_PALETTE:
      meaning = Meaning::palette;
      break;
    case PHOTOMETRIC_YCBCR:
      if (compression == COMPRESSION_JPEG && !planes) {
        // libjpeg makes RGB of it.
        meaning = Meaning::colors;
        TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        break;
      }
      [[fallthrough]];
    default:
      unsupported("the TIFF's values are " + meaning_name(photometric) +
                  ", and only grey, RGB and palettes are decoded");
  }
}

void Layout::check_values(const File& file) {
  bits = file.field<std::uint16_t>(TIFFTAG_BITSPERSAMPLE);
  samples = file.field<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL);
  planes = planes && samples > 1;
  const auto format = file.field<std::uint16_t>(TIFFTAG_SAMPLEFORMAT);
  if (format == SAMPLEFORMAT_IEEEFP || format == SAMPLEFORMAT_COMPLEXIEEEFP)
    unsupported("the TIFF's values are floating point, and only whole numbers are decoded");
  if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)
    unsupported("the TIFF's values are signed, and only whole numbers from 0 are decoded");
  const bool small = bits == 1 || bits == 2 || bits == 4;
  if (bits != 8 && bits != 16 && !small)
    unsupported("the TIFF's values have " + std::to_string(bits) + " bits, and only 1, 2, 4, 8 and 16 are decoded");

  const int colors = meaning == Meaning::colors ? 3 : 1;
  if (samples < colors) throw Error(Errc::corrupt, "the TIFF has fewer channels than colours");
  const bool more = samples > colors;
  if (meaning == Meaning::palette && more) unsupported("the TIFF has a palette with a further channel");
  if (samples > colors + 1)
    unsupported("the TIFF has " + std::to_string(samples) +
                " channels, and at most one more than its colours is decoded");
  if (small && samples > 1)
    unsupported("the TIFF has several channels of " + std::to_string(bits) + " bits, and only 8 and 16 are decoded");
  std::uint16_t extras = 0;
  const std::uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_EXTRASAMPLES, &extras, &kinds);
  if (more && extras != 0 && kinds != nullptr) {
    if (kinds[0] == EXTRASAMPLE_UNASSALPHA) opacity = Opacity::separate;
    if (kinds[0] == EXTRASAMPLE_ASSOCALPHA) opacity = Opacity::multiplied;
  }
  if (is_labels()) {
    if (meaning == Meaning::colors || more)
      unsupported("the TIFF has colours or opacity, but labels are palette indices or grey values");
    if (compression == COMPRESSION_JPEG || compression == COMPRESSION_WEBP)
      unsupported("the TIFF is compressed as JPEG or WebP, which keeps no label as it was: store masks with Deflate");
    if (bits == 16 && options.dtype == DType::u8)
      unsupported("the TIFF has labels of 16 bits, which do not fit into 8; `dtype = u16` keeps them as they are");
    return;
  }
  if (meaning == Meaning::palette && bits > 8)
    unsupported("the TIFF has a palette for values of 16 bits; `color = labels` with `dtype = u16` reads the values");
  if (bits == 16 && options.dtype == DType::u8 && !options.high_byte)
    unsupported(
        "a TIFF of 16 bits does not fit into 8; `dtype = u16` keeps its values, `high_byte = true` the upper "
        "half of each; where it is a mask, `color = labels` with `dtype = u16` reads it");
}

void Layout::check_chunks(const File& file, const Directory& directory) {
  tiled = TIFFIsTiled(file.get()) != 0;
  const std::uint64_t pixels = directory.width * directory.height;
  std::uint64_t across = directory.width, down = file.field<std::uint32_t>(TIFFTAG_ROWSPERSTRIP);
  if (tiled) {
    across = file.field<std::uint32_t>(TIFFTAG_TILEWIDTH), down = file.field<std::uint32_t>(TIFFTAG_TILELENGTH);
    if (across == 0 || down == 0) throw Error(Errc::corrupt, "the TIFF has tiles without pixels");
    if (across * down > (std::uint64_t{1} << 20) && across * down > 4 * pixels)
      throw Error(Errc::limit_exceeded, "the TIFF has tiles of " + size_text(across, down) +
                                            " pixels, far larger than its image of " +
                                            size_text(directory.width, directory.height));
    constexpr std::uint64_t most = 1 << 30;
    if (across > most || down > most) throw Error(Errc::limit_exceeded, "the TIFF's tiles are too large");
  } else {
    if (down == 0) throw Error(Errc::corrupt, "the TIFF has strips without rows");
    down = std::min(down, directory.height);
  }
  chunk_width = static_cast<std::int32_t>(across), chunk_height = static_cast<std::int32_t>(down);
  const std::uint64_t of_plane = std::uint64_t{chunks_across()} * ((directory.height - 1) / down + 1);
  const std::uint64_t all = of_plane * static_cast<std::uint64_t>(planes ? samples : 1);
  if (all > directory.chunks)
    throw Error(Errc::corrupt, "the TIFF lists " + std::to_string(directory.chunks) + " strips or tiles, but has " +
                                   std::to_string(all))
        .with_offset(directory.offset);
  chunks = static_cast<std::uint32_t>(of_plane);
  const auto row = static_cast<std::uint64_t>(tiled ? TIFFTileRowSize(file.get()) : TIFFScanlineSize(file.get()));
  if (row != chunk_row_bytes()) unsupported("libtiff reads the TIFF's rows in another way than they are declared");
  const std::uint64_t bytes = pixels * static_cast<std::uint64_t>(samples * bits) / 8, most = most_bytes(compression);
  if (most != 0 && bytes / most > file.encoded().size())
    throw Error(Errc::corrupt, "the TIFF declares " + size_text(directory.width, directory.height) +
                                   " pixels, which can't be in its " + std::to_string(file.encoded().size()) + " bytes")
        .with_offset(directory.offset);
}

}  // namespace penstock::tiff
