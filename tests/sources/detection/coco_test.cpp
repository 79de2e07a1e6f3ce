// SPDX-License-Identifier: Apache-2.0
// Pictures and boxes of COCO: each field, each option, and files that are refused.
#include <malloc.h>

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/coco.hpp>

#include "core/help.hpp"
#include "sources/detection/detection_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;
using Bytes = std::vector<std::uint8_t>;

// Three images, annotations before them, categories that are not sorted, and members that nothing reads.
constexpr const char* three = R"({
  "info": {"year": 2017, "deep": [[[{"a": [null, true, 1e400]}]]]},
  "annotations": [
    {"segmentation": [[0, 0, 4, 0, 4, 3, 0, 3]], "area": 12, "iscrowd": 0, "image_id": 20, "bbox": [0.5, 1, 2.25, 1.5],
     "category_id": 9, "id": 1, "keypoints": [1, 2, 2, 0, 0, 0], "num_keypoints": 1},
    {"bbox": [1, 0, 0, 3], "image_id": 20, "category_id": 9, "id": 2},
    {"segmentation": {"size": [3, 4], "counts": [0, 12]}, "iscrowd": 1, "image_id": 20, "bbox": [0, 0, 4, 3],
     "category_id": 2, "id": 3},
    {"segmentation": [[0, 0, 1, 0, 1, 1, 0, 1]], "image_id": -5, "bbox": [-1, -2, 20, 30], "category_id": 5, "id": 4},
    {"segmentation": [[1, 1, 2, 1, 2, 2, 1, 2]], "image_id": 20, "bbox": [1, 1, 1, 1], "category_id": 2, "id": 5,
     "keypoints": [3, 2.5, 1, 4, 4, 2]}],
  "images": [
    {"id": 20, "file_name": "b.jpg", "height": 3, "width": 4, "flickr_url": "http:\/\/x"},
    {"file_name": "sub/a\u00e4.jpg", "id": -5, "height": 2, "width": 2},
    {"id": 3, "file_name": "c.jpg", "height": 1, "width": 1}],
  "categories": [{"id": 9, "name": "person", "keypoints": ["nose", "eye"]}, {"id": 2, "name": "cat"},
                 {"id": 5, "name": "dog \"x\""}]
})";

class ThreeImages {
 public:
  ThreeImages() : folder(three) {
    folder.picture("b.jpg", "bbb");
    folder.picture("sub/a\xc3\xa4.jpg", "aa");
    folder.picture("c.jpg", "");
  }
  CocoFolder folder;
};

}  // namespace

TEST_CASE("COCO gives boxes, classes and pictures in the order of the file") {
  const ThreeImages files;
  const CocoSource source = files.folder.open();
  CHECK(source.schema().to_string() == "{image: u8[?], boxes: f32[?, 5], classes: i64[?], image_id: i64[]}");
  CHECK(source.schema().at("classes").classes == ClassNames{"cat", "dog \"x\"", "person"});
  CHECK(source.category_ids() == Integers{2, 5, 9});
  REQUIRE(source.size() == 3);
  const OwnedSample first = read_sample(source, 0), second = read_sample(source, 1), third = read_sample(source, 2);
  CHECK(text_of(first["image"]) == "bbb");
  CHECK(first["boxes"].shape == Shape{2, 5});
  CHECK(values_in<float>(first["boxes"]) == Floats{0.5, 1, 2.75, 2.5, 1, 1, 1, 2, 2, 1});
  CHECK(values_in<std::int64_t>(first["classes"]) == Integers{2, 0});
  CHECK(values_in<std::int64_t>(first["image_id"]) == Integers{20});
  CHECK(text_of(second["image"]) == "aa");
  CHECK(values_in<float>(second["boxes"]) == Floats{-1, -2, 19, 28, 1});
  CHECK(values_in<std::int64_t>(second["classes"]) == Integers{1});
  CHECK(values_in<std::int64_t>(second["image_id"]) == Integers{-5});
  CHECK(text_of(third["image"]).empty());
  CHECK(third["boxes"].shape == Shape{0, 5});
  CHECK(third["classes"].shape == Shape{0});
  CHECK(source.key(0) == "b.jpg");
  CHECK(source.key(1) == "sub/a\xc3\xa4.jpg");
  CHECK(source.file_of(1) == files.folder / "p/sub/a\xc3\xa4.jpg");
  CHECK(source.file() == files.folder / "a.json");
  CHECK(source.notes() ==
        std::vector<std::string>{"annotations of crowds that are left out: 1; `.crowd = CocoCrowd::keep` keeps them",
                                 "annotations that are left out because their boxes have no width or no height: 1"});
  CHECK(code_of([&] { source.key(3); }) == Errc::not_found);
  CHECK(code_of([&] { source.file_of(3); }) == Errc::not_found);
  CHECK(code_of([&] { read_sample(source, 3); }) == Errc::not_found);
}

