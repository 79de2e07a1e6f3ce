#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Looks for options that no command has, or that stand before the command, and for a command that isn't there, before
/// anything is said of what is missing. @throws UsageError.
void check_words(const CLI::App& app, int argc, const char* const* argv);

/// What is wrong, in the tool's words, where parsing failed with `error`.
std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace penstock::cli
