// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "console/output.hpp"
#include "stores/left_out.hpp"
#include "tile/run_folder.hpp"

namespace penstock::cli {

/// The outcome of a job.
struct RunResult {
  bool finished = false;
  std::string store = {};      ///< the name that opens the store; empty if there was no tile to store
  std::uint64_t tiles = 0;     ///< number of tiles in the store
  std::uint64_t left_out = 0;  ///< number of tiles and slides that were left out
  std::uint64_t bytes = 0;     ///< bytes written by this run
  double seconds = 0;          ///< time that this run took
  std::vector<std::string> notes = {};
};
Json to_json(const RunResult& result);
RunResult result_of(const Json& json);

/// Draws a picture of each slide that has no picture yet, if the level that the picture is made from is fast to decode.
/// A picture has at most 512 pixels per side.
void draw_thumbnails(const SlideSource& source, const RunFolder& folder, unsigned threads, bool quiet);

/// Writes the outcome of each slide: a JSON file per slide, and a CSV file and a page for all. `done`: the number of
/// `source`'s records that the run has reached, if it has not finished.
void write_report(const SlideSource& source, const RunFolder& folder, const JobInputs& inputs, const LeftOut& left_out,
                  const RunResult& result, std::uint64_t done, bool sync);

/// Returns whether a finished job's report has all its files. Pictures may be missing, but not empty.
bool has_report(const SlideSource& source, const RunFolder& folder);

/// Writes into `folder` the report of a job that several processes shared. This report refers to the files in
/// `folders`, which have the reports of these processes.
void write_joined_report(const std::vector<std::string>& folders, const std::string& folder, const RunResult& result);

}  // namespace penstock::cli