TEST_CASE("COCO's crowds, masks and keypoints are asked for") {
  const ThreeImages files;
  const CocoSource source = files.folder.open([](Coco& options) {
    with_crowds(options);
    with_masks(options);
    with_keypoints(options);
    options.without_boxes = false;
  });
  CHECK(source.schema().to_string() ==
        "{image: u8[?], boxes: f32[?, 5], classes: i64[?], crowd: u8[?], image_id: i64[], masks: u8[?, ?, ?], "
        "keypoints: f32[?, 2, 3]}");
  REQUIRE(source.size() == 2);
  CHECK(source.notes().back() == "images that are left out because they have no objects: 1");
  const OwnedSample first = read_sample(source, 0), second = read_sample(source, 1);
  CHECK(values_in<float>(first["boxes"]) == Floats{0.5, 1, 2.75, 2.5, 1, 0, 0, 4, 3, 1, 1, 1, 2, 2, 1});
  CHECK(values_in<std::int64_t>(first["classes"]) == Integers{2, 0, 0});
  CHECK(values_in<std::uint8_t>(first["crowd"]) == Bytes{0, 1, 0});
  CHECK(first["masks"].shape == Shape{3, 3, 4});
  CHECK(values_in<std::uint8_t>(first["masks"]) == Bytes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                                         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                                         0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(first["keypoints"].shape == Shape{3, 2, 3});
  CHECK(values_in<float>(first["keypoints"]) == Floats{1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 2.5, 1, 4, 4, 2});
  CHECK(values_in<std::int64_t>(first["image_id"]) == Integers{20});
  CHECK(values_in<std::uint8_t>(second["masks"]) == Bytes{1, 0, 0, 0});
  CHECK(values_in<float>(second["keypoints"]) == Floats(6, 0));

  const CocoSource all = files.folder.open(with_masks);
  CHECK(read_sample(all, 2)["masks"].shape == Shape{0, 1, 1});
}

TEST_CASE("COCO's fields go into batches by ragged and pad") {
  const ThreeImages files;
  const Pipeline pipeline = from(files.folder.open(with_masks)) | ragged("image") | ragged("boxes") | ragged("masks") |
                            pad("classes", {.to = 4, .value = -1}) | batch(3);
  Loader loader(pipeline);
  std::size_t batches = 0;
  for (Batch& batch : loader.epoch()) {
    ++batches;
    CHECK(batch.ragged("boxes")[0].shape == Shape{2, 5});
    CHECK(batch.ragged("masks")[1].shape == Shape{1, 2, 2});
    const auto classes = batch.view<std::int64_t, 2>("classes");
    CHECK(Integers(classes.data(), classes.data() + 12) == Integers{2, 0, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1});
  }
  CHECK(batches == 1);
}

TEST_CASE("COCO's identity is that of what the records are") {
  const ThreeImages files;
  const std::uint64_t identity = files.folder.open().identity(), revision = files.folder.open().revision();
  CHECK(files.folder.open().identity() == identity);
  CHECK(files.folder.open().revision() == revision);
  CHECK(files.folder.open(with_masks).identity() != identity);
  CHECK(files.folder.open(with_crowds).identity() != identity);
  CHECK(files.folder.open(with_keypoints).identity() != identity);
  CHECK(files.folder.open([](Coco& options) { options.without_boxes = false; }).identity() != identity);
  files.folder.picture("c.jpg", "c");
  const std::uint64_t larger = files.folder.open().identity();
  CHECK(larger != identity);
  CHECK(files.folder.open().revision() != revision);
  std::string text = three;
  text.replace(text.find("person"), 6, "Person");
  files.folder.write(text);
  CHECK(files.folder.open().identity() != larger);
}

TEST_CASE("a picture that is missing, and a box of negative size, are bad samples") {
  const std::string text = coco_text(R"({"id": 1, "image_id": 7, "category_id": 3, "bbox": [0, 1, 2, -2]})");
  const CocoFolder folder(text);
  const CocoSource source = folder.open();
  const Error missing = error_of([&] { read_sample(source, 0); });
  CHECK(missing.code() == Errc::not_found);
  CHECK(missing.file() == folder / "p/a.jpg");
  CHECK(missing.key() == "a.jpg");
  folder.picture("a.jpg");
  const Error negative = error_of([&] { read_sample(source, 0); });
  CHECK(negative.code() == Errc::corrupt);
  CHECK(negative.cause() == "annotations[0]: member \"bbox\": the width or height is negative");
  CHECK(negative.file() == folder / "a.json");
  CHECK(negative.offset() == text.find(R"({"id": 1)"));
}

TEST_CASE("keypoints that are damaged are bad samples with the place") {
  const auto refused = [](const std::string& keypoints) {
    std::string text = coco_text(coco_object("\"keypoints\": " + keypoints));
    text.replace(text.find("\"cat\""), 5, R"("cat", "keypoints": ["a", "b"])");
    const CocoFolder folder(text);
    folder.picture("a.jpg");
    const CocoSource source = folder.open(with_keypoints);
    return error_of([&] { read_sample(source, 0); });
  };
  for (const auto& [keypoints, cause] : {std::pair{"7", "is a number, not an array"},
                                         {"[]", "has 0 numbers, not 6"},
                                         {"[1, 2, 3, 4, 5]", "has 5 numbers, not 6"},
                                         {"[1, 2, 3, 4, 5, 6, 7]", "has more than 6 numbers"},
                                         {"[1, 2, 3, 4, 5, \"6\"]", "is a text, not a number"},
                                         {"[1, 2, 3, 4, 5, 1e99]", "1e99 is outside the range of f32"}}) {
    CAPTURE(keypoints);
    const Error error = refused(keypoints);
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, std::string("annotations[0]: member \"keypoints\": ") + cause));
    CHECK(error.offset().value_or(0) > 150);
  }
}

