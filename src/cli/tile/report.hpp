#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "console/output.hpp"
#include "stores/left_out.hpp"
#include "tile/run_folder.hpp"

namespace penstock::cli {

/// How a job ended.
struct RunResult {
  bool finished = false;
  std::string store = {};      ///< as people open it; empty: there was no tile for one
  std::uint64_t tiles = 0;     ///< in the store
  std::uint64_t left_out = 0;  ///< tiles, and slides
  std::uint64_t bytes = 0;     ///< written by this run
  double seconds = 0;          ///< that this run took
  std::vector<std::string> notes = {};
};
Json to_json(const RunResult& result);
RunResult result_of(const Json& json);

/// Draws pictures of the slides that have a level which is soon decoded, and none yet, at most 512 pixels wide.
void draw_thumbnails(const SlideSource& source, const RunFolder& folder, unsigned threads, bool quiet);

/// Writes what became of each slide: a JSON file for each, a CSV file and a page for all. `done`: places of `source`
/// that the run, where it has not finished, came to.
void write_report(const SlideSource& source, const RunFolder& folder, const JobInputs& inputs, const LeftOut& left_out,
                  const RunResult& result, std::uint64_t done, bool sync);

/// Whether all of that is there of a job that has ended.
bool has_report(const SlideSource& source, const RunFolder& folder);

/// The report of a job that several processes shared, in a folder of its own, which refers to theirs.
void write_joined_report(const std::vector<std::string>& folders, const std::string& folder, const RunResult& result);

}  // namespace penstock::cli
