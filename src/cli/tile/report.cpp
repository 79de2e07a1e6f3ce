#include "report.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include <penstock/extend/store_files.hpp>
#include <penstock/sources/slide_picture.hpp>

#include "report_page.hpp"
#include "slide_pictures.hpp"
#include "slide_text.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::int32_t thumbnail_side = 512;
// Pixels that are decoded in some tenths of a second.
constexpr std::int64_t soon_decoded = 32'000'000;
// Of a slide, in the page; its own file has all.
constexpr std::size_t most_listed = 20;

bool soon_drawn(const SlideInfo& slide) {
  if (slide.failure || slide.levels.empty()) return false;
  SlideLevel drawn = slide.levels.front();
  for (const SlideLevel& level : slide.levels)
    if (std::max(level.width, level.height) >= thumbnail_side) drawn = level;
  return drawn.width * drawn.height <= soon_decoded;
}

bool is_there(const std::string& file) {
  std::error_code failed;
  return fs::exists(file, failed);
}

std::string cell(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return "\"" + text + "\"";
}

struct SlideResult {
  const SlideInfo* slide = nullptr;
  std::vector<const LeftOutTile*> left_out = {};
  std::uint64_t tiles = 0;
  std::string failure = {};

  const char* state() const {
    if (!failure.empty()) return "failed";
    return left_out.empty() ? "done" : "some left out";
  }
};

std::vector<SlideResult> results_of(const SlideSource& source, const LeftOut& left_out) {
  std::unordered_map<std::string, std::vector<const LeftOutTile*>> of_slide;
  for (const LeftOutTile& tile : left_out.tiles()) of_slide[tile.slide].push_back(&tile);
  std::vector<SlideResult> results;
  for (const SlideInfo& slide : source.slides()) {
    SlideResult result{.slide = &slide};
    if (const auto found = of_slide.find(slide.name); found != of_slide.end()) result.left_out = found->second;
    const auto whole = std::ranges::find_if(result.left_out, [](const LeftOutTile* tile) { return tile->whole_slide; });
    if (whole != result.left_out.end()) result.failure = (*whole)->cause;
    if (slide.failure) result.failure = slide.failure->cause();
    if (result.failure.empty()) result.tiles = slide.records - result.left_out.size();
    results.push_back(std::move(result));
  }
  return results;
}

Json details_of(const SlideResult& result, const JobInputs& inputs, std::size_t number) {
  Json json = slide_json(*result.slide);
  json["state"] = result.state();
  json["tiles_stored"] = result.tiles;
  json["stamp"] = inputs.slides[number].at("stamp");
  json["settings"] = inputs.settings;
  json["left_out"] = Json::array();
  for (const LeftOutTile* const tile : result.left_out) json["left_out"].push_back(to_json(*tile));
  return json;
}

std::string csv_of(const std::vector<SlideResult>& results) {
  std::string text = "slide,file,state,tiles,places,left_out,width,height,mpp,cause\n";
  for (const SlideResult& result : results) {
    const SlideInfo& slide = *result.slide;
    const std::string cause = !result.failure.empty()   ? result.failure
                              : result.left_out.empty() ? ""
                                                        : result.left_out.front()->cause;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", cell(slide.name), cell(slide.path), result.state(),
                        result.tiles, result.failure.empty() ? slide.places : 0, result.left_out.size(), slide.width,
                        slide.height, slide.mpp_x == 0 ? "" : fmt::format("{}", slide.mpp_x), cell(cause));
  }
  return text;
}

Json row_of(const SlideResult& result, const RunFolder& folder) {
  const SlideInfo& slide = *result.slide;
  Json row{{"name", slide.name},
           {"file", slide.path},
           {"state", result.state()},
           {"tiles", result.tiles},
           {"places", result.failure.empty() ? slide.places : 0},
           {"leftOut", result.left_out.size()}};
  row["details"] = folder.slide_file(slide).substr(folder.path().size() + 1);
  if (!slide.failure) row["what"] = image_text(slide);
  if (!result.failure.empty()) row["cause"] = result.failure;
  if (const std::string picture = folder.picture_file(slide); is_there(picture))
    row["picture"] = picture.substr(folder.path().size() + 1);
  Json bad = Json::array();
  for (std::size_t i = 0; i < std::min(result.left_out.size(), most_listed); ++i)
    if (!result.left_out[i]->whole_slide)
      bad.push_back(fmt::format("level {}, x {}, y {}: {}", result.left_out[i]->level, result.left_out[i]->x,
                                result.left_out[i]->y, result.left_out[i]->cause));
  if (!bad.empty()) row["bad"] = bad;
  return row;
}

}  // namespace

Json to_json(const RunResult& result) {
  return {{"finished", result.finished}, {"store", result.store}, {"tiles", result.tiles},
          {"left_out", result.left_out}, {"bytes", result.bytes}, {"seconds", result.seconds},
          {"notes", result.notes}};
}

void draw_thumbnails(const SlideSource& source, const RunFolder& folder, unsigned threads, bool quiet) {
  draw_pictures(
      source,
      {.file_of = [&](const SlideInfo& slide) { return folder.picture_file(slide); },
       .wanted = [&](const SlideInfo& slide) { return soon_drawn(slide) && !is_there(folder.picture_file(slide)); },
       .side = thumbnail_side,
       .caption = false,
       .threads = threads,
       .quiet = quiet});
}

void write_report(const SlideSource& source, const RunFolder& folder, const JobInputs& inputs, const LeftOut& left_out,
                  const RunResult& result) {
  const std::vector<SlideResult> results = results_of(source, left_out);
  Json rows = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string file = folder.slide_file(*results[i].slide);
    make_folder(fs::path(file).parent_path().string(), "report");
    replace_text(file, json_text(details_of(results[i], inputs, i), 1) + "\n", false, "report");
    rows.push_back(row_of(results[i], folder));
  }
  replace_text(folder.csv(), csv_of(results), false, "report");
  const Json data{{"result", to_json(result)}, {"settings", inputs.settings}, {"slides", rows}};
  replace_text(folder.page(), report_page(json_text(data, -1)), false, "report");
}

}  // namespace penstock::cli
