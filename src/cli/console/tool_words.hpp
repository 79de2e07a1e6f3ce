// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace penstock::cli {

/// Sets the command that runs. Messages may name its options. Call before any thread is started.
void set_running_command(const CLI::App& command);

/// Rewrites a message of the library for users of the tool: replaces names of the library's members by the tool's
/// options. Marks a member without an option as the library's. `source`: name of the source that reports, as in
/// penstock::Error. Any thread.
std::string in_tool_words(std::string text, std::string_view source);

}  // namespace penstock::cli
