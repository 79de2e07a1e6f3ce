// What is at stake between two calls of the system: a power cut, another process, a shard that changes.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "source_checks.hpp"
#include "support/catch.hpp"
#include "system_calls.hpp"
#include "tar_files.hpp"
#include "temp_folder.hpp"
#include "webdataset_sink_checks.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// The calls go unheard again when the test ends.
struct Heard {
  Heard() = default;
  Heard(const Heard&) = delete;
  Heard& operator=(const Heard&) = delete;
  ~Heard() { system_calls() = {}; }
};

}  // namespace

TEST_CASE("a run that syncs first syncs what one that did not has left") {
  const TempFolder folder;
  const std::vector<ShardItem> items = shard_items(20);
  for (const std::size_t stop : {1u, 7u, 20u}) {
    WebDatasetSinkOptions options{.path = folder / ("t" + std::to_string(stop)), .max_samples = 3, .sync = false};
    std::set<std::string> synced;
    const Heard heard;
    system_calls().before_sync = [&](const std::string& path) { synced.insert(path); };
    {
      WebDatasetSink part(options);
      part.open(shard_schema, items.size());
      for (std::size_t i = 0; i < stop; ++i) put(part, i, items[i]);
      part.commit();
    }
    REQUIRE(synced.empty());
    options.sync = true;
    WebDatasetSink rest(options);
    rest.open(shard_schema, items.size());
    const std::string here = std::filesystem::canonical(folder.path()).string();
    std::set<std::string> expected{here};
    for (const auto& entry : std::filesystem::directory_iterator(here))
      if (entry.path().filename().string().starts_with("t" + std::to_string(stop) + "-"))
        expected.insert(entry.path().string());
    CHECK(expected.size() == 2 + (stop + 2) / 3);
    CHECK(synced == expected);
    for (std::size_t i = stop; i < items.size(); ++i) put(rest, i, items[i]);
    rest.commit();
    rest.finish();
    CHECK(WebDatasetSource({.path = options.path + "-*.tar"}).size() == items.size());
  }
}
