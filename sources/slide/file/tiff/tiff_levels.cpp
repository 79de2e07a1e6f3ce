// SPDX-License-Identifier: Apache-2.0
#include "file/tiff/tiff_levels.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "file/errors.hpp"
#include "file/identity/dicom.hpp"
#include "file/tiff/directory.hpp"
#include "file/tiff/tiff_file.hpp"
#include "file/tiff/tile_form.hpp"

namespace penstock::slide {

namespace {

bool is_aperio(std::string_view description) { return description.starts_with("Aperio"); }

bool is_reduced(const Directory& directory) {
  constexpr std::uint64_t old_reduced = 2, old_page = 3;
  const std::uint64_t old = directory.number(TiffTag::subfile_type, 0);
  if (old == old_reduced || old == old_page) return old == old_reduced;
  return (directory.number(TiffTag::new_subfile_type, 0) & 1) != 0;
}

StoredArray array_of_tiles(const TiffFile& file, const Directory& directory, const Level& level, TiffTag tag,
                           const char* what) {
  const std::optional<StoredArray> found = directory.array(tag);
  const std::uint64_t tiles = level.stored_tiles();
  if (!found || found->count < tiles)
    throw error_in(file.path(), Errc::corrupt,
                   std::string("it says ") + what + " of " + std::to_string(found ? found->count : 0) + " tiles; " +
                       std::to_string(tiles) + " make its image of " + std::to_string(level.width) + "x" +
                       std::to_string(level.height) + " pixels");
  // The number of tiles is limited to the file's bytes, so that the product can't overflow. More tiles are an error
  // anyway, because a table has at least one byte per tile.
  const std::uint64_t needed = std::min(tiles, file.bytes()) * found->element_bytes;
  if (tiles > file.bytes() || needed > file.bytes() || found->offset > file.bytes() - needed)
    throw error_in(file.path(), Errc::corrupt, "the file ends before its table of tiles does: it is cut off",
                   found->offset);
  return *found;
}

// Returns a side's length in pixels, which must be 1 to `most`.
std::int32_t side_of(const TiffFile& file, const Directory& directory, TiffTag tag, const char* what,
                     std::uint32_t most) {
  const std::uint64_t value = directory.number(tag, 0);
  if (value == 0 || value > most)
    throw error_in(
        file.path(), value == 0 ? Errc::corrupt : Errc::unsupported,
        std::string(what) + " is " + std::to_string(value) + " pixels; 1 to " + std::to_string(most) + " are possible");
  return static_cast<std::int32_t>(value);
}

// Returns a level of which only the size of the image is set.
Level read_size(const TiffFile& file, const Directory& directory) {
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  Level level;
  level.width = side_of(file, directory, TiffTag::image_width, "its width", most);
  level.height = side_of(file, directory, TiffTag::image_length, "its height", most);
  return level;
}

Level read_level(const TiffFile& file, const Directory& directory) {
  TileForm form = read_tile_form(directory, file.path());
  Level level = read_size(file, directory);
  level.big_endian = file.big_endian();
  level.codec = form.codec;
  level.rgb = form.rgb;
  level.values = form.values;
  level.tables = std::move(form.tables);
  constexpr std::uint32_t most = 8192;
  level.tile_width = side_of(file, directory, TiffTag::tile_width, "the width of a tile", most);
  level.tile_height = side_of(file, directory, TiffTag::tile_length, "the height of a tile", most);
  level.tile_offsets = array_of_tiles(file, directory, level, TiffTag::tile_offsets, "the places");
  level.tile_bytes = array_of_tiles(file, directory, level, TiffTag::tile_byte_counts, "the sizes");
  return level;
}

// Returns the maker of a file whose directories don't suffice to read it, because its tiles overlap, are in several
// images, or are left out. Returns null for files of other makers.
const char* special_maker(const Directory& directory, std::string_view description) {
  const std::string software = directory.text(TiffTag::software);
  const std::vector<std::byte> xmp = directory.bytes(TiffTag::xmp);
  const std::string_view xmp_text(reinterpret_cast<const char*>(xmp.data()), xmp.size());
  const char* maker = nullptr;
  if (description.find("leica-microsystems.com/scn") != std::string_view::npos) maker = "Leica";
  if (xmp_text.find("iScan") != std::string_view::npos) maker = "Ventana";
  if (software.starts_with("Philips")) maker = "Philips";
  if (software.starts_with("MedScan")) maker = "Trestle";
  return maker;
}

// Returns whether a level is smaller than level 0 and has its shape. A label or a photograph of the glass has a
// different shape.
bool has_shape_of(const Level& level, const Level& first) {
  const double across = static_cast<double>(first.width) / static_cast<double>(level.width);
  const double down = static_cast<double>(first.height) / static_cast<double>(level.height);
  const double rounding = 1.5 / static_cast<double>(std::min(level.width, level.height));
  return level.width < first.width && std::abs(across / down - 1) <= 0.01 + rounding;
}

// Reads the level of a directory. If the level can't be read, returns `level`, which has only the level's size, with
// `unreadable` set. The list of levels then has this one too, so the numbers of the other levels stay the same.
Level read_level_or_why_not(const TiffFile& file, const Directory& directory, Level level) {
  try {
    return read_level(file, directory);
  } catch (const NeedsOpenSlide& refused) {
    level.unreadable = refused.why;
  } catch (const Error& failed) {
    if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
    level.unreadable = failed.cause();
  }
  return level;
}

// Adds the image of a directory to the levels, if the image is a level. With `all_tiled`, the image need not be marked
// as reduced.
void add_level(const TiffFile& file, const Directory& directory, bool all_tiled, Pyramid& pyramid) {
  if (!is_tiled(directory) || !(all_tiled || is_reduced(directory))) return;
  Level level = read_size(file, directory);
  if (!has_shape_of(level, pyramid.levels.front())) return;
  const auto after = std::ranges::upper_bound(pyramid.levels, level.width, std::greater(), &Level::width);
  if (std::prev(after)->width == level.width) return;
  pyramid.levels.insert(after, read_level_or_why_not(file, directory, level));
}

// Calls `read`. If `read` finds a fault in the file, sets `pyramid.missing`, so that other directories are still read.
template <class Read>
void or_missing(Pyramid& pyramid, const Read& read) {
  try {
    read();
  } catch (const Error& failed) {
    if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
    if (pyramid.missing.empty()) pyramid.missing = failed.cause();
  }
}

// Sets `finer` of each level that can be read. A tile that is left out counts as glass only if no finer level has
// pixels there.
void tell_of_finer_levels(std::vector<Level>& levels) {
  std::vector<TileSizes> finer;
  for (Level& level : levels) {
    if (!level.unreadable.empty()) continue;
    level.finer = finer;
    finer.insert(finer.begin(), {level.width, level.height, level.tile_width, level.tile_height,
                                 level.values.planes ? level.values.samples : 1u, level.tile_bytes});
  }
}

// Returns the directory of the image that OME-XML selects. Checks that the directory has the image's size and channels.
const Directory& directory_of(const OmeImage& image, const DirectoryChain& chain, const std::string& path) {
  if (image.directory >= chain.directories.size())
    throw error_in(path, Errc::corrupt,
                   "its OME-XML says that its image lies in directory " + std::to_string(image.directory) +
                       ", counted from 0; the file has " + std::to_string(chain.directories.size()) +
                       (chain.broken_by.empty() ? "; write it anew" : " that can be found: " + chain.broken_by));
  const Directory& directory = chain.directories[image.directory];
  check_ome(image,
            {static_cast<std::uint32_t>(directory.number(TiffTag::image_width, 0)),
             static_cast<std::uint32_t>(directory.number(TiffTag::image_length, 0))},
            static_cast<std::uint32_t>(directory.number(TiffTag::samples_per_pixel, 1)), path);
  return directory;
}

Resolution read_resolution(const Directory& directory, const std::string& description,
                           const std::optional<OmeImage>& ome) {
  if (is_aperio(description)) return aperio_resolution(description);
  Resolution resolution;
  if (ome) resolution = ome->resolution;
  if (resolution.mpp_x != 0 || !resolution.refused.empty()) return resolution;
  const double magnification = resolution.magnification;
  constexpr std::uint64_t none = 1, inches = 2, centimetres = 3;
  const std::uint64_t unit = directory.number(TiffTag::resolution_unit, inches);
  resolution = tag_resolution(directory.real(TiffTag::x_resolution), directory.real(TiffTag::y_resolution),
                              unit >= none && unit <= centimetres ? static_cast<int>(unit) : inches);
  resolution.magnification = magnification;
  return resolution;
}

// Looks at all directories, because the first may be a photograph of the glass.
TilesOfOpenSlide tiles_of_openslide(const TiffFile& file, std::span<const Directory> directories) {
  TilesOfOpenSlide tiles;
  for (const Directory& directory : directories) {
    try {
      if (!is_tiled(directory)) continue;
      if (is_turned(directory)) {
        const Level level = read_size(file, directory);
        tiles.turned.push_back({level.width, level.height});
        continue;
      }
      const SlideCodec codec = read_tile_form(directory, file.path()).codec;
      if (codec != SlideCodec::jpeg && codec != SlideCodec::jpeg2000) tiles.by_libtiff = true;
    } catch (const NeedsOpenSlide&) {
      tiles.by_libtiff = true;
    } catch (const Error& failed) {
      if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
    }
  }
  return tiles;
}

Level read_first_level(const TiffFile& file, const Directory& directory, const Resolution& resolution,
                       const std::optional<OmeImage>& ome, const char* maker) {
  try {
    if (maker != nullptr)
      leave_to_openslide(std::string("it is a file of ") + maker + ", whose tiles are put together in its own way");
    return read_level(file, directory);
  } catch (NeedsOpenSlide& refused) {
    if (ome && ome->directory != 0)
      throw error_in(file.path(), refused.code,
                     "its OME-XML says that its image lies in directory " + std::to_string(ome->directory) +
                         ", counted from 0, and " + refused.why +
                         ". OpenSlide would read the first directory; write it as tiles of JPEG, or as a file of its "
                         "own");
    // The first directory of a special maker's file may be a photograph of the glass, so its resolution is not used.
    if (maker == nullptr) refused.resolution = resolution;
    refused.ome = ome;
    throw;
  }
}

TiffFile open_tiff(int descriptor, const std::string& path, std::uint64_t bytes) {
  try {
    return {descriptor, path, bytes};
  } catch (const Error& failed) {
    if (failed.code() != Errc::corrupt) throw;
    if (is_dicom(descriptor, path))
      throw NeedsOpenSlide{.code = Errc::unsupported, .why = "it is a DICOM file", .tiles = {.by_version_4 = true}};
    throw NeedsOpenSlide{failed.code(), failed.cause()};
  }
}

}  // namespace

Pyramid read_tiff(int descriptor, const std::string& path, std::uint64_t file_bytes) {
  TiffFile file = open_tiff(descriptor, path, file_bytes);
  const DirectoryChain chain = read_directories(file);
  const Directory& first = chain.directories.front();
  const std::string description = first.text(TiffTag::image_description);
  const char* const maker = special_maker(first, description);
  std::optional<OmeImage> ome;
  if (!is_aperio(description)) ome = read_ome(description, path);
  const Directory& directory = ome ? directory_of(*ome, chain, path) : first;
  // These two checks come first, because the next steps may leave the file to OpenSlide. OpenSlide can't read a damaged
  // file either, and it would not turn the image.
  (void)read_size(file, directory);
  refuse_turned(directory, path);
  Pyramid pyramid;
  pyramid.resolution = read_resolution(directory, description, ome);
  try {
    pyramid.levels.push_back(read_first_level(file, directory, pyramid.resolution, ome, maker));
  } catch (NeedsOpenSlide& refused) {
    refused.tiles = tiles_of_openslide(file, chain.directories);
    throw;
  }
  pyramid.missing = chain.broken_by;
  const bool has_below = directory.count(TiffTag::sub_directories) != 0;
  if (has_below) {
    constexpr std::uint64_t most = 64;
    or_missing(pyramid, [&] {
      for (const std::uint64_t offset : directory.numbers(TiffTag::sub_directories, most))
        or_missing(pyramid, [&] { add_level(file, Directory(file, offset), true, pyramid); });
    });
  } else {
    for (const Directory& other : chain.directories)
      if (&other != &directory) or_missing(pyramid, [&] { add_level(file, other, is_aperio(description), pyramid); });
  }
  tell_of_finer_levels(pyramid.levels);
  // Sub-directories are not listed in OME-XML as images, so they are not compared with its images.
  if (ome)
    pyramid.unread_images =
        unread_images(*ome, std::span(pyramid.levels).subspan(has_below ? pyramid.levels.size() : 1));
  return pyramid;
}

}  // namespace penstock::slide
