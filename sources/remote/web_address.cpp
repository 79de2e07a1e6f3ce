// SPDX-License-Identifier: Apache-2.0
#include "web_address.hpp"

#include <curl/curl.h>

#include <charconv>
#include <memory>
#include <new>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::remote {

namespace {

struct FreeUrl {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
using ParsedUrl = std::unique_ptr<CURLU, FreeUrl>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// By RFC 3986, these mean the same with and without an escape.
bool is_unreserved(unsigned char c) noexcept {
  const char small = lower(static_cast<char>(c));
  return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string with_canonical_escapes(const std::string& text) {
  std::string made;
  made.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] != '%' || i + 2 >= text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
      made += text[i];
      continue;
    }
    if (is_unreserved(byte))
      made += static_cast<char>(byte);
    else
      (made += '%') += {upper(digits[0]), upper(digits[1])};
    i += 2;
  }
  return made;
}

// Returns what may be shown of a text that can't be taken apart. A secret may have any character in it.
std::string hidden(std::string_view text) {
  const std::size_t scheme = text.find("://"), at = text.rfind('@');
  // What is after the "@" may belong to the query, and what is before it to a password.
  if (at != std::string_view::npos && text.find_first_of("?#") < at)
    return printable(text.substr(0, scheme == std::string_view::npos ? 0 : scheme + 3)) + "...";
  const std::string_view begin = scheme == std::string_view::npos ? "" : text.substr(0, scheme + 3);
  std::string_view rest = text.substr(at != std::string_view::npos ? at + 1 : begin.size());
  rest = rest.substr(0, rest.find_first_of("?#"));
  return printable(std::string(begin) + std::string(rest));
}

}  // namespace

WebAddress::WebAddress(const std::string& url) {
  const ParsedUrl parsed(curl_url());
  if (parsed == nullptr) throw std::bad_alloc();
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0);
  const std::string scheme = code == CURLUE_OK ? part(parsed.get(), CURLUPART_SCHEME) : "";
  if ((scheme != "http" && scheme != "https") || url.find('\0') != std::string::npos)
    throw Error(Errc::invalid_argument, "the text is not a URL that begins with http:// or https://")
        .with_file(hidden(url));
  curl_url_set(parsed.get(), CURLUPART_FRAGMENT, nullptr, 0);
  url_ = part(parsed.get(), CURLUPART_URL);
  origin_ = scheme + "://" + part(parsed.get(), CURLUPART_HOST) + ":" +
            part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  encrypted_ = scheme == "https";
  for (const CURLUPart secret : {CURLUPART_USER, CURLUPART_PASSWORD}) curl_url_set(parsed.get(), secret, nullptr, 0);
  without_user_ = part(parsed.get(), CURLUPART_URL);
  curl_url_set(parsed.get(), CURLUPART_QUERY, nullptr, 0);
  shown_ = without_controls(part(parsed.get(), CURLUPART_URL));
}

std::string WebAddress::base_name() const { return shown_.substr(shown_.rfind('/') + 1); }

std::string shown_url(const std::string& url) {
  try {
    return WebAddress(url).shown();
  } catch (const Error& error) {
    return error.file();
  }
}

std::string canonical_url(const std::string& url) {
  const ParsedUrl parsed(curl_url());
  if (parsed == nullptr) throw std::bad_alloc();
  const std::string text = with_canonical_escapes(url);
  if (text.find('\0') != std::string::npos || curl_url_set(parsed.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK)
    return url;
  std::string host = part(parsed.get(), CURLUPART_HOST);
  for (char& c : host) c = lower(c);
  const std::string query = part(parsed.get(), CURLUPART_QUERY);
  return part(parsed.get(), CURLUPART_SCHEME) + "://" + host + ":" +
         part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT) + part(parsed.get(), CURLUPART_PATH) +
         (query.empty() ? "" : "?" + query);
}

}  // namespace penstock::remote
