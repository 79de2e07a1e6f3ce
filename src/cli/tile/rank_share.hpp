#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <penstock/rank.hpp>

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

/// A rank's run of the files, by their bytes; one that can't be asked counts as empty.
ItemRun share_of_files(const std::vector<std::string>& files, const Rank& rank);

}  // namespace penstock::cli
