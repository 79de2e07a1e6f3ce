// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <stdexcept>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_cache.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "../data.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// A cache that has every record, and a copy of this cache that is read as a data set.
class WarmCache {
 public:
  explicit WarmCache(const Settings& s)
      : store_(picture_store(s, false)), folder_(s.data / "cache_warm"), copy_(s.data / "cache_warm_copy") {
    clear();
    {
      Loader loader(pipeline(), {.threads = s.threads, .epochs = 8});
      while (loader.next()) {
      }
    }
    std::filesystem::create_directories(copy_);
    std::filesystem::copy_file(folder_ / "data.mdb", copy_ / "data.mdb");
  }
  WarmCache(const WarmCache&) = delete;
  WarmCache& operator=(const WarmCache&) = delete;
  ~WarmCache() { clear(); }

  Pipeline pipeline() const {
    return from(Lmdb{.path = store_.folder.string(), .values = LmdbValues::raw}) | decode_jpeg("image") |
           resize("image", {224, 224}) |
           cache(folder_.string(), {.max_queue_bytes = std::size_t{1} << 30, .sync = false}) | shuffle() |
           batch(batch_rows);
  }
  Pipeline direct() const { return from(Lmdb{.path = copy_.string()}) | shuffle() | batch(batch_rows); }
  const Store& store() const noexcept { return store_; }

 private:
  void clear() const {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    std::filesystem::remove_all(copy_, ignored);
  }

  Store store_;
  std::filesystem::path folder_, copy_;
};

}  // namespace

Row cache_warm(const RowSpec& spec, const Settings& settings) {
  const WarmCache warm(settings);
  const Pipeline cached = warm.pipeline(), direct = warm.direct();
  static_cast<void>(cached.at(0));  // opens the cache
  if (cached.plan().find("has " + std::to_string(cached.size()) + " of") == std::string::npos)
    throw std::runtime_error("the cache is not complete: " + cached.plan());
  const Executor executor(settings.threads);
  const std::uint64_t epochs = settings.quick ? 2 : 8;
  const auto time = [&](const Pipeline& pipeline) {
    Timing timing = time_loader(pipeline, executor, settings.threads, epochs);
    timing.value = static_cast<double>(epochs * pipeline.size()) / timing.value;
    return timing;
  };
  Row row = compare(
      spec, settings, [&] { return time(cached); }, [&] { return time(direct); });
  row.notes.push_back(warm.store().description);
  return row;
}

}  // namespace penstock::bench
