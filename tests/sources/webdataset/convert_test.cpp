// SPDX-License-Identifier: Apache-2.0
// Records go from tar shards to LMDB and back: one line each.
#include <filesystem>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("shards become an LMDB, and that the same shards again") {
  const TempFolder folder;
  std::string shard;
  constexpr std::uint64_t samples = 200;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::string key = "cat/" + std::to_string(100'000 + i);
    shard += tar_member(key + ".jpg", "\xff\xd8\xff" + std::string(i * 37 % 5000, 'j'));
    shard += tar_member(key + ".cls", std::to_string(i));
  }
  folder.write("in.tar", shard + tar_end);
  const std::vector<WebDatasetField> fields{{"image", "jpg"}, {"label", "cls"}};

  write(from(WebDataset{.path = folder / "in.tar", .fields = fields}), LmdbSink({.path = folder / "lmdb"}));
  write(from(Lmdb{.path = folder / "lmdb"}), WebDatasetSink({.path = folder / "out", .max_samples = 70}));

  const WebDatasetSource in({.path = folder / "in.tar", .fields = fields});
  const WebDatasetSource out({.path = folder / "out-{000000..000002}.tar", .fields = fields});
  REQUIRE(out.size() == samples);
  for (std::uint64_t i = 0; i < samples; ++i) {
    CHECK(out.key(i) == in.key(i));
    CHECK(read_text(out, i) == read_text(in, i));
    CHECK(read_label(out, i) == static_cast<std::int64_t>(i));
  }

  // Samples that a pipeline has shuffled, whose index is not their position, keep their keys and values, too.
  const auto shuffled = from(WebDataset{.path = folder / "in.tar", .fields = fields}) | shuffle({.seed = 5});
  write(shuffled, WebDatasetSink({.path = folder / "shuffled", .max_samples = 70}), {.threads = 3});
  const WebDatasetSource mixed({.path = folder / "shuffled-*.tar", .fields = fields});
  std::vector<std::uint64_t> order(samples);
  shuffled.fill(0, 0, order);
  for (std::uint64_t i = 0; i < samples; ++i) {
    CHECK(mixed.key(i) == in.key(order[i]));
    CHECK(read_label(mixed, i) == static_cast<std::int64_t>(order[i]));
  }
  CHECK(order.front() != 0);
}

TEST_CASE("advice is given while members are not in memory, and then only now and then") {
  const TempFolder folder;
  std::string shard;
  for (int i = 0; i < 64; ++i) shard += tar_member(std::to_string(i) + ".bin", std::string(20'000, 'x'));
  folder.write("a.tar", shard + tar_end);
  const WebDatasetSource source({.path = folder / "a.tar"});
  std::vector<std::uint64_t> indices(32);
  for (std::uint64_t i = 0; i < indices.size(); ++i) indices[i] = i * 2;
  source.will_need(indices);
  CHECK(source.members_advised() == 32);
  for (int call = 0; call < 1000; ++call) source.will_need(indices);
  CHECK(source.members_advised() < 1000 * 32 / 4);
  indices = {1'000'000, ~std::uint64_t{0}};
  for (int call = 0; call < 1000; ++call) source.will_need(indices);
}
