// penstock synth: draws data where there is none to try things with.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/interrupt.hpp"
#include "console/output.hpp"
#include "console/progress.hpp"
#include "synth/new_file.hpp"
#include "synth/slide_directories.hpp"
#include "synth/slide_drawing.hpp"
#include "synth/tiff_writer.hpp"
#include "synth/tile_damage.hpp"

namespace penstock::cli {

namespace {

constexpr std::int32_t longest_side = 1'000'000, widest_tile = 2048;

struct SynthOptions {
  std::string what, out, size, kind = "benign", format, compression = "jpeg", color = "ycbcr", json;
  double gigapixels = 0.01;
  std::optional<int> subsampling;
  std::optional<std::size_t> levels;
  std::uint64_t bad_tiles = 0;
  SlideWish wish;
  bool big_tiff = false, big_endian = false, force = false, quiet = false;
  unsigned threads = 0;

  /// True where neither progress nor a summary is shown.
  bool shows_nothing() const { return quiet || json == "-"; }
};

SlideFormat format_of(const SynthOptions& options) {
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
  throw UsageError(
      fmt::format("{}: name the slide X.svs, X.tif or X.ome.tif, or say its --format", printable(options.out)));
}

// Where --size says nothing the slide is 5 wide and 4 high, about.
void set_size(const SynthOptions& options, SlideWish& wish) {
  if (options.size.empty()) {
    if (std::isnan(options.gigapixels)) throw UsageError("--gigapixels: this is not a number");
    const double pixels = options.gigapixels * 1e9;
    wish.width = static_cast<std::int32_t>(std::lround(std::min(std::sqrt(pixels * 1.25), 2e9)));
    wish.height = static_cast<std::int32_t>(std::lround(std::min(std::sqrt(pixels * 0.8), 2e9)));
    if (wish.width > longest_side)
      throw UsageError(fmt::format("--gigapixels {} makes a slide {} pixels wide; {} are the most", options.gigapixels,
                                   with_commas(static_cast<std::uint64_t>(wish.width)), with_commas(longest_side)));
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
        fmt::format("--size: \"{}\" is not a width and a height, from 1 to {} pixels; write it like 40000x30000",
                    printable(text), with_commas(longest_side)));
}

std::size_t levels_of(const SynthOptions& options, const SlideWish& wish) {
  constexpr std::int32_t small_enough = 1024;
  std::size_t wanted = 1, most = 1;
  for (std::int32_t side = std::min(wish.width, wish.height); side >= 2; side /= 2) {
    ++most;
    if (side >= small_enough) ++wanted;
  }
  if (options.levels && *options.levels > most)
    throw UsageError(fmt::format("--levels {}: a slide of {} x {} pixels has {} at most", *options.levels, wish.width,
                                 wish.height, counted(most, "level")));
  return options.levels.value_or(wanted);
}

SlideWish wish_of(const SynthOptions& options) {
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
    throw UsageError(fmt::format("--bad-tiles {}: level 0 has {}", options.bad_tiles, counted(tiles, "tile")));
  wish.bad = bad_tiles(options.bad_tiles, tiles, wish.seed);
  return wish;
}

void refuse_existing(const SynthOptions& options) {
  std::error_code failed;
  if (std::filesystem::is_directory(options.out, failed))
    throw UsageError(fmt::format("{} is a folder; name a file", printable(options.out)));
  // A device would be replaced by a file of its name.
  if (std::filesystem::exists(options.out, failed) && !std::filesystem::is_regular_file(options.out, failed))
    throw UsageError(fmt::format("{} is there, and is no file; name another one", printable(options.out)));
  if (!options.force && std::filesystem::exists(options.out, failed))
    throw UsageError(
        fmt::format("{} is there already; --force replaces it, or name another file", printable(options.out)));
}

struct DrawnSlide {
  std::vector<DrawnLevel> levels;
  SlideLayout layout;
  std::uint64_t tiles = 0, bytes = 0;
  double seconds = 0;
  int signal = 0;  ///< that stopped it before its end, or 0
};

DrawnSlide draw(const SynthOptions& options, const SlideWish& wish) {
  DrawnSlide drawn{slide_levels(wish), {format_of(options), {options.big_tiff, options.big_endian}}};
  for (const DrawnLevel& level : drawn.levels) drawn.tiles += level.tiles.size();
  const Interrupt interrupt;
  Progress bar("drawing", drawn.tiles, options.shows_nothing());
  const unsigned threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  const auto start = std::chrono::steady_clock::now();
  NewFile file(options.out, tiff_header_bytes);
  const bool whole = draw_slide(wish, threads, file, drawn.levels, [&](std::uint64_t tiles) {
    bar.set(tiles);
    return interrupt.signal() == 0;
  });
  if (whole) {
    const std::vector<std::byte> tables = JpegTileEncoder(wish.tile).tables();
    const std::vector<std::byte> header = write_directories(wish, drawn.levels, tables, drawn.layout, file);
    file.finish(header, options.force);
  } else {
    drawn.signal = interrupt.signal();
  }
  drawn.bytes = file.bytes();
  drawn.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return drawn;
}

// Where a tile stands: its column and row, and the pixel in its corner.
struct BadPlace {
  std::uint64_t column, row, x, y;
};
BadPlace place_of(const BadTile& bad, const SlideWish& wish, const DrawnSlide& drawn) {
  const std::uint64_t columns = drawn.levels.front().columns, side = static_cast<std::uint64_t>(wish.tile.side);
  const std::uint64_t column = bad.tile % columns, row = bad.tile / columns;
  return {column, row, column * side, row * side};
}

void tell(const SynthOptions& options, const SlideWish& wish, const DrawnSlide& drawn) {
  std::string text;
  for (const BadTile& bad : wish.bad) {
    const BadPlace place = place_of(bad, wish, drawn);
    text += fmt::format("bad: tile {}, {} at pixel {}, {}: {}\n", place.column, place.row, place.x, place.y,
                        name_of(bad.damage));
  }
  const double pixels = static_cast<double>(wish.width) * wish.height;
  text += fmt::format("{}: {} x {} pixels, {}, {} of {} x {}; {}{} in {:.1f} s ({:.1f} Mpx/s)\n", options.out,
                      with_commas(static_cast<std::uint64_t>(wish.width)),
                      with_commas(static_cast<std::uint64_t>(wish.height)), counted(drawn.levels.size(), "level"),
                      counted(drawn.tiles, "tile"), wish.tile.side, wish.tile.side,
                      bytes_text(static_cast<double>(drawn.bytes)), drawn.layout.tiff.big ? " (BigTIFF)" : "",
                      drawn.seconds, pixels / 1e6 / std::max(drawn.seconds, 1e-9));
  print(text);
}

void tell_json(const SynthOptions& options, const SlideWish& wish, const DrawnSlide& drawn) {
  constexpr std::array formats{"aperio", "tiff", "ome"};  // as SlideFormat lists them
  Json levels = Json::array(), bad_list = Json::array();
  for (const DrawnLevel& level : drawn.levels)
    levels.push_back(
        {{"width", level.width}, {"height", level.height}, {"columns", level.columns}, {"rows", level.rows}});
  for (const BadTile& bad : wish.bad) {
    const BadPlace place = place_of(bad, wish, drawn);
    bad_list.push_back(
        {{"column", place.column}, {"row", place.row}, {"x", place.x}, {"y", place.y}, {"how", name_of(bad.damage)}});
  }
  write_json({{"slide", options.out},
              {"finished", drawn.signal == 0},
              {"kind", options.kind},
              {"seed", wish.seed},
              {"format", formats[static_cast<std::size_t>(drawn.layout.format)]},
              {"big_tiff", drawn.layout.tiff.big},
              {"big_endian", drawn.layout.tiff.big_endian},
              {"microns_per_pixel", microns_per_pixel},
              {"tile", wish.tile.side},
              {"tiles", drawn.tiles},
              {"levels", levels},
              {"bad_tiles", bad_list},
              {"bytes", drawn.bytes},
              {"seconds", drawn.seconds}},
             options.json);
}

int synth(const SynthOptions& options) {
  if (options.what != "slide")
    throw UsageError(
        fmt::format("synth draws a slide, and not \"{}\"; write penstock synth slide OUT", printable(options.what)));
  const SlideWish wish = wish_of(options);
  static_cast<void>(format_of(options));
  refuse_existing(options);
  const DrawnSlide drawn = draw(options, wish);
  if (drawn.signal == 0 && !options.shows_nothing()) tell(options, wish, drawn);
  if (!options.json.empty()) tell_json(options, wish, drawn);
  if (drawn.signal == 0) return exit_ok;
  fmt::print(stderr, "penstock: stopped; {} was not written\n", printable(options.out));
  return exit_signal + drawn.signal;
}

// What the slide shows.
void add_drawing_options(CLI::App& command, SynthOptions& options) {
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
      ->check(whole_number())
      ->capture_default_str();
}

// How its file has it.
void add_file_options(CLI::App& command, SynthOptions& options) {
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

}  // namespace

void add_synth(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App& command = *app.add_subcommand(
      "synth",
      "Draws a histology slide to try things with: tissue in pink and purple on white glass, as a tiled pyramid of\n"
      "JPEGs in a TIFF file, half a micrometre a pixel. The same arguments draw the same bytes, at any number of\n"
      "threads.");
  command.add_option("WHAT", options->what, "slide")->required();
  command.add_option("OUT", options->out, "File to write: X.svs, X.tif or X.ome.tif")->required();
  add_drawing_options(command, *options);
  add_file_options(command, *options);
  command.add_flag("--repeat", options->wish.repeat,
                   "Draw some hundred different tiles, and let all places share them: a slide of any size in seconds");
  command
      .add_option("--bad-tiles", options->bad_tiles,
                  "Damage so many tiles of level 0, spread evenly, in turn: empty, garbage, cut in half, 400 bytes\n"
                  "changed. Each is printed, a line")
      ->check(whole_number());
  command.add_flag("--force", options->force, "Replace the file that is there");
  command.add_option("--threads", options->threads, "Default: all cores")->check(CLI::Range(1, 1024));
  add_json_option(command, options->json);
  command.add_flag("--quiet,-q", options->quiet, "No progress and no summary");
  command.callback([options, &chosen] { chosen = [options] { return synth(*options); }; });
}

}  // namespace penstock::cli
