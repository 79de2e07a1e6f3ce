#include "cache/cache_manifest.hpp"

#include <cstdio>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::lmdb {

namespace {

// The next line of `text`, which is taken from it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

// What a manifest holds is UTF-8; names of fields are any bytes.
std::string escaped_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) out += escaped(next_line(text)) + '\n';
  return out;
}

std::string job_of(const penstock::CacheKey& key) {
  char number[32];
  std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(key.fingerprint));
  return std::string(Manifest::cache_job) + number + "\n" + escaped_lines(key.made_by);
}

}  // namespace

Manifest cache_manifest(const penstock::CacheKey& key) {
  Manifest manifest;
  manifest.keys = "position";
  manifest.job = job_of(key);
  manifest.schema = key.schema;
  return manifest;
}

std::string difference(const Manifest& there, const penstock::CacheKey& key) {
  if (!there.of_cache())
    throw Error(Errc::invalid_argument,
                "the store there holds records, not a cache; give the cache a folder of its own");
  const std::string wanted = job_of(key);
  if (there.job == wanted) return {};
  std::string_view old_lines = there.job, new_lines = wanted;
  next_line(old_lines);
  next_line(new_lines);
  while (!old_lines.empty() || !new_lines.empty()) {
    const std::string_view before = next_line(old_lines), now = next_line(new_lines);
    if (before == now) continue;
    const auto said = [](std::string_view line) {
      return line.empty() ? std::string("nothing more") : "\"" + std::string(line) + "\"";
    };
    return "where this pipeline has " + said(now) + ", it has " + said(before);
  }
  return "it was made with other draws";
}

}  // namespace penstock::lmdb
