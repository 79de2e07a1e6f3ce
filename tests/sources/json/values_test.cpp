// SPDX-License-Identifier: Apache-2.0
// Values of lines of JSON, which are exact, and what is refused of them.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/json/json_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// What reading the only record says, behind "line 1: ".
std::string refusal(std::string_view line, std::vector<JsonField> fields = {number("x", DType::f64)},
                    std::optional<double> missing_value = {}) {
  const JsonFile file(line);
  const JsonLinesSource source({.path = file.path(), .fields = std::move(fields), .missing_value = missing_value});
  REQUIRE(source.size() == 1);
  const Error error = error_of([&] { read_sample(source, 0); });
  CHECK((error.code() == Errc::corrupt || error.code() == Errc::limit_exceeded));
  CHECK(error.file() == file.path());
  CHECK(error.key() == "t.jsonl:1");
  CHECK(error.index() == 0);
  const std::string cause(error.cause());
  REQUIRE(cause.starts_with("line 1: "));
  return cause.substr(8);
}

std::string refused_value(std::string_view value, DType dtype) {
  const std::string said = refusal("{\"x\":" + std::string(value) + "}", {number("x", dtype)});
  const std::string member = "member \"x\": ";
  return said.starts_with(member) ? said.substr(member.size()) : said;
}

}  // namespace

TEST_CASE("numbers of lines of JSON are exact") {
  CHECK(value_of<std::int64_t>("9223372036854775807", DType::i64) == std::numeric_limits<std::int64_t>::max());
  CHECK(value_of<std::int64_t>("-9223372036854775808", DType::i64) == std::numeric_limits<std::int64_t>::min());
  CHECK(value_of<std::int64_t>("9007199254740993", DType::i64) == 9007199254740993);  // no double
  CHECK(value_of<std::uint64_t>("18446744073709551615", DType::u64) == ~std::uint64_t{0});
  CHECK(value_of<std::uint64_t>("9223372036854775808", DType::u64) == std::uint64_t{1} << 63);
  CHECK(value_of<std::int64_t>("-0", DType::i64) == 0);
  CHECK(value_of<std::uint8_t>("-0", DType::u8) == 0);
  CHECK(value_of<std::int8_t>("-128", DType::i8) == -128);
  CHECK(std::bit_cast<std::uint64_t>(value_of<double>("-0", DType::f64)) == std::uint64_t{1} << 63);
  CHECK(std::bit_cast<std::uint64_t>(value_of<double>("-0.0e-5", DType::f64)) == std::uint64_t{1} << 63);
  CHECK(value_of<double>("0.1", DType::f64) == 0.1);
  CHECK(value_of<double>("1e308", DType::f64) == 1e308);
  CHECK(value_of<double>("5e-324", DType::f64) == 5e-324);
  CHECK(value_of<double>("1E+2", DType::f64) == 100);
  CHECK(value_of<double>("9007199254740992", DType::f64) == 9007199254740992.0);
  CHECK(value_of<float>("0.1", DType::f32) == 0.1f);
  // Nearest to the digits, and not to the nearest double.
  CHECK(value_of<float>("1.00000005960464477540", DType::f32) == std::nextafter(1.0f, 2.0f));
  CHECK(value_of<std::uint8_t>("true", DType::u8) == 1);
  CHECK(value_of<std::uint8_t>("false", DType::boolean) == 0);
  CHECK(value_of<std::uint8_t>("1", DType::boolean) == 1);
}

