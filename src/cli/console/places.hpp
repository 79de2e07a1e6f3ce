// Where a command writes is looked at before it works.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Looks at each place that the command's options name, --out, --json and the like. Folders that are missing are made
/// later. @throws UsageError where something stands in the way, or may not be written to.
void check_places(const CLI::App& command);

/// True where `path` is `folder`, or lies in it.
bool lies_in(const std::string& path, const std::string& folder);

}  // namespace penstock::cli
