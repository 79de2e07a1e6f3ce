// SPDX-License-Identifier: Apache-2.0
// Which GPU is a process's own, as launchers tell.
#include <map>
#include <string>

#include "device/devices.hpp"
#include "support/catch.hpp"

namespace {

int chosen(int count, const std::map<std::string, std::string>& variables) {
  return penstock::detail::gpu_of_rank(count, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("the best GPU is that of the process's rank on its machine") {
  const char* const names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
  for (const char* name : names) {
    INFO(name);
    for (int rank = 0; rank < 4; ++rank) CHECK(chosen(4, {{name, std::to_string(rank)}}) == rank);
    CHECK(chosen(4, {{name, "6"}}) == 2);
    CHECK(chosen(1, {{name, "3"}}) == 0);  // the launcher shows it one GPU, its own
    for (const char* wrong : {"", "x", "2x", " 2", "-1", "99999999999"}) CHECK(chosen(4, {{name, wrong}}) == 0);
  }
  CHECK(chosen(4, {}) == 0);
  CHECK(chosen(4, {{"RANK", "3"}}) == 0);  // of all machines
  // The launcher nearest to the process.
  CHECK(chosen(4, {{names[0], "1"}, {names[1], "2"}, {names[2], "3"}}) == 1);
  CHECK(chosen(4, {{names[1], "2"}, {names[2], "3"}}) == 2);
  CHECK(chosen(4, {{names[0], "x"}, {names[2], "3"}}) == 3);
}