TEST_CASE("numbers that a field can't hold are refused with the reason") {
  CHECK(refused_value("9223372036854775808", DType::i64) == "9223372036854775808 is outside the range of i64");
  CHECK(refused_value("18446744073709551616", DType::u64) == "18446744073709551616 is outside the range of u64");
  CHECK(refused_value("-1", DType::u32) == "-1 is outside the range of u32");
  CHECK(refused_value("256", DType::u8) == "256 is outside the range of u8");
  CHECK(refused_value("1.0", DType::i64) == "1.0 is not a whole number");
  CHECK(refused_value("1e3", DType::i32) == "1e3 is not a whole number");
  CHECK(refused_value("1e400", DType::f64) == "1e400 is outside the range of f64");
  CHECK(refused_value("1e39", DType::f32) == "1e39 is outside the range of f32");
  CHECK(refused_value("1e-400", DType::f64) == "1e-400 is outside the range of f64");
  CHECK(refused_value("16777217", DType::f32) ==
        "16777217 is a whole number, which f32 would round; read it as i64 or f64");
  CHECK(refused_value("9007199254740993", DType::f64) ==
        "9007199254740993 is a whole number, which f64 would round; read it as i64");
  CHECK(refused_value("2", DType::boolean) == "2 is not 0, 1, true or false");
  CHECK(refused_value("true", DType::f32) == "is a boolean, and not f32; read it as u8");
  CHECK(refused_value("\"7\"", DType::i64) == "is a text, not a number");
  CHECK(refused_value("{}", DType::i64) == "is an object, not a number");
  CHECK(refused_value("[7]", DType::i64) == "is an array, not a number");
  for (const char* const word : {"NaN", "Infinity", "-Infinity"})
    CHECK(refused_value(word, DType::f64) ==
          "it is not JSON: " + std::string(word) + " is not a number of JSON; write null");
}

TEST_CASE("members that are missing, null, repeated or not of a field") {
  const std::vector<JsonField> fields{number("x", DType::f32)};
  CHECK(refusal("{}") == "member \"x\": is missing: there is no such member; `missing_value` would stand for it");
  CHECK(refusal("{\"x\":null}") == "member \"x\": is missing: it is null; `missing_value` would stand for it");
  CHECK(refusal("{\"x\":1,\"x\":1}") == "member \"x\" comes twice in its object");
  CHECK(refusal("{\"x\":1,\"\\u0078\":1}") == "member \"x\" comes twice in its object");
  // Members that are not fields may be anything, also twice.
  const JsonFile file(
      "{\"a\":[1e999,{\"b\":\"\\ud800\"}],\"a\":null,\"\\ud800\":0,\"x\":1}\n{\"x\":null}\n{\"y\":0}\n");
  const JsonLinesSource source({.path = file.path(), .fields = fields, .missing_value = -1});
  for (const auto& [record, value] : {std::pair<std::uint64_t, float>{0, 1.f}, {1, -1.f}, {2, -1.f}})
    CHECK(values_of<float>(read_sample(source, record)["x"]) == std::vector<float>{value});
  // What has no number is an error all the same.
  CHECK(refusal("{\"x\":null}", {text("x")}, 0) == "member \"x\": is missing: it is null");
  CHECK(refusal("{}", {number("x", DType::f32, {2})}, 0) == "member \"x\": is missing: there is no such member");
}

TEST_CASE("nested members are found by their paths") {
  const JsonFile file(
      "{\"meta\":{\"label\":7,\"more\":{\"y\":2.5}},\"a.b\":3,\"c\\\\\":4}\n"
      "{\"meta\":null,\"a.b\":1,\"c\\\\\":1}\n{\"meta\":5,\"a.b\":1,\"c\\\\\":1}\n"
      "{\"meta\":{\"label\":1},\"meta\":{\"more\":{\"y\":1}},\"a.b\":1,\"c\\\\\":1}\n");
  const JsonLinesSource source = file.open({number("meta.label", DType::i64), number("meta.more.y", DType::f64),
                                            number("a\\.b", DType::i32), number("c\\\\", DType::i32)});
  CHECK(source.schema().to_string() == "{meta.label: i64[], meta.more.y: f64[], a\\.b: i32[], c\\\\: i32[]}");
  const OwnedSample sample = read_sample(source, 0);
  CHECK(values_of<std::int64_t>(sample["meta.label"]) == std::vector<std::int64_t>{7});
  CHECK(values_of<double>(sample["meta.more.y"]) == std::vector<double>{2.5});
  CHECK(values_of<std::int32_t>(sample["a\\.b"]) == std::vector<std::int32_t>{3});
  CHECK(values_of<std::int32_t>(sample["c\\\\"]) == std::vector<std::int32_t>{4});
  const auto cause = [&](std::uint64_t record) {
    return std::string(error_of([&] { read_sample(source, record); }).cause());
  };
  CHECK(cause(1).find("line 2: member \"meta.label\": is missing: there is no such member") == 0);
  CHECK(cause(2) == "line 3: member \"meta\" is a number, not an object with further members");
  CHECK(cause(3) == "line 4: member \"meta\" comes twice in its object");
}

