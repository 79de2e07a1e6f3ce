// SPDX-License-Identifier: Apache-2.0
// Arrays of NumPy in a shard whose headers are long, or many.
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

// A file of version 2, whose header is `literal`.
std::string npy(const std::string& literal, const std::string& data = "abcd") {
  std::string bytes("\x93NUMPY\x02\x00", 8);
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(literal.size() >> (8 * i) & 0xff);
  return bytes + literal + data;
}

std::string literal(const std::string& shape) {
  return "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
}

void one_member(const TempFolder& folder, const std::string& bytes) {
  folder.write("a.tar", tar_member("a.npy", bytes) + tar_end);
}

void open(const TempFolder& folder) { (void)WebDatasetSource({.path = folder / "a.tar"}).schema(); }

void read_all(const TempFolder& folder) {
  const WebDatasetSource source({.path = folder / "a.tar"});
  for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
}

}  // namespace

TEST_CASE("arrays in shards take time and memory as they are large") {
  check_inputs(
      "npy", {.seconds = 0.5, .megabytes = 64},
      {
          {.name = "n spaces",
           .size = 4'000,
           .make = [](const TempFolder& f, std::size_t n) { one_member(f, npy(literal("4,") + std::string(n, ' '))); },
           .use = open},
          {.name = "n dimensions",
           .size = 4'000,
           .make = [](const TempFolder& f, std::size_t n) { one_member(f, npy(literal(times(n, "1, ")))); },
           .use = open,
           .refused = Errc::invalid_argument},
          {.name = "n arrays",
           .size = 100,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 std::string members;
                 for (std::size_t i = 0; i < n; ++i)
                   members += tar_member(std::to_string(i) + ".npy", npy(literal("4,") + std::string(5'000, ' ')));
                 f.write("a.tar", members + tar_end);
               },
           .use = read_all},
          {.name = "a dtype of n letters",
           .size = 4'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 one_member(f, npy("{'descr': '<" + std::string(n, 'x') + "', 'fortran_order': False, }"));
               },
           .use = open,
           .refused = Errc::invalid_argument},
      });
}

}  // namespace PENSTOCK_TEST_FILE
