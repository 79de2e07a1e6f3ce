// LMDB stores whose manifest is long.
#include <string>

#include <lmdb.h>

#include <penstock/sources/lmdb.hpp>

#include "slow_inputs/slow_inputs.hpp"
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

}  // namespace

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
