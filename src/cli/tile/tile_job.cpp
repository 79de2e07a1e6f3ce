// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_job.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <penstock/error.hpp>
#include <penstock/sources/coords.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/encode_png.hpp>

#include "commands.hpp"
#include "console/tool_words.hpp"
#include "stores/left_out.hpp"
#include "stores/output_store.hpp"
#include "tile/copied_tiles.hpp"
#include "tile/report.hpp"
#include "tile/run_folder.hpp"

namespace penstock::cli {

namespace {

constexpr std::size_t most_told = 20;

LeftOutTile left_out_by(const Error& error, const SlideSource& source) {
  LeftOutTile tile{
      .key = error.key(), .file = error.file(), .code = std::string(to_string(error.code())), .cause = error.cause()};
  tile.slide = tile.key.substr(0, tile.key.rfind('/'));
  if (!error.index()) return tile;
  const SlidePlace place = source.place(*error.index());
  const SlideInfo& slide = source.slides()[place.slide];
  tile.slide = slide.name;
  tile.whole_slide = slide.failure.has_value();
  tile.level = slide.level;
  tile.x = place.x;
  tile.y = place.y;
  return tile;
}

std::string listed(const LeftOut& left_out) {
  std::string text;
  const std::vector<LeftOutTile>& tiles = left_out.tiles();
  for (std::size_t i = 0; i < std::min(tiles.size(), most_told); ++i) text += "bad: " + to_text(tiles[i]) + "\n";
  if (tiles.size() > most_told)
    text += fmt::format("and {} more, in {}\n", with_commas(tiles.size() - most_told), printable(left_out.file()));
  return text;
}

Json bad_json(const LeftOut& left_out) {
  Json list = Json::array();
  for (const LeftOutTile& tile : left_out.tiles()) list.push_back(to_json(tile));
  return list;
}

std::uint64_t copyable_in(const TileFlags& flags, const SlideSource& source) {
  std::uint64_t copied = 0;
  for (const SlideInfo& slide : source.slides()) copied += copies_of(flags, source, slide).tiles;
  return copied;
}

std::vector<std::string> notes_of(const TileFlags& flags, const SlideSource& source, const OutputStore& store,
                                  const LeftOut& left_out) {
  std::vector<std::string> notes = left_out_of(flags, source);
  const auto key = [&](std::uint64_t i) { return source.key(i); };
  for (std::string& line : lost_in(store, source.schema(), source.size(), key, false)) notes.push_back(std::move(line));
  // A tile that is left out gets the key of the stored tile before it, so that it doesn't change the order.
  std::string before;
  const auto stored_key = [&](std::uint64_t i) {
    if (std::string now = source.key(i); !left_out.has(now)) before = std::move(now);
    return before;
  };
  if (std::string order = lost_order(store, source.size(), stored_key); !order.empty())
    notes.push_back(std::move(order));
  return notes;
}

void tell(const TileFlags& flags, const SlideSource& source, const OutputStore& store, const StoreResult& stored,
          const LeftOut& left_out, const std::vector<std::string>& notes, const RunFolder& folder,
          const SlidePictures* pictures) {
  const WriteProgress& p = stored.written.progress;
  const std::uint64_t copied = copyable_in(flags, source);
  if (flags.writing.json != "-") print(listed(left_out));
  if (!flags.writing.json.empty()) {
    Json result{{"store", store.to.name()},
                {"finished", stored.written.signal == 0},
                {"was_finished", stored.was_finished},
                {"slides", slides_of_rank(source)}};
    add_written(result, stored.written);
    result["copyable"] = copied;
    result["bad"] = bad_json(left_out);
    result["report"] = folder.page();
    result["notes"] = notes;
    if (pictures != nullptr) add_pictures(result, *pictures);
    write_json(result, flags.writing.json);
  }
  if (flags.writing.shows_nothing()) return;
  std::string text =
      stored.was_finished
          ? fmt::format("{} is finished already, {} of {}: nothing to do\n", printable(store.to.name()),
                        counted(p.done - p.dropped, "tile"), counted(slides_of_rank(source), "slide"))
          : fmt::format(
                "{}: {} of {}{}; {}\n", printable(store.to.name()), counted(p.done - p.dropped, "tile"),
                counted(slides_of_rank(source), "slide"),
                // If tiles were left out, it is not known which of them could have been copied.
                left_out.tiles().empty() ? ", " + with_commas(copied) + " of them stored in the files already" : "",
                written_text(stored.written));
  for (const std::string& note : notes) text += note + "\n";
  text += bound_text(stored.written) + "report: " + printable(folder.page()) + "\n";
  print(text);
}

JobInputs job_inputs(const TileFlags& flags, const SlideSource& source) {
  JobInputs inputs = inputs_of(flags.settings, source, flags.lists);
  if (flags.rank.given) {
    inputs.rank = flags.rank.rank;
    inputs.world = flags.rank.world;
  }
  return inputs;
}

void keep_report(const TileFlags& flags, const SlideSource& source, const RunFolder& folder, const JobInputs& inputs,
                 const LeftOut& left_out, const OutputStore& store, const StoreResult& stored,
                 const std::vector<std::string>& notes) {
  const WriteProgress& p = stored.written.progress;
  const Json earlier = stored.was_finished ? folder.result() : Json();
  const RunResult now{.finished = stored.written.signal == 0,
                      .store = store.to.name(),
                      .tiles = p.done - p.dropped,
                      .left_out = left_out.tiles().size(),
                      .bytes = p.bytes,
                      .seconds = stored.written.seconds,
                      .notes = notes};
  const RunResult result = earlier.is_null() ? now : result_of(earlier);
  if (!flags.no_thumbnails && result.finished)
    draw_thumbnails(source, folder, flags.writing.threads, flags.writing.shows_nothing());
  // With --retry, a stopped run may have stored tiles that come after tiles it has not tried. Its report would be
  // wrong, so the report of the run before it stays until a run finishes.
  if (result.finished || !flags.retry)
    write_report(source, folder, inputs, left_out, result, p.done, flags.writing.sync());
  if (result.finished) folder.end(inputs, to_json(result));
}

// Call before anything is written.
void check_left_out(const TileFlags& flags, const StoreToWrite& store, const LeftOut& left_out) {
  if (left_out.tiles().empty()) return;
  if (flags.retry && store.form != StoreForm::lmdb)
    throw UsageError(
        "--retry: only an LMDB store takes tiles later, between those that it has; write to another path instead");
  if (!flags.retry && flags.on_error == "fail")
    throw UsageError(fmt::format("--on-error fail, but earlier runs left out {}, which {} lists",
                                 counted(left_out.tiles().size(), "tile or slide"), printable(left_out.file())));
}

}  // namespace

std::string report_folder(const TileFlags& flags) {
  return flags.report.empty() ? report_beside(flags.out.out) : store_of_rank(flags.report, flags.rank);
}

void check_earlier_run(const TileFlags& flags) {
  const StoreToWrite store = destination_of(flags.out);
  const RunFolder folder(report_folder(flags), flags.out.out);
  folder.check(flags.settings, is_there(store));
  if (is_there(store)) check_left_out(flags, store, LeftOut(folder.left_out()));
}

std::vector<std::string> left_out_of(const TileFlags& flags, const SlideSource& source) {
  std::vector<std::string> lines = source.left_out();
  for (std::string& line : lines) line = in_tool_words(std::move(line), "slide");
  if (!flags.passed_over.empty()) lines.push_back(flags.passed_over);
  return lines;
}

Pipeline tiles_of(const TileFlags& flags, const SlideSource& source) {
  Pipeline tiles = from(source);
  if (flags.encoding == "jpeg")
    tiles = tiles | encode_jpeg("image", {.quality = flags.quality, .keep_stored = !flags.encode});
  if (flags.encoding == "png") tiles = tiles | encode_png("image");
  return flags.verify ? tiles | check({.verify = true}) : tiles;
}

void write_lists(const TileFlags& flags, const SlideSource& source, Json& result) {
  const WrittenCoords written = write_coords(source, flags.coords, flags.writing.sync());
  result["coords"] = flags.coords;
  result["tiles"] = written.places;
  for (const std::string& note : written.notes) result["notes"].push_back(note);
  if (flags.writing.shows_nothing()) return;
  for (const std::string& note : written.notes) print(note + "\n");
  print(fmt::format("{}: {} of {} listed\n", printable(flags.coords), counted(written.places, "tile"),
                    counted(written.slides, "slide")));
}

int write_no_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder) {
  const JobInputs inputs = job_inputs(flags, source);
  folder.begin(inputs, is_there(destination_of(flags.out)), false);
  folder.keep(inputs);
  const RunResult result{.finished = true, .notes = left_out_of(flags, source)};
  write_report(source, folder, inputs, LeftOut(folder.left_out()), result, 0, flags.writing.sync());
  folder.end(inputs, to_json(result));
  if (!flags.writing.shows_nothing())
    print(fmt::format("rank {} of {} has no tile, and no store\nreport: {}\n", flags.rank.rank, flags.rank.world,
                      printable(folder.page())));
  return exit_ok;
}

