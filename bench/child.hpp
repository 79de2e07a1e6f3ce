// SPDX-License-Identifier: Apache-2.0
// This program run once more, for what must be measured in a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::bench {

// Starts `limits --child NAME ARGUMENTS...`, waits for its end and returns what it wrote to stdout.
// @throws std::runtime_error when it fails.
std::string run_child(const std::string& name, const std::vector<std::string>& arguments);
// Runs another program, as `run_child`.
std::string run_program(std::vector<std::string> words);

// What such a child does; its exit code. In the files of the rows.
int first_batch_child(const std::vector<std::string>& arguments);
int memory_epochs_child(const std::vector<std::string>& arguments);

// CLOCK_MONOTONIC, the same in all processes.
std::uint64_t monotonic_ns();

}  // namespace penstock::bench
