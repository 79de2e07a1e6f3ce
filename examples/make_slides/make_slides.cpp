// SPDX-License-Identifier: Apache-2.0
// Draws a histology slide, for tests and trials without real slides. The same arguments always draw the same pixels.
//
//     make_slides OUT.svs [--size 4096x4096] [--kind tumor] [--seed 7] ... --help lists all options
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "drawn_summary.hpp"
#include "new_file.hpp"
#include "slide_directories.hpp"
#include "slide_drawing.hpp"
#include "tiff_writer.hpp"
#include "tile_damage.hpp"

namespace make_slides {

namespace {

constexpr std::int32_t longest_side = 1'000'000, widest_tile = 2048;
// Without this bound, CLI11 would accept -1 as a huge number.
constexpr std::uint64_t largest_number = std::uint64_t{1} << 63;

// An error for a command line that asks for something impossible.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string out, size, kind = "benign", format, compression = "jpeg", color = "ycbcr";
  double gigapixels = 0.01;
  std::optional<int> subsampling;
  std::optional<std::size_t> levels;
  std::uint64_t bad_tiles = 0;
  SlideWish wish;
  bool big_tiff = false, big_endian = false, force = false, quiet = false, json = false;
  unsigned threads = 0;
};

SlideFormat format_of(const Options& options) {
  std::string name = options.out;
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto ends = [&](std::initializer_list<std::string_view> endings) {
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
  };
  if (options.format == "aperio" || (options.format.empty() && ends({".svs"}))) return SlideFormat::aperio;
  if (options.format == "ome" || (options.format.empty() && ends({".ome.tif", ".ome.tiff", ".ome.btf"})))
    return SlideFormat::ome;
  if (options.format == "tiff" || ends({".tif", ".tiff", ".btf"})) return SlideFormat::tiff;
  throw UsageError(fmt::format("{}: name the slide X.svs, X.tif or X.ome.tif, or say its --format", options.out));
}

// Sets the slide's size. Without --size, its width to height is about 5 to 4.
void set_size(const Options& options, SlideWish& wish) {
  if (options.size.empty()) {
    if (std::isnan(options.gigapixels)) throw UsageError("--gigapixels: this is not a number");
    const double pixels = options.gigapixels * 1e9;
    wish.width = static_cast<std::int32_t>(std::lround(std::min(std::sqrt(pixels * 1.25), 2e9)));
    wish.height = static_cast<std::int32_t>(std::lround(std::min(std::sqrt(pixels * 0.8), 2e9)));
    if (wish.width > longest_side)
      throw UsageError(fmt::format("--gigapixels {} makes a slide {} pixels wide; {} are the most", options.gigapixels,
                                   wish.width, longest_side));
    return;
  }
  const std::string& text = options.size;
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, wish.width);
  const bool crossed = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
  const auto height = std::from_chars(crossed ? width.ptr + 1 : end, end, wish.height);
  if (!crossed || height.ec != std::errc() || height.ptr != end || std::min(wish.width, wish.height) < 1 ||
      std::max(wish.width, wish.height) > longest_side)
    throw UsageError(
        fmt::format("--size: \"{}\" is not a width and a height, from 1 to {} pixels; write it like 40000x30000", text,
                    longest_side));
}

std::size_t levels_of(const Options& options, const SlideWish& wish) {
  constexpr std::int32_t small_enough = 1024;
  std::size_t wanted = 1, most = 1;
  for (std::int32_t side = std::min(wish.width, wish.height); side >= 2; side /= 2) {
    ++most;
    if (side >= small_enough) ++wanted;
  }
  if (options.levels && *options.levels > most)
    throw UsageError(
        fmt::format("--levels {}: {} are the most for {} x {} pixels", *options.levels, most, wish.width, wish.height));
  return options.levels.value_or(wanted);
}

SlideWish wish_of(const Options& options) {
  SlideWish wish = options.wish;
  if (wish.tile.side % 16 != 0) throw UsageError(fmt::format("--tile {} is not a multiple of 16", wish.tile.side));
  wish.kind = options.kind == "tumor" ? TissueKind::tumor : TissueKind::benign;
  wish.tile.rgb = options.color == "rgb";
  if (options.compression == "jpeg2000") wish.tile.compression = TileCompression::jpeg2000;
  if (options.compression == "jpeg2000" && options.bad_tiles != 0)
    throw UsageError("--bad-tiles damages JPEGs; leave out --compression jpeg2000");
  if (wish.tile.rgb && options.subsampling.value_or(444) != 444)
    throw UsageError(
        fmt::format("--subsampling {}: of --color rgb each colour has all its pixels (444)", *options.subsampling));
  wish.tile.subsampling = options.subsampling.value_or(wish.tile.rgb                       ? 444
                                                       : options.compression == "jpeg2000" ? 422
                                                                                           : 420);
  set_size(options, wish);
  wish.levels = levels_of(options, wish);
  const std::uint64_t tiles = slide_levels(wish).front().tiles.size();
  if (options.bad_tiles > tiles)
    throw UsageError(fmt::format("--bad-tiles {}: more than the {} of level 0", options.bad_tiles, tiles));
  wish.bad = bad_tiles(options.bad_tiles, tiles, wish.seed);
  return wish;
}

void refuse_existing(const Options& options) {
  std::error_code failed;
  // Without this check, a device would be replaced by a file with its name.
  if (std::filesystem::exists(options.out, failed) && !std::filesystem::is_regular_file(options.out, failed))
    throw UsageError(fmt::format("{} is there, and is no file; name another one", options.out));
  if (!options.force && std::filesystem::exists(options.out, failed))
    throw UsageError(fmt::format("{} is there already; --force replaces it, or name another file", options.out));
}

