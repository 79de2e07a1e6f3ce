// SPDX-License-Identifier: Apache-2.0
// Shards of many small members: of many names, of many kinds, or of few where many were to be expected.
#include <string>

#include <penstock/extend/source.hpp>
#include <penstock/sources/webdataset.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

void write_shard(const TempFolder& folder, const std::string& name, const std::string& members) {
  folder.write(name, members + tar_end);
}

// Empty members: n samples of one, or one of n.
std::string samples(std::size_t n, const std::string& extension) {
  std::string members;
  for (std::size_t i = 0; i < n; ++i) members += tar_block("s" + std::to_string(i) + "." + extension, 0).bytes;
  return members;
}

std::string sample_of(std::size_t extensions) {
  std::string members;
  for (std::size_t i = 0; i < extensions; ++i) members += tar_block("first.x" + std::to_string(i), 0).bytes;
  return members;
}

// A member whose name an extended header gives.
std::string long_named(const std::string& name) {
  return tar_member("header", pax_record("path", name), 'x') + tar_block("short", 0).bytes;
}

void open(const TempFolder& folder) { (void)WebDatasetSource({.path = folder / "a-{0..1}.tar"}).schema(); }

void open_one(const TempFolder& folder) { (void)WebDatasetSource({.path = folder / "a.tar"}).schema(); }

void read_second(const TempFolder& folder) {
  (void)read_sample(WebDatasetSource({.path = folder / "a-{0..1}.tar"}), 1);
}

}  // namespace

TEST_CASE("shards take time and memory as they are large") {
  check_inputs("tar", {.seconds = 0.5, .megabytes = 64},
               {
                   {.name = "a shard of 1,024 extensions, one of n samples",
                    .size = 5'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          write_shard(f, "a-0.tar", sample_of(1024));
                          write_shard(f, "a-1.tar", samples(n, "x7"));
                        },
                    .use = open},
                   {.name = "a sample of n extensions",
                    .size = 5'000,
                    .make = [](const TempFolder& f, std::size_t n) { write_shard(f, "a.tar", sample_of(n)); },
                    .use = open_one},
                   {.name = "n samples",
                    .size = 10'000,
                    .make = [](const TempFolder& f, std::size_t n) { write_shard(f, "a.tar", samples(n, "txt")); },
                    .use = open_one},
                   {.name = "names of n bytes in an error",
                    .size = 12'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          write_shard(f, "a-0.tar", samples(1, "txt"));
                          write_shard(f, "a-1.tar", long_named(std::string(n, 'k') + "." + std::string(n / 4, 'e')));
                        },
                    .use = read_second,
                    .refused = Errc::corrupt},
               });
}

}  // namespace PENSTOCK_TEST_FILE
