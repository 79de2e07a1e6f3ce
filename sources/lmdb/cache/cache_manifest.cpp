// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_manifest.hpp"

#include <cstdio>
#include <span>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::lmdb {

namespace {

std::vector<JobFact> facts_with_key(const penstock::CacheKey& key) {
  char number[32];
  std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(key.fingerprint));
  std::vector<JobFact> facts{{std::string(Manifest::cache_fact), number}};
  facts.insert(facts.end(), key.made_by.begin(), key.made_by.end());
  return facts;
}

}  // namespace

Manifest cache_manifest(const penstock::CacheKey& key) {
  Manifest manifest;
  manifest.keys = "position";
  manifest.made_by = facts_with_key(key);
  manifest.schema = key.schema;
  return manifest;
}

std::string difference(const Manifest& there, const penstock::CacheKey& key) {
  if (!there.of_cache())
    throw Error(Errc::invalid_argument,
                "the store there holds records, not a cache; give the cache a folder of its own");
  const std::vector<JobFact> here = facts_with_key(key);
  if (there.made_by == here) return {};
  const std::string differs = job_difference(std::span(there.made_by).subspan(1), std::span(here).subspan(1));
  return differs.empty() ? "it was made with other draws" : differs;
}

}  // namespace penstock::lmdb