TEST_CASE("arrays have fixed or free lengths in up to three dimensions") {
  const JsonFile file(
      "{\"x\":[1,2],\"y\":[[1,2],[3,4],[5,6]],\"z\":[[[1],[2]]]}\n"
      " { \"x\" : [ 3 , 4 ] , \"y\" : [ ] , \"z\" : [ [ ] ] } \r\n"
      "{\"x\":[5,null],\"y\":[[7,8]],\"z\":[]}");
  const JsonLinesSource source({.path = file.path(),
                                .fields = {number("x", DType::f32, {2}), number("y", DType::i64, {dynamic, 2}),
                                           number("z", DType::u8, {dynamic, dynamic, 1})},
                                .missing_value = 9});
  OwnedSample sample = read_sample(source, 0);
  CHECK(values_of<float>(sample["x"]) == std::vector<float>{1, 2});
  CHECK(sample["y"].shape == Shape{3, 2});
  CHECK(values_of<std::int64_t>(sample["y"]) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  CHECK(sample["z"].shape == Shape{1, 2, 1});
  CHECK(values_of<std::uint8_t>(sample["z"]) == std::vector<std::uint8_t>{1, 2});
  sample = read_sample(source, 1);
  CHECK(sample["y"].shape == Shape{0, 2});
  CHECK(sample["z"].shape == Shape{1, 0, 1});
  sample = read_sample(source, 2);
  CHECK(values_of<float>(sample["x"]) == std::vector<float>{5, 9});
  CHECK(sample["z"].shape == Shape{0, 0, 1});

  const auto of = [](std::string_view value, const Shape& shape) {
    return refusal("{\"x\":" + std::string(value) + "}", {number("x", DType::f32, shape)});
  };
  CHECK(of("[1,2,3]", {2}) == "member \"x\": has an array of more elements where 2 were expected");
  CHECK(of("[1]", {2}) == "member \"x\": has an array of 1 elements where 2 were expected");
  CHECK(of("7", {2}) == "member \"x\": has a number where an array was expected");
  CHECK(of("7", {dynamic}) == "member \"x\": has a number where an array was expected");
  CHECK(of("[[1]]", {dynamic}) == "member \"x\": is an array, not a number");
  CHECK(of("[1,[2]]", {dynamic, dynamic}) == "member \"x\": has a number where an array was expected");
  CHECK(of("[[1],[2,3]]", {dynamic, dynamic}) == "member \"x\": has arrays of different lengths in one array, 1 and 2");
  CHECK(of("[[1],[2]]", {dynamic, 2}) == "member \"x\": has an array of 1 elements where 2 were expected");
  CHECK(of("[1,null]", {dynamic}) == "member \"x\": has a null; `missing_value` would stand for it");
  CHECK(of("[1,\"2\"]", {2}) == "member \"x\": is a text, not a number");
}

TEST_CASE("texts are UTF-8 of all characters") {
  const auto of = [](std::string_view value) {
    const JsonFile file("{\"x\":\"" + std::string(value) + "\"}");
    return text_of(read_sample(file.open({text("x")}), 0)["x"]);
  };
  CHECK(of("") == "");
  CHECK(of("plain text of more than eight bytes") == "plain text of more than eight bytes");
  CHECK(of("\\\"\\\\\\/\\b\\f\\n\\r\\t") == "\"\\/\b\f\n\r\t");
  CHECK(of("\\u0041\\u00e4\\u20AC\\ud83d\\ude00") == "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(of("a\\u0000b") == std::string("a\0b", 3));
  CHECK(of("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf\x7f") ==
        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xee\x80\x80 \xf4\x8f\xbf\xbf\x7f");
  const auto refused = [](std::string_view value) {
    return refusal("{\"x\":\"" + std::string(value) + "\"}", {text("x")});
  };
  for (const std::string escape : {"\\ud800", "\\udc00", "\\ud800x", "\\ud800\\n", "\\ud800\\ud800", "\\uDBFF\\u0041"})
    CHECK(refused(escape) == "member \"x\": has a text that is not UTF-8: " + escape.substr(0, 6) +
                                 " is half of a character, without the other half");
  for (const char* const bytes :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3x", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "seven..\xe2\x82"})
    CHECK(refused(bytes) == "it is not JSON: a text is not UTF-8");
  CHECK(refused(std::string_view("\0", 1)) ==
        "it is not JSON: a text has the control character 0, which must be written as an escape");
  CHECK(refused("\x1f") == "it is not JSON: a text has the control character 31, which must be written as an escape");
  CHECK(refused("\\x41") == "it is not JSON: a backslash in a text is followed by none of \" \\ / b f n r t u");
  CHECK(refused("\\u12g4") == "it is not JSON: \\u in a text is not followed by four hexadecimal digits");
  CHECK(refusal("{\"x\":7}", {text("x")}) == "member \"x\": is a number, not a text");
}

TEST_CASE("lines that are not one object are bad samples with the place") {
  const std::pair<const char*, const char*> table[] = {
      {"[1]", "the line is an array; each line must be one object"},
      {"7", "the line is a number; each line must be one object"},
      {"{\"x\":1", "the line ends inside an object; each line must be one whole object"},
      {"{", "the line ends inside an object; each line must be one whole object"},
      {"{\"x\"", "':' was expected after a member's name"},
      {"{\"x\":", "the line ends where a value was expected; each line must be one whole object"},
      {"{\"y\":\"", "the line ends inside a text; each line must be one whole object"},
      {"{\"x\":1}{\"x\":2}", "text follows the object; each line must be one object"},
      {"{\"x\":1},", "text follows the object; each line must be one object"},
      {"{x:1}", "a member's name in quotes was expected"},
      {"{\"x\":1,}", "a member's name in quotes was expected"},
      {"{\"x\":1 \"y\":2}", "',' or '}' was expected"},
      {"{\"x\":01}", "a number begins with a zero"},
      {"{\"x\":1.}", "a number lacks a digit"},
      {"{\"x\":.5}", "a value was expected, not '.5}'"},
      {"{\"x\":-}", "a value was expected, not '-}'"},
      {"{\"x\":1e}", "a number lacks a digit"},
      {"{\"x\":+1}", "a value was expected, not '+1}'"},
      {"{\"x\":0x1}", "',' or '}' was expected"},
      {"{\"x\":tru}", "a value was expected, not 'tru}'"},
      {"{\"x\":1,\"y\":nul}", "a value was expected, not 'nul}'"},
      {"{\"x\":1,\"y\":[1,]}", "a value was expected, not ']}'"},
      {"{\"x\":1,\"y\":[1}", "',' or ']' was expected"},
      {"{\"x\":1} // comment", "text follows the object; each line must be one object"},
      {"{'x':1}", "a member's name in quotes was expected"},
  };
  for (const auto& [line, cause] : table) {
    CAPTURE(line);
    const std::string said = refusal(line);
    CHECK((said == cause || said == std::string("it is not JSON: ") + cause));
  }
  // A zero byte outside of a text, and the offset in the file.
  CHECK(refusal(std::string_view("{\0}", 3)) == "it is not JSON: a member's name in quotes was expected");
  const JsonFile file("\xef\xbb\xbf{\"x\":1}\n\n{\"x\" :1,\"y\":[true,fals]}\n");
  const Error error = error_of([&] { read_sample(file.open({number("x", DType::f32)}), 1); });
  CHECK(error.offset() == 3 + 8 + 1 + 18);
  CHECK(error.cause() == "line 3: it is not JSON: a value was expected, not 'fals]}\\x0a'");
  CHECK(values_of<float>(read_sample(file.open({number("x", DType::f32)}), 0)["x"]) == std::vector<float>{1});
}

TEST_CASE("deep values are passed, and deeper ones are refused without recursion") {
  const auto nested = [](std::size_t levels) {
    return "{\"y\":" + std::string(levels, '[') + std::string(levels, ']') + ",\"x\":1}";
  };
  const JsonFile deep(nested(512));
  CHECK(values_of<float>(read_sample(deep.open({number("x", DType::f32)}), 0)["x"]) == std::vector<float>{1});
  CHECK(refusal(nested(513)) == "it is nested more deeply than 512 levels");
  CHECK(refusal("{\"y\":" + std::string(1 << 20, '[')) == "it is nested more deeply than 512 levels");
  std::string objects = "{\"x\":1,\"y\":";
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK(refusal(objects) == "it is nested more deeply than 512 levels");
}

}  // namespace PENSTOCK_TEST_FILE
