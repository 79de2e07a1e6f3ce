// SPDX-License-Identifier: Apache-2.0
#include "tile/rank_share.hpp"

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

constexpr std::size_t most_ranks = 1'000'000;

std::size_t number_in(const std::string& text, const char* option) {
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number > most_ranks)
    throw UsageError(fmt::format("{} {}: a whole number up to a million is possible", option, printable(text)));
  return number;
}

}  // namespace

void add_rank_options(CLI::App& command, RankFlags& flags) {
  command
      .add_option("--rank", flags.rank,
                  "Which of the processes that share the slides this is, from 0; auto: as torchrun, MPI or Slurm says. "
                  "Each writes a store of its own, X-rR-of-N, which `penstock merge` makes one")
      ->type_name("R");
  command.add_option("--world", flags.world, "How many processes share the slides")->type_name("N");
}

Rank rank_of(const RankFlags& flags) {
  if (flags.rank.empty() && flags.world.empty()) return {};
  Rank rank{.given = true};
  if (flags.rank == "auto") {
    if (!flags.world.empty()) throw UsageError("--rank auto takes the world from the launcher; leave --world away");
    const penstock::Rank found = penstock::Rank::from_environment();
    rank.rank = static_cast<std::size_t>(found.rank);
    rank.world = static_cast<std::size_t>(found.world);
    return rank;
  }
  if (flags.rank.empty() || flags.world.empty())
    throw UsageError("--rank and --world belong together: --rank 0 --world 4; or --rank auto, under a launcher");
  rank.rank = number_in(flags.rank, "--rank");
  rank.world = number_in(flags.world, "--world");
  if (rank.rank >= rank.world)
    throw UsageError(fmt::format("--rank {} must be less than --world {}; ranks begin at 0", rank.rank, rank.world));
  return rank;
}

std::string store_of_rank(const std::string& out, const Rank& rank) {
  if (!rank.given) return out;
  std::string path = out;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::size_t name = path.rfind('/') + 1, dot = path.rfind('.');
  const std::size_t end = dot != std::string::npos && dot > name ? dot : path.size();
  const std::size_t digits = std::to_string(rank.world - 1).size();
  return path.substr(0, end) + fmt::format("-r{:0{}}-of-{}", rank.rank, digits, rank.world) + path.substr(end);
}

ItemRange share_of_files(const std::vector<std::string>& files, const Rank& rank) {
  std::vector<std::uint64_t> bytes;
  for (const std::string& file : files) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(file, failed);
    bytes.push_back(failed ? 0 : size);
  }
  return penstock::Rank{.rank = static_cast<int>(rank.rank), .world = static_cast<int>(rank.world)}.items_of(bytes);
}

}  // namespace penstock::cli
