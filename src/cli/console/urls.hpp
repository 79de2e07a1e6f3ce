// SPDX-License-Identifier: Apache-2.0
// URLs on the command line. They may have secrets: a user, a password, a query.
#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Returns whether the text begins like a URL of any scheme: "https://", "s3://".
bool is_url(std::string_view text) noexcept;

/// Looks for URLs among the program's arguments, for `without_secrets`. Call before any thread is started.
void remember_urls(int argc, const char* const* argv);
/// Returns the text with each URL of the arguments as `shown_url` returns it. For messages that quote arguments.
std::string without_secrets(std::string text);

/// Checks that URLs are given only as the STORE of a command that reads from servers. @throws UsageError.
void refuse_urls(const CLI::App& command);

}  // namespace penstock::cli
