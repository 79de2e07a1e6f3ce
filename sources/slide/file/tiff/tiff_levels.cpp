#include "file/tiff/tiff_levels.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "file/errors.hpp"
#include "file/identity/dicom.hpp"
#include "file/tiff/directory_entries.hpp"
#include "file/tiff/tiff_input.hpp"

namespace penstock::slide {

namespace {

// What the levels of one file are read with.
struct File {
  int descriptor;
  const std::string& path;
  std::uint64_t bytes;
  FileForm form;
};

bool is_aperio(std::string_view description) { return description.starts_with("Aperio"); }

[[noreturn]] void refuse(const std::string& why) { throw NeedsOpenSlide{Errc::unsupported, why}; }

enum Compression : std::uint16_t { jp2k_ycc = 33003, jp2k_lossy = 33004, jp2k_rgb = 33005, jp2k = 34712 };

bool is_jpeg2000(std::uint16_t compression) {
  return compression == jp2k_ycc || compression == jp2k_lossy || compression == jp2k_rgb || compression == jp2k;
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

std::uint16_t orientation_of(TIFF* tiff) {
  return value_of<std::uint16_t>(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
}

// Whichever library reads it: OpenSlide gives such pixels as they lie there, tile by tile.
void refuse_turned(TIFF* tiff, const std::string& path) {
  const std::uint16_t orientation = orientation_of(tiff);
  if (orientation != ORIENTATION_TOPLEFT)
    throw error_in(path, Errc::unsupported,
                   "its image is stored mirrored or turned (orientation " + std::to_string(orientation) +
                       "); write it anew as it is to be seen");
}

void check_form(TIFF* tiff, const std::string& path) {
  refuse_turned(tiff, path);
  if (TIFFIsTiled(tiff) == 0) refuse("its image is not made of tiles");
  const auto compression = value_of<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, 0);
  if (compression != COMPRESSION_JPEG && !is_jpeg2000(compression))
    refuse("its compression is " + std::to_string(compression) + " (" + compression_name(compression) + ")");
  const auto bits = value_of<std::uint16_t>(tiff, TIFFTAG_BITSPERSAMPLE, 0);
  const auto samples = value_of<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 0);
  if (bits != 8 || samples != 3)
    refuse("its pixels have " + std::to_string(samples) + " values of " + std::to_string(bits) + " bits");
  if (value_of<std::uint16_t>(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT) != SAMPLEFORMAT_UINT)
    refuse("its values are no unsigned whole numbers");
  if (value_of<std::uint16_t>(tiff, TIFFTAG_PLANARCONFIG, 0) != PLANARCONFIG_CONTIG)
    refuse("its colours are stored apart from each other");
}

// Whether the values of a pixel are RGB, else YCbCr.
bool is_rgb(TIFF* tiff) {
  const auto compression = value_of<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, 0);
  // These two say it by themselves.
  if (compression == jp2k_ycc || compression == jp2k_rgb) return compression == jp2k_rgb;
  const auto photometric = value_of<std::uint16_t>(tiff, TIFFTAG_PHOTOMETRIC, 0);
  if (photometric != PHOTOMETRIC_RGB && photometric != PHOTOMETRIC_YCBCR)
    refuse("its photometric interpretation is " + std::to_string(photometric));
  return photometric == PHOTOMETRIC_RGB;
}

StoredArray array_of_tiles(const File& file, TIFF* tiff, const Level& level, std::uint16_t tag, const char* what) {
  const auto found = find_array(file.descriptor, file.path, file.form, TIFFCurrentDirOffset(tiff), tag);
  if (!found || found->count < level.tiles())
    throw error_in(file.path, Errc::corrupt,
                   std::string("it says ") + what + " of " + std::to_string(found ? found->count : 0) + " tiles; " +
                       std::to_string(level.tiles()) + " make its image of " + std::to_string(level.width) + "x" +
                       std::to_string(level.height) + " pixels");
  // A table has a byte a tile at least, so this product is one of numbers that are not larger than a file.
  const std::uint64_t needed = std::min(level.tiles(), file.bytes) * found->element_bytes;
  if (level.tiles() > file.bytes || needed > file.bytes || found->offset > file.bytes - needed)
    throw error_in(file.path, Errc::corrupt, "the file ends before its table of tiles does: it is cut off",
                   found->offset);
  return *found;
}

// Pixels along a side.
std::int32_t side_of(const File& file, TIFF* tiff, std::uint32_t tag, const char* what, std::uint32_t most) {
  const auto value = value_of<std::uint32_t>(tiff, tag, 0);
  if (value == 0 || value > most)
    throw error_in(
        file.path, value == 0 ? Errc::corrupt : Errc::unsupported,
        std::string(what) + " is " + std::to_string(value) + " pixels; 1 to " + std::to_string(most) + " are possible");
  return static_cast<std::int32_t>(value);
}

// How large the image of a directory is.
Level read_size(const File& file, TIFF* tiff) {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  Level level;
  level.width = side_of(file, tiff, TIFFTAG_IMAGEWIDTH, "its width", most);
  level.height = side_of(file, tiff, TIFFTAG_IMAGELENGTH, "its height", most);
  return level;
}

// The level in the directory that libtiff stands at.
Level read_level(const File& file, TIFF* tiff) {
  check_form(tiff, file.path);
  Level level = read_size(file, tiff);
  level.big_endian = file.form.big_endian;
  level.rgb = is_rgb(tiff);
  constexpr std::uint32_t most = 8192;
  level.tile_width = side_of(file, tiff, TIFFTAG_TILEWIDTH, "the width of a tile", most);
  level.tile_height = side_of(file, tiff, TIFFTAG_TILELENGTH, "the height of a tile", most);
  if (is_jpeg2000(value_of<std::uint16_t>(tiff, TIFFTAG_COMPRESSION, 0))) {
    level.codec = SlideCodec::jpeg2000;
  } else {
    std::uint32_t bytes = 0;
    const void* data = nullptr;
    if (TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &bytes, &data) == 1 && data != nullptr) {
      // All that a JPEG can use has less. Each tile is decoded with them.
      constexpr std::uint32_t most_tables = 16384;
      if (bytes > most_tables)
        throw error_in(file.path, Errc::corrupt, "the tables of its tiles have " + std::to_string(bytes) + " bytes");
      const auto* const first = static_cast<const std::byte*>(data);
      level.tables.assign(first, first + bytes);
    }
  }
  level.tile_offsets = array_of_tiles(file, tiff, level, TIFFTAG_TILEOFFSETS, "the places");
  level.tile_bytes = array_of_tiles(file, tiff, level, TIFFTAG_TILEBYTECOUNTS, "the sizes");
  return level;
}

