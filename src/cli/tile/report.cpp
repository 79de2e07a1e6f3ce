// SPDX-License-Identifier: Apache-2.0
#include "tile/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/sources/slide_picture.hpp>

#include "console/json_input.hpp"
#include "slides/slide_pictures.hpp"
#include "slides/slide_text.hpp"
#include "tile/report_page.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::int32_t thumbnail_side = 512;
// This number of pixels is decoded in some tenths of a second.
constexpr std::int64_t soon_decoded = 32'000'000;
// The page lists at most `most_listed` bad tiles of a slide. The slide's own file lists at most `most_kept`.
constexpr std::size_t most_listed = 20, most_kept = 10'000;

bool soon_drawn(const SlideInfo& slide) {
  if (slide.failure || slide.levels.empty()) return false;
  SlideLevel drawn = slide.levels.front();
  for (const SlideLevel& level : slide.levels)
    if (std::max(level.width, level.height) >= thumbnail_side) drawn = level;
  return drawn.width * drawn.height <= soon_decoded;
}

// Returns whether a file exists and is not empty. A crash of the machine may leave an empty file.
bool is_there(const std::string& file) {
  std::error_code failed;
  const std::uintmax_t bytes = fs::file_size(file, failed);
  return !failed && bytes != 0;
}

// Returns a cell of slides.csv. Spreadsheets calculate cells that begin like a formula, so these get an apostrophe.
std::string cell(std::string text) {
  text = printable(text);
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return "\"" + text + "\"";
}

// Returns the contents of a slide's own file.
Json details_of(const SlideInfo& slide, const std::vector<const LeftOutTile*>& left_out, const JobInputs& inputs,
                std::size_t number, std::uint64_t done) {
  Json json = slide_json(slide);
  const auto whole = std::ranges::find_if(left_out, [](const LeftOutTile* tile) { return tile->whole_slide; });
  if (whole != left_out.end() && !slide.failure) json["failure"] = (*whole)->cause;
  const bool failed = json.contains("failure");
  const std::uint64_t begun = std::min(done - std::min(done, slide.first), slide.records);
  json["state"] = failed                  ? "failed"
                  : begun < slide.records ? "not finished"
                  : left_out.empty()      ? "done"
                                          : "some left out";
  json["tiles_stored"] = failed ? 0 : begun - std::min<std::uint64_t>(begun, left_out.size());
  if (!failed) json["image"] = image_text(slide);
  json["stamp"] = inputs.slides[number].at("stamp");
  json["settings"] = inputs.counted_settings();
  json["left_out_count"] = left_out.size();
  json["left_out"] = Json::array();
  for (std::size_t i = 0; i < std::min(left_out.size(), most_kept); ++i)
    json["left_out"].push_back(to_json(*left_out[i]));
  return json;
}

// Returns whether a slide's own file has everything that a joined report reads from it.
bool are_details(const Json& details) {
  const bool failed = details.is_object() && details.contains("failure");
  const auto is_left_out = [&](const Json& tile) {
    return has_texts(tile, {"cause"}) && (failed || has_counts(tile, {"level", "x", "y"}));
  };
  return has_texts(details, {"slide", "file", "state"}) && has_counts(details, {"tiles_stored", "left_out_count"}) &&
         (failed ? has_texts(details, {"failure"})
                 : has_counts(details, {"places", "width", "height"}) && has_texts(details, {"image"})) &&
         (details.value("mpp_x", Json()).is_null() || details.at("mpp_x").is_number()) &&
         details.value("left_out", Json()).is_array() && std::ranges::all_of(details.at("left_out"), is_left_out);
}

// Returns the contents of a slide's own file. Returns null if the file does not exist, or is incomplete.
Json details_in(const std::string& file) {
  const auto text = read_text(file, "report", std::uint64_t{1} << 32);
  const Json details = text ? json_or_null(*text) : Json();
  return are_details(details) ? details : Json();
}

// Paths of a slide's files, relative to the folder of the page.
struct SlideFiles {
  std::string details, picture;  // `picture` is empty if the slide has no picture
};

// Syncs all files of a report at once. There may be thousands of files, and syncing them one by one would be slow.
void sync_report(const std::string& folder) {
  const FileDescriptor open(uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (open.get() < 0 || uninterrupted([&] { return ::syncfs(open.get()); }) != 0)
    throw write_error("report", errno, "syncing the report", folder, 0);
}

// Collects the lines of slides.csv and of the page, slide by slide.
class ReportPages {
 public:
  void add(const Json& details, const SlideFiles& files) {
    const bool failed = details.contains("failure");
    const Json& left_out = details.at("left_out");
    const auto count = details.value("left_out_count", std::uint64_t{left_out.size()});
    const std::uint64_t places = failed ? 0 : details.at("places").get<std::uint64_t>();
    const std::string name = details.at("slide"), file = details.at("file"), state = details.at("state"),
                      cause = failed             ? details.at("failure").get<std::string>()
                              : left_out.empty() ? ""
                                                 : left_out[0].at("cause").get<std::string>();
    const Json mpp = failed ? Json() : details.value("mpp_x", Json());
    csv_ +=
        fmt::format("{},{},{},{},{},{},{},{},{},{}\n", cell(name), cell(file), state,
                    details.at("tiles_stored").get<std::uint64_t>(), places, count, details.value("width", 0),
                    details.value("height", 0), mpp.is_null() ? "" : fmt::format("{}", mpp.get<double>()), cell(cause));
    Json row{{"name", name},     {"file", file},     {"state", state},          {"tiles", details.at("tiles_stored")},
             {"places", places}, {"leftOut", count}, {"details", files.details}};
    if (!files.picture.empty()) row["picture"] = files.picture;
    if (details.contains("image")) row["what"] = details.at("image");
    if (failed) row["cause"] = cause;
    Json bad = Json::array();
    for (const Json& tile : left_out) {
      if (failed || bad.size() == most_listed) break;
      bad.push_back(fmt::format("level {}, x {}, y {}: {}", tile.at("level").get<std::size_t>(),
                                tile.at("x").get<std::int64_t>(), tile.at("y").get<std::int64_t>(),
                                tile.at("cause").get<std::string>()));
    }
    if (!bad.empty()) row["bad"] = std::move(bad);
    rows_.push_back(std::move(row));
  }
  void write(const std::string& csv, const std::string& page, const RunResult& result, const Json& settings) const {
    replace_text(csv, "slide,file,state,tiles,places,left_out,width,height,mpp,cause\n" + csv_, false, "report");
    const Json data{{"result", to_json(result)}, {"settings", settings}, {"slides", rows_}};
    replace_text(page, report_page(json_text(data, -1)), false, "report");
  }

 private:
  std::string csv_;
  Json rows_ = Json::array();
};

}  // namespace

