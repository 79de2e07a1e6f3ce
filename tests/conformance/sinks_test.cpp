// SPDX-License-Identifier: Apache-2.0
// The sinks, held to their contract.
#include <penstock/penstock.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/files_sink.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/testing/generated_records.hpp>
#include <penstock/testing/sink.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_sink;

TEST_CASE("LmdbSink keeps the contract of a sink") {
  for (const bool single_file : {false, true}) {
    const TempFolder folder;
    const auto report = check_sink(
        [&](const std::string& path) {
          return ps::LmdbSink({.path = path, .single_file = single_file, .sync = false});
        },
        [](const std::string& path) { return ps::share(ps::LmdbSource({.path = path})); }, folder.path().string());
    CHECK(report.text() == "");
    CHECK(report.passed());
  }
}

TEST_CASE("LmdbSink of raw values keeps the contract of a sink") {
  const TempFolder folder;
  const auto report = check_sink(
      [](const std::string& path) {
        return ps::LmdbSink({.path = path, .records = ps::LmdbRecords::raw, .sync = false});
      },
      [](const std::string& path) { return ps::share(ps::LmdbSource({.path = path})); }, folder.path().string());
  CHECK(report.text() == "");
}

TEST_CASE("WebDatasetSink keeps the contract of a sink") {
  for (const std::uint64_t max_samples : {7, 1000}) {
    const TempFolder folder;
    const auto report = check_sink(
        [&](const std::string& path) {
          return ps::WebDatasetSink({.path = path, .max_samples = max_samples, .sync = false});
        },
        [](const std::string& path) {
          return ps::share(
              ps::WebDatasetSource({.path = path + "-*.tar", .fields = {{"image", "bin"}, {"label", "cls"}}}));
        },
        folder.path().string());
    CHECK(report.text() == "");
    CHECK(report.passed());
  }
}

TEST_CASE("FilesSink keeps the contract of a sink") {
  for (const bool sync : {false, true}) {
    const TempFolder folder;
    const auto report = check_sink([&](const std::string& path) { return ps::FilesSink({.path = path, .sync = sync}); },
                                   [](const std::string& path) {
                                     return ps::share(ps::FilesSource({.root = path, .labels = path + "/records.csv"}));
                                   },
                                   folder.path().string());
    CHECK(report.text() == "");
    CHECK(report.passed());
  }
}
