// SPDX-License-Identifier: Apache-2.0
// penstock index: opens slides, and saves what it finds.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "console/tool_words.hpp"
#include "slides/slide_files.hpp"
#include "slides/slide_flags.hpp"
#include "slides/slide_text.hpp"
#include "stores/write_run.hpp"

namespace penstock::cli {

namespace {

struct IndexFlags {
  std::vector<std::string> slides;
  std::string out;
  SlideFlags cut;
  WriteFlags writing;
};

int index(const IndexFlags& flags) {
  WantedSlides wanted = slide_files(flags.slides);
  Slides slides = slides_of(flags.cut, std::move(wanted.files));
  const WriteResult written = run_write("indexing", slides.paths.size(), flags.writing, [&](WriteOptions options) {
    options.commit_every = 1;  // a slide may take long
    return write_slide_index(slides, flags.out, options);
  });
  if (const int status = status_of(written); status != exit_ok) return status;
  slides.index = flags.out;
  const SlideSource source(std::move(slides));
  std::uint64_t places = 0, failed = 0;
  std::string text;
  Json list = Json::array();
  for (const SlideInfo& slide : source.slides()) {
    list.push_back(slide_json(slide));
    if (slide.failure) {
      ++failed;
      text += fmt::format("{}: can't be read: {}\n", printable(slide.name), failure_text(slide));
    } else {
      places += slide.places;
    }
  }
  const std::uint64_t tiles = source.size() - failed;
  text += fmt::format("{}: {}{} of {}\n", printable(flags.out), counted(tiles, "tile"),
                      places == tiles ? "" : fmt::format(" at {}", counted(places, "place")),
                      counted(source.slides().size() - failed, "slide"));
  for (const std::string& line : source.left_out()) text += printable(in_tool_words(line, "slide")) + "\n";
  if (const std::string line = passed_over_text(wanted.passed_over); !line.empty()) text += line + "\n";
  if (!flags.writing.shows_nothing()) print(text);
  if (!flags.writing.json.empty())
    write_json({{"index", flags.out}, {"slides", list}, {"tiles", tiles}, {"places", places}}, flags.writing.json);
  return failed == 0 ? exit_ok : exit_bad_records;
}

}  // namespace

void add_index(CLI::App& app, Command& chosen) {
  auto flags = std::make_shared<IndexFlags>();
  CLI::App& command = *app.add_subcommand(
      "index",
      "Saves what opening slides finds, masks of tissue included, so that `tile` and programs need not open them\n"
      "again: --index there. Called again, it brings the index up to date; a run that was stopped, or killed, is\n"
      "continued. Exit status 3 where slides can't be read.");
  command.add_option("SLIDES", flags->slides, "Files, folders with slides in them, or patterns in quotes")->required();
  command.add_option("--out", flags->out, "File to write: cohort.tiles")->required()->type_name("FILE");
  add_slide_options(command, flags->cut);
  add_write_options(command, "Threads that open slides; default: as many as there are cores", flags->writing);
  command.callback([flags, &chosen] { chosen = [flags] { return index(*flags); }; });
}

}  // namespace penstock::cli
