// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <penstock/extend/store_files.hpp>
#include <penstock/sources/slide.hpp>

#include "console/output.hpp"

namespace penstock::cli {

/// What a job is made from.
struct JobInputs {
  Json settings = Json::object();  ///< all options in effect, by their long names
  Json files = Json::object();     ///< hashes of the contents of other files, by the options that name them
  /// For each slide: its name, its file, and the file's size and time of change. If they exist, also: stamps of its
  /// other files and of its file of regions, OpenSlide's version, and the reason why it can't be opened. Slides of
  /// other ranks have `passed_over`.
  Json slides = Json::array();
  std::size_t rank = 0, world = 0;  ///< `world` is 0 if the job is not shared

  /// Returns a hash of everything that decides the contents of the store, or of the stores of all ranks. Whether a
  /// slide could be opened does not count.
  std::string hash() const;
  /// Returns the settings that decide the contents.
  Json counted_settings() const;
};

/// Returns the options of `command` in effect, by their long names.
Json settings_of(const CLI::App& command);

/// Returns a hash of lists of places. Returns an empty text if there are no lists.
std::string hash_of_lists(const std::vector<SlideCoords>& lists);

/// Returns what a job is made from. `lists`: hash of the lists of places that --from-coords names. The source does not
/// keep these lists.
JobInputs inputs_of(Json settings, const SlideSource& source, const std::string& lists);

/// Returns "X.lmdb-report" for X.lmdb.
std::string report_beside(const std::string& store);

/// Describes the first difference between two jobs, as `RunFolder::read` returns them: "--size was 256, and is 128
/// now".
std::string describe_job_changes(const Json& before, const Json& now);

/// The folder next to a store in which a job keeps its inputs, its left-out tiles, and its report.
class RunFolder {
 public:
  RunFolder(std::string folder, const std::string& store);

  const std::string& path() const noexcept { return folder_; }
  std::string left_out() const { return folder_ + "/left-out.jsonl"; }
  std::string manifest() const { return folder_ + "/run.json"; }
  std::string csv() const { return folder_ + "/slides.csv"; }
  std::string page() const { return folder_ + "/index.html"; }
  /// `slide_file` returns the path of a slide's own file, FOLDER/slides/NAME.json. `picture_file` returns the path of
  /// its picture, FOLDER/pictures/NAME.png.
  std::string slide_file(const std::string& slide) const;
  std::string picture_file(const std::string& slide) const;

  /// Refuses early what `take` and `begin` would refuse, as far as that is known before slides are opened. Writes
  /// nothing.
  void check(const Json& settings, bool store_is_there) const;
  /// Takes the folder for this process, and creates it if it is missing. @throws Error(invalid_argument) if it holds
  /// other files and no report, or another process works on it; Error(io).
  void take(bool store_is_there);
  /// Compares `inputs` with the inputs with which the job began. Call after `take`. If `store_is_there` is false,
  /// compares nothing, and deletes an older job's report from the folder. `retry`: slides that could not be opened
  /// before may have changed, unless several ranks share the slides. Files that ranks share must stay as they are,
  /// because their sizes decide which rank has which slides.
  /// @throws
  /// - Error(state_mismatch) that names the first slide, setting or file that differs;
  /// - Error(state_mismatch) if there is a store that the folder does not mention;
  /// - Error(invalid_argument) if the folder belongs to a different store;
  /// - Error(io).
  void begin(const JobInputs& inputs, bool store_is_there, bool retry);
  /// Returns a hash of the inputs with which the job began. It identifies the store. Call after `begin`.
  const std::string& hash() const noexcept { return hash_; }
  /// Keeps the inputs, and removes the result of an earlier run. Does nothing if `begin` found a store and `retry` was
  /// false. Call after `begin`.
  void keep(const JobInputs& inputs) const;
  /// Keeps the job's result next to its inputs.
  void end(const JobInputs& inputs, const Json& result) const;
  /// Returns what `end` kept. Returns null if the job has not ended.
  Json result() const;
  /// Returns the contents of run.json: `store`, `settings`, `files`, `hash`, `rank`, `world`, `result`, `slides`.
  /// Returns null if there is no such file.
  /// @throws Error(corrupt) if the file lacks one of these.
  Json read() const;

 private:
  void write(const JobInputs& inputs, const Json& result) const;
  std::string other_thing() const;
  std::string lock_file() const { return folder_ + "/.lock"; }
  void refuse_others_folder(bool store_is_there) const;
  void refuse_other_job(const Json& before, const Json& settings, bool store_is_there) const;
  void refuse_difference(const std::string& differs) const;

  const std::string folder_, store_;
  std::string hash_;
  FileLock lock_;
  bool is_kept_ = false;
};

}  // namespace penstock::cli
