// SPDX-License-Identifier: Apache-2.0
// What is at stake between two calls of the system: a power cut, another process, a shard that changes.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "sources/source_checks.hpp"
#include "sources/system_calls.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/sink_checks.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

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
  const std::vector<LabelledItem> items = shard_items(20);
  for (const std::size_t stop : {1u, 7u, 20u}) {
    WebDatasetSinkOptions options{.path = folder / ("t" + std::to_string(stop)), .max_samples = 3, .sync = false};
    std::set<std::string> synced;
    const Heard heard;
    system_calls().before_sync = [&](const std::string& path) { synced.insert(path); };
    {
      WebDatasetSink part(options);
      part.open({labelled_schema, items.size()});
      for (std::size_t i = 0; i < stop; ++i) put(part, i, items[i]);
      part.commit();
    }
    REQUIRE(synced.empty());
    options.sync = true;
    WebDatasetSink rest(options);
    rest.open({labelled_schema, items.size()});
    const std::string here = std::filesystem::canonical(folder.path()).string();
    std::set<std::string> expected{here};
    for (const auto& entry : std::filesystem::directory_iterator(here))
      if (const std::string name = entry.path().filename().string(), store = "t" + std::to_string(stop);
          (name.starts_with(store + "-") || name.starts_with(store + ".")) && !name.ends_with(".lock"))
        expected.insert(entry.path().string());
    CHECK(expected.size() == 2 + (stop + 2) / 3);
    CHECK(synced == expected);
    for (std::size_t i = stop; i < items.size(); ++i) put(rest, i, items[i]);
    rest.commit();
    rest.finish();
    CHECK(WebDatasetSource({.path = options.path + "-*.tar"}).size() == items.size());
  }
}

TEST_CASE("a sink that is opened while another one finishes finds a finished store, and leaves it so") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = shard_items(7);
  const WebDatasetSinkOptions options{.path = folder / "t", .max_samples = 3};
  WebDatasetSink first(options);
  first.open({labelled_schema, items.size()});
  for (std::size_t i = 0; i < items.size(); ++i) put(first, i, items[i]);
  bool done = false;
  const Heard heard;
  system_calls().before_open = [&](const std::string& path) {
    if (done || !path.ends_with("-unfinished.json.lock")) return;
    done = true;
    first.finish();
  };
  WebDatasetSink second(options);
  second.open({labelled_schema, items.size()});
  CHECK(done);
  CHECK(second.was_finished());
  std::vector<std::string> names;
  for (const auto& [name, content] : files_in(folder.path().string())) names.push_back(name);
  CHECK(names == std::vector<std::string>{"t-000000.tar", "t-000001.tar", "t-000002.tar", "t.tar-made-by.json"});
  WebDatasetSink again(options);
  CHECK(run(again, items));
  CHECK(again.was_finished());
}

TEST_CASE("a sink that is opened while another one gives its shards their names does them no harm") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = shard_items(3);
  const WebDatasetSinkOptions options{.path = folder / "t"};
  WebDatasetSink first(options);
  first.open({labelled_schema, items.size()});
  for (std::size_t i = 0; i < items.size(); ++i) put(first, i, items[i]);
  first.commit();
  bool done = false;
  const Heard heard;
  system_calls().before_open = [&](const std::string& path) {
    if (done || !path.ends_with("-unfinished.json.lock")) return;
    done = true;
    std::filesystem::rename(folder / "t-000000.tar.partial", folder / "t-000000.tar");
  };
  WebDatasetSink second(options);
  const Error error = error_of([&] { second.open({labelled_schema, items.size()}); });
  CHECK(done);
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "another sink"));
  CHECK_FALSE(std::filesystem::exists(folder / "t-000000.tar.partial"));
}

TEST_CASE("with FileAccess::read a shard that is cut short while it is opened is an error") {
  const TempFolder folder;
  const std::string path = folder / "a.tar", header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }\n";
  const std::string array =
      std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + "x";
  const std::string bytes = tar_member("a.jpg", std::string(100'000, 'd')) + tar_member("a.npy", array) + tar_end;
  const auto open = [&] {
    return WebDatasetSource({.path = path, .fields = {{"array", "npy"}}, .threads = 1, .access = FileAccess::read});
  };
  folder.write("a.tar", bytes);
  CHECK(open().schema() == Schema{{"array", DType::u8, {1}}});
  const Heard heard;
  system_calls().before_madvise = [&] {
    if (std::filesystem::file_size(path) == bytes.size()) std::filesystem::resize_file(path, 600);
  };
  const Error error = error_of(open);
  CHECK(error.code() == Errc::io);
  CHECK(error.file() == path);
  CHECK(std::filesystem::file_size(path) == 600);
}
