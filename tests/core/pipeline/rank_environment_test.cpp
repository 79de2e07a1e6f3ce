// SPDX-License-Identifier: Apache-2.0
// What launchers set, and what they don't.
#include "support/catch.hpp"

#include <map>

#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

using Settings = std::map<std::string, std::string>;

constexpr const char* names[] = {"RANK",     "WORLD_SIZE",   "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",
                                 "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS",         "TORCHELASTIC_RUN_ID"};

// Nothing but these while it lives: the tests themselves may run under a launcher.
class Environment {
 public:
  explicit Environment(const Settings& settings) {
    for (const char* name : names) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      ::unsetenv(name);
    }
    for (const auto& [name, value] : settings) ::setenv(name.c_str(), value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const char* name : names) ::unsetenv(name);
    for (const auto& [name, value] : before_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  Settings before_;
};

std::string assignment(const std::string& name, const std::string& value) { return name + "=" + value; }

std::string found(const Settings& settings) {
  const Environment environment(settings);
  const ps::Rank rank = ps::Rank::from_environment();
  return std::to_string(rank.rank) + " of " + std::to_string(rank.world);
}

void refused(const Settings& settings, const std::vector<std::string>& words) {
  const Environment environment(settings);
  const auto error = error_of([] { (void)ps::Rank::from_environment(); });
  std::string given;
  for (const auto& [name, value] : settings) given.append(assignment(name, value)).append(" ");
  CAPTURE(given);
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::invalid_argument);
  CHECK(error->stage() == "for_rank");
  CAPTURE(error->what());
  for (const std::string& word : words) CHECK(error->cause().find(word) != std::string::npos);
}

Settings operator+(Settings a, const Settings& b) {
  a.insert(b.begin(), b.end());
  return a;
}

Settings torchrun(const char* rank, const char* world) { return {{"RANK", rank}, {"WORLD_SIZE", world}}; }
Settings open_mpi(const char* rank, const char* world) {
  return {{"OMPI_COMM_WORLD_RANK", rank}, {"OMPI_COMM_WORLD_SIZE", world}};
}
Settings mpich(const char* rank, const char* world) { return {{"PMI_RANK", rank}, {"PMI_SIZE", world}}; }
Settings slurm(const char* rank, const char* world) { return {{"SLURM_PROCID", rank}, {"SLURM_NTASKS", world}}; }
const Settings by_torchrun_itself{{"TORCHELASTIC_RUN_ID", "none"}};

}  // namespace

TEST_CASE("rank and world as each launcher says them") {
  CHECK(found({}) == "0 of 1");
  CHECK(found(torchrun("2", "4")) == "2 of 4");
  CHECK(found(open_mpi("3", "5")) == "3 of 5");
  CHECK(found(mpich("0", "6")) == "0 of 6");
  CHECK(found(slurm("6", "7")) == "6 of 7");
  CHECK(found(torchrun("0", "1")) == "0 of 1");
  CHECK(found(slurm("2147483646", "2147483647")) == "2147483646 of 2147483647");
}

TEST_CASE("launchers that agree are one") {
  CHECK(found(open_mpi("1", "4") + mpich("1", "4") + torchrun("1", "4") + slurm("1", "4")) == "1 of 4");
  CHECK(found(mpich("1", "4") + slurm("1", "4")) == "1 of 4");
  CHECK(found(torchrun("1", "4") + slurm("1", "4")) == "1 of 4");
}

TEST_CASE("launchers that disagree are refused") {
  const Settings lists[] = {
      torchrun("1", "4") + open_mpi("2", "4"), torchrun("0", "1") + open_mpi("0", "4"),
      torchrun("1", "4") + mpich("0", "4"),    open_mpi("1", "4") + mpich("1", "2"),
      torchrun("0", "1") + slurm("3", "4"),    torchrun("1", "4") + open_mpi("1", "4") + mpich("0", "1"),
  };
  for (const Settings& settings : lists) {
    std::vector<std::string> words{"disagree", "for_rank({.rank, .world})"};
    // One launcher of the three in the last list agrees with another and need not be named.
    if (settings.size() == 4)
      for (const auto& [name, value] : settings) words.push_back(assignment(name, value));
    refused(settings, words);
  }
}

TEST_CASE("what Slurm starts may be a launcher, which is believed") {
  CHECK(found(open_mpi("5", "8") + slurm("1", "2")) == "5 of 8");
  CHECK(found(mpich("5", "8") + slurm("0", "2")) == "5 of 8");
  CHECK(found(torchrun("5", "8") + slurm("0", "2") + by_torchrun_itself) == "5 of 8");
  CHECK(found(torchrun("5", "8") + open_mpi("5", "8") + slurm("0", "2")) == "5 of 8");
  // The shell of an allocation has the number of tasks alone.
  CHECK(found(open_mpi("5", "8") + Settings{{"SLURM_NTASKS", "8"}}) == "5 of 8");
  CHECK(found(torchrun("5", "8") + Settings{{"SLURM_NTASKS", "8"}}) == "5 of 8");
  CHECK(found(open_mpi("5", "8") + Settings{{"SLURM_PROCID", "x"}, {"SLURM_NTASKS", ""}}) == "5 of 8");
}

TEST_CASE("half a launcher is refused") {
  for (const Settings& whole : {torchrun("1", "4"), open_mpi("1", "4"), mpich("1", "4"), slurm("1", "4")}) {
    for (const auto& [name, value] : whole) {
      std::vector<std::string> words{"but not", assignment(name, value)};
      for (const auto& [other, unused] : whole) words.push_back(other);
      refused({{name, value}}, words);
    }
  }
  refused(Settings{{"WORLD_SIZE", "4"}} + open_mpi("1", "4"), {"WORLD_SIZE=4", "RANK"});
  refused(open_mpi("1", "4") + Settings{{"PMI_SIZE", "4"}}, {"PMI_SIZE=4", "PMI_RANK"});
}

TEST_CASE("what is no rank is refused") {
  for (const char* value :
       {"", " ", "x", "1x", " 1", "1 ", "+1", "-1", "0x1", "1.0", "2147483648", "99999999999999999999999999"}) {
    refused(torchrun(value, "4"), {std::string("RANK=") + value, "not a number"});
    refused(open_mpi("0", value), {std::string("OMPI_COMM_WORLD_SIZE=") + value, "not a number"});
    refused(slurm(value, "4"), {std::string("SLURM_PROCID=") + value, "not a number"});
  }
  for (const auto& [rank, world] : {std::pair{"4", "4"}, {"5", "4"}, {"0", "0"}, {"2147483647", "2147483647"}}) {
    refused(mpich(rank, world), {std::string("PMI_RANK=") + rank, std::string("PMI_SIZE=") + world, "ranks go from 0"});
    refused(torchrun(rank, world), {std::string("RANK=") + rank, std::string("WORLD_SIZE=") + world});
  }
}

}  // namespace PENSTOCK_TEST_FILE
