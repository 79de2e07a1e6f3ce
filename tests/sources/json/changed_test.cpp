// SPDX-License-Identifier: Apache-2.0
// Lines of JSON that were changed at random: each is refused, or becomes what nlohmann's parser and the contract say.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/json/json_files.hpp"
#include "sources/json/json_model.hpp"
#include "support/campaign.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  std::uint64_t bits() { return engine_(); }
  std::string_view of(std::initializer_list<std::string_view> list) { return *(list.begin() + below(list.size())); }

 private:
  std::mt19937_64 engine_;
};

std::string number_text(Draws& draws) {
  switch (draws.below(5)) {
    case 0:
      return std::to_string(draws.below(1000));
    case 1:
      return "-" + std::to_string(draws.bits() >> draws.below(64));
    case 2:
      return std::to_string(draws.bits());
    case 3:
      return std::to_string(draws.below(100)) + "." + std::to_string(draws.bits() >> draws.below(64)) + "e" +
             std::string(draws.of({"", "-", "+"})) + std::to_string(draws.below(320));
    default:
      return std::string(
          draws.of({"0", "-0", "-0.0", "1.0", "9007199254740993", "9223372036854775807", "9223372036854775808",
                    "18446744073709551616", "1e400", "5e-324", "123456789012345678901234567890"}));
  }
}

std::string text_of_line(Draws& draws) {
  std::string text = "\"";
  for (std::size_t n = draws.below(6); n != 0; --n)
    text += draws.of(
        {"plain text here", "\\n", "\\u00e4", "\\ud83d\\ude00", "\xc3\xa4", "\xf0\x9f\x98\x80", "\\\"", "\\\\", "a"});
  return text + "\"";
}

std::string value_text(Draws& draws, std::size_t levels) {
  switch (draws.below(levels == 0 ? 4 : 6)) {
    case 0:
      return number_text(draws);
    case 1:
      return text_of_line(draws);
    case 2:
      return std::string(draws.of({"true", "false", "null"}));
    case 3:
      return std::string(draws.of({"[]", "{}"}));
    case 4:
      return "[" + value_text(draws, levels - 1) + "," + value_text(draws, levels - 1) + "]";
    default:
      return "{" + text_of_line(draws) + ":" + value_text(draws, levels - 1) + "}";
  }
}

// A line with the wanted members in any order, and others.
std::string line_of(Draws& draws) {
  std::string array;
  for (std::size_t n = draws.below(5); n != 0; --n)
    array += (array.empty() ? "" : ",") + std::to_string(draws.below(1 << 20));
  std::vector<std::string> members{"\"x\":" + number_text(draws),
                                   "\"m\":{\"k\":" + std::to_string(static_cast<std::int64_t>(draws.bits())) + "}",
                                   "\"a\":[" + array + "]", "\"t\" : " + text_of_line(draws)};
  for (std::size_t n = draws.below(3); n != 0; --n) members.push_back("\"other\":" + value_text(draws, 3));
  for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[draws.below(i)]);
  std::string line = "{";
  for (const std::string& member : members) line += (line.size() == 1 ? "" : ",") + member;
  return line + "}";
}

void change(std::string& text, Draws& draws) {
  const std::size_t at = draws.below(text.size() + 1);
  switch (draws.below(6)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(draws.bits());
      break;
    case 1:
      text.insert(at, draws.of({"{",
                                "}",
                                "[",
                                "]",
                                ",",
                                ":",
                                "\"",
                                "\\",
                                "null",
                                "-",
                                "0",
                                "1e5",
                                ".",
                                "\\ud800",
                                "\n",
                                " ",
                                "\"x\":1,",
                                "NaN",
                                std::string_view("\0", 1),
                                "\xed\xa0\x80",
                                "\xff"}));
      break;
    case 2:
      text.erase(at, 1 + draws.below(8));
      break;
    case 3:
      text.insert(at, text.substr(draws.below(text.size() + 1), draws.below(40)));
      break;
    case 4:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << draws.below(8)));
      break;
    default:
      text.resize(draws.below(8) == 0 ? at : text.size());
  }
}

// The lines that a file's text has, as the contract says.
std::vector<std::string_view> lines_in(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.find_first_not_of(" \t\r") != line.npos) lines.push_back(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines;
}

}  // namespace

// PENSTOCK_RUNS times as many, from PENSTOCK_SEED: tests/campaigns/json_lines.
TEST_CASE("changed lines of JSON are refused, or are what another parser says") {
  const std::vector<JsonField> fields{number("x", DType::f64), number("m.k", DType::i64),
                                      number("a", DType::i32, {dynamic}), text("t")};
  const TempFolder folder;
  const std::string path = folder / "t.jsonl";
  std::uint64_t read = 0, refused = 0, left_open = 0;
  const std::uint64_t first = numbered_seed(1), files = runs(2000);
  for (std::uint64_t file = 0; file < files; ++file) {
    const std::uint64_t seed = first + file;
    CAPTURE(seed);
    Draws draws(seed);
    std::string content;
    for (std::size_t n = 1 + draws.below(4); n != 0; --n)
      content += line_of(draws) + std::string(draws.of({"\n", "\r\n", "\n\n"}));
    for (std::size_t n = draws.below(4); n != 0; --n) change(content, draws);
    folder.write("t.jsonl", content);
    const std::vector<std::string_view> lines = lines_in(content);
    try {
      // Fields that are found are read as well.
      const JsonLinesSource found({.path = path});
      const auto reader = found.open_reader();
      for (std::uint64_t i = 0; i < found.size(); ++i) {
        OwnedSample sample(found.schema());
        SampleBuilder out = sample.builder();
        try {
          reader->read(i, out);
        } catch (const Error& error) {
          REQUIRE(error.sample_scoped());
        }
      }
    } catch (const Error& error) {
      REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
    }
    std::optional<JsonLinesSource> source;
    try {
      source.emplace(JsonLines{
          .path = path, .fields = fields, .access = draws.below(2) == 0 ? FileAccess::map : FileAccess::read});
    } catch (const Error& error) {
      REQUIRE(error.code() == Errc::unsupported);  // UTF-16
      continue;
    }
    REQUIRE(source->size() == lines.size());
    const auto reader = source->open_reader();
    for (std::uint64_t i = 0; i < lines.size(); ++i) {
      CAPTURE(lines[i]);
      const ModelLine model = model_line(lines[i]);
      try {
        OwnedSample sample(source->schema());
        SampleBuilder out = sample.builder();
        reader->read(i, out);
        ++read;
        if (!model.known) {
          ++left_open;
          continue;
        }
        REQUIRE(model.record);
        REQUIRE(values_of<double>(sample["x"]) == std::vector<double>{model.record->x});
        REQUIRE(values_of<std::int64_t>(sample["m.k"]) == std::vector<std::int64_t>{model.record->k});
        REQUIRE(values_of<std::int32_t>(sample["a"]) == model.record->a);
        REQUIRE(text_of(sample["t"]) == model.record->t);
      } catch (const Error& error) {
        CAPTURE(error.what());
        ++refused;
        REQUIRE(error.sample_scoped());
        REQUIRE(error.offset().value_or(0) <= content.size());
        REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
        if (model.known) REQUIRE_FALSE(model.record);
      }
    }
  }
  INFO(read << " read, " << refused << " refused, " << left_open << " left open");
  CHECK(read > files / 2);
  CHECK(refused > files / 4);
  CHECK(left_open < read / 10);
}

}  // namespace PENSTOCK_TEST_FILE