int write_tiles(const TileFlags& flags, const SlideSource& source, RunFolder& folder, const SlidePictures* pictures) {
  OutputStore store{.to = destination_of(flags.out), .out = flags.out, .key_field = "key"};
  const JobInputs inputs = job_inputs(flags, source);
  folder.begin(inputs, is_there(store.to), flags.retry);
  LeftOut left_out(folder.left_out());
  check_left_out(flags, store.to, left_out);
  folder.keep(inputs);
  store.extend = flags.retry && !left_out.tiles().empty();
  if (flags.retry) left_out.ask_again();
  // The job's name differs for other slides and for changed slides, so that they are not mixed into this store.
  store.job = fmt::format("penstock tile, {}, rank {} of {}", folder.hash(), flags.rank.rank, flags.rank.world);
  store.left_out = &left_out;
  // A job may continue with the other value of --on-error, so the store must not depend on that option.
  store.on_drop = [&](const Error& error) {
    if (flags.on_error == "fail") throw Error(error);
    left_out.add(left_out_by(error, source));
  };
  store.where = [&](std::uint64_t done) {
    const auto& slides = source.slides();
    const auto at = std::upper_bound(slides.begin(), slides.end(), std::min(done, source.size() - 1),
                                     [](std::uint64_t i, const SlideInfo& slide) { return i < slide.first; });
    return fmt::format("slide {}/{}", at - slides.begin(), slides.size());
  };
  const Pipeline tiles = tiles_of(flags, source) | on_error({.policy = OnError::drop, .max_share = 1});
  const StoreResult stored = write_store("tiling", tiles, source.size(), store, flags.writing);
  left_out.replace();
  const std::vector<std::string> notes = notes_of(flags, source, store, left_out);
  // If the job was finished before, its report is written only if files of the report are missing.
  if (!stored.was_finished || !has_report(source, folder))
    keep_report(flags, source, folder, inputs, left_out, store, stored, notes);
  tell(flags, source, store, stored, left_out, notes, folder, pictures);
  const int status = status_of(stored.written);
  return status == exit_ok && !left_out.tiles().empty() ? exit_bad_records : status;
}

}  // namespace penstock::cli
