// SPDX-License-Identifier: Apache-2.0
#include <penstock/rank.hpp>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <penstock/error.hpp>

namespace penstock {

namespace {

struct Variables {
  const char* rank;
  const char* world;
};
constexpr Variables torchrun{"RANK", "WORLD_SIZE"};
constexpr Variables open_mpi{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"};
constexpr Variables mpich{"PMI_RANK", "PMI_SIZE"};
constexpr Variables slurm{"SLURM_PROCID", "SLURM_NTASKS"};

constexpr const char* way_out = "; unset what is not meant, or say rank and world yourself: for_rank({.rank, .world})";

[[noreturn]] void refuse(const std::string& cause) {
  throw Error(Errc::invalid_argument, cause + way_out).with_stage("for_rank");
}

std::string setting(const char* name) { return std::string(name) + "=" + std::getenv(name); }
std::string settings(const Variables& v) { return setting(v.rank) + ", " + setting(v.world); }

int number_of(const char* name) {
  const std::string_view text = std::getenv(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    refuse("the environment says " + setting(name) + ", which is not a number from 0 to 2,147,483,647");
  return value;
}

bool is_set(const Variables& v) { return std::getenv(v.rank) != nullptr && std::getenv(v.world) != nullptr; }

std::optional<Rank> find(const Variables& v) {
  const bool has_rank = std::getenv(v.rank) != nullptr, has_world = std::getenv(v.world) != nullptr;
  if (!has_rank && !has_world) return std::nullopt;
  if (!has_rank || !has_world)
    refuse("the environment says " + setting(has_rank ? v.rank : v.world) + " but not " +
           (has_rank ? v.world : v.rank) + ", so a launcher was asked for and did not start this process");
  const Rank rank{.rank = number_of(v.rank), .world = number_of(v.world)};
  if (rank.rank >= rank.world)
    refuse("the environment says " + settings(v) + ", but ranks go from 0 to the world's size - 1");
  return rank;
}

}  // namespace

Rank Rank::from_environment() {
  std::optional<Rank> found;
  const Variables* of = nullptr;
  const auto ask = [&](const Variables& v) {
    const std::optional<Rank> rank = find(v);
    if (!rank) return;
    if (found && (found->rank != rank->rank || found->world != rank->world))
      refuse("the environment says " + settings(*of) + " and " + settings(v) + ", which disagree");
    if (found) return;
    found = rank;
    of = &v;
  };
  ask(torchrun);
  ask(open_mpi);
  ask(mpich);
  // Slurm's variables are ignored if MPI or torchrun started this process, because Slurm does not count the
  // processes that these launchers start. If `RANK` and `WORLD_SIZE` are set, Slurm's two variables count only if both
  // are set, because the shell of a Slurm allocation has only one of them.
  const bool has_mpi = is_set(open_mpi) || is_set(mpich);
  const bool launched = has_mpi || (found && std::getenv("TORCHELASTIC_RUN_ID") != nullptr);
  if (!launched && (!found || is_set(slurm))) ask(slurm);
  return found.value_or(Rank{});
}

}  // namespace penstock