Json to_json(const RunResult& result) {
  return {{"finished", result.finished}, {"store", result.store}, {"tiles", result.tiles},
          {"left_out", result.left_out}, {"bytes", result.bytes}, {"seconds", result.seconds},
          {"notes", result.notes}};
}

void draw_thumbnails(const SlideSource& source, const RunFolder& folder, unsigned threads, bool quiet) {
  draw_pictures(source, {.file_of = [&](const SlideInfo& slide) { return folder.picture_file(slide.name); },
                         .wanted =
                             [&](const SlideInfo& slide) {
                               return soon_drawn(slide) && !is_there(folder.picture_file(slide.name));
                             },
                         .side = thumbnail_side,
                         .caption = false,
                         .threads = threads,
                         .quiet = quiet});
}

RunResult result_of(const Json& json) {
  return {.finished = json.at("finished"),
          .store = json.at("store"),
          .tiles = json.at("tiles"),
          .left_out = json.at("left_out"),
          .bytes = json.at("bytes"),
          .seconds = json.at("seconds"),
          .notes = json.at("notes")};
}

bool has_report(const SlideSource& source, const RunFolder& folder) {
  return is_there(folder.page()) && is_there(folder.csv()) && !folder.result().is_null() &&
         std::ranges::all_of(source.slides(), [&](const SlideInfo& slide) {
           const std::string picture = folder.picture_file(slide.name);
           std::error_code failed;
           const bool lost = fs::exists(picture, failed) && !is_there(picture);
           return slide.passed_over || (!lost && !details_in(folder.slide_file(slide.name)).is_null());
         });
}

void write_report(const SlideSource& source, const RunFolder& folder, const JobInputs& inputs, const LeftOut& left_out,
                  const RunResult& result, std::uint64_t done, bool sync) {
  std::unordered_map<std::string, std::vector<const LeftOutTile*>> of_slide;
  for (const LeftOutTile& tile : left_out.tiles()) of_slide[tile.slide].push_back(&tile);
  ReportPages pages;
  const auto below = [&](const std::string& file) { return file.substr(folder.path().size() + 1); };
  for (std::size_t i = 0; i < source.slides().size(); ++i) {
    const SlideInfo& slide = source.slides()[i];
    if (slide.passed_over) continue;
    // Uses the JSON as it would be read back from the file, so that a joined report shows the same.
    const Json details = Json::parse(json_text(
        details_of(slide, of_slide[as_json_has_it(slide.name)], inputs, i, result.finished ? source.size() : done),
        -1));
    const std::string file = folder.slide_file(slide.name), picture = folder.picture_file(slide.name);
    make_folder(fs::path(file).parent_path().string(), "report");
    replace_text(file, json_text(details, 1) + "\n", false, "report");
    pages.add(details, {below(file), is_there(picture) ? below(picture) : ""});
  }
  pages.write(folder.csv(), folder.page(), result, inputs.settings);
  if (sync) sync_report(folder.path());
}

void write_joined_report(const std::vector<std::string>& folders, const std::string& folder, const RunResult& result) {
  ReportPages pages;
  Json settings = Json::object();
  make_folder(folder, "report");
  for (const std::string& part : folders) {
    const RunFolder of_part(part, "");
    const Json run = of_part.read();
    settings = run.at("settings");
    const auto whole = [](const std::string& path) { return fs::absolute(path).lexically_normal(); };
    const std::string way = whole(part).lexically_proximate(whole(folder)).string() + "/";
    for (const Json& slide : run.at("slides")) {
      if (slide.contains("passed_over")) continue;
      const std::string name = slide.at("name"), details = of_part.slide_file(name),
                        picture = of_part.picture_file(name);
      const Json said = details_in(details);
      std::error_code failed;
      if (!fs::exists(details, failed))
        throw Error(Errc::not_found, "the rank's report lacks a slide; run the rank again").with_file(details);
      if (said.is_null())
        throw Error(Errc::corrupt,
                    "what the rank's report says of the slide is empty, or damaged; delete it, and run the rank again")
            .with_file(details);
      const auto below = [&](const std::string& file) { return way + file.substr(part.size() + 1); };
      pages.add(said, {below(details), is_there(picture) ? below(picture) : ""});
    }
  }
  for (const char* const own : {"rank", "world", "out", "report"}) settings.erase(own);
  const RunFolder joined(folder, "");
  pages.write(joined.csv(), joined.page(), result, settings);
  sync_report(folder);
}

}  // namespace penstock::cli
