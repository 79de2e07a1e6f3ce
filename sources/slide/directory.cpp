#include "directory.hpp"

#include <tiffio.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include <penstock/extend/file_descriptor.hpp>

#include "directory_entries.hpp"
#include "errors.hpp"

namespace penstock::slide {

namespace {

// Of a directory, values included. Each may be told to lie at the same long place.
constexpr std::uint64_t most_read = 96 << 20;

// What libtiff reads from, and what it says.
struct TiffInput {
  int descriptor = -1;
  std::uint64_t bytes = 0, at = 0;
  std::uint64_t left = most_read;  // that it may still read
  bool too_much = false;
  std::string complaint = {};  // the first error
};

tmsize_t tiff_read(thandle_t handle, void* to, tmsize_t bytes) {
  TiffInput& input = *static_cast<TiffInput*>(handle);
  if (static_cast<std::uint64_t>(bytes) > input.left) {
    input.too_much = true;
    return 0;
  }
  input.left -= static_cast<std::uint64_t>(bytes);
  const std::size_t got =
      read_whole(input.descriptor, {static_cast<std::byte*>(to), static_cast<std::size_t>(bytes)}, input.at);
  input.at += got;
  return static_cast<tmsize_t>(got);
}

tmsize_t tiff_write(thandle_t, void*, tmsize_t) { return -1; }

toff_t tiff_seek(thandle_t handle, toff_t offset, int whence) {
  TiffInput& input = *static_cast<TiffInput*>(handle);
  input.at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? input.at + offset : input.bytes + offset;
  return input.at;
}

int tiff_close(thandle_t) { return 0; }
toff_t tiff_size(thandle_t handle) { return static_cast<TiffInput*>(handle)->bytes; }

int tiff_complains(TIFF*, void* handle, const char*, const char* format, va_list words) {
  TiffInput& input = *static_cast<TiffInput*>(handle);
  if (!input.complaint.empty()) return 1;
  char text[512];
  std::vsnprintf(text, sizeof text, format, words);
  input.complaint = printable(text);
  return 1;
}

int tiff_warns(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
};
using OpenTiff = std::unique_ptr<TIFF, CloseTiff>;

OpenTiff open_tiff(TiffInput& input, const std::string& path) {
  struct FreeOptions {
    void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
  };
  const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
  if (options == nullptr) throw Error(Errc::out_of_memory, "no memory to open a slide").with_file(path);
  constexpr tmsize_t most_memory = 64 << 20;  // for the value of one entry
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_memory);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), tiff_complains, &input);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), tiff_warns, &input);
  // m: no memory map. D, O: arrays of tiles are not read, they may be long.
  OpenTiff tiff(TIFFClientOpenExt("libtiff", "rmDO", &input, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size,
                                  nullptr, nullptr, options.get()));
  // The values that could not be read would be missing without a word.
  if (input.too_much)
    throw error_in(path, Errc::corrupt,
                   "its directory can't be read: it says that its values have more than " +
                       std::to_string(most_read >> 20) + " MiB");
  if (tiff == nullptr)
    throw error_in(path, Errc::corrupt,
                   "its directory can't be read" + (input.complaint.empty() ? "" : ": " + input.complaint));
  return tiff;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw error_in(path, Errc::unsupported,
                 why + "; tiled TIFF, SVS and OME-TIFF are read whose tiles are JPEG of 8 bits, RGB or YCbCr");
}

std::string compression_name(std::uint16_t number) {
  switch (number) {
    case COMPRESSION_NONE:
      return "none";
    case COMPRESSION_LZW:
      return "LZW";
    case COMPRESSION_OJPEG:
      return "JPEG of the old kind";
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return "deflate";
    case 33003:
    case 33004:
    case 33005:
    case 34712:
      return "JPEG 2000";
    case COMPRESSION_WEBP:
      return "WebP";
    case COMPRESSION_ZSTD:
      return "Zstandard";
    case COMPRESSION_LZMA:
      return "LZMA";
    case COMPRESSION_JXL:
      return "JPEG XL";
    default:
      return "unknown";
  }
}

template <class T>
T value_of(TIFF* tiff, std::uint32_t tag, T otherwise) {
  T value = 0;
  return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : otherwise;
}

