// SPDX-License-Identifier: Apache-2.0
#include "tile/run_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/version.hpp>

#include "console/json_input.hpp"
#include "slides/slide_pictures.hpp"
#include "tile/run_manifest.hpp"

namespace penstock::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
constexpr std::string_view source_name = "tile";
// The version of run.json, and of slides/NAME.json and left-out.jsonl beside it: raise it if any of them changes.
constexpr int run_version = 1;

// Options that may differ between runs of a job. Most of them change only where and how fast a store is made, and what
// is written in addition to it. The others name files whose contents a hash covers.
constexpr std::array without_effect{"help",    "out",         "threads",       "no-sync",     "json",   "quiet",
                                    "dry-run", "pictures",    "picture-side",  "coords",      "report", "on-error",
                                    "retry",   "settings",    "list",          "list-column", "index",  "labels",
                                    "regions", "from-coords", "no-thumbnails", "memory",      "rank",   "world"};

bool counts(std::string_view setting) { return std::ranges::find(without_effect, setting) == without_effect.end(); }

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

// Returns a file's size and its time of change; null if the system can't report them.
Json stamp_of(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return nullptr;
  return {{"bytes", status.st_size},
          {"changed", fmt::format("{}.{:09}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec)}};
}

// Returns a number if the option takes numbers, so that 0.5 equals 0.50. Otherwise returns the text, so that a class 01
// differs from 1.
Json number_of(const CLI::Option& option, const std::string& text) {
  const std::string type = option.get_type_name();
  try {
    if (type.starts_with("FLOAT")) return text.empty() ? Json("") : Json(std::stod(text));
    if (type.starts_with("INT") || type.starts_with("UINT"))
      return text.empty() ? Json("") : Json(std::stoll(text, nullptr, 0));
  } catch (const std::exception&) {
    // Kept as text, which the parser has accepted.
  }
  return text;
}

Json value_of(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return option.count() != 0 && option.as<bool>();
  if (option.count() == 0) return number_of(option, option.get_default_str());
  const std::vector<std::string> results = option.results();
  return results.size() == 1 ? number_of(option, results.front()) : Json(results);
}

std::string in_words(const Json& value) {
  if (value.is_null() || value == Json("") || value == Json(false)) return "not given";
  if (value == Json(true)) return "given";
  return value.is_string() ? printable(value.get<std::string>()) : printable(value.dump());
}

// Returns settings in one form, so that different ways to write the same settings are equal.
Json in_one_way(Json settings) {
  const auto not_given = [&](const char* name) { return in_words(settings.value(name, Json())) == "not given"; };
  if (not_given("mpp") && not_given("magnification") && not_given("level")) settings["level"] = 0;
  const Json bytes = settings.value("shard-bytes", Json());
  try {
    if (bytes.is_string()) settings["shard-bytes"] = parse_bytes(bytes.get<std::string>());
  } catch (const UsageError&) {
    // The value stays text.
  }
  return settings;
}

// Describes the first setting that differs. Returns an empty text if all settings are the same.
std::string changed_setting(const Json& before, const Json& now) {
  const Json before_meant = in_one_way(before), now_meant = in_one_way(now);
  for (const auto& [name, meant] : now_meant.items()) {
    if (!counts(name)) continue;
    const Json old = before_meant.value(name, Json());
    if (old != meant && in_words(old) != in_words(meant))
      return fmt::format("--{} was {}, and is {} now", name, in_words(before.value(name, Json())),
                         in_words(now.value(name, Json())));
  }
  return {};
}

std::string changed_file(const Json& before, const Json& now) {
  for (const auto& [name, hash] : now.items())
    if (before.value(name, Json()) != hash) return fmt::format("what --{} names says something else now", name);
  for (const auto& [name, hash] : before.items())
    if (!now.contains(name)) return fmt::format("--{} was given", name);
  return {};
}

// Describes how a slide differs. Returns an empty text if it is the same. `repaired`: a slide that could not be opened
// before may have a different file.
std::string changed_slide(const Json& before, const Json& now, bool repaired) {
  const std::string file = printable(now.at("file").get<std::string>());
  const bool may_differ = repaired && before.contains("failure");
  if (!may_differ && before.value("stamp", Json()) != now.at("stamp")) {
    const Json old = before.value("stamp", Json()), stamp = now.at("stamp");
    const auto bytes = [](const Json& of) { return of.is_null() ? "no file" : with_commas(of.at("bytes")) + " bytes"; };
    return bytes(old) == bytes(stamp)
               ? fmt::format("the slide {} was written to meanwhile", file)
               : fmt::format("the slide {} had {}, and has {} now", file, bytes(old), bytes(stamp));
  }
  if (const auto others = [](const Json& slide) { return slide.value("other_files", std::string()); };
      !may_differ && !before.contains("passed_over") && !now.contains("passed_over") && others(before) != others(now))
    return fmt::format("files that the slide {} is made of were written to, or are others now", file);
  if (before.value("region_file", Json()) != now.value("region_file", Json()))
    return fmt::format("the regions of the slide {} are others now", file);
  if (const auto by = [](const Json& slide) { return slide.value("openslide", std::string()); };
      !before.contains("failure") && by(before) != by(now) && !by(before).empty() && !by(now).empty())
    return fmt::format("the slide {} was read by OpenSlide {}, and is by {} now", file, by(before), by(now));
  // A slide that could not be read before, and can be read now, does not count as changed.
  if (!before.contains("failure") && now.contains("failure"))
    return fmt::format("the slide {} could be read, and can't be now: {}", file,
                       printable(now.at("failure").get<std::string>()));
  return {};
}

std::string changed_slides(const Json& before, const Json& now, bool repaired) {
  std::unordered_map<std::string, const Json*> known;
  for (const Json& slide : before) known.emplace(slide.at("name").get<std::string>(), &slide);
  for (const Json& slide : now) {
    const auto found = known.find(slide.at("name").get<std::string>());
    if (found == known.end())
      return fmt::format("the slide {} was not among its slides", printable(slide.at("file").get<std::string>()));
    if (std::string differs = changed_slide(*found->second, slide, repaired); !differs.empty()) return differs;
    known.erase(found);
  }
  for (const Json& slide : before)
    if (known.contains(slide.at("name").get<std::string>()))
      return fmt::format("the slide {} is missing", printable(slide.at("file").get<std::string>()));
  for (std::size_t i = 0; i < now.size(); ++i)
    if (before[i].at("name") != now[i].at("name"))
      return fmt::format("its slides come in another order: {} was number {}",
                         printable(before[i].at("name").get<std::string>()), i + 1);
  return {};
}

// Removes what only the rank that opens a slide can know.
Json without_failures(Json slides) {
  for (Json& slide : slides)
    for (const char* const own : {"failure", "openslide", "other_files", "passed_over"}) slide.erase(own);
  return slides;
}

// Returns JSON in the form that reading it back gives. Names may contain any bytes, so only this form can be compared.
Json as_read_back(const Json& json) { return Json::parse(json_text(json, -1)); }

std::uint64_t hash_of(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

std::string hash_of_file(const std::string& file) {
  const std::optional<std::string> text = read_text(file, source_name, std::uint64_t{1} << 32);
  return text ? hex(hash_of(*text)) : "";
}

}  // namespace

std::string hash_of_lists(const std::vector<SlideCoords>& lists) {
  if (lists.empty()) return {};
  std::uint64_t hash = 0;
  for (const SlideCoords& list : lists) {
    const std::uint64_t places = XXH3_64bits(list.at.data(), list.at.size() * sizeof list.at.front());
    hash = hash_of(fmt::format("{} {} {} {} {} {} {} {}", hash, list.slide, list.size, list.level, list.slide_width,
                               list.slide_height, list.downsample, places));
  }
  return hex(hash);
}

Json settings_of(const CLI::App& command) {
  Json settings = Json::object();
  for (const CLI::Option* const option : command.get_options())
    for (const std::string& name : option->get_lnames())
      if (name != "help") settings[name] = value_of(*option);
  return settings;
}

JobInputs inputs_of(Json settings, const SlideSource& source, const std::string& lists) {
  JobInputs inputs{.settings = std::move(settings)};
  const Slides& options = source.options();
  if (!options.labels.empty()) inputs.files["labels"] = hash_of_file(options.labels);
  if (!lists.empty()) inputs.files["from-coords"] = lists;
  for (const SlideInfo& info : source.slides()) {
    Json slide{{"name", info.name}, {"file", info.path}, {"stamp", stamp_of(info.path)}};
    if (!info.other_files.empty()) {
      std::string stamps;
      for (const std::string& file : info.other_files)
        stamps += fs::path(file).filename().string() + json_text(stamp_of(file), -1);
      slide["other_files"] = hex(hash_of(stamps));
    }
    if (!info.region_file.empty()) slide["region_file"] = stamp_of(info.region_file);
    if (info.failure) slide["failure"] = info.failure->cause();
    if (!info.openslide.empty()) slide["openslide"] = info.openslide;
    if (info.passed_over) slide["passed_over"] = true;
    inputs.slides.push_back(std::move(slide));
  }
  for (Json* const part : {&inputs.settings, &inputs.slides}) *part = as_read_back(*part);
  return inputs;
}

Json JobInputs::counted_settings() const {
  Json counted = Json::object();
  const Json meant = in_one_way(settings);
  for (const auto& [name, value] : meant.items())
    if (counts(name)) counted[name] = value;
  return counted;
}

std::string JobInputs::hash() const {
  Json counted{{"files", files}, {"settings", counted_settings()}, {"slides", Json::array()}};
  for (Json slide : slides) {
    for (const char* const elsewhere : {"file", "failure", "openslide", "other_files", "passed_over"})
      slide.erase(elsewhere);
    counted["slides"].push_back(std::move(slide));
  }
  return hex(hash_of(json_text(counted, -1)));
}

namespace {

// Returns the store's path relative to the folder, so that both can be moved together.
std::string as_seen_from(const std::string& folder, const std::string& store) {
  if (store.empty()) return {};
  const auto whole = [](std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const fs::path full = fs::absolute(path).lexically_normal();
    std::error_code failed;
    const fs::path above = fs::weakly_canonical(full.parent_path(), failed);
    return failed ? full : above / full.filename();
  };
  return whole(store).lexically_proximate(whole(folder)).string();
}

}  // namespace

std::string report_beside(const std::string& store) {
  std::string name = store;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name + "-report";
}

std::string describe_job_changes(const Json& before, const Json& now) {
  const auto part = [](const Json& run, const char* name) { return run.value(name, Json::object()); };
  std::string differs = changed_setting(part(before, "settings"), part(now, "settings"));
  if (differs.empty()) differs = changed_file(part(before, "files"), part(now, "files"));
  if (differs.empty())
    differs = changed_slides(without_failures(before.at("slides")), without_failures(now.at("slides")), false);
  return differs.empty() ? "slides, settings or what they name differ" : differs;
}

RunFolder::RunFolder(std::string folder, const std::string& store)
    : folder_(std::move(folder)), store_(as_seen_from(folder_, store)) {}

std::string RunFolder::slide_file(const std::string& slide) const {
  std::string file = picture_in(folder_ + "/slides", as_json_has_it(slide));
  return file.replace(file.size() - 4, 4, ".json");
}
std::string RunFolder::picture_file(const std::string& slide) const {
  return picture_in(folder_ + "/pictures", as_json_has_it(slide));
}

Json RunFolder::read() const {
  const std::optional<std::string> text = read_text(manifest(), source_name, std::uint64_t{1} << 32);
  if (!text) return nullptr;
  const auto refuse = [&](const std::string& why) { throw Error(Errc::corrupt, why).with_file(manifest()); };
  Json run;
  try {
    run = json_in(*text);
  } catch (const Error& failed) {
    refuse("the file is empty, cut off or damaged (" + failed.cause() +
           "), and was to say what the store is made from; put a copy back, or delete this folder and the store, and "
           "run again");
  }
  if (run.is_object() && run.contains("penstock") && run.contains("store")) {
    try {
      require_json_version(run, run_version,
                           "continue with the penstock that wrote it, or cut the slides into another store");
    } catch (const Error& other) {
      throw Error(other.code(), other.cause()).with_file(manifest());
    }
  }
  if (const char* const lacks = what_a_manifest_lacks(run); lacks != nullptr)
    refuse("it is no manifest of a run, as it lacks its "s + lacks + "; a report needs a folder of its own");
  return run;
}

void RunFolder::write(const JobInputs& inputs, const Json& result) const {
  const Json run{{"penstock", version()},       {"version", run_version}, {"store", store_},
                 {"settings", inputs.settings}, {"files", inputs.files},  {"hash", hash_},
                 {"rank", inputs.rank},         {"world", inputs.world},  {"result", result},
                 {"slides", inputs.slides}};
  replace_text(manifest(), json_text(run, 1) + "\n", true, source_name);
}

// Returns the name of a file or folder in this folder that is neither a lock, nor run.json, nor the system's. Returns
// an empty text if there is no such file or folder.
std::string RunFolder::other_thing() const {
  std::error_code failed;
  std::string first;
  for (fs::directory_iterator entry(folder_, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    // A lock or a run.json may be of another process that has begun at the same time. The lock then decides which of
    // the two processes goes on.
    const bool own = name.starts_with(".lock") || name.starts_with("run.json") || is_of_system(name);
    if (!own && (first.empty() || name < first)) first = name;
  }
  if (failed) throw Error(Errc::io, "the folder can't be listed: " + failed.message()).with_file(folder_);
  return first;
}

void RunFolder::refuse_others_folder(bool store_is_there) const {
  std::error_code failed;
  // A lock shows that the folder is this job's: a run that was killed leaves its lock.
  const bool is_own = fs::exists(lock_file(), failed) || store_is_there || !read().is_null();
  if (const std::string other = is_own ? "" : other_thing(); !other.empty())
    throw Error(Errc::invalid_argument,
                fmt::format("the folder holds other things ({}), and no report; a report needs a folder of its own: "
                            "name another with --report",
                            printable(other)))
        .with_file(folder_);
}

void RunFolder::refuse_other_job(const Json& before, const Json& settings, bool store_is_there) const {
  if (!before.is_null() && before.value("store", "") != store_)
    throw Error(Errc::invalid_argument, fmt::format("the folder has the report of {}; name another one with --report",
                                                    printable(before.value("store", "another store"))))
        .with_file(manifest());
  if (!store_is_there) return;
  if (before.is_null())
    throw Error(Errc::state_mismatch,
                "the store is there, and this folder says nothing of what it was made from; name the folder of its "
                "report with --report, or write to another path")
        .with_file(folder_);
  refuse_difference(changed_setting(before.value("settings", Json::object()), settings));
}

void RunFolder::refuse_difference(const std::string& differs) const {
  if (!differs.empty())
    throw Error(Errc::state_mismatch,
                "the store was begun from something else: " + differs + "; make it as it was, or write to another path")
        .with_file(manifest());
}

void RunFolder::check(const Json& settings, bool store_is_there) const {
  std::error_code failed;
  if (fs::exists(folder_, failed)) refuse_others_folder(store_is_there);
  refuse_other_job(read(), as_read_back(settings), store_is_there);
}

void RunFolder::take(bool store_is_there) {
  make_folder(folder_, source_name);
  // Checked before a lock is put into the folder, because the folder may be used for something else.
  refuse_others_folder(store_is_there);
  const std::string lock = lock_file();
  if (!lock_.take(lock, source_name))
    throw Error(Errc::invalid_argument,
                lock_holder(lock) + " is at work on this store; wait until it is done, or stop it")
        .with_file(folder_);
}

void RunFolder::begin(const JobInputs& inputs, bool store_is_there, bool retry) {
  const Json before = read();
  refuse_other_job(before, inputs.settings, store_is_there);
  hash_ = inputs.hash();
  if (!store_is_there) {
    std::error_code failed;
    for (const std::string& old : {left_out(), csv(), page()}) remove_file(old, source_name);
    for (const char* const old : {"/slides", "/pictures"}) fs::remove_all(folder_ + old, failed);
  } else {
    std::string differs = changed_file(before.value("files", Json::object()), inputs.files);
    if (differs.empty())
      differs = changed_slides(before.value("slides", Json::array()), inputs.slides, retry && inputs.world <= 1);
    refuse_difference(differs);
    hash_ = before.value("hash", hash_);
    is_kept_ = !retry;
  }
}

void RunFolder::keep(const JobInputs& inputs) const {
  // Also removes the result of an earlier run, which is not this run's result.
  if (!is_kept_) write(inputs, nullptr);
}

void RunFolder::end(const JobInputs& inputs, const Json& result) const { write(inputs, result); }

Json RunFolder::result() const {
  const Json run = read();
  return run.is_null() ? run : run.value("result", Json());
}

}  // namespace penstock::cli
