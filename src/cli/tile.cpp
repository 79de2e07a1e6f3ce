// penstock tile: slides become a store of tiles.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/sources/coords.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_picture.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "command_line.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "sampled_records.hpp"
#include "slide_files.hpp"
#include "slide_flags.hpp"
#include "slide_pictures.hpp"
#include "slide_text.hpp"
#include "write_store.hpp"
#include "writing.hpp"

namespace penstock::cli {

namespace {

struct TileFlags {
  std::vector<std::string> slides;
  SlideFlags cut;
  std::string on_error = "fail", pictures, coords;
  std::int32_t picture_side = SlidePictureOptions().side;
  int quality = 90;
  bool encode = false, verify = false, dry_run = false;
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

// Whether the record's image is a tile of the file, whole and inside the slide. The tiles have the records' size.
bool is_stored(const TileFlags& flags, const SlideInfo& slide, std::int64_t x, std::int64_t y) {
  return x % slide.tile_width == 0 && y % slide.tile_height == 0 && x + flags.cut.size <= slide.image_width &&
         y + flags.cut.size <= slide.image_height;
}

Copies copies_of(const TileFlags& flags, const SlideSource& source, const SlideInfo& slide) {
  if (slide.failure || slide.records == 0) return {};
  if (flags.encode) return {0, "--encode was given"};
  if (slide.codec == SlideCodec::openslide) return {0, slide.why_openslide};
  if (slide.codec == SlideCodec::jpeg2000) return {0, "the file's tiles are JPEG 2000"};
  if (slide.resampled) return {0, "no stored level has pixels of this size"};
  const std::string own = fmt::format("the file's tiles are of {}x{}", slide.tile_width, slide.tile_height);
  if (slide.tile_width != flags.cut.size || slide.tile_height != flags.cut.size) return {0, own};
  std::uint64_t copied = 0;
  for (std::uint64_t i = slide.first; i < slide.first + slide.records; ++i) {
    const SlidePlace place = source.place(i);
    if (is_stored(flags, slide, place.image_x, place.image_y)) ++copied;
  }
  const std::int32_t stride = flags.cut.stride != 0 ? flags.cut.stride : flags.cut.size - flags.cut.overlap;
  if (copied == slide.records) return {copied, ""};
  return {copied,
          stride % flags.cut.size == 0 ? "those at the edges are not whole" : own + ", and others lie between them"};
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
int tell_what_would_be(const TileFlags& flags, const SlideSource& source, const Pipeline& tiles,
                       const SlidePictures* pictures) {
  std::string text;
  Json slides = Json::array();
  std::uint64_t copied = 0, unreadable = 0;  // a slide that can't be read is one record
  for (const SlideInfo& slide : source.slides()) {
    const Copies copies = copies_of(flags, source, slide);
    copied += copies.tiles;
    if (slide.failure) {
      ++unreadable;
      text += fmt::format("{}: can't be read: {}\n", printable(slide.name), failure_text(slide));
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
  for (const std::string& note : source.left_out()) text += note + "\n";
  if (flags.writing.json != "-" && !flags.writing.quiet) print(text);
  if (!flags.writing.json.empty()) {
    Json result{{"dry_run", true},
                {"slides", slides},
                {"tiles", tiles_there},
                {"copied", copied},
                {"bytes_about", static_cast<std::uint64_t>(bytes)},
                {"notes", source.left_out()}};
    if (pictures != nullptr) add_pictures(result, *pictures);
    write_json(result, flags.writing.json);
  }
  return unreadable == 0 ? exit_ok : exit_bad_records;
}

void tell(const TileFlags& flags, const SlideSource& source, const NewStore& store, const Stored& stored,
          const std::vector<BadTile>& bad, const SlidePictures* pictures) {
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
    if (pictures != nullptr) add_pictures(result, *pictures);
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

std::optional<SlidePictures> pictures_of(const TileFlags& flags, const SlideSource& source) {
  if (flags.pictures.empty()) return std::nullopt;
  SlidePictures pictures =
      draw_pictures(source, {.file_of = [&](const SlideInfo& slide) { return picture_in(flags.pictures, slide); },
                             .side = flags.picture_side,
                             .threads = flags.writing.threads,
                             .quiet = flags.writing.shows_nothing()});
  if (!flags.writing.shows_nothing())
    for (const std::string& line : picture_lines(pictures)) print(line + "\n");
  return pictures;
}

// Lists of the tiles, for CLAM and TRIDENT.
WrittenCoords write_lists(const TileFlags& flags, const SlideSource& source) {
  WrittenCoords written = write_coords(source, flags.coords, flags.writing.sync());
  if (flags.writing.shows_nothing()) return written;
  for (const std::string& note : written.notes) print(note + "\n");
  print(fmt::format("{}: {} of {} listed\n", printable(flags.coords), counted(written.places, "tile"),
                    counted(written.slides, "slide")));
  return written;
}

// What is told, and done, without a store.
int tell_without_store(const TileFlags& flags, const SlideSource& source, const Pipeline& tiles,
                       const SlidePictures* pictures) {
  if (flags.dry_run) return tell_what_would_be(flags, source, tiles, pictures);
  const WrittenCoords written = flags.coords.empty() ? WrittenCoords() : write_lists(flags, source);
  std::vector<std::string> notes = source.left_out();
  if (!flags.writing.shows_nothing())
    for (const std::string& note : notes) print(note + "\n");
  if (!flags.writing.json.empty()) {
    notes.insert(notes.end(), written.notes.begin(), written.notes.end());
    Json slides = Json::array();
    for (const SlideInfo& slide : source.slides()) slides.push_back(slide_json(slide));
    Json result{{"slides", slides}, {"notes", notes}};
    if (!flags.coords.empty()) {
      result["coords"] = flags.coords;
      result["tiles"] = written.places;
    }
    if (pictures != nullptr) add_pictures(result, *pictures);
    write_json(result, flags.writing.json);
  }
  const bool failed =
      std::ranges::any_of(source.slides(), [](const SlideInfo& slide) { return slide.failure.has_value(); });
  return failed ? exit_bad_records : exit_ok;
}

int tile(const TileFlags& flags) {
  if (flags.out.out.empty() && !flags.dry_run && flags.coords.empty() && flags.pictures.empty())
    throw UsageError(
        "--out is missing: a store to write; --coords lists tiles alone, --pictures draws slides, and --dry-run tells "
        "what would be");
  NewStore store;
  if (!flags.out.out.empty()) store = {.to = destination_of(flags.out), .out = flags.out, .key_field = "key"};
  const SlideSource source(slides_of(flags.cut, slide_files(flags.slides)));
  const Pipeline all = tiles_of(flags, source);
  const Pipeline tiles = flags.on_error == "drop" ? all | on_error({.policy = OnError::drop, .max_share = 1}) : all;
  // Before it is known whether there is any tile: they show why.
  const std::optional<SlidePictures> drawn = pictures_of(flags, source);
  const SlidePictures* const pictures = drawn ? &*drawn : nullptr;
  if (flags.dry_run || flags.out.out.empty()) return tell_without_store(flags, source, tiles, pictures);
  if (source.size() == 0) {
    const bool places = std::ranges::any_of(source.slides(), [](const SlideInfo& slide) { return slide.places != 0; });
    throw Error(Errc::not_found,
                places && !flags.cut.regions.folder.empty()
                    ? "no tile lies in the regions that are wanted; --include, --exclude and --least-region decide"
                : places ? "no tile shows tissue; --tissue-threshold and --least-tissue decide what does"
                         : fmt::format("there is no tile of {0}x{0} pixels here; --edges pad fills up what is smaller",
                                       flags.cut.size))
        .with_file(source.file());
  }
  if (!flags.coords.empty()) write_lists(flags, source);
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
  tell(flags, source, store, stored, bad, pictures);
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
  command.get_option("--out")->required(false);
  add_slide_options(command, flags->cut);
  add_index_option(command, flags->cut);
  command.add_option("--quality", flags->quality, "Of tiles that are encoded")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command.add_flag("--encode", flags->encode, "Encode all tiles anew, also those that could be copied");
  command.add_flag("--verify", flags->verify,
                   "Decode every tile to its end, also those that are copied, so that damage inside of them is found");
  command
      .add_option("--on-error", flags->on_error,
                  "Tiles and slides that can't be read: end the run, or are left out, each listed")
      ->check(CLI::IsMember({"fail", "drop"}))
      ->capture_default_str();
  command.add_flag("--dry-run", flags->dry_run,
                   "Tell how many tiles there are, and what would be copied; write nothing");
  command
      .add_option("--coords", flags->coords,
                  "List the tiles of each slide in this folder, as CLAM and TRIDENT do; without --out nothing else is "
                  "done, and nothing decoded")
      ->type_name("DIR");
  CLI::Option* const pictures = command.add_option(
      "--pictures", flags->pictures, "Draw each slide, and which of its tiles are taken, into this folder: NAME.png");
  pictures->type_name("DIR");
  add_picture_side_option(command, flags->picture_side).needs(pictures);
  add_writing_options(command, "Threads that read and encode; default: cores - 1", flags->writing);
  command.callback([flags, &chosen] { chosen = [flags] { return tile(*flags); }; });
}

}  // namespace penstock::cli
