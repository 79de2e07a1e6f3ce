#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Which of the processes that share a cohort this is.
struct RankFlags {
  std::string rank = {}, world = {};
};
void add_rank_options(CLI::App& command, RankFlags& flags);

struct Rank {
  std::size_t rank = 0, world = 1;
  bool given = false;  ///< the cohort is shared, if only by one
};
/// @throws UsageError for numbers that can't be meant; Error(invalid_argument) where the launcher's variables can't.
Rank rank_of(const RankFlags& flags);

/// "tiles.lmdb" as "tiles-r03-of-16.lmdb": a store for each rank.
std::string store_of_rank(const std::string& out, const Rank& rank);

/// A run of the files: ranks have runs of about equal bytes, one after the other.
struct FileRun {
  std::size_t first = 0, count = 0;
};
/// A rank has the files whose middle byte, all files laid end to end, lies in its part of all bytes.
FileRun share_of(const std::vector<std::uint64_t>& bytes, const Rank& rank);
/// The same of files that are there; one that can't be asked counts as empty.
FileRun share_of_files(const std::vector<std::string>& files, const Rank& rank);

}  // namespace penstock::cli
