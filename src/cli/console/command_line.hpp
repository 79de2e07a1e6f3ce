#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <penstock/sources/file_access.hpp>

namespace penstock::cli {

/// What every --help ends with.
extern const char* const exit_status_help;

/// The program's arguments in the order CLI11 takes them, which is the last one first. `--json` takes the next argument
/// as its value where that is `-`, ends in `.json`, or can't be the store, as that was named first of all; a lone one
/// means stdout.
/// @throws UsageError for `--json=` and nothing after it.
std::vector<std::string> arguments_of(int argc, const char* const* argv);

/// Adds --json, which sets `file`: empty without it, "-" for stdout, where nothing else is printed then.
void add_json_option(CLI::App& command, std::string& file);

/// Adds --isolate, which sets `isolate`.
void add_isolate_option(CLI::App& command, bool& isolate);

/// Adds --key-field, a dataset's or a column's name.
void add_key_option(CLI::App& command, std::string& key);

/// Names between commas, as `in_list` writes them: "a,\"b,c\"". @throws UsageError, which names the option, for an
/// empty one and a quote that is never closed.
std::vector<std::string> names_in(const std::string& text, const std::string& option);

/// What a list of names is called in --help.
inline constexpr const char* names_type = "NAMES";

/// Adds an option of names between commas, which may come several times.
CLI::Option* add_names_option(CLI::App& command, const std::string& option, std::vector<std::string>& names,
                              const std::string& text);

/// Adds --access, how files are read.
void add_access_option(CLI::App& command, FileAccess& access);

/// Adds --fields, names between commas.
void add_fields_option(CLI::App& command, std::vector<std::string>& fields);

/// Whole numbers from 0 that fit into 64 bits. Without it a negative one would be taken for a huge one.
CLI::Validator whole_number();

}  // namespace penstock::cli
