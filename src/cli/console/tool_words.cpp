// SPDX-License-Identifier: Apache-2.0
#include "console/tool_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <set>

#include <CLI/CLI.hpp>

namespace penstock::cli {

namespace {

struct ToolWord {
  std::string_view source;   // empty: any source
  std::string_view library;  // the library's words; in the list, longer words come before words that they contain
  std::string_view tool;     // the tool's option, or other words; empty: the tool has no option for `library`
};

// A name like `some_name` that is not in this list becomes --some-name, if the command has that option.
constexpr std::array tool_words{
    ToolWord{"", "`access = FileAccess::read`", "--access read"},
    ToolWord{"", "`max_memory_bytes`", "--memory"},
    ToolWord{"", "`max_block_bytes`", "--block-bytes"},
    ToolWord{"", "`max_sample_bytes`", "--max-sample-bytes"},
    ToolWord{"", "`max_pixels`", "--max-pixels"},
    ToolWord{"csv", "`columns`", "--fields"},
    ToolWord{"csv", "`key`", "--key-field"},
    ToolWord{"csv", "`missing_value`", ""},
    ToolWord{"csv", "`delimiter = ';'`", ""},
    ToolWord{"csv", "`delimiter = '\\t'`", ""},
    ToolWord{"csv", "`delimiter`", ""},
    ToolWord{"csv", "`max_record_bytes`", ""},
    ToolWord{"hdf5", "`key`", "--key-field"},
    ToolWord{"hdf5", "leave `isolate` false", "leave --isolate out, or say --no-isolate"},
    ToolWord{"hdf5", "leave `keys` empty", "say --keys position"},
    ToolWord{"hdf5", "give another one in `fields`", "give it another one in the store that it comes from"},
    ToolWord{"hdf5", "give one another in `fields`", "rename one in the store that it comes from"},
    ToolWord{"hdf5", "give one another name in `fields`", "rename one in the store that it comes from"},
    ToolWord{"hdf5", "`patience_ms`", ""},
    ToolWord{"hdf5", "`max_reader_bytes`", ""},
    ToolWord{"remote", "`token`", "--token-env"},
    ToolWord{"remote", "`headers`", "--header-env"},
    ToolWord{"remote", "`certificates` or SSL_CERT_FILE", "SSL_CERT_FILE"},
    ToolWord{"slide", "`write_slide_index`, or `penstock index`", "`penstock index`"},
    ToolWord{"slide", "`regions.folder`", "--regions"},
    ToolWord{"slide", "`regions.origin`", "--region-origin"},
    ToolWord{"slide", "`regions.exclude`", "--exclude"},
    ToolWord{"slide", "`tissue.least`", "--least-tissue"},
    ToolWord{"slide", "`coords_of_any_size = true`", "--coords-of-any-size"},
    ToolWord{"slide", "`coords`", "--from-coords"},
    ToolWord{"slide", "`assumed_mpp`", "--assume-mpp"},
    ToolWord{"slide", "`mpp_tolerance`", "--tolerance"},
    ToolWord{"slide", "`side`", "--picture-side"},
    ToolWord{"coords", "`coords`", "`coords`"},
    ToolWord{"webdataset", "say in `fields` which of these become what", ""},
    ToolWord{"webdataset", "the kind `bytes`", ""},
    ToolWord{"webdataset", "`token`", "--token-env"},
    ToolWord{"webdataset", "`headers`", "--header-env"},
    ToolWord{"webdataset", "`extensions`", ""},
    ToolWord{"webdataset", "`classes`", ""},
};

std::set<std::string, std::less<>>& options_of_command() {
  static std::set<std::string, std::less<>> of_command;
  return of_command;
}

bool is_tool_option(std::string_view text) { return text.starts_with("--"); }

void replace_in(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Replaces `some_name` by --some-name, for each option of the command.
void replace_option_names(std::string& text) {
  for (const std::string& option : options_of_command()) {
    std::string name = "`" + option.substr(2) + "`";
    std::ranges::replace(name, '-', '_');
    replace_in(text, name, option);
  }
}

}  // namespace

void set_running_command(const CLI::App& command) {
  options_of_command().clear();
  for (const CLI::Option* const option : command.get_options())
    for (const std::string& name : option->get_lnames()) options_of_command().insert("--" + name);
}

std::string in_tool_words(std::string text, std::string_view source) {
  // Backquotes in inserted words become marks, so that later replacements leave the inserted words alone.
  constexpr char mark = '\x01';
  for (const ToolWord& word : tool_words) {
    if (!word.source.empty() && word.source != source) continue;
    std::string to(word.tool);
    if (is_tool_option(word.tool) && !options_of_command().contains(word.tool.substr(0, word.tool.find(' '))))
      to.clear();
    if (to.empty()) to = std::string(word.library) + " (of the library; this command has no option for it)";
    std::ranges::replace(to, '`', mark);
    replace_in(text, word.library, to);
  }
  replace_option_names(text);
  std::ranges::replace(text, mark, '`');
  return text;
}

}  // namespace penstock::cli
