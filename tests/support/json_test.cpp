// SPDX-License-Identifier: Apache-2.0
// JSON that checks look at fails where there is nothing to look at.
#include "support/json.hpp"

#include <sstream>
#include <stdexcept>

#include "support/catch.hpp"

using penstock_test::Json;

TEST_CASE("a name, an element or a kind that JSON does not have is an error, and never null, empty or less") {
  const auto json = Json::parse(R"({"none": null, "list": [1, 2.5], "text": "x", "object": {}})");
  CHECK(json["none"].is_null());
  CHECK_THROWS_AS(json["missing"], std::runtime_error);
  CHECK_THROWS_AS(json["list"][2], std::runtime_error);
  CHECK_THROWS_AS(json["object"][0], std::runtime_error);
  CHECK_THROWS_AS(json["none"]["x"], std::runtime_error);
  CHECK_THROWS_AS(json["none"].contains("x"), std::runtime_error);
  CHECK_THROWS_AS(json["none"].empty(), std::runtime_error);
  CHECK_THROWS_AS(json["none"].end(), std::runtime_error);
  CHECK_THROWS_AS(json["object"].end(), std::runtime_error);
  CHECK_THROWS_AS(json["none"] < 1, std::runtime_error);
  CHECK_THROWS_AS(json["text"] >= 1, std::runtime_error);
  CHECK_THROWS_AS(json["none"].text(), std::runtime_error);
  CHECK_THROWS_AS(json["text"].number(), std::runtime_error);
  CHECK_THROWS_AS(json["list"][1].whole(), std::runtime_error);
}

TEST_CASE("JSON is compared by value, whatever kind of number it is") {
  const auto json = Json::parse(R"({"whole": 3, "double": 3.0, "large": 18446744073709551615, "yes": true})");
  CHECK(json["whole"] == 3u);
  CHECK(json["whole"] == json["double"]);
  CHECK(json["whole"] != 3.5);
  CHECK(json["whole"] < 3.5);
  CHECK(json["large"] == ~0ul);
  CHECK(json["large"] > 1);
  CHECK(json["yes"] == true);
  CHECK(json["yes"] != 1);
  CHECK(json["whole"] != "3");
  CHECK(Json::parse(R"(["a", "b"])") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a part of JSON stays what it is, and is shown as JSON") {
  Json part = nullptr;
  {
    const auto json = Json::parse(R"({"list": [{"b": 1, "a": "x"}, 2]})");
    part = json["list"];
    CHECK(json.with("/list/1", 3)["list"].dump() == R"([{"a":"x","b":1},3])");
    CHECK(json.without("/list/0/b")["list"].dump() == R"([{"a":"x"},2])");
  }
  std::ostringstream shown;
  for (const auto& element : part) shown << element << " ";
  CHECK(shown.str() == R"({"a":"x","b":1} 2 )");
}
