// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <penstock/sources/file_access.hpp>

namespace penstock::cli {

/// The text at the end of every --help.
extern const char* const exit_status_help;

/// Returns the program's arguments in the order that CLI11 expects, the last one first. `--json` takes the next
/// argument as its value if that argument is `-` or ends in `.json`. If the store was named directly after the command,
/// `--json` takes any next argument that does not begin with `-`. A `--json` without a value means stdout. @throws
/// UsageError for `--json=` with nothing after it.
std::vector<std::string> arguments_of(int argc, const char* const* argv);

/// Adds --json, which sets `file` to the name of a file, or to "-" for stdout. Without --json, `file` is not changed.
/// With "-", nothing else is printed on stdout.
void add_json_option(CLI::App& command, std::string& file);

/// Adds --isolate, which sets `isolate`.
void add_isolate_option(CLI::App& command, bool& isolate);

/// Adds --key-field, which sets `key`: the name of a dataset or a column.
void add_key_option(CLI::App& command, std::string& key);

/// Splits names at commas, as `in_list` writes them: "a,\"b,c\"". @throws UsageError, which names the option, for an
/// empty name or an unclosed quote.
std::vector<std::string> names_in(const std::string& text, const std::string& option);

/// The type of a list of names, as --help shows it.
inline constexpr const char* names_type = "NAMES";

/// Adds an option that takes comma-separated names. The option may be given several times.
CLI::Option* add_names_option(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                              const std::string& text);

/// Adds --access, which sets how files are read.
void add_access_option(CLI::App& command, FileAccess& access);

/// Adds --fields, which sets `fields`: comma-separated names.
void add_fields_option(CLI::App& command, std::vector<std::string>& fields);

/// Accepts whole numbers from 0 that fit into 64 bits. Without this check, a negative number would be read as a huge
/// number.
CLI::Validator whole_number();

}  // namespace penstock::cli
