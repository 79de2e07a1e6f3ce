// SPDX-License-Identifier: Apache-2.0
// What the tests of caches on disk share.
#pragma once

#include <penstock/sources/lmdb_cache.hpp>

#include <filesystem>
#include <string>

#include "core/loader/cache_help.hpp"
#include "sources/temp_folder.hpp"
#include "support/thrown.hpp"

namespace help {

/// Records whose values fill a page or two now and then.
inline Records wide(std::uint64_t count) { return Records{.count = count, .width = 120}; }

/// Changes "x", by the record's number: what a run computes again is counted.
inline ps::Pipeline cached(const std::string& path, const Records& source, const Mix& made,
                           const ps::LmdbCacheOptions& options = {.sync = false}) {
  return ps::from(source) | made | ps::cache(path, options);
}
inline ps::Pipeline not_cached(std::uint64_t count) { return ps::from(wide(count)) | Mix{}; }

inline ps::Pipeline in_batches(const ps::Pipeline& p, std::uint64_t seed = 3) {
  return p | ps::shuffle({.seed = seed}) | ps::batch(16);
}

/// Opens its cache, of a pipeline without batches, and makes no sample.
inline void open_cache(const ps::Pipeline& p) {
  const ps::Loader loader(p | ps::take(1) | ps::batch(1), {.threads = 1});
}

inline std::string notes_of(const ps::Pipeline& p) {
  const ps::Loader loader(p, {.threads = 1});
  return joined(loader.report().notes);
}

}  // namespace help
