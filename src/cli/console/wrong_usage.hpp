// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Checks that the command exists, and that no option of a command comes before it. Checks that the command has all
/// long options that are given, and that no word like "--option=" lacks its value. Call it before parsing, because the
/// parser would first report what is missing. @throws UsageError.
void check_words(const CLI::App& app, int argc, const char* const* argv);

/// Returns what is wrong, in the tool's words, after parsing failed with `error`.
std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace penstock::cli
