// SPDX-License-Identifier: Apache-2.0
// Pictures with boxes, held to the contract of a source.
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/coco.hpp>
#include <penstock/sources/voc.hpp>
#include <penstock/sources/yolo.hpp>
#include <penstock/testing/source.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_source;

namespace {

constexpr int pictures = 40;

std::string stem_of(int i) { return "p" + std::to_string(i); }
std::string content_of(int i) { return std::string(static_cast<std::size_t>(i) * 37, static_cast<char>('a' + i % 26)); }

}  // namespace

TEST_CASE("COCO keeps the contract of a source") {
  const TempFolder folder;
  std::string images, annotations;
  int id = 0;
  for (int i = 0; i < pictures; ++i) {
    folder.write("p/" + stem_of(i), content_of(i));
    const std::string number = std::to_string(i), height = std::to_string(1 + i % 5);
    images += (i == 0 ? "" : ",") + ("{\"id\":" + number) + ",\"width\":6,\"height\":" + height + ",\"file_name\":\"p" +
              number + "\"}";
    for (int k = 0; k < i % 4; ++k, ++id)
      annotations += (id == 0 ? "" : ",") + ("{\"id\":" + std::to_string(id)) + ",\"image_id\":" + number +
                     ",\"category_id\":" + std::to_string(k % 2) + ",\"bbox\":[" + number +
                     ",1,2,3],\"iscrowd\":" + std::to_string(id % 7 == 0) +
                     ",\"keypoints\":[1,2,2],\"segmentation\":[[0,0," + std::to_string(k + 2) + ",1,3,4]]}";
  }
  const std::string categories = R"([{"id":0,"name":"a","keypoints":["x"]},{"id":1,"name":"b"}])";
  folder.write("a.json",
               "{\"images\":[" + images + "],\"annotations\":[" + annotations + "],\"categories\":" + categories + "}");
  const auto boxes = [&] {
    return ps::share(ps::CocoSource({.annotations = folder / "a.json", .images = folder / "p"}));
  };
  const auto all = [&] {
    return ps::CocoSource({.annotations = folder / "a.json",
                           .images = folder / "p",
                           .masks = true,
                           .keypoints = true,
                           .crowd = ps::CocoCrowd::keep});
  };
  CHECK(check_source(all, {.unique_keys = true, .other = boxes}).text() == "");

  std::filesystem::remove(folder / "p/p3");
  CHECK_FALSE(check_source(all).passed());
  CHECK(check_source(all, {.allow_bad_records = true}).text() == "");
}

TEST_CASE("VOC keeps the contract of a source") {
  const TempFolder folder;
  for (int i = 0; i < pictures; ++i) {
    folder.write("JPEGImages/" + stem_of(i) + ".jpg", content_of(i));
    std::string objects;
    for (int k = 0; k < i % 4; ++k)
      objects += "<object><name>" + stem_of(k) + "</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>" +
                 std::to_string(i + 1) + "</xmax><ymax>4</ymax></bndbox></object>";
    folder.write("Annotations/" + stem_of(i) + ".xml", "<annotation>" + objects + "</annotation>");
  }
  folder.write("list.txt", "p3\np1\n");
  const std::string root = folder.path().string();
  const auto make = [&] { return ps::VocSource({.root = root}); };
  const auto part = [&] { return ps::share(ps::VocSource({.root = root, .list = folder / "list.txt"})); };
  CHECK(check_source(make, {.unique_keys = true, .other = part}).text() == "");
}

TEST_CASE("YOLO keeps the contract of a source") {
  const TempFolder folder;
  for (int i = 0; i < pictures; ++i) {
    folder.write("images/" + stem_of(i) + ".jpg", content_of(i));
    std::string lines;
    for (int k = 0; k < i % 4; ++k) lines += std::to_string(k) + " 0.5 0.25 0." + std::to_string(i + 1) + " 0.5\n";
    if (i % 5 != 0) folder.write("labels/" + stem_of(i) + ".txt", lines);
  }
  const auto make = [&] { return ps::YoloSource({.images = folder / "images", .labels = folder / "labels"}); };
  const auto other = [&] {
    return ps::share(
        ps::YoloSource({.images = folder / "images", .labels = folder / "labels", .classes = {"a", "b", "c", "d"}}));
  };
  CHECK(check_source(make, {.unique_keys = true, .other = other}).text() == "");
}
