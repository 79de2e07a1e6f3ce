// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Looks for options that no command has, or that come before the command, and for a command that does not exist.
/// Reports these before anything that is missing. @throws UsageError.
void check_words(const CLI::App& app, int argc, const char* const* argv);

/// Returns what is wrong, in the tool's words, after parsing failed with `error`.
std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace penstock::cli
