// SPDX-License-Identifier: Apache-2.0
#include "answer.hpp"

#include <algorithm>
#include <charconv>

namespace penstock::remote {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// Reads a number of decimal digits alone.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view value) {
  value = trimmed(value);
  constexpr std::string_view unit = "bytes ";
  if (lower(value.substr(0, unit.size())) != unit) return std::nullopt;
  value = trimmed(value.substr(unit.size()));
  const std::size_t slash = value.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  ContentRange range;
  const std::string_view size = value.substr(slash + 1), part = value.substr(0, slash);
  if (size != "*" && !(range.size = number(size))) return std::nullopt;
  if (part == "*") return range;
  const std::size_t dash = part.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  range.first = number(part.substr(0, dash)), range.last = number(part.substr(dash + 1));
  if (!range.first || !range.last || *range.last < *range.first || (range.size && *range.last >= *range.size))
    return std::nullopt;
  return range;
}

bool Answer::take(std::string_view line) {
  bytes_ += line.size();
  if (bytes_ > most_bytes) return false;
  if (line.starts_with("HTTP/")) {
    const std::size_t bytes = bytes_;  // interim answers count as well
    *this = Answer();
    bytes_ = bytes;
    return true;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return true;
  const std::string name = lower(trimmed(line.substr(0, colon)));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-range")
    range = parse_content_range(value);
  else if (name == "etag")
    etag = value;
  else if (name == "last-modified")
    last_modified = value;
  else if (name == "date")
    date = value;
  else if (name == "content-type")
    content_type = lower(value);
  else if (name == "content-encoding")
    content_encoding = lower(value);
  else if (name == "retry-after")
    if (const auto seconds = number(value); seconds && *seconds <= 1'000'000)
      retry_after = std::chrono::seconds(static_cast<std::int64_t>(*seconds));
  return true;
}

}  // namespace penstock::remote
