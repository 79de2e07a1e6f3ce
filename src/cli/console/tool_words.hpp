#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace penstock::cli {

/// Sets whose options messages may name. Before any thread is started.
void set_running_command(const CLI::App& command);

/// What the library says, for those who call the tool: its options stand where the library names members of its own. A
/// member without an option is said to be the library's. `source`: the name of the source that speaks, as
/// penstock::Error has it. Any thread.
std::string in_tool_words(std::string text, std::string_view source);

}  // namespace penstock::cli