DrawnSlide draw(const Options& options) {
  DrawnSlide drawn{options.out, wish_of(options), {format_of(options), {options.big_tiff, options.big_endian}}};
  refuse_existing(options);
  drawn.levels = slide_levels(drawn.wish);
  const unsigned threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  const auto start = std::chrono::steady_clock::now();
  NewFile file(options.out, tiff_header_bytes);
  draw_slide(drawn.wish, threads, file, drawn.levels);
  const std::vector<std::byte> tables = JpegTileEncoder(drawn.wish.tile).tables();
  file.finish(write_directories(drawn.wish, drawn.levels, tables, drawn.layout, file));
  drawn.bytes = file.bytes();
  drawn.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return drawn;
}

// Adds the options for what the slide shows.
void add_drawing_options(CLI::App& command, Options& options) {
  CLI::Option* const gigapixels =
      command.add_option("--gigapixels", options.gigapixels, "Size of the slide, 5 wide and 4 high");
  gigapixels->check(CLI::Range(1e-6, 1000.0))->capture_default_str();
  command.add_option("--size", options.size, "Size of the slide in pixels, width and height, like 40000x30000")
      ->type_name("WxH")
      ->excludes(gigapixels);
  command
      .add_option("--kind", options.kind,
                  "Of the tissue: round glands with small nuclei in a row, or crowded large ones")
      ->check(CLI::IsMember({"benign", "tumor"}))
      ->capture_default_str();
  command.add_option("--seed", options.wish.seed, "Another seed draws another slide")
      ->check(CLI::Range(largest_number))
      ->capture_default_str();
}

// Adds the options for how the file stores the slide.
void add_file_options(CLI::App& command, Options& options) {
  TileForm& tile = options.wish.tile;
  command
      .add_option(
          "--format", options.format,
          "aperio: as Aperio's scanners write it (X.svs); tiff: reduced images in further directories (X.tif);\n"
          "ome: OME-TIFF, reduced images in sub-directories (X.ome.tif). Default: what OUT ends in")
      ->check(CLI::IsMember({"aperio", "tiff", "ome"}));
  command
      .add_option("--levels", options.levels,
                  "Of the pyramid, each half as wide and high as the one above it; default: until a side is below 1024")
      ->check(CLI::Range(std::size_t{1}, std::size_t{32}));
  command.add_option("--tile", tile.side, "Pixels a side of a tile, a multiple of 16")
      ->check(CLI::Range(16, widest_tile))
      ->capture_default_str();
  command.add_option("--quality", tile.quality, "Of the tiles")->check(CLI::Range(1, 100))->capture_default_str();
  command.add_option("--compression", options.compression, "Of the tiles: jpeg, or jpeg2000, which takes longer")
      ->check(CLI::IsMember({"jpeg", "jpeg2000"}))
      ->capture_default_str();
  command
      .add_option("--subsampling", options.subsampling,
                  "Of the colours: 420, 422 or 444; default: 420, of JPEG 2000 422")
      ->check(CLI::IsMember({420, 422, 444}));
  command
      .add_option("--color", options.color,
                  "What the tiles hold: ycbcr, or red, green and blue as they are, which nothing in them tells")
      ->check(CLI::IsMember({"ycbcr", "rgb"}))
      ->capture_default_str();
  command.add_flag("--big-tiff", options.big_tiff, "BigTIFF; without it only where the file is larger than 4 GB");
  command.add_flag("--big-endian", options.big_endian, "The file's numbers with their high bytes first");
}

int run(int argc, char** argv) {
  CLI::App app{
      "Draws a histology slide to try things with: tissue in pink and purple on white glass, as a tiled pyramid of\n"
      "JPEGs in a TIFF file, half a micrometre a pixel. The same arguments draw the same bytes, at any number of\n"
      "threads.",
      "make_slides"};
  Options options;
  app.add_option("OUT", options.out, "File to write: X.svs, X.tif or X.ome.tif")->required();
  add_drawing_options(app, options);
  add_file_options(app, options);
  app.add_flag("--repeat", options.wish.repeat,
               "Draw some hundred different tiles, and let all places share them: a slide of any size in seconds");
  app.add_option("--bad-tiles", options.bad_tiles,
                 "Damage so many tiles of level 0, spread evenly, in turn: empty, garbage, cut in half, 400 bytes\n"
                 "changed. Each is printed, a line")
      ->check(CLI::Range(largest_number));
  app.add_flag("--force", options.force, "Replace the file that is there");
  app.add_option("--threads", options.threads, "Default: all cores")->check(CLI::Range(1, 1024));
  app.add_flag("--json", options.json, "The result as JSON on stdout, and nothing else there");
  app.add_flag("--quiet,-q", options.quiet, "No summary");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + "; see make_slides --help");
  }
  const DrawnSlide drawn = draw(options);
  if (options.json)
    fmt::print("{}", summary_json(drawn));
  else if (!options.quiet)
    fmt::print("{}", summary_text(drawn));
  return 0;
}

}  // namespace

}  // namespace make_slides

int main(int argc, char** argv) {
  const auto fail = [](int status, const std::exception& error) {
    fmt::print(stderr, "make_slides: {}\n", error.what());
    return status;
  };
  try {
    return make_slides::run(argc, argv);
  } catch (const make_slides::UsageError& error) {
    return fail(2, error);
  } catch (const std::exception& error) {
    return fail(1, error);
  }
}
