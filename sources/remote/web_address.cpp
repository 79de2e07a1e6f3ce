// SPDX-License-Identifier: Apache-2.0
#include "web_address.hpp"

#include <curl/curl.h>

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

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

// Returns the text as it may be shown, though it is no URL that could be taken apart.
std::string without_secrets(std::string_view text) {
  text = text.substr(0, text.find_first_of("?#"));
  const std::size_t scheme = text.find("://"), begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t at = text.substr(0, text.find('/', begin)).rfind('@');
  if (at == std::string_view::npos || at < begin) return printable(text);
  return printable(std::string(text.substr(0, begin)) + std::string(text.substr(at + 1)));
}

}  // namespace

WebAddress::WebAddress(const std::string& url) {
  const std::unique_ptr<CURLU, FreeUrl> parsed(curl_url());
  if (parsed == nullptr) throw std::bad_alloc();
  const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0);
  const std::string scheme = code == CURLUE_OK ? part(parsed.get(), CURLUPART_SCHEME) : "";
  if ((scheme != "http" && scheme != "https") || url.find('\0') != std::string::npos)
    throw Error(Errc::invalid_argument, "this is no URL that begins with http:// or https://")
        .with_file(without_secrets(url));
  curl_url_set(parsed.get(), CURLUPART_FRAGMENT, nullptr, 0);
  url_ = part(parsed.get(), CURLUPART_URL);
  origin_ = scheme + "://" + part(parsed.get(), CURLUPART_HOST) + ":" +
            part(parsed.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  encrypted_ = scheme == "https";
  for (const CURLUPart secret : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY})
    curl_url_set(parsed.get(), secret, nullptr, 0);
  shown_ = printable(part(parsed.get(), CURLUPART_URL));
}

std::string WebAddress::base_name() const { return shown_.substr(shown_.rfind('/') + 1); }

}  // namespace penstock::remote