TEST_CASE("COCO keeps less than 48 bytes per annotation") {
  if (help::sanitized()) PENSTOCK_SKIP("a sanitizer's memory is not counted");
  constexpr std::size_t count = 200'000;
  std::string annotations;
  for (std::size_t i = 0; i < count; ++i)
    annotations += (i == 0 ? "" : ",") + coco_object("\"segmentation\": [[1, 2, 3, 4, 5, 6]]", static_cast<int>(i));
  const CocoFolder folder(coco_text(annotations));
  const auto heap_bytes = [] {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  const std::size_t before = heap_bytes();
  const CocoSource source = folder.open(with_masks);
  CHECK(source.size() == 1);
  const std::size_t kept = heap_bytes() - before;
  CHECK(kept > count * 32);
  CHECK(kept < count * 48);
}

TEST_CASE("files of annotations that are damaged are refused with the place") {
  struct Case {
    std::string text;
    const char* cause;
    Errc code = Errc::corrupt;
    void (*options)(Coco&) = [](Coco&) {};
  };
  const auto with = [](const std::string& bbox) {
    return coco_text(R"({"id": 1, "image_id": 7, "category_id": 3, "bbox": )" + bbox + "}");
  };
  const auto object = [](const std::string& members) { return coco_text("{" + members + "}"); };
  const auto image = [](const std::string& members) {
    return R"({"annotations": [], "categories": [], "images": [)" + members + "]}";
  };
  const auto category = [](const std::string& members) {
    return R"({"images": [], "annotations": [], "categories": [)" + members + "]}";
  };
  const std::string good = coco_text(coco_object(""));
  const std::vector<Case> cases{
      {"", "the file ends where a value was expected"},
      {"7", "the file is a number; a file of annotations is an object"},
      {"[" + good + "]", "the file is an array"},
      {good + "x", "text follows the object"},
      {good.substr(0, good.size() - 1), "the file ends inside an object; a part of it is missing"},
      {good.substr(0, good.size() - 2), "the file ends inside an array; a part of it is missing"},
      {good.substr(0, 30), "the file ends inside a text; a part of it is missing"},
      {good.substr(0, good.find("0, 1, 2, 2") + 5), "the file ends"},
      {"{}", "there is no member \"images\""},
      {R"({"images": [], "annotations": []})", "there is no member \"categories\""},
      {R"({"images": [], "images": []})", "member \"images\" comes twice"},
      {R"({"images": [], "\u0069mages": []})", "member \"images\" comes twice"},
      {R"({"images": {}})", "member \"images\" is an object, not an array"},
      {R"({"info": NaN})", "NaN is not a number of JSON"},
      {R"({"info": )" + std::string(1'000'000, '['), "nested more deeply than 512 levels", Errc::limit_exceeded},
      {R"({"images": )" + std::string(1'000'000, '['), "images[0]: is an array, not an object"},
      {R"({"images": [)" + times_over(1'000'000, R"({"a":)"), "nested more deeply", Errc::limit_exceeded},
      {with(std::string(1'000'000, '[')), "annotations[0]: member \"bbox\": is an array, not a number"},

      {image("7"), "images[0]: is a number, not an object"},
      {image(R"({"id": 1})"), "images[0]: there is no member \"file_name\""},
      {image(R"({"file_name": "a"})"), "images[0]: there is no member \"id\""},
      {image(R"({"id": 1, "file_name": "a", "id": 2})"), "images[0]: member \"id\": comes twice"},
      {image(R"({"id": "1", "file_name": "a"})"), "images[0]: member \"id\": is a text, not a number"},
      {image(R"({"id": 1.0, "file_name": "a"})"), "images[0]: member \"id\": is 1.0, not a whole number"},
      {image(R"({"id": 9223372036854775808, "file_name": "a"})"), "9223372036854775808 has more than 64 bits"},
      {image(R"({"id": 1e999, "file_name": "a"})"), "is 1e999, not a whole number"},
      {image(R"({"id": 1, "file_name": 7})"), "images[0]: member \"file_name\": is a number, not a text"},
      {image(R"({"id": 1, "file_name": ""})"), "\"\" is not a file below the folder"},
      {image(R"({"id": 1, "file_name": "/etc/passwd"})"), "\"/etc/passwd\" is not a file below the folder"},
      {image(R"({"id": 1, "file_name": "a/../../b"})"), "\"a/../../b\" is not a file below the folder"},
      {image(R"({"id": 1, "file_name": ".."})"), "is not a file below the folder"},
      {image(R"({"id": 1, "file_name": "a\u0000.jpg"})"), "is not a file below the folder"},
      {image(R"({"id": 1, "file_name": "\ud800"})"), "member \"file_name\": is not UTF-8"},
      {image("{\"id\": 1, \"file_name\": \"\xff\"}"), "a text is not UTF-8"},
      {image(R"({"id": 1, "file_name": "a"}, {"id": 2, "file_name": "b"}, {"id": 1, "file_name": "c"})"),
       "images[2]: the id 1 is also that of images[0]"},
      {image(R"({"id": 1, "file_name": "a"})"), "there is no width or no height", Errc::invalid_argument, with_masks},
      {image(R"({"id": 1, "file_name": "a", "width": 5})"), "no width or no height", Errc::invalid_argument,
       with_masks},
      {image(R"({"id": 1, "file_name": "a", "width": 0, "height": 1})"), "member \"width\": is 0, not the size",
       Errc::corrupt, with_masks},
      {image(R"({"id": 1, "file_name": "a", "width": 5, "height": 2147483648})"), "is 2147483648, not the size",
       Errc::corrupt, with_masks},
      {image(R"({"id": 1, "file_name": "a", "width": 5, "height": null})"), "member \"height\": is null, not a number",
       Errc::corrupt, with_masks},

      {coco_text("7"), "annotations[0]: is a number, not an object"},
      {coco_text(coco_object("", 1) + "," + coco_object("", 2) + "," + coco_object("", 1)),
       "annotations[2]: the id 1 is also that of annotations[0]"},
      {object(R"("image_id": 7, "category_id": 3, "bbox": [0, 0, 1, 1])"), "there is no member \"id\""},
      {object(R"("id": 1, "category_id": 3, "bbox": [0, 0, 1, 1])"), "there is no member \"image_id\""},
      {object(R"("id": 1, "image_id": 7, "bbox": [0, 0, 1, 1])"), "there is no member \"category_id\""},
      {object(R"("id": 1, "image_id": 7, "category_id": 3)"), "annotations[0]: there is no member \"bbox\""},
      {object(R"("id": 1, "image_id": 8, "category_id": 3, "bbox": [0, 0, 1, 1])"),
       "annotations[0]: member \"image_id\": 8 is not the id of an entry of images"},
      {object(R"("id": 1, "image_id": 7, "category_id": 4, "bbox": [0, 0, 1, 1])"),
       "annotations[0]: member \"category_id\": 4 is not the id of an entry of categories"},
      {object(R"("id": 1, "image_id": 7, "category_id": 2147483648)"), "more than 32 bits", Errc::unsupported},
      {coco_text(coco_object(R"("iscrowd": 2)")), "member \"iscrowd\": is 2, not 0 or 1"},
      {coco_text(coco_object(R"("iscrowd": null)")), "member \"iscrowd\": is null, not a number"},
      {with("7"), "annotations[0]: member \"bbox\": is a number, not an array"},
      {with("[]"), "annotations[0]: member \"bbox\": has 0 numbers, not 4"},
      {with("[0, 0, 1]"), "has 3 numbers, not 4"},
      {with("[0, 0, 1, 1, 1]"), "has more than 4 numbers"},
      {with("[0, 0, 1, null]"), "is null, not a number"},
      {with("[0, 0, 1, 1e999]"), "annotations[0]: member \"bbox\": 1e999 is outside the range of f32"},
      {with("[0, 0, 1, -1e39]"), "-1e39 is outside the range of f32"},
      {with("[3e38, 0, 3e38, 1]"), "the box ends outside the range of f32"},
      {with("[0, 0, 1, Infinity]"), "Infinity is not a number of JSON"},

      {category("7"), "categories[0]: is a number, not an object"},
      {category(R"({"id": 1})"), "categories[0]: there is no member \"name\""},
      {category(R"({"id": 1, "name": 7})"), "categories[0]: member \"name\": is a number, not a text"},
      {category(R"({"id": 1, "name": "a"}, {"id": 1, "name": "b"})"),
       "categories[1]: the id 1 is also that of categories[0]"},
      {category(R"({"id": 4294967297, "name": "a"})"), "more than 32 bits", Errc::unsupported},
      {good, "no category lists keypoints", Errc::invalid_argument, with_keypoints},
      {category(R"({"id": 1, "name": "a", "keypoints": 7})"), "member \"keypoints\": is a number, not an array",
       Errc::corrupt, with_keypoints},
      {category(R"({"id": 1, "name": "a", "keypoints": ["x"]}, {"id": 2, "name": "b", "keypoints": ["x", "y"]})"),
       "categories[1]: it lists 2 keypoints, and another category lists 1", Errc::unsupported, with_keypoints},
      {category(R"({"id": 1, "name": "a", "keypoints": [0)" + times_over(1000, ",0") + "]}"),
       "has more than 1000 keypoints", Errc::limit_exceeded, with_keypoints},
  };
  for (const Case& damaged : cases) {
    CAPTURE(damaged.text.substr(0, 300));
    const CocoFolder folder(damaged.text);
    const Error error = error_of([&] { folder.open(damaged.options); });
    CAPTURE(error.what());
    CHECK(error.code() == damaged.code);
    CHECK(mentions(error, damaged.cause));
    CHECK(error.file() == folder / "a.json");
    CHECK(error.source() == "coco");
  }
  CHECK(CocoFolder("\xef\xbb\xbf" + good).open().size() == 1);
  // Nothing of the size is read if masks are not asked for.
  CHECK(CocoFolder(image(R"({"id": 1, "file_name": "a", "width": null})")).open().size() == 1);
  CHECK(code_of([&] { CocoSource({.annotations = CocoFolder("") / "none.json", .images = ""}); }) == Errc::not_found);
}

}  // namespace PENSTOCK_TEST_FILE
