// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_key.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace penstock::remote {

namespace {

// What S3, Google Cloud Storage, CloudFront and Azure add to a URL to sign it.
bool signs(std::string_view parameter) {
  static const std::set<std::string_view> names{"AWSAccessKeyId",
                                                "GoogleAccessId",
                                                "Key-Pair-Id",
                                                "Policy",
                                                "Signature",
                                                "Expires",
                                                "sv",
                                                "se",
                                                "st",
                                                "sr",
                                                "sp",
                                                "sig",
                                                "spr",
                                                "sip",
                                                "srt",
                                                "ss",
                                                "ske",
                                                "skoid",
                                                "sks",
                                                "skt",
                                                "sktid",
                                                "skv"};
  const std::string_view name = parameter.substr(0, parameter.find('='));
  return name.starts_with("X-Amz-") || name.starts_with("X-Goog-") || names.contains(name);
}

std::string without_signature(std::string_view url) {
  const std::size_t query = url.find('?');
  std::string kept(url.substr(0, query));
  if (query == std::string_view::npos) return kept;
  for (std::string_view rest = url.substr(query + 1); !rest.empty();) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    if (!signs(rest.substr(0, end))) kept.append("&").append(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return kept;
}

}  // namespace

std::string CacheKey::text() const {
  std::array<char, 33> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return digits.data();
}

CacheKey cache_key(std::string_view url, std::string_view version, std::uint64_t size) {
  std::string all = without_signature(url);
  all.append("\n").append(version).append("\n").append(std::to_string(size));
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return {hash.high64, hash.low64};
}

}  // namespace penstock::remote
