// SPDX-License-Identifier: Apache-2.0
// Starts this program again, for measurements that need a process of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::bench {

// Starts `limits --child NAME ARGUMENTS...`, waits for its end and returns what it wrote to stdout.
// @throws std::runtime_error if the child fails.
std::string run_child(const std::string& name, const std::vector<std::string>& arguments);
// Like `run_child`, but runs another program. `words`: its path and arguments.
std::string run_program(std::vector<std::string> words);

// The main functions of the children, which return the exit code. They are defined in the files of their rows.
int first_batch_child(const std::vector<std::string>& arguments);
int memory_epochs_child(const std::vector<std::string>& arguments);
int remote_memory_child(const std::vector<std::string>& arguments);

// Returns the time of CLOCK_MONOTONIC, which is the same in all processes.
std::uint64_t monotonic_ns();

}  // namespace penstock::bench