// The maker of a file whose tiles overlap, lie in several images, or are left out: more than the directories must be
// known of it. Null for files of others.
const char* special_maker(TIFF* tiff, std::string_view description) {
  const std::string software = text_of(tiff, TIFFTAG_SOFTWARE);
  std::uint32_t bytes = 0;
  const void* data = nullptr;
  std::string_view xmp;
  if (TIFFGetField(tiff, TIFFTAG_XMLPACKET, &bytes, &data) == 1 && data != nullptr)
    xmp = {static_cast<const char*>(data), bytes};
  const char* maker = nullptr;
  if (description.find("leica-microsystems.com/scn") != std::string_view::npos) maker = "Leica";
  if (xmp.find("iScan") != std::string_view::npos) maker = "Ventana";
  if (software.starts_with("Philips")) maker = "Philips";
  if (software.starts_with("MedScan")) maker = "Trestle";
  return maker;
}

// Level 0 in small: no thumbnail, label or photograph of the glass.
bool has_shape_of(const Level& level, const Level& first) {
  const double across = static_cast<double>(first.width) / static_cast<double>(level.width);
  const double down = static_cast<double>(first.height) / static_cast<double>(level.height);
  const double rounding = 1.5 / static_cast<double>(std::min(level.width, level.height));
  return level.width < first.width && std::abs(across / down - 1) <= 0.01 + rounding;
}

