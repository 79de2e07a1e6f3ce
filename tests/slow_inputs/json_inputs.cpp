// SPDX-License-Identifier: Apache-2.0
// Lines of JSON with many members, many records, long and deep values.
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/json_lines.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

void text(const TempFolder& folder, const std::string& content) { folder.write("a.jsonl", content); }

std::string members(std::size_t n, const std::string& value) {
  std::string line = "{";
  for (std::size_t i = 0; i < n; ++i) line += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\":" + value;
  return line + "}\n";
}

void open_it(const TempFolder& folder) { (void)JsonLinesSource({.path = folder / "a.jsonl"}).schema(); }

void read_all(const TempFolder& folder) {
  const JsonLinesSource source({.path = folder / "a.jsonl"});
  for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
}

void read_a(const TempFolder& folder, const JsonField& field) {
  const JsonLinesSource source({.path = folder / "a.jsonl", .fields = {field}});
  (void)read_sample(source, 0);
}
void read_number(const TempFolder& folder) { read_a(folder, {.member = "a"}); }
void read_text(const TempFolder& folder) { read_a(folder, {.member = "a", .type = JsonType::text}); }
void read_array(const TempFolder& folder) { read_a(folder, {.member = "a", .shape = {dynamic, dynamic, dynamic}}); }
void read_classes(const TempFolder& folder) {
  const JsonLinesSource source({.path = folder / "a.jsonl",
                                .fields = {{.member = "a", .type = JsonType::classes}},
                                .max_classes = ~std::size_t{0}});
  (void)read_sample(source, 0);
}

}  // namespace

TEST_CASE("lines of JSON take time and memory as they are large") {
  check_inputs(
      "JSON", {.seconds = 1, .megabytes = 300},
      {
          {.name = "n members",
           .size = 2'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, members(n, "1")); },
           .use = read_all},
          {.name = "n members that are not wanted",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":1," + members(n, "1").substr(1)); },
           .use = read_number},
          {.name = "n members of one name",
           .size = 100'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"b\":1" + times(n, ",\"b\":1") + ",\"a\":1}"); },
           .use = open_it},
          {.name = "more members than may be found",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, members(n, "1")); },
           .use = open_it,
           .refused = Errc::limit_exceeded},
          {.name = "a name of n bytes with n members",
           .size = 50'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 text(f, "{\"a\":1,\"" + std::string(n, 'n') +
                             "\":" + members(n, "1").substr(0, members(n, "1").size() - 1) + "}");
               },
           .use = open_it},
          {.name = "n records",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, times(n, "{\"a\":1}\n")); },
           .use = open_it},
          {.name = "n empty lines",
           .size = 200'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":1}\n" + std::string(n, '\n')); },
           .use = open_it},
          {.name = "n classes",
           .size = 20'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 std::string lines = "{\"a\":\"0\"}\n";
                 for (std::size_t i = 0; i < n; ++i) lines += "{\"a\":\"" + std::to_string(i) + "\"}\n";
                 text(f, lines);
               },
           .use = read_classes},
          {.name = "n levels",
           .size = 200'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { text(f, "{\"b\":" + std::string(n, '[') + std::string(n, ']') + ",\"a\":1}"); },
           .use = read_number,
           .refused = Errc::limit_exceeded},
          {.name = "n levels of objects where fields are looked for",
           .size = 100'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, times(n, "{\"a\":") + "1" + std::string(n, '}')); },
           .use = open_it,
           .refused = Errc::limit_exceeded},
          {.name = "a text of n escapes",
           .size = 100'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":\"" + times(n, "\\u00e4") + "\"}"); },
           .use = read_text},
          {.name = "a text of n backslashes",
           .size = 200'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":\"" + times(n, "\\\\") + "\"}"); },
           .use = read_text},
          {.name = "a text that never ends",
           .size = 200'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":\"" + std::string(n, 'x')); },
           .use = read_text,
           .refused = Errc::corrupt},
          {.name = "an array of n numbers",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":[[[1" + times(n, ",1.5") + "]]]}"); },
           .use = read_array},
          {.name = "an array of n empty arrays",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":[[]" + times(n, ",[]") + "]}"); },
           .use = read_array},
          {.name = "an array of n empty arrays where fields are looked for",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"b\":1,\"a\":[[]" + times(n, ",[]") + "]}"); },
           .use = open_it},
          {.name = "a number of n digits",
           .size = 200'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":0." + std::string(n, '1') + "}"); },
           .use = read_number},
          {.name = "a whole number of n digits",
           .size = 200'000,
           .make = [](const TempFolder& f, std::size_t n) { text(f, "{\"a\":" + std::string(n, '1') + "}"); },
           .use = read_number,
           .refused = Errc::corrupt},
      });
}

}  // namespace PENSTOCK_TEST_FILE
