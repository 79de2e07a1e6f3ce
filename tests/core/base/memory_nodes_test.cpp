// SPDX-License-Identifier: Apache-2.0
// Where memory lies on machines that have it at several nodes.
#include "base/memory_nodes.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "support/catch.hpp"

using namespace penstock::detail;

TEST_CASE("a list of nodes names one or several") {
  for (const char* one : {"0", "7", ""}) CHECK_FALSE(names_several(one));
  for (const char* several : {"0-1", "0,2", "1-3,8"}) CHECK(names_several(several));
}

TEST_CASE("pages lie at the node that is preferred, where the system lets them be told") {
  constexpr std::size_t bytes = 1u << 16;
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(data != MAP_FAILED);
  const bool told = prefer_memory_node(data, bytes, 0);
  const int why = errno;
  std::memset(data, 1, bytes);  // memory it is in any case
  if (told) {
    int mode = -1;
    std::array<unsigned long, 16> mask = {};
    REQUIRE(::syscall(SYS_get_mempolicy, &mode, mask.data(), mask.size() * 64, data, MPOL_F_ADDR) == 0);
    CHECK(mode == MPOL_PREFERRED);
    CHECK(mask[0] == 1);
  } else {
    CHECK((why == EPERM || why == ENOSYS));
  }
  CHECK_FALSE(prefer_memory_node(data, bytes, -1));
  CHECK_FALSE(prefer_memory_node(data, bytes, 1024));
  ::munmap(data, bytes);
}