void check_form(TIFF* tiff, const std::string& path) {
  if (TIFFIsTiled(tiff) == 0) refuse(path, "its first image is not made of tiles");
  const auto compression = value_of<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, 0);
  if (compression != COMPRESSION_JPEG)
    refuse(path, "its compression is " + std::to_string(compression) + " (" + compression_name(compression) + ")");
  const auto bits = value_of<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 0);
  const auto samples = value_of<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 0);
  if (bits != 8 || samples != 3)
    refuse(path, "its pixels have " + std::to_string(samples) + " values of " + std::to_string(bits) + " bits");
  if (value_of<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT) != SAMPLEFORMAT_UINT)
    refuse(path, "its values are no unsigned whole numbers");
  if (value_of<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, 0) != PLANARCONFIG_CONTIG)
    refuse(path, "its colours are stored apart from each other");
}

}  // namespace

Directory read_directory(int descriptor, const std::string& path, std::uint64_t file_bytes) {
  const FileForm form = read_form(descriptor, path);
  check_first_directory(descriptor, path, form);
  TiffInput input{.descriptor = descriptor, .bytes = file_bytes};
  const OpenTiff tiff = open_tiff(input, path);
  check_form(tiff.get(), path);
  Directory directory;
  directory.big_endian = form.big_endian;
  const auto photometric = value_of<std::uint16_t>(tiff.get(), TIFFTAG_PHOTOMETRIC, 0);
  if (photometric != PHOTOMETRIC_RGB && photometric != PHOTOMETRIC_YCBCR)
    refuse(path, "its photometric interpretation is " + std::to_string(photometric));
  directory.rgb = photometric == PHOTOMETRIC_RGB;

  const auto side = [&](std::uint32_t tag, const char* what, std::uint32_t most) {
    const auto value = value_of<std::uint32_t>(tiff.get(), tag, 0);
    if (value == 0 || value > most)
      throw error_in(path, value == 0 ? Errc::corrupt : Errc::unsupported,
                     std::string(what) + " is " + std::to_string(value) + " pixels; 1 to " + std::to_string(most) +
                         " are possible");
    return value;
  };
  constexpr std::uint32_t most_pixels = std::numeric_limits<std::int32_t>::max(), most_of_tile = 8192;
  directory.width = side(TIFFTAG_IMAGEWIDTH, "its width", most_pixels);
  directory.height = side(TIFFTAG_IMAGELENGTH, "its height", most_pixels);
  directory.tile_width = static_cast<std::int32_t>(side(TIFFTAG_TILEWIDTH, "the width of a tile", most_of_tile));
  directory.tile_height = static_cast<std::int32_t>(side(TIFFTAG_TILELENGTH, "the height of a tile", most_of_tile));

  std::uint32_t bytes = 0;
  const void* data = nullptr;
  if (TIFFGetField(tiff.get(), TIFFTAG_JPEGTABLES, &bytes, &data) == 1 && data != nullptr) {
    // All that a JPEG can use has less. Each tile is decoded with them.
    constexpr std::uint32_t most_tables = 16384;
    if (bytes > most_tables)
      throw error_in(path, Errc::corrupt, "the tables of its tiles have " + std::to_string(bytes) + " bytes");
    const auto* const first = static_cast<const std::byte*>(data);
    directory.tables.assign(first, first + bytes);
  }

  const std::uint64_t at = TIFFCurrentDirOffset(tiff.get());
  const auto array = [&](std::uint16_t tag, const char* what) {
    const std::optional<StoredArray> found = find_array(descriptor, path, form, at, tag);
    if (!found || found->count < directory.tiles())
      throw error_in(path, Errc::corrupt,
                     std::string("it says ") + what + " of " + std::to_string(found ? found->count : 0) + " tiles; " +
                         std::to_string(directory.tiles()) + " make its image of " + std::to_string(directory.width) +
                         "x" + std::to_string(directory.height) + " pixels");
    // A table has a byte a tile at least, so this product is one of numbers that are not larger than a file.
    const std::uint64_t needed = std::min(directory.tiles(), file_bytes) * found->element_bytes;
    if (directory.tiles() > file_bytes || needed > file_bytes || found->offset > file_bytes - needed)
      throw error_in(path, Errc::corrupt, "the file ends before its table of tiles does: it is cut off", found->offset);
    return *found;
  };
  directory.tile_offsets = array(TIFFTAG_TILEOFFSETS, "the places");
  directory.tile_bytes = array(TIFFTAG_TILEBYTECOUNTS, "the sizes");
  return directory;
}

}  // namespace penstock::slide
