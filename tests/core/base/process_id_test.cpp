// SPDX-License-Identifier: Apache-2.0
// Whose process this is, known without asking the system.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include <penstock/extend/process_id.hpp>

#include "support/catch.hpp"

using penstock::process_id;

namespace {

// Whether the id is known in a child that `start` makes, and in a child of that one.
bool known_in_children(pid_t (*start)()) {
  const pid_t child = start();
  if (child == 0) {
    if (process_id() != ::getpid() || process_id() != ::getpid()) ::_exit(1);
    const pid_t grandchild = start();
    if (grandchild == 0) ::_exit(process_id() == ::getpid() ? 0 : 2);
    int status = -1;
    ::waitpid(grandchild, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("a process knows its number in every thread and in every child, however that was made") {
  CHECK(process_id() == ::getpid());
  pid_t elsewhere = 0;
  std::thread([&] { elsewhere = process_id(); }).join();
  CHECK(elsewhere == ::getpid());
  CHECK(known_in_children([] { return ::fork(); }));
  CHECK(known_in_children([] { return ::_Fork(); }));  // calls none of pthread_atfork's handlers
  CHECK(process_id() == ::getpid());
}
