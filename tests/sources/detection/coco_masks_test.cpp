// SPDX-License-Identifier: Apache-2.0
// Masks of COCO: to the same bits as pycocotools draws them, and nothing that is not one.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/coco.hpp>

#include "sources/detection/detection_files.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// Runs of 0 and 1, column by column.
std::vector<std::int64_t> runs_of(const std::uint8_t* mask, std::int64_t height, std::int64_t width) {
  std::vector<std::int64_t> runs{0};
  std::uint8_t value = 0;
  for (std::int64_t x = 0; x < width; ++x)
    for (std::int64_t y = 0; y < height; ++y) {
      if (mask[y * width + x] != value) {
        value = mask[y * width + x];
        runs.push_back(0);
      }
      ++runs.back();
    }
  return runs;
}

// The only mask of a file, as rows of text.
std::string drawn(const std::string& segmentation) {
  const CocoFolder folder(coco_text(coco_object("\"segmentation\": " + segmentation)));
  folder.picture("a.jpg");
  const OwnedSample sample = read_sample(folder.open(with_masks), 0);
  REQUIRE(sample["masks"].shape == Shape{1, 3, 4});
  std::string rows;
  for (const std::uint8_t pixel : values_in<std::uint8_t>(sample["masks"]))
    rows += (rows.size() % 5 == 4 ? "/" : "") + std::to_string(pixel);
  return rows;
}

Error refused(const std::string& segmentation, std::size_t max_mask_bytes = 1000) {
  const CocoFolder folder(coco_text(coco_object("\"segmentation\": " + segmentation)));
  folder.picture("a.jpg");
  const CocoSource source = folder.open([&](Coco& options) {
    options.masks = true;
    options.max_mask_bytes = max_mask_bytes;
  });
  return error_of([&] { read_sample(source, 0); });
}

}  // namespace

// PENSTOCK_COCO_MASKS: another file that coco_masks.py made.
TEST_CASE("masks of COCO are those of pycocotools, bit for bit") {
  const char* const other = std::getenv("PENSTOCK_COCO_MASKS");
  const std::string text = text_in(other != nullptr ? other : path_of("coco_masks.json"));
  const nlohmann::json file = nlohmann::json::parse(text);
  std::map<std::int64_t, std::vector<std::vector<std::int64_t>>> expected;
  for (const nlohmann::json& annotation : file.at("annotations"))
    expected[annotation.at("image_id")].push_back(annotation.at("expected"));
  const CocoFolder folder(text);
  for (const nlohmann::json& image : file.at("images")) folder.picture(image.at("file_name"));
  const CocoSource source = folder.open(with_masks);
  const auto reader = source.open_reader();
  std::size_t masks = 0;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    OwnedSample sample(source.schema());
    SampleBuilder out = sample.builder();
    reader->read(i, out);
    const TensorView drawn = sample["masks"];
    const std::int64_t height = drawn.shape[1], width = drawn.shape[2];
    const auto& wanted = expected.at(*sample["image_id"].as<std::int64_t, 0>().data());
    REQUIRE(static_cast<std::size_t>(drawn.shape[0]) == wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k, ++masks) {
      CAPTURE(i, k, masks);
      const auto* const mask =
          reinterpret_cast<const std::uint8_t*>(drawn.data) + static_cast<std::int64_t>(k) * height * width;
      REQUIRE(runs_of(mask, height, width) == wanted[k]);
    }
  }
  CHECK(masks == file.at("annotations").size());
  CHECK(masks >= 160);
}

TEST_CASE("masks of COCO are polygons, run lengths, or packed run lengths") {
  // Three rows of 4 pixels.
  CHECK(drawn("[[1, 1, 3, 1, 3, 3, 1, 3]]") == "0000/0110/0110");
  CHECK(drawn("[[0, 0, 1, 0, 1, 1, 0, 1], [3, 2, 4, 2, 4, 3, 3, 3]]") == "1000/0000/0001");
  CHECK(drawn("[[-9, -9, 99, -9, 99, 99, -9, 99]]") == "1111/1111/1111");
  CHECK(drawn("[[0, 0, 0, 0, 0, 0]]") == "0000/0000/0000");
  CHECK(drawn(R"({"size": [3, 4], "counts": [4, 2, 1, 5]})") == "0001/0111/0111");
  CHECK(drawn(R"({"counts": "421O3", "other": {}, "size": [3, 4]})") == "0000/0110/0100");
}