// A level that can't be read keeps its number.
Level read_level_or_why_not(const File& file, TIFF* tiff, Level level) {
  try {
    return read_level(file, tiff);
  } catch (const NeedsOpenSlide& refused) {
    level.unreadable = refused.why;
  } catch (const Error& failed) {
    if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
    level.unreadable = failed.cause();
  }
  return level;
}

// Adds those of the directories that are levels.
void add_levels(const File& file, TIFF* tiff, TiffInput& input, std::span<const std::uint64_t> offsets, bool all_tiled,
                Pyramid& pyramid) {
  for (const std::uint64_t offset : offsets) {
    try {
      check_directory(file.descriptor, file.path, file.form, offset);
      go_to_directory(tiff, input, file.path, offset);
      const bool reduced = (value_of<std::uint32_t>(tiff, TIFFTAG_SUBFILETYPE, 0) & FILETYPE_REDUCEDIMAGE) != 0;
      if (TIFFIsTiled(tiff) == 0 || !(all_tiled || reduced)) continue;
      Level level = read_size(file, tiff);
      if (!has_shape_of(level, pyramid.levels.front())) continue;
      const auto after = std::ranges::upper_bound(pyramid.levels, level.width, std::greater(), &Level::width);
      if (std::prev(after)->width == level.width) continue;
      pyramid.levels.insert(after, read_level_or_why_not(file, tiff, level));
    } catch (const Error& failed) {
      if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
      if (pyramid.missing.empty()) pyramid.missing = failed.cause();
    }
  }
}

// A tile that is left out is glass where no finer level has pixels of it.
void tell_of_finer_levels(std::vector<Level>& levels) {
  std::vector<TileSizes> finer;
  for (Level& level : levels) {
    if (!level.unreadable.empty()) continue;
    level.finer = finer;
    finer.insert(finer.begin(), {level.width, level.height, level.tile_width, level.tile_height, level.tile_bytes});
  }
}

// Goes to the directory of the image that OME-XML says, which has to be as it says.
void go_to_image(const File& file, TIFF* tiff, TiffInput& input, const DirectoryChain& chain, const OmeImage& image) {
  if (image.directory >= chain.offsets.size())
    throw error_in(file.path, Errc::corrupt,
                   "its OME-XML says that its image lies in directory " + std::to_string(image.directory) +
                       ", counted from 0; the file has " + std::to_string(chain.offsets.size()) +
                       (chain.broken_by.empty() ? "; write it anew" : " that can be found: " + chain.broken_by));
  if (image.directory != 0) go_to_directory(tiff, input, file.path, chain.offsets[image.directory]);
  check_ome(
      image,
      {value_of<std::uint32_t>(tiff, TIFFTAG_IMAGEWIDTH, 0), value_of<std::uint32_t>(tiff, TIFFTAG_IMAGELENGTH, 0)},
      value_of<std::uint16_t>(tiff, TIFFTAG_SAMPLESPERPIXEL, 0), file.path);
}

Resolution read_resolution(TIFF* tiff, const std::string& description, const std::optional<OmeImage>& ome) {
  if (is_aperio(description)) return aperio_resolution(description);
  Resolution resolution;
  if (ome) resolution = ome->resolution;
  if (resolution.mpp_x != 0 || !resolution.refused.empty()) return resolution;
  const double magnification = resolution.magnification;
  resolution =
      tag_resolution(value_of<float>(tiff, TIFFTAG_XRESOLUTION, 0), value_of<float>(tiff, TIFFTAG_YRESOLUTION, 0),
                     value_of<std::uint16_t>(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH));
  resolution.magnification = magnification;
  return resolution;
}

// The first directory may be a photograph of the glass, so all are asked.
TilesOfOpenSlide tiles_of_openslide(const File& file, TIFF* tiff, TiffInput& input,
                                    std::span<const std::uint64_t> offsets) {
  TilesOfOpenSlide tiles;
  for (const std::uint64_t offset : offsets) {
    try {
      check_directory(file.descriptor, file.path, file.form, offset);
      go_to_directory(tiff, input, file.path, offset);
      if (TIFFIsTiled(tiff) == 0) continue;
      if (orientation_of(tiff) != ORIENTATION_TOPLEFT) {
        const Level level = read_size(file, tiff);
        tiles.turned.push_back({level.width, level.height});
        continue;
      }
      check_form(tiff, file.path);
      (void)is_rgb(tiff);
    } catch (const NeedsOpenSlide&) {
      tiles.by_libtiff = true;
    } catch (const Error& failed) {
      if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
    }
  }
  return tiles;
}

