// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <penstock/error.hpp>

namespace penstock::cli {

/// Keeps keys in the order in which they were inserted.
using Json = nlohmann::ordered_json;

/// Thrown if the command line asks for something impossible; the exit status is 2. The message is at most as long as an
/// Error's cause, because the message may list the fields of a store, and a store may have any number of fields.
struct UsageError : std::runtime_error {
  explicit UsageError(std::string text) : std::runtime_error(Error(Errc::invalid_argument, std::move(text)).cause()) {}
};

/// Returns text from a store or a file name in a form that is safe for a terminal (`without_controls`): it stays one
/// line and can't control the terminal. Cuts the text after about `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = std::string_view::npos);
/// Returns a record's key, made `printable` and cut, because a file may contain keys of any length.
std::string printable_key(std::string_view key);
/// Returns for example "1,234,567".
std::string with_commas(std::uint64_t number);
/// Returns for example "1 file", or "1,234 files".
std::string counted(std::uint64_t number, std::string_view noun);
/// Returns for example "31.2 KiB".
std::string bytes_text(double bytes);
/// Returns for example "1:05", or "2:03:04".
std::string clock_text(double seconds);
/// Reads "2GiB", "512M" or "1000" as a number of bytes. K, M, G and T are powers of 1024, with or without "B" or "iB".
/// @throws UsageError.
std::uint64_t parse_bytes(const std::string& text);
/// Reads "64MiB,1GiB" as a list of numbers of bytes. @throws UsageError.
std::vector<std::uint64_t> parse_sizes(const std::string& text);
/// Reads "2", "1..4" or "1,2,8" as a list of numbers. `what` is the noun for messages. @throws UsageError.
std::vector<unsigned> parse_counts(const std::string& text, const char* what, unsigned least, unsigned most);
std::vector<unsigned> parse_threads(const std::string& text);

/// Prints text on stdout. All output on stdout uses this function, except what CLI11 prints for --help and --version.
/// @throws std::runtime_error if the text can't be written.
void print(std::string_view text);
/// Returns JSON as text. Strings that are not UTF-8 are changed by `as_json_has_it`. `indent`: spaces per level; -1:
/// all in one line.
std::string json_text(const Json& json, int indent);
/// Returns a page that consists of `before`, `data` and `after`. `data` is JSON in a script element, so each "<" in it
/// is escaped.
std::string page_with_data(std::string_view before, std::string_view data, std::string_view after);
/// Returns the text as UTF-8, the only encoding in JSON. A byte that is not UTF-8 becomes four characters, like "\xf6".
std::string as_json_has_it(std::string_view text);
/// Writes JSON, as `json_text` returns it, to `file`. Creates missing folders. Writes to stdout if `file` is "-".
/// @throws std::runtime_error.
void write_json(const Json& json, const std::string& file);

}  // namespace penstock::cli
