// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_key.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <vector>

namespace penstock::remote {

namespace {

std::string_view name_of(std::string_view parameter) { return parameter.substr(0, parameter.find('=')); }

std::vector<std::string_view> parameters_of(std::string_view query) {
  std::vector<std::string_view> found;
  for (std::string_view rest = query; !rest.empty();) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    found.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return found;
}

// What signs a URL: the parameters that show it, and all that then belong to the signature.
struct Signing {
  std::vector<std::string_view> shown_by, parameters;
};

const std::vector<Signing>& signings() {
  static const std::vector<Signing> all{
      // Shared access signatures of Azure.
      {{"sv", "sig"},
       {"sv", "se", "st", "sr", "sp", "sig", "spr", "sip", "srt", "ss", "ske", "skoid", "sks", "skt", "sktid", "skv"}},
      {{"Key-Pair-Id", "Signature"}, {"Key-Pair-Id", "Signature", "Policy", "Expires"}},  // CloudFront
      {{"AWSAccessKeyId", "Signature"}, {"AWSAccessKeyId", "Signature", "Expires"}},      // S3, version 2
      {{"GoogleAccessId", "Signature"}, {"GoogleAccessId", "Signature", "Expires"}}};
  return all;
}

std::string without_signature(std::string_view url) {
  const std::size_t query = url.find('?');
  std::string kept(url.substr(0, query));
  if (query == std::string_view::npos) return kept;
  const std::vector<std::string_view> parameters = parameters_of(url.substr(query + 1));
  std::set<std::string_view> names, signature;
  for (const std::string_view parameter : parameters) names.insert(name_of(parameter));
  for (const Signing& signing : signings())
    if (std::ranges::all_of(signing.shown_by, [&](std::string_view name) { return names.contains(name); }))
      signature.insert(signing.parameters.begin(), signing.parameters.end());
  for (const std::string_view parameter : parameters) {
    const std::string_view name = name_of(parameter);
    if (!name.starts_with("X-Amz-") && !name.starts_with("X-Goog-") && !signature.contains(name))
      kept.append("&").append(parameter);
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
