// penstock tile: slides become a store of tiles.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "sampled_records.hpp"
#include "slide_files.hpp"
#include "slide_text.hpp"
#include "write_store.hpp"
#include "writing.hpp"

namespace penstock::cli {

namespace {

struct TileFlags {
  std::vector<std::string> slides;
  std::string labels, slide_column, mpp_column, edges = "drop", on_error = "fail";
  std::vector<std::string> columns;
  std::string tissue = "everywhere";
  SlideTissue rules;
  std::int32_t level = 0, size = 256, stride = 0, overlap = 0;
  double mpp = 0, magnification = 0, tolerance = Slides().mpp_tolerance, assumed_mpp = 0;
  int quality = 90;
  bool encode = false, verify = false, dry_run = false, leave_out_unlisted = false;
  OutFlags out;
  WritingFlags writing;
};

struct BadTile {
  std::string key, file, cause;
  Errc code;
};

// How many of a slide's tiles can be copied as they are stored, and why not all.
struct Copies {
  std::uint64_t tiles = 0;
  std::string why_not;
};

Slides slides_of(const TileFlags& flags) {
  Slides slides{.paths = slide_files(flags.slides),
                .level = flags.level,
                .mpp = flags.mpp,
                .magnification = flags.magnification,
                .mpp_tolerance = flags.tolerance,
                .size = flags.size,
                .stride = flags.stride,
                .overlap = flags.overlap,
                .labels = flags.labels,
                .slide_column = flags.slide_column,
                .columns = flags.columns,
                .mpp_column = flags.mpp_column,
                .assumed_mpp = flags.assumed_mpp};
  slides.edges = flags.edges == "pad"      ? SlideEdges::pad
                 : flags.edges == "shrink" ? SlideEdges::shrink
                                           : SlideEdges::drop;
  slides.tissue = flags.rules;
  if (flags.tissue != "everywhere")
    slides.tissue.by = flags.tissue == "grey" ? SlideTissue::By::grey : SlideTissue::By::saturation;
  if (flags.leave_out_unlisted) slides.unlisted = Slides::Unlisted::leave_out;
  return slides;
}

// Whether the record's image is a tile of the file, whole and inside the slide. The tiles have the records' size.
bool is_stored(const TileFlags& flags, const SlideInfo& slide, std::int64_t x, std::int64_t y) {
  return x % slide.tile_width == 0 && y % slide.tile_height == 0 && x + flags.size <= slide.image_width &&
         y + flags.size <= slide.image_height;
}

Copies copies_of(const TileFlags& flags, const SlideSource& source, const SlideInfo& slide) {
  if (slide.failure || slide.records == 0) return {};
  if (flags.encode) return {0, "--encode was given"};
  if (slide.codec == SlideCodec::openslide) return {0, slide.why_openslide};
  if (slide.codec == SlideCodec::jpeg2000) return {0, "the file's tiles are JPEG 2000"};
  if (slide.resampled) return {0, "no stored level has pixels of this size"};
  const std::string own = fmt::format("the file's tiles are of {}x{}", slide.tile_width, slide.tile_height);
  if (slide.tile_width != flags.size || slide.tile_height != flags.size) return {0, own};
  std::uint64_t copied = 0;
  for (std::uint64_t i = slide.first; i < slide.first + slide.records; ++i) {
    const SlidePlace place = source.place(i);
    if (is_stored(flags, slide, place.image_x, place.image_y)) ++copied;
  }
  const std::int32_t stride = flags.stride != 0 ? flags.stride : flags.size - flags.overlap;
  if (copied == slide.records) return {copied, ""};
  return {copied,
          stride % flags.size == 0 ? "those at the edges are not whole" : own + ", and others lie between them"};
}

Pipeline tiles_of(const TileFlags& flags, const SlideSource& source) {
  Pipeline tiles = from(source) | encode_jpeg("image", {.quality = flags.quality, .keep_stored = !flags.encode});
  return flags.verify ? tiles | check({.verify = true}) : tiles;
}

std::string listed(const std::vector<BadTile>& bad) {
  std::string text;
  for (const BadTile& tile : bad)
    text += fmt::format("bad: {}, file {}: {}: {}\n", printable_key(tile.key), printable(tile.file),
                        to_string(tile.code), printable(tile.cause));
  return text;
}

Json bad_json(const std::vector<BadTile>& bad) {
  Json list = Json::array();
  for (const BadTile& tile : bad)
    list.push_back({{"key", tile.key}, {"file", tile.file}, {"code", to_string(tile.code)}, {"cause", tile.cause}});
  return list;
}

// The mean of the bytes that some tiles become, spread over all.
double bytes_of_a_tile(const Pipeline& tiles) {
  constexpr std::uint64_t most = 200;
  std::uint64_t bytes = 0, count = 0;
  for (const std::uint64_t position : sampled_records(tiles.size(), {}, {.most = most})) {
    try {
      bytes += tiles.at(position)["image"].bytes();
      ++count;
    } catch (const Error& error) {
      if (!error.sample_scoped()) throw;
    }
  }
  return count == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(count);
}

// What a run would do, without writing.
int tell_what_would_be(const TileFlags& flags, const SlideSource& source, const Pipeline& tiles) {
  std::string text;
  Json slides = Json::array();
  std::uint64_t copied = 0, unreadable = 0;  // a slide that can't be read is one record
  for (const SlideInfo& slide : source.slides()) {
    const Copies copies = copies_of(flags, source, slide);
    copied += copies.tiles;
    if (slide.failure) {
      ++unreadable;
      text += fmt::format("{}: can't be read: {}\n", printable(slide.name), printable(slide.failure->cause()));
      slides.push_back(slide_json(slide));
      continue;
    }
    text += fmt::format("{}: {}, {}{}: {} copied, {} encoded{}\n", printable(slide.name), image_text(slide),
                        counted(slide.records, "tile"),
                        slide.places == slide.records ? "" : fmt::format(" of {}", counted(slide.places, "place")),
                        with_commas(copies.tiles), with_commas(slide.records - copies.tiles),
                        copies.why_not.empty() ? "" : ": " + copies.why_not);
    slides.push_back(slide_json(slide));
    slides.back()["copied"] = copies.tiles;
    slides.back()["why_not"] = copies.why_not;
  }
  const std::uint64_t tiles_there = source.size() - unreadable;
  const double bytes = bytes_of_a_tile(tiles) * static_cast<double>(tiles_there);
  text += fmt::format("in all {} of {}, about {}; nothing was written\n", counted(tiles_there, "tile"),
                      counted(source.slides().size() - unreadable, "slide"), bytes_text(bytes));
  if (flags.writing.json != "-" && !flags.writing.quiet) print(text);
  if (!flags.writing.json.empty())
    write_json({{"dry_run", true},
                {"slides", slides},
                {"tiles", tiles_there},
                {"copied", copied},
                {"bytes_about", static_cast<std::uint64_t>(bytes)}},
               flags.writing.json);
  return unreadable == 0 ? exit_ok : exit_bad_records;
}

void tell(const TileFlags& flags, const SlideSource& source, const NewStore& store, const Stored& stored,
          const std::vector<BadTile>& bad) {
  const WriteProgress& p = stored.written.progress;
  std::uint64_t copied = 0;
  for (const SlideInfo& slide : source.slides()) copied += copies_of(flags, source, slide).tiles;
  std::vector<std::string> notes = source.left_out();
  const auto key = [&](std::uint64_t i) { return source.key(i); };
  for (std::string& line : lost_in(store, source.schema(), source.size(), key, false)) notes.push_back(std::move(line));
  if (std::string order = lost_order(store, source.size(), key); !order.empty()) notes.push_back(std::move(order));
  if (flags.writing.json != "-") print(listed(bad));
  if (!flags.writing.json.empty()) {
    Json result{{"store", store.to.name()},
                {"finished", stored.written.signal == 0},
                {"was_finished", stored.was_finished},
                {"slides", source.slides().size()}};
    add_written(result, stored.written);
    result["copyable"] = copied;
    result["bad"] = bad_json(bad);
    result["notes"] = notes;
    write_json(result, flags.writing.json);
  }
  if (flags.writing.shows_nothing()) return;
  std::string text =
      stored.was_finished
          ? fmt::format("{} is finished already, {} of {}: nothing to do\n", printable(store.to.name()),
                        counted(p.done - p.dropped, "tile"), counted(source.slides().size(), "slide"))
          : fmt::format("{}: {} of {}{}; {}\n", printable(store.to.name()), counted(p.done - p.dropped, "tile"),
                        counted(source.slides().size(), "slide"),
                        // Which of the bad ones could have been copied is not known.
                        bad.empty() ? ", " + with_commas(copied) + " of them stored in the files already" : "",
                        written_text(stored.written));
  for (const std::string& note : notes) text += note + "\n";
  print(text);
}

int tile(const TileFlags& flags) {
  if (flags.overlap >= flags.size) throw UsageError("--overlap must be less than --size");
  if (!flags.mpp_column.empty() && flags.labels.empty())
    throw UsageError("--mpp-column is a column of --labels, a CSV file");
  if (flags.stride != 0 && flags.overlap != 0) throw UsageError("--stride and --overlap say the same; give one");
  if (!(flags.columns.empty() && flags.slide_column.empty()) && flags.labels.empty())
    throw UsageError("--columns and --slide-column are columns of --labels, a CSV file");
  NewStore store{.to = destination_of(flags.out), .out = flags.out, .key_field = "key"};
  const SlideSource source(slides_of(flags));
  const Pipeline all = tiles_of(flags, source);
  const Pipeline tiles = flags.on_error == "drop" ? all | on_error({.policy = OnError::drop, .max_share = 1}) : all;
  if (flags.dry_run) return tell_what_would_be(flags, source, tiles);
  if (source.size() == 0) {
    const bool places = std::ranges::any_of(source.slides(), [](const SlideInfo& slide) { return slide.places != 0; });
    throw Error(Errc::not_found,
                places ? "no tile shows tissue; --tissue-threshold and --least-tissue decide what does"
                       : fmt::format("there is no tile of {0}x{0} pixels here; --edges pad fills up what is smaller",
                                     flags.size))
        .with_file(source.file());
  }
  // Other slides must not be mixed into an unfinished store, nor the same ones after a change. What a bad tile ended
  // may go on without it.
  store.job = fmt::format("penstock tile, {:016x}, revision {:016x}", all.fingerprint(), source.revision());
  std::vector<BadTile> bad;
  store.on_drop = [&](const Error& error) { bad.push_back({error.key(), error.file(), error.cause(), error.code()}); };
  store.where = [&](std::uint64_t done) {
    const auto& slides = source.slides();
    const auto at = std::upper_bound(slides.begin(), slides.end(), std::min(done, source.size() - 1),
                                     [](std::uint64_t i, const SlideInfo& slide) { return i < slide.first; });
    return fmt::format("slide {}/{}", at - slides.begin(), slides.size());
  };
  const Stored stored = write_store("tiling", tiles, source.size(), store, flags.writing);
  tell(flags, source, store, stored, bad);
  const int status = status_of(stored.written);
  return status == exit_ok && !bad.empty() ? exit_bad_records : status;
}

}  // namespace

void add_tile(CLI::App& app, Command& chosen) {
  auto flags = std::make_shared<TileFlags>();
  CLI::App& command =
      *app.add_subcommand("tile",
                          "Cuts slides into tiles, of level 0 or with pixels of another size: key "
                          "slide/y_x, the tile as a JPEG, its place\n"
                          "at level 0, and what a table says of its slide. A tile that is stored in the file as a "
                          "JPEG, whole, is copied without loss; others\n"
                          "are encoded. A run that was stopped, or killed, is continued by the same "
                          "command. Exit status 3 where bad tiles\n"
                          "were left out.");
  command.add_option("SLIDES", flags->slides, "Files, folders with slides in them, or patterns in quotes")->required();
  add_out_options(command, flags->out);
  CLI::Option* const level =
      command.add_option("--level", flags->level, "The level that tiles are made of; 0 is the finest");
  level->check(CLI::Range(0, 63));
  CLI::Option* const mpp = command.add_option("--mpp", flags->mpp,
                                              "Or micrometres from one pixel of a tile to the next; where no stored "
                                              "level has them, a finer one is made smaller");
  mpp->check(CLI::Range(0.05, 20.0))->excludes(level);
  command.add_option("--magnification", flags->magnification, "Or the magnification of an objective: 20, say")
      ->check(CLI::Range(0.5, 1000.0))
      ->excludes(level)
      ->excludes(mpp);
  command
      .add_option("--tolerance", flags->tolerance,
                  "For --mpp and --magnification: a stored level whose pixels differ by this share at most is taken")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
  command.add_option("--size", flags->size, "Pixels on each side of a tile")
      ->check(CLI::Range(1, 8192))
      ->capture_default_str();
  command.add_option("--stride", flags->stride, "Pixels from one tile to the next; default: --size less --overlap")
      ->check(CLI::Range(1, 1 << 24));
  command.add_option("--overlap", flags->overlap, "Pixels that neighbours share")->check(CLI::Range(0, 8191));
  command
      .add_option("--edges", flags->edges,
                  "Tiles that reach beyond the slide: left out, filled up with white, or cut off where it ends")
      ->check(CLI::IsMember({"drop", "pad", "shrink"}))
      ->capture_default_str();
  CLI::Option* const tissue =
      command.add_option("--tissue", flags->tissue,
                         "Only tiles that show tissue, told from glass by the saturation of its colour, or by being "
                         "darker");
  tissue->check(CLI::IsMember({"everywhere", "saturation", "grey"}))->capture_default_str();
  SlideTissue& rules = flags->rules;
  const auto of_tissue = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->needs(tissue)->capture_default_str();
  };
  of_tissue("--least-tissue", rules.least, "Share of a tile that must be tissue")->check(CLI::Range(0.0, 1.0));
  of_tissue("--tissue-mpp", rules.mpp, "Micrometres a pixel of the mask that tells, at most")
      ->check(CLI::Range(1.0, 200.0));
  of_tissue("--tissue-threshold", rules.threshold, "1 to 254, of saturation or grey; 0: Otsu's, of each slide")
      ->check(CLI::Range(0, 254));
  of_tissue("--tissue-closing", rules.closing, "Micrometres around tissue in which gaps are closed")
      ->check(CLI::Range(0.0, 10'000.0));
  of_tissue("--tissue-area", rules.least_area, "Square micrometres: smaller pieces go, smaller holes are filled")
      ->check(CLI::Range(0.0, 1e12));
  command.add_option("--quality", flags->quality, "Of tiles that are encoded")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command.add_flag("--encode", flags->encode, "Encode all tiles anew, also those that could be copied");
  command.add_flag("--verify", flags->verify,
                   "Decode every tile to its end, also those that are copied, so that damage inside of them is found");
  command.add_option("--labels", flags->labels,
                     "CSV file with a header and a line a slide: its columns become fields of the tiles");
  command.add_option("--slide-column", flags->slide_column,
                     "The column of --labels with the slides' names; default: the one in which most of them stand");
  command.add_option(
      "--mpp-column", flags->mpp_column,
      "The column of --labels with the micrometres a pixel of each slide's level 0, in place of what its "
      "file says");
  command
      .add_option("--assume-mpp", flags->assumed_mpp,
                  "Micrometres a pixel of level 0, of slides whose files don't say it")
      ->check(CLI::Range(0.05, 20.0));
  command.add_option("--columns", flags->columns, "Only these columns of --labels, names between commas")
      ->delimiter(',');
  command.add_flag("--leave-out-unlisted", flags->leave_out_unlisted,
                   "Slides without a line in --labels are left out; otherwise they are an error");
  command
      .add_option("--on-error", flags->on_error,
                  "Tiles and slides that can't be read: end the run, or are left out, each listed")
      ->check(CLI::IsMember({"fail", "drop"}))
      ->capture_default_str();
  command.add_flag("--dry-run", flags->dry_run,
                   "Tell how many tiles there are, and what would be copied; write nothing");
  add_writing_options(command, "Threads that read and encode; default: cores - 1", flags->writing);
  command.callback([flags, &chosen] { chosen = [flags] { return tile(*flags); }; });
}

}  // namespace penstock::cli
