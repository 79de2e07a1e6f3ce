// SPDX-License-Identifier: Apache-2.0
#include "console/urls.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include <penstock/sources/remote.hpp>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

std::vector<std::string>& urls_of_arguments() {
  static std::vector<std::string> urls;
  return urls;
}

bool may_be_in_scheme(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
}

// Returns where the scheme begins that ends before `end`.
std::size_t begin_of_scheme(std::string_view text, std::size_t end) noexcept {
  while (end != 0 && may_be_in_scheme(text[end - 1])) --end;
  return end;
}

void replace_in(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

bool is_url(std::string_view text) noexcept {
  const std::size_t end = text.find("://");
  return end != std::string_view::npos && end != 0 && begin_of_scheme(text, end) == 0;
}

void remember_urls(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t end = word.find("://");
    if (end != std::string_view::npos) urls_of_arguments().emplace_back(word.substr(begin_of_scheme(word, end)));
  }
  // Longer ones first, because one may be the beginning of another.
  std::ranges::sort(urls_of_arguments(), std::ranges::greater(), &std::string::size);
}

std::string without_secrets(std::string text) {
  for (const std::string& url : urls_of_arguments()) {
    const std::string shown = shown_url(url);
    if (shown == url) continue;
    replace_in(text, url, shown);
    replace_in(text, printable(url), shown);
  }
  return text;
}

void refuse_urls(const CLI::App& command) {
  const bool reads_servers = command.get_option_no_throw("--token-env") != nullptr;
  for (const CLI::Option* const option : command.get_options())
    for (const std::string& value : option->results()) {
      if (!is_url(value) || (reads_servers && option->get_name() == "STORE")) continue;
      throw UsageError(fmt::format(
          "{} {}: it is a URL; inspect, verify, bench and convert read tar shards from servers, named as their STORE",
          option->get_name(), shown_url(value)));
    }
}

}  // namespace penstock::cli
