// SPDX-License-Identifier: Apache-2.0
// Checks where a command writes before it starts to work.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Checks each file and folder that the command will write, as options like --out and --json name them. Missing folders
/// are created later.
/// @throws UsageError if there is a folder instead of a file, or a file instead of a folder, or if the folder to write
/// into is not writable.
void check_output_paths(const CLI::App& command);

/// Returns whether `path` is `folder`, or is in it.
bool lies_in(const std::string& path, const std::string& folder);

}  // namespace penstock::cli
