// SPDX-License-Identifier: Apache-2.0
// Writers that run on many threads, are killed at any moment, and run again until they are done.
#include <cstdint>
#include <filesystem>
#include <string>

#include "killed_writer.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

void write_lmdb_store(const Task& task) {
  const Pipeline records = read_shards(task.from) | seed(8) | shuffle() | Noise{};
  const bool raw = task.variant == 1;
  write_all(task, raw ? records | select_fields({"image"}) : records,
            LmdbSink({.path = task.to,
                      .records = raw ? LmdbRecords::raw : LmdbRecords::fields,
                      .job = std::to_string(records.fingerprint()),
                      .sync = !raw,
                      .map_bytes = 300'000}));
}

void write_tar_shards(const Task& task) {
  const Pipeline records = read_lmdb(task.from) | seed(9) | shuffle() | Noise{};
  const bool by_bytes = task.variant == 1;
  write_all(task, records,
            WebDatasetSink({.path = task.to + "/part",
                            .max_samples = by_bytes ? 10'000u : 37u,
                            .max_bytes = by_bytes ? 200'000u : 1u << 30,
                            .job = std::to_string(records.fingerprint()),
                            .sync = !by_bytes}));
}

// All pairs of a store, as LMDB alone reads them, and the names of its files.
Content lmdb_content(const std::string& path) {
  Content content = RawLmdb{path}.read();
  for (const auto& entry : std::filesystem::directory_iterator(path))
    content["file " + entry.path().filename().string()] = "";
  return content;
}

// Every byte of every file.
Content tar_content(const std::string& path) {
  Content content;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    content[entry.path().filename().string()] = file_text(entry.path().string());
  return content;
}

// True where a store can be opened as a whole one.
bool lmdb_opens(const std::string& path) {
  try {
    return LmdbSource({.path = path}).size() != 0;
  } catch (const Error&) {
    return false;
  }
}
bool tar_opens(const std::string& path) {
  try {
    return WebDatasetSource({.path = path}).size() != 0;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a killed write to LMDB ends with the same keys and values") {
  if (is_child()) return write_lmdb_store(task());
  const TempFolder folder;
  write_shards(folder / "from");
  kill_writing("writer: WebDataset to LMDB, records and bare values",
               "a killed write to LMDB ends with the same keys and values", folder, {lmdb_content, lmdb_opens});
}

TEST_CASE("a killed write to WebDataset shards ends with the same bytes") {
  if (is_child()) return write_tar_shards(task());
  const TempFolder folder;
  write_lmdb(folder / "from");
  kill_writing("writer: LMDB to WebDataset, shards by number and by bytes",
               "a killed write to WebDataset shards ends with the same bytes", folder, {tar_content, tar_opens});
}
