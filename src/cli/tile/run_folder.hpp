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
  Json files = Json::object();     ///< hashes of what other files say, by the options that name them
  /// Name, file, bytes, time of change, and failure where it can't be opened; of others' slides `passed_over`.
  Json slides = Json::array();
  std::size_t rank = 0, world = 0;  ///< world 0: nobody shares it

  /// A hash of all that decides what is in the store, or in those of all ranks. Whether a slide could be opened does
  /// not.
  std::string hash() const;
  /// The settings that do.
  Json counted_settings() const;
};

/// The options of `command` in effect, by their long names.
Json settings_of(const CLI::App& command);

/// A hash of lists of places; empty: there is none.
std::string hash_of_lists(const std::vector<SlideCoords>& lists);

/// `lists`: hash of those that choose the source's places. It keeps none itself.
JobInputs inputs_of(Json settings, const SlideSource& source, const std::string& lists);

/// "X.lmdb-report" of X.lmdb.
std::string report_beside(const std::string& store);

/// What differs between two jobs, by what `RunFolder::read` gives of each: "--size was 256, and is 128 now".
std::string other_job(const Json& before, const Json& now);

/// The folder beside a store in which a job keeps what it was made from, what it left out, and its report.
class RunFolder {
 public:
  RunFolder(std::string folder, const std::string& store);

  const std::string& path() const noexcept { return folder_; }
  std::string left_out() const { return folder_ + "/left-out.jsonl"; }
  std::string manifest() const { return folder_ + "/run.json"; }
  std::string csv() const { return folder_ + "/slides.csv"; }
  std::string page() const { return folder_ + "/index.html"; }
  /// By a slide's name, a file of its own for each: "slides/NAME.json", "pictures/NAME.png".
  std::string slide_file(const std::string& slide) const;
  std::string picture_file(const std::string& slide) const;

  /// What `take` and `begin` would refuse that can be told before slides are opened. Writes nothing.
  void check(const Json& settings, bool store_is_there) const;
  /// Takes the folder for this process, made where it is missing. @throws Error(invalid_argument) where it holds other
  /// things and no report, and while another process works on it; Error(io).
  void take(bool store_is_there);
  /// After `take`: compares `inputs` with those that the job was begun with. Where `store_is_there` is false the folder
  /// is begun anew. `retry`: slides that could not be opened may be others now, unless ranks share the slides, whose
  /// sizes decide which rank has which.
  /// @throws Error(state_mismatch) that names the first slide, setting or file that differs, and where there is a
  /// store and the folder says nothing of it; Error(invalid_argument) where the folder is that of another store;
  /// Error(io).
  void begin(const JobInputs& inputs, bool store_is_there, bool retry);
  /// A hash of what the job was begun with, after `begin`; the store is known by it.
  const std::string& hash() const noexcept { return hash_; }
  /// Keeps them, where they are not kept already.
  void keep(const JobInputs& inputs) const;
  /// Keeps how the job ended beside what it was made from.
  void end(const JobInputs& inputs, const Json& result) const;
  /// What `end` kept; null where the job has not ended.
  Json result() const;
  /// All that the folder keeps: `store`, `settings`, `files`, `slides`, `hash`, `result`; null where there is nothing.
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
