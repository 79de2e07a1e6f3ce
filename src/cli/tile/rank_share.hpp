// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <penstock/rank.hpp>

namespace penstock::cli {

/// Identifies this process among the processes that share a cohort.
struct RankFlags {
  std::string rank = {}, world = {};
};
void add_rank_options(CLI::App& command, RankFlags& flags);

struct Rank {
  std::size_t rank = 0, world = 1;
  bool given = false;  ///< the flags are given; `world` may still be 1
};
/// Returns the rank that `flags` describe. @throws UsageError for impossible numbers; Error(invalid_argument) if the
/// launcher's variables are impossible.
Rank rank_of(const RankFlags& flags);

/// Returns the store of a rank: "tiles-r03-of-16.lmdb" for "tiles.lmdb".
std::string store_of_rank(const std::string& out, const Rank& rank);

/// Returns the files of a rank, which are consecutive in `files`. All ranks get about the same number of bytes. A file
/// whose size can't be read counts as empty.
ItemRange share_of_files(const std::vector<std::string>& files, const Rank& rank);

}  // namespace penstock::cli
