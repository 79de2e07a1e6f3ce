// SPDX-License-Identifier: Apache-2.0
// LMDB stores whose manifest is long, and forged lists of free pages.
#include <string>

#include <lmdb.h>

#include <penstock/sources/lmdb.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "sources/lmdb/forged_file.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

std::string manifest(const std::string& schema, const std::string& more = {}, const std::string& classes = "[]") {
  return R"({"format":"penstock records","version":1,"complete":true,"count":0,"records":"fields","keys":"position",)"
         R"("job":"",)"
         R"("classes":)" +
         classes + R"(,"schema":)" + schema + more + "}";
}

const std::string one_field = R"([{"name":"a","dtype":"u8","shape":[]}])";

std::string more_keys(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) text += ",\"" + std::to_string(i) + "\":0";
  return text;
}

void store(const TempFolder& folder, const std::string& text) {
  RawLmdb{folder / "store"}.write({{std::string("\0penstock", 9), text}});
}

void open_it(const TempFolder& folder) { (void)LmdbSource({.path = folder / "store"}).schema(); }

// A store that lacks a page; what its list of free pages has is n numbers.
void forge_free_list(const TempFolder& folder, std::size_t n, std::uint64_t named) {
  const RawLmdb raw{folder / "store"};
  raw.write({{"a", "b"}});
  ForgedFile file(folder / "store/data.mdb");
  const std::uint64_t bytes = 8 * (n + 1), pages = (bytes + 15) / ForgedFile::page_bytes + 1, first = file.pages() + 1;
  const std::uint64_t last = first + pages;
  const std::string node = ForgedFile::node_of(static_cast<std::uint32_t>(bytes), 1, ForgedFile::text_of(first));
  file.put(file.header() + ForgedFile::root_of_free_at, file.add_leaf(node, named));
  file.put(file.header() + ForgedFile::last_page_at, last);
  std::string run =
      ForgedFile::text_of(first) + std::string(8, '\0') + ForgedFile::text_of(n) + times(n, ForgedFile::text_of(last));
  run.resize(pages * ForgedFile::page_bytes);
  file.add_pages(run);
  file.write();
}

}  // namespace

TEST_CASE("lists of free pages in LMDB stores take time and memory as they are large") {
  check_inputs("LMDB's free pages", {.seconds = 1, .megabytes = 128},
               {
                   {.name = "one page n times",
                    .size = 100'000,
                    .make = [](const TempFolder& f, std::size_t n) { forge_free_list(f, n, 1); },
                    .use = open_it},
                   {.name = "one page n times, in a list that is named 1000 times",
                    .size = 100'000,
                    .make = [](const TempFolder& f, std::size_t n) { forge_free_list(f, n, 1000); },
                    .use = open_it,
                    .refused = Errc::corrupt},
               });
}

TEST_CASE("manifests of LMDB stores take time and memory as they are large") {
  check_inputs(
      "LMDB", {.seconds = 1, .megabytes = 128},
      {
          {.name = "n more keys",
           .size = 10'000,
           .make = [](const TempFolder& f, std::size_t n) { store(f, manifest(one_field, more_keys(n))); },
           .use = open_it},
          {.name = "n more keys of a field",
           .size = 10'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 store(f, manifest(R"([{"name":"a","dtype":"u8","shape":[])" + more_keys(n) + "}]"));
               },
           .use = open_it},
          {.name = "n lists in each other",
           .size = 50'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 store(f, manifest(one_field, ",\"x\":" + std::string(n, '[') + std::string(n, ']')));
               },
           .use = open_it},
          {.name = "n classes",
           .size = 20'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { store(f, manifest(one_field, {}, "[\"a\"" + times(n, ",\"b\"") + "]")); },
           .use = open_it},
          {.name = "a dtype of n letters",
           .size = 100'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 store(f, manifest(R"([{"name":"a","dtype":")" + std::string(n, 'x') + R"(","shape":[]}])"));
               },
           .use = open_it,
           .refused = Errc::unsupported},
          {.name = "n letters that are no JSON",
           .size = 100'000,
           .make = [](const TempFolder& f, std::size_t n) { store(f, "{\"" + std::string(n, 'x')); },
           .use = open_it,
           .refused = Errc::corrupt},
          {.name = "two fields of one name of n bytes",
           .size = 50'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 const std::string field = R"({"name":")" + std::string(n, 'x') + R"(","dtype":"u8","shape":[]})";
                 store(f, manifest("[" + field + "," + field + "]"));
               },
           .use = open_it,
           .refused = Errc::corrupt},
      });
}

}  // namespace PENSTOCK_TEST_FILE