// Level 0, in the directory that libtiff stands at.
Level read_first_level(const File& file, TIFF* tiff, const Resolution& resolution, const std::optional<OmeImage>& ome,
                       const char* maker) {
  try {
    if (maker != nullptr)
      refuse(std::string("it is a file of ") + maker + ", whose tiles are put together in its own way");
    return read_level(file, tiff);
  } catch (NeedsOpenSlide& refused) {
    if (ome && ome->directory != 0)
      throw error_in(file.path, refused.code,
                     "its OME-XML says that its image lies in directory " + std::to_string(ome->directory) +
                         ", counted from 0, and " + refused.why +
                         ". OpenSlide would read the first directory; write it as tiles of JPEG, or as a file of its "
                         "own");
    // Such a file's first directory may be a photograph of the glass.
    if (maker == nullptr) refused.resolution = resolution;
    refused.ome = ome;
    throw;
  }
}

// The directories that libtiff's one says are below it.
std::vector<std::uint64_t> sub_directories_of(TIFF* tiff) {
  std::uint16_t count = 0;
  const std::uint64_t* below = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_SUBIFD, &count, &below) != 1 || below == nullptr) return {};
  constexpr std::uint16_t most = 64;
  return {below, below + std::min(count, most)};
}

FileForm read_form_of_tiff(int descriptor, const std::string& path) {
  try {
    return read_form(descriptor, path);
  } catch (const Error& failed) {
    if (failed.code() != Errc::corrupt) throw;
    if (is_dicom(descriptor, path))
      throw NeedsOpenSlide{.code = Errc::unsupported, .why = "it is a DICOM file", .tiles = {.by_version_4 = true}};
    throw NeedsOpenSlide{failed.code(), failed.cause()};
  }
}

}  // namespace

Pyramid read_tiff(int descriptor, const std::string& path, std::uint64_t file_bytes) {
  const File file{descriptor, path, file_bytes, read_form_of_tiff(descriptor, path)};
  const DirectoryChain chain = find_directories(descriptor, path, file.form);
  TiffInput input{.descriptor = descriptor, .bytes = file_bytes};
  const OpenTiff tiff = open_tiff(input, path);
  const std::string description = text_of(tiff.get(), TIFFTAG_IMAGEDESCRIPTION);
  const char* const maker = special_maker(tiff.get(), description);
  std::optional<OmeImage> ome;
  if (!is_aperio(description)) ome = read_ome(description, path);
  if (ome) go_to_image(file, tiff.get(), input, chain, *ome);
  refuse_turned(tiff.get(), path);
  Pyramid pyramid;
  pyramid.resolution = read_resolution(tiff.get(), description, ome);
  try {
    pyramid.levels.push_back(read_first_level(file, tiff.get(), pyramid.resolution, ome, maker));
  } catch (NeedsOpenSlide& refused) {
    refused.tiles = tiles_of_openslide(file, tiff.get(), input, chain.offsets);
    throw;
  }
  pyramid.missing = chain.broken_by;
  const std::vector<std::uint64_t> below = sub_directories_of(tiff.get());
  if (below.empty()) {
    std::vector<std::uint64_t> others = chain.offsets;
    others.erase(others.begin() + (ome ? ome->directory : 0));
    add_levels(file, tiff.get(), input, others, is_aperio(description), pyramid);
  } else {
    add_levels(file, tiff.get(), input, below, true, pyramid);
  }
  tell_of_finer_levels(pyramid.levels);
  // A sub-directory is no image of OME-XML.
  if (ome)
    pyramid.unread_images =
        unread_images(*ome, std::span(pyramid.levels).subspan(below.empty() ? 1 : pyramid.levels.size()));
  return pyramid;
}

}  // namespace penstock::slide
