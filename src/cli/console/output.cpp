// SPDX-License-Identifier: Apache-2.0
#include "console/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::cli {

std::string printable(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return without_controls(text);
  return without_controls(text.substr(0, longest)) + "...";
}

std::string printable_key(std::string_view key) { return printable(key, 1000); }

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", with_commas(number), noun, number == 1 ? "" : "s");
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e7) return "?";
  const auto s = static_cast<std::uint64_t>(std::llround(seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::uint64_t parse_bytes(const std::string& text) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  std::string unit = text.substr(used);
  while (!unit.empty() && unit.front() == ' ') unit.erase(0, 1);
  for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static constexpr std::string_view units[] = {"", "K", "M", "G", "T"};
  for (std::size_t i = 0; i < std::size(units) && value >= 0 && std::isfinite(value); ++i) {
    const std::string u(units[i]);
    const bool match = i == 0 ? (unit.empty() || unit == "B") : (unit == u || unit == u + "B" || unit == u + "IB");
    const double bytes = value * std::pow(1024.0, static_cast<double>(i));
    if (match && bytes < 1e18) return static_cast<std::uint64_t>(bytes);
  }
  throw UsageError("\"" + printable(text) + "\" is not a number of bytes; write it like 2GiB, 512M or 1000000");
}

std::vector<unsigned> parse_counts(const std::string& text, const char* what, unsigned least, unsigned most) {
  const auto refuse = [&]() -> UsageError {
    return UsageError(fmt::format("\"{}\" is not a number of {}; write 2, 1..4 or 1,2,8, from {} to {}",
                                  printable(text), what, least, most));
  };
  const auto number = [&](std::string_view part) {
    if (part.empty() || part.size() > 4 || part.find_first_not_of("0123456789") != part.npos) throw refuse();
    const unsigned n = static_cast<unsigned>(std::stoul(std::string(part)));
    if (n < least || n > most) throw refuse();
    return n;
  };
  std::vector<unsigned> list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    if (const std::size_t dots = part.find(".."); dots != part.npos) {
      const unsigned first = number(part.substr(0, dots)), last = number(part.substr(dots + 2));
      if (first > last) throw refuse();
      for (unsigned n = first; n <= last; ++n) list.push_back(n);
    } else {
      list.push_back(number(part));
    }
    at = end + 1;
  }
  return list;
}

std::vector<unsigned> parse_threads(const std::string& text) { return parse_counts(text, "threads", 1, 1024); }

std::vector<std::uint64_t> parse_sizes(const std::string& text) {
  std::vector<std::uint64_t> list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    list.push_back(parse_bytes(text.substr(at, end - at)));
    at = end + 1;
  }
  return list;
}

namespace {

// Returns only the cause of a system error. Errors about files that the tool writes for its user are shown without an
// error code and without the name of a source.
std::string system_cause(std::string_view doing) { return system_error("", errno, doing, "").cause(); }

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw std::runtime_error(system_cause("standard output"));
}

namespace {

Json in_utf8(const Json& json) {
  if (json.is_string()) return as_json_has_it(json.get_ref<const std::string&>());
  if (json.is_array()) {
    Json copy = Json::array();
    for (const Json& each : json) copy.push_back(in_utf8(each));
    return copy;
  }
  if (!json.is_object()) return json;
  Json copy = Json::object();
  for (const auto& [name, each] : json.items()) copy[as_json_has_it(name)] = in_utf8(each);
  return copy;
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  try {
    return json.dump(indent, ' ', false, Json::error_handler_t::strict);
  } catch (const Json::type_error&) {
    return in_utf8(json).dump(indent, ' ', false, Json::error_handler_t::replace);
  }
}

std::string page_with_data(std::string_view before, std::string_view data, std::string_view after) {
  std::string page(before);
  // No character in the data may end the script element.
  for (const char c : data) page += c == '<' ? "\\u003c" : std::string(1, c);
  return page.append(after);
}

std::string as_json_has_it(std::string_view text) {
  std::string valid;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text.substr(at));
    valid += bytes == 0 ? fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]))
                        : std::string(text.substr(at, bytes));
    at += std::max<std::size_t>(bytes, 1);
  }
  return valid;
}

void write_json(const Json& json, const std::string& file) {
  const std::string text = json_text(json, 2) + "\n";
  if (file == "-") return print(text);
  if (const std::string folder = std::filesystem::path(file).parent_path().string(); !folder.empty())
    make_folder(folder, "json");
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(file + ": " + system_cause("could not be written"));
}

}  // namespace penstock::cli
