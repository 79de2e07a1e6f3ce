// SPDX-License-Identifier: Apache-2.0
#include "console/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "console/output.hpp"

namespace penstock::cli {

const char* const exit_status_help =
    "Exit status: 0 done; 1 an error, one line on stderr says which; 2 the command line is wrong; 3 verify or inspect\n"
    "found bad records, or tile or index found slides or tiles that can't be read; 130 stopped by Ctrl-C (128 + the\n"
    "signal's number).";

std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  const bool store_named = argc > 2 && *argv[1] != '-' && *argv[2] != '-';
  const auto takes = [&](std::string_view next) {
    return next == "-" || next.ends_with(".json") || (store_named && !next.starts_with('-'));
  };
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--") {
      arguments.insert(arguments.end(), argv + i, argv + argc);
      break;
    }
    if (argument == "--json=") throw UsageError("--json= lacks the file's name");
    if (argument == "--json") {
      const bool value = i + 1 < argc && takes(argv[i + 1]);
      argument += value ? "=" + std::string(argv[++i]) : "=-";
    }
    arguments.push_back(std::move(argument));
  }
  std::ranges::reverse(arguments);
  return arguments;
}

void add_isolate_option(CLI::App& command, bool& isolate) {
  command.add_flag_callback(
      "--isolate", [&isolate] { isolate = true; },
      "An HDF5 file is not trusted: another process reads it, which it may crash or hang");
}

void add_key_option(CLI::App& command, std::string& key) {
  command
      .add_option(
          "--key-field", key,
          "The dataset of an HDF5 file, or column of a table, that has the records' keys; default: the one that "
          "an\n"
          "HDF5 file marks itself")
      ->type_name("NAME");
}

std::vector<std::string> names_in(const std::string& text, const std::string& option) {
  std::vector<std::string> names(1);
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool twice = quoted && std::string_view(text).substr(at, 2) == "\"\"";
    if (twice)
      names.back() += text[++at];
    else if (c == '"' && (quoted || names.back().empty()))
      quoted = !quoted;
    else if (c == ',' && !quoted)
      names.emplace_back();
    else
      names.back() += c;
  }
  if (quoted) throw UsageError(option + ": a quote is never closed");
  if (std::ranges::count(names, "") != 0) throw UsageError(option + ": a name is empty; write them like a,b");
  return names;
}

CLI::Option* add_names_option(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                              const std::string& text) {
  const auto take = [&names, option](const std::vector<std::string>& texts) {
    names.clear();
    for (const std::string& one : texts)
      for (std::string& name : names_in(one, option)) names.push_back(std::move(name));
  };
  return command.add_option_function<std::vector<std::string>>(option, take, text)
      ->type_name(names_type)
      ->allow_extra_args(false);
}

void add_access_option(CLI::App& command, FileAccess& access) {
  command
      .add_option_function<std::string>(
          "--access",
          [&access](const std::string& text) { access = text == "map" ? FileAccess::map : FileAccess::read; },
          "How tar shards, tables and LMDB are read: in a memory map (default), or by calls, where a file system has "
          "no\nmaps; an LMDB needs one all the same")
      ->check(CLI::IsMember({"map", "read"}));
}

void add_fields_option(CLI::App& command, std::vector<std::string>& fields) {
  const auto take = [&fields](const std::string& text) {
    fields = names_in(text, "--fields");
    for (const std::string& field : fields)
      if (std::ranges::count(fields, field) > 1) throw UsageError("--fields: \"" + field + "\" is named twice");
  };
  command
      .add_option_function<std::string>(
          "--fields", take,
          "Only these fields, like a,b, in this order; others of HDF5, CSV, JSON and tar are not even opened")
      ->type_name(names_type);
}

void add_json_option(CLI::App& command, std::string& file) {
  command
      .add_option("--json", file,
                  "The result as JSON on stdout, and nothing else there. --json FILE.json: into this file, beside\n"
                  "the text; --json=FILE where it has another name and stands before the store")
      ->type_name("[FILE]");
}

CLI::Validator whole_number() {
  return {[](const std::string& text) {
            std::uint64_t number = 0;
            const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
            return failed == std::errc() && end == text.data() + text.size()
                       ? std::string()
                       : "\"" + text + "\" is not a whole number from 0 that fits into 64 bits";
          },
          "", "whole number"};
}

}  // namespace penstock::cli
