// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/lmdb_cache.hpp>

#include <memory>
#include <utility>

#include <penstock/error.hpp>

#include "cache/open_cache.hpp"

namespace penstock {

namespace {

class LmdbCacheMaker final : public CacheMaker {
 public:
  LmdbCacheMaker(std::string path, LmdbCacheOptions options) : path_(std::move(path)), options_(options) {}
  void check(const CacheKey& key) const override {
    if (!key.identified && !options_.allows.unversioned)
      throw Error(
          Errc::invalid_argument,
          "the source doesn't say which data it has (a member identity()), or can't (HDF5's virtual and external "
          "data), so a cache that outlives it could hold those of another; give it one, or set allows.unversioned and "
          "delete the cache yourself");
  }
  std::shared_ptr<RecordCache> open(const CacheKey& key) const override {
    return lmdb::open_cache(path_, options_, key);
  }
  std::string label() const override { return "cache(" + path_ + ")"; }

 private:
  std::string path_;
  LmdbCacheOptions options_;
};

}  // namespace

Stage cache(std::string path, LmdbCacheOptions options) {
  if (path.empty() || path.find('\0') != std::string::npos)
    throw Error(Errc::invalid_argument, "give the cache a folder").with_stage("cache");
  return cache(std::make_shared<LmdbCacheMaker>(std::move(path), options), options.allows);
}

}  // namespace penstock