TEST_CASE("segmentations that are damaged are bad samples with the place") {
  struct Case {
    const char* segmentation;
    const char* cause;
    Errc code = Errc::corrupt;
  };
  for (const auto& [segmentation, cause, code] : {
           Case{"7", "is a number, not polygons or run lengths"},
           Case{"null", "is null, not polygons or run lengths"},
           Case{"\"abc\"", "is a text, not polygons"},
           Case{"[]", "has no polygon, so there is no mask to draw"},
           Case{"[1, 2, 3, 4, 5, 6]", "is a number, not an array"},
           Case{"[{}]", "is an object, not an array"},
           Case{"[[]]", "a polygon has fewer than 2 points"},
           Case{"[[1, 2]]", "a polygon has fewer than 2 points"},
           Case{"[[1, 2, 3, 4]]", "pycocotools takes for a box", Errc::unsupported},
           Case{"[[1, 2, 3, 4, 5]]", "a polygon has 5 numbers, and points have two"},
           Case{"[[1, 2, 3, 4, 5, null]]", "is null, not a number"},
           Case{"[[1, 2, 3, 4, 5, \"6\"]]", "is a text, not a number"},
           Case{"[[1, 2, 3, 4, 5, 1e999]]", "1e999 is outside the range of f32"},
           Case{"[[1, 2, 3, 4, 5, -1e39]]", "-1e39 is outside the range of f32"},
           Case{"[[1, 2, 3, 4, 5, 2e8]]", "far outside any picture"},
           Case{R"({"counts": [12]})", "there is no \"size\" of two numbers"},
           Case{R"({"size": [3], "counts": [12]})", "there is no \"size\" of two numbers"},
           Case{R"({"size": [3, 4, 1], "counts": [12]})", "there is no \"size\" of two numbers"},
           Case{R"({"size": [4, 3], "counts": [12]})",
                "its size is 4 x 3 (height x width), and that of the image is 3 x 4"},
           Case{R"({"size": [3, 4], "size": [3, 4], "counts": [12]})", "\"size\" comes twice"},
           Case{R"({"size": [3, 4], "counts": [12], "counts": [12]})", "\"counts\" comes twice"},
           Case{R"({"size": [3, 4]})", "there is no \"counts\""},
           Case{R"({"size": [3, 4], "counts": {}})", "is an object, not an array"},
           Case{R"({"size": [3, 4], "counts": []})", "runs have 0 pixels, and the picture has 12"},
           Case{R"({"size": [3, 4], "counts": [6, 5]})", "runs have 11 pixels, and the picture has 12"},
           Case{R"({"size": [3, 4], "counts": [6, 7]})", "runs have more than the 12 pixels"},
           Case{R"({"size": [3, 4], "counts": [9223372036854775807, 9223372036854775807]})", "more than the 12 pixels"},
           Case{R"({"size": [3, 4], "counts": [6, 18446744073709551615]})", "has more than 64 bits"},
           Case{R"({"size": [3, 4], "counts": [4294967302, 6]})", "more than the 12 pixels"},
           Case{R"({"size": [3, 4], "counts": [14, -4, 2]})", "more than the 12 pixels"},
           Case{R"({"size": [3, 4], "counts": [6, -1, 7]})", "a run has the length -1"},
           Case{R"({"size": [3, 4], "counts": [6.5, 5.5]})", "is 6.5, not a whole number"},
           Case{R"({"size": [3, 4], "counts": ""})", "runs have 0 pixels"},
           Case{R"({"size": [3, 4], "counts": "65"})", "runs have 11 pixels, and the picture has 12"},
           Case{R"({"size": [3, 4], "counts": "<~"})", "a character that is not from '0' to 'o'"},
           Case{R"({"size": [3, 4], "counts": "< "})", "a character that is not from '0' to 'o'"},
           Case{R"({"size": [3, 4], "counts": "<o"})", "the string of runs ends inside a number"},
           Case{R"({"size": [3, 4], "counts": "oooooooooo0"})", "a number of more than 35 bits"},
           Case{R"({"size": [3, 4], "counts": "O"})", "a run has the length -1"},
       }) {
    CAPTURE(segmentation);
    const Error error = refused(segmentation);
    CAPTURE(error.what());
    CHECK(error.code() == code);
    CHECK(mentions(error, cause));
    CHECK(mentions(error, "annotations[0]: member \"segmentation\""));
    CHECK(error.file().ends_with("/a.json"));
    CHECK(error.key() == "a.jpg");
    CHECK(error.index() == 0);
    CHECK(error.offset().value_or(0) > 150);
  }
  const CocoFolder folder(coco_text(coco_object("")));
  folder.picture("a.jpg");
  const CocoSource source = folder.open(with_masks);
  CHECK(mentions(error_of([&] { read_sample(source, 0); }), "annotations[0]: there is no member \"segmentation\""));
}

TEST_CASE("masks that are too large, and polygons that cross a picture too often, are refused") {
  const std::string box = "[[0, 0, 4, 0, 4, 3, 0, 3]]";
  CHECK(refused(box, 11).code() == Errc::limit_exceeded);
  CHECK(mentions(refused(box, 11), "`max_mask_bytes`, 11"));
  CHECK_THROWS_AS(refused(box, 12), std::runtime_error);  // nothing is thrown

  const auto zigzag = [](int turns) {
    std::string numbers;
    for (int i = 0; i < turns; ++i) numbers += (i == 0 ? "0,0" : i % 2 == 0 ? ",0,0" : ",9,3");
    return "[[" + numbers + "]]";
  };
  CHECK_THROWS_AS(refused(zigzag(1000)), std::runtime_error);  // 4 columns for each edge
  std::string wide = R"({"images": [{"id": 7, "file_name": "a.jpg", "width": 100000, "height": 1}], "annotations": [)" +
                     coco_object("\"segmentation\": [[" +
                                 [] {
                                   std::string numbers = "0,0";
                                   for (int i = 1; i < 100; ++i) numbers += i % 2 == 0 ? ",0,0" : ",100000,1";
                                   return numbers;
                                 }() +
                                 "]]") +
                     R"(], "categories": [{"id": 3, "name": "cat"}]})";
  const CocoFolder folder(wide);
  folder.picture("a.jpg");
  const CocoSource source = folder.open(with_masks);
  const Error error = error_of([&] { read_sample(source, 0); });
  CHECK(error.code() == Errc::limit_exceeded);
  CHECK(error.offset() == wide.find("[0,0,100000,1"));
  CHECK(mentions(error, "the polygons cross or cover more of the picture than 64 times"));
}

}  // namespace PENSTOCK_TEST_FILE
