// SPDX-License-Identifier: Apache-2.0
// penstock index: opens slides or tar shards, and saves what it finds.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/extend/listing.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_endings.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/sources/webdataset_index.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "console/tool_words.hpp"
#include "slides/slide_files.hpp"
#include "slides/slide_flags.hpp"
#include "slides/slide_text.hpp"
#include "stores/write_run.hpp"

namespace penstock::cli {

namespace fs = std::filesystem;

namespace {

struct IndexFlags {
  std::vector<std::string> inputs;
  std::string out;
  SlideFlags cut;
  WriteFlags writing;
};

// Whether the path is a folder that has tar shards, and no slides.
bool is_folder_of_shards(const std::string& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return false;
  bool has_shards = false;
  for (fs::directory_iterator at(path, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (names_slide(name)) return false;
    has_shards = has_shards || has_ending(name, ".tar");
  }
  return has_shards;
}

// Whether the inputs are tar shards: by their names, or those of the files in a folder.
bool are_shards(const std::vector<std::string>& inputs) {
  const auto is_shard = [](const std::string& input) {
    return has_ending(input, ".tar") || is_folder_of_shards(input);
  };
  const auto shards = std::ranges::count_if(inputs, is_shard);
  if (shards != 0 && static_cast<std::size_t>(shards) != inputs.size())
    throw UsageError(fmt::format("{} is no tar shard, and others are: index them one after the other",
                                 printable(*std::ranges::find_if_not(inputs, is_shard))));
  return shards != 0;
}

constexpr std::array<std::string_view, 5> options_of_shards{"--out", "--threads", "--json", "--quiet", "--help"};

int index_shards(const IndexFlags& flags, const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options())
    if (option->count() != 0 && option->nonpositional() &&
        std::ranges::find(options_of_shards, option->get_name()) == options_of_shards.end())
      throw UsageError(fmt::format("{} is for slides, and these are tar shards", option->get_name()));
  const WebDatasetIndexed made =
      write_index_files({.shards = flags.inputs, .folder = flags.out, .threads = flags.writing.threads});
  if (!flags.writing.shows_nothing()) {
    const std::uint64_t files = made.files.size();
    print(fmt::format("{} of {}: {} written{}\n", counted(files, "index file"), counted(made.samples, "sample"),
                      made.written,
                      made.written == files ? "" : fmt::format(", {} were right already", files - made.written)));
  }
  if (!flags.writing.json.empty())
    write_json({{"files", made.files}, {"samples", made.samples}, {"written", made.written}}, flags.writing.json);
  return exit_ok;
}

int index_slides(const IndexFlags& flags) {
  if (flags.out.empty()) throw UsageError("--out is required: the file to write, cohort.tiles");
  WantedSlides wanted = slide_files(flags.inputs);
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
      "Of slides: saves what opening them finds, masks of tissue included, so that `tile` and programs need not open\n"
      "them again: --index there. Called again, it brings the index up to date; a run that was stopped, or killed, is\n"
      "continued. Exit status 3 where slides can't be read.\n"
      "Of tar shards: writes the index file X.idx of each X.tar, as DALI's wds2idx does. On a server beside the "
      "shards,\n"
      "they let programs find the samples without reading the shards once.");
  command.add_option("INPUTS", flags->inputs, "Slides or tar shards: files, folders with them, or patterns in quotes")
      ->required();
  command
      .add_option("--out", flags->out,
                  "Of slides: file to write, cohort.tiles. Of shards: folder for the index files; default: beside each")
      ->type_name("PATH");
  add_slide_options(command, flags->cut);
  add_write_options(command, "Threads that open slides; default: as many as there are cores", flags->writing);
  command.callback([flags, &chosen, &command] {
    chosen = [flags, &command] {
      return are_shards(flags->inputs) ? index_shards(*flags, command) : index_slides(*flags);
    };
  });
}

}  // namespace penstock::cli
