// SPDX-License-Identifier: Apache-2.0
// penstock tile: slides become a store of tiles.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/sources/slide.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output_paths.hpp"
#include "slides/slide_files.hpp"
#include "slides/slide_pictures.hpp"
#include "slides/slide_text.hpp"
#include "tile/dry_run.hpp"
#include "tile/run_folder.hpp"
#include "tile/settings_file.hpp"
#include "tile/slide_list.hpp"
#include "tile/tile_flags.hpp"
#include "tile/tile_job.hpp"

namespace penstock::cli {

namespace {

std::optional<SlidePictures> pictures_of(const TileFlags& flags, const SlideSource& source) {
  if (flags.pictures.empty()) return std::nullopt;
  SlidePictures pictures =
      draw_pictures(source, {.file_of = [&](const SlideInfo& slide) { return picture_in(flags.pictures, slide.name); },
                             .side = flags.picture_side,
                             .threads = flags.writing.threads,
                             .quiet = flags.writing.shows_nothing()});
  if (!flags.writing.shows_nothing())
    for (const std::string& line : picture_lines(pictures)) print(line + "\n");
  return pictures;
}

// Does what needs no store, and prints the result.
int tell_without_store(const TileFlags& flags, const SlideSource& source, const SlidePictures* pictures) {
  if (flags.dry_run) return tell_what_would_be(flags, source, tiles_of(flags, source), pictures);
  Json slides = Json::array();
  for (const SlideInfo& slide : source.slides())
    if (!slide.passed_over) slides.push_back(slide_json(slide));
  Json result{{"slides", slides}, {"notes", left_out_of(flags, source)}};
  if (!flags.coords.empty()) write_lists(flags, source, result);
  if (!flags.writing.shows_nothing())
    for (const std::string& note : left_out_of(flags, source)) print(note + "\n");
  if (!flags.writing.json.empty()) {
    if (pictures != nullptr) add_pictures(result, *pictures);
    write_json(result, flags.writing.json);
  }
  const bool failed =
      std::ranges::any_of(source.slides(), [](const SlideInfo& slide) { return slide.failure.has_value(); });
  return failed ? exit_bad_records : exit_ok;
}

void require_tiles(const TileFlags& flags, const SlideSource& source) {
  if (source.size() != 0) return;
  const bool places = std::ranges::any_of(source.slides(), [](const SlideInfo& slide) { return slide.places != 0; });
  throw Error(Errc::not_found,
              places && !flags.cut.regions.folder.empty()
                  ? "no tile lies in the regions that are wanted; --include, --exclude and --least-region decide"
              : places ? "no tile shows tissue; --tissue-threshold and --least-tissue decide what does"
                       : fmt::format("there is no tile of {0}x{0} pixels here; --edges pad fills up what is smaller",
                                     flags.cut.size))
      .with_file(source.file());
}

std::vector<std::string> wanted_slides(TileFlags& flags) {
  if (flags.slides.empty() == flags.list.empty())
    throw UsageError(flags.slides.empty() ? "SLIDES are missing: files, folders or patterns; or --list FILE"
                                          : "SLIDES are given, and --list, which names them too; leave one away");
  WantedSlides wanted = flags.list.empty() ? slide_files(flags.slides) : listed_slides(flags.list, flags.list_column);
  flags.passed_over = passed_over_text(wanted.passed_over);
  return std::move(wanted.files);
}

// Refuses what --form folder can't hold: each tile must be a file, and the table next to the files has single values.
void check_folder_of_files(const TileFlags& flags) {
  const auto refuse = [](const std::string& option, const std::string& why) {
    throw UsageError(
        fmt::format("{} goes with no --form folder, {}; write to an LMDB store, HDF5 or tar shards", option, why));
  };
  if (!flags.encodes()) refuse("--encoding none", "as each tile is a file, a JPEG or PNG");
  if (flags.cut.stain != "none")
    refuse("--stain " + flags.cut.stain, "as the field `stain` is several numbers, and a table has single values");
  const auto is_file = [](const std::string& name) { return name == "file"; };
  if (is_file(flags.cut.regions.field) || std::ranges::any_of(flags.cut.columns, is_file))
    refuse("a field \"file\"", "whose table has the names of files in the column of that name");
}

// Refuses impossible outputs early, before slides are opened.
void check_outputs(const TileFlags& flags) {
  const StoreToWrite store = destination_of(flags.out);
  if (store.form == StoreForm::folder) check_folder_of_files(flags);
  if (store.form == StoreForm::hdf5 && !flags.encodes() && flags.cut.edges == "shrink")
    throw UsageError(
        "--edges shrink with --encoding none makes images of any size, which HDF5 has no dataset for; encode them, or "
        "write to an LMDB store or tar shards");
  const bool in_folder = store.form == StoreForm::folder || (store.form == StoreForm::lmdb && !store.single_file);
  for (const auto& [option, path] : {std::pair("--report", flags.report), std::pair("--coords", flags.coords),
                                     std::pair("--pictures", flags.pictures)})
    if (in_folder && !path.empty() && lies_in(path, store.path))
      throw UsageError(fmt::format("{} {} lies in --out {}, which is for the store alone; name a folder beside it",
                                   option, printable(path), printable(store.path)));
  if (!flags.dry_run) check_earlier_run(flags);
}

int tile(TileFlags& flags) {
  if (flags.out.out.empty() && !flags.dry_run && flags.coords.empty() && flags.pictures.empty())
    throw UsageError(
        "--out is missing: a store to write; --coords lists tiles alone, --pictures draws slides, and --dry-run tells "
        "what would be");
  flags.rank = rank_of(flags.ranks);
  if (!flags.out.out.empty()) {
    flags.out.out = store_of_rank(flags.out.out, flags.rank);
    check_outputs(flags);
  }
  Slides slides = slides_of(flags.cut, wanted_slides(flags));
  flags.lists = hash_of_lists(slides.coords);
  if (flags.rank.given) {
    const ItemRange run = share_of_files(slides.paths, flags.rank);
    slides.first_file = run.first;
    slides.file_count = run.count;
  }
  const bool tells_only = flags.dry_run || flags.out.out.empty();
  const SlideSource source(std::move(slides));
  // Takes the report's folder before lists and pictures are written, because they may be in that folder.
  std::optional<RunFolder> folder;
  if (!tells_only) folder.emplace(report_folder(flags), flags.out.out).take(is_there(destination_of(flags.out)));
  // Draws the pictures even if there is no tile, because they show why there is none.
  const std::optional<SlidePictures> drawn = pictures_of(flags, source);
  const SlidePictures* const pictures = drawn ? &*drawn : nullptr;
  if (tells_only) return tell_without_store(flags, source, pictures);
  if (source.size() == 0 && flags.rank.world > 1) return write_no_tiles(flags, source, *folder);
  require_tiles(flags, source);
  Json lists;
  if (!flags.coords.empty()) write_lists(flags, source, lists);
  return write_tiles(flags, source, *folder, pictures);
}

void add_slide_list_options(CLI::App& command, TileFlags& flags) {
  command.add_option("SLIDES", flags.slides, "Files, folders with slides in them, or patterns in quotes");
  command
      .add_option("--list", flags.list,
                  "Instead of SLIDES a file that lists them: a path a line, or a CSV file with a column of paths")
      ->type_name("FILE");
  command.add_option(
      "--list-column", flags.list_column,
      "The column of --list with the paths; default: path, file, filename or slide_path, else the first");
}

void add_encoding_options(CLI::App& command, TileFlags& flags) {
  command.add_option("--quality", flags.quality, "Of tiles that are encoded")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command
      .add_option("--encoding", flags.encoding,
                  "What a tile is stored as; none: its pixels, for LMDB, HDF5 and, as .npy, tar shards")
      ->check(CLI::IsMember({"jpeg", "png", "none"}))
      ->capture_default_str();
  command.add_flag("--encode", flags.encode, "Encode all tiles anew, also those that could be copied");
  command.add_flag("--verify", flags.verify,
                   "Decode every tile to its end, also those that are copied, so that damage inside of them is found");
}

// Adds options for tiles that can't be read, and for the report.
void add_report_options(CLI::App& command, TileFlags& flags) {
  command
      .add_option("--on-error", flags.on_error,
                  "Tiles and slides that can't be read: are left out, each listed, or end the run")
      ->check(CLI::IsMember({"drop", "fail"}))
      ->capture_default_str();
  command.add_flag("--retry", flags.retry,
                   "Ask again for tiles and slides that earlier runs left out; an LMDB store takes them");
  command
      .add_option(
          "--report", flags.report,
          "The folder of the report: index.html, slides.csv, a JSON file for each slide, and what was left out; "
          "default: the store's name and -report")
      ->type_name("DIR");
  command.add_flag("--no-thumbnails", flags.no_thumbnails, "No pictures of slides in the report");
}

// Adds options for what needs no store.
void add_storeless_options(CLI::App& command, TileFlags& flags) {
  command.add_flag("--dry-run", flags.dry_run,
                   "Tell how many tiles there are, and what would be copied; write nothing");
  command
      .add_option("--coords", flags.coords,
                  "List the tiles of each slide in this folder, as CLAM and TRIDENT do; without --out nothing else is "
                  "done, and nothing decoded")
      ->type_name("DIR");
  CLI::Option* const pictures = command.add_option(
      "--pictures", flags.pictures, "Draw each slide, and which of its tiles are taken, into this folder: NAME.png");
  pictures->type_name("DIR");
  add_picture_side_option(command, flags.picture_side).needs(pictures);
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
                          "command. Tiles and slides that can't\n"
                          "be read are left out, each listed, and the exit status is 3 then.");
  add_settings_option(command);
  add_slide_list_options(command, *flags);
  add_out_options(command, flags->out);
  command.get_option("--out")->required(false);
  add_form_option(command, flags->out);
  add_rank_options(command, flags->ranks);
  add_slide_options(command, flags->cut);
  add_index_option(command, flags->cut);
  add_encoding_options(command, *flags);
  add_report_options(command, *flags);
  add_storeless_options(command, *flags);
  add_write_options(command, "Threads that read and encode; default: cores - 1", flags->writing);
  add_memory_option(command, flags->writing);
  command.callback([flags, &command, &chosen] {
    flags->settings = settings_of(command);
    chosen = [flags] { return tile(*flags); };
  });
}

}  // namespace penstock::cli
