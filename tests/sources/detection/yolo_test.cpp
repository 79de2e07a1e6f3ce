// SPDX-License-Identifier: Apache-2.0
// Pictures and boxes of YOLO.
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/yolo.hpp>

#include "sources/detection/detection_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

// The pictures a, b and c.
class YoloFolder {
 public:
  YoloFolder() {
    folder.write("images/b.jpg", "b");
    folder.write("images/a.png", "aa");
    folder.write("images/c.jpg", "");
    for (const char* name : {"readme.txt", ".hidden.jpg", "Thumbs.db", "sub/d.jpg", "@eaDir/e.jpg"})
      folder.write(std::string("images/") + name, "x");
    folder.write("labels/a.txt", "1 0.5 0.25 1 0.5\r\n\n  0\t0.125 .75 0.25 5e-1  \n0 0.5 0.5 0 1\n");
    folder.write("labels/b.txt", "");
    folder.write("labels/z.txt", "");
    folder.write("classes.txt", "cat\nbig dog\n");
  }
  Yolo options() const { return {.images = folder / "images", .labels = folder / "labels"}; }
  YoloSource open() const { return YoloSource(options()); }
  YoloSource with_classes(ClassNames classes) const {
    Yolo with = options();
    with.classes = std::move(classes);
    return YoloSource(with);
  }
  YoloSource with_names() const {
    Yolo with = options();
    with.names = folder / "classes.txt";
    return YoloSource(with);
  }

  TempFolder folder;
};

}  // namespace

TEST_CASE("YOLO gives boxes as shares of the picture") {
  const YoloFolder files;
  const YoloSource source = files.open();
  CHECK(source.schema().to_string() == "{image: u8[?], boxes: f32[?, 5], classes: i64[?]}");
  CHECK(source.schema().at("classes").classes.empty());
  REQUIRE(source.size() == 3);
  const OwnedSample two = read_sample(source, 0), none = read_sample(source, 1), unlabelled = read_sample(source, 2);
  CHECK(text_of(two["image"]) == "aa");
  CHECK(values_in<float>(two["boxes"]) == Floats{0.5, 0.25, 1, 0.5, 1, 0.125, 0.75, 0.25, 0.5, 1});
  CHECK(values_in<std::int64_t>(two["classes"]) == Integers{1, 0});
  CHECK(text_of(none["image"]) == "b");
  CHECK(none["boxes"].shape == Shape{0, 5});
  CHECK(unlabelled["boxes"].shape == Shape{0, 5});
  CHECK(unlabelled["classes"].shape == Shape{0});
  CHECK(source.key(0) == "a");
  CHECK(source.file_of(0) == files.folder / "images/a.png");
  CHECK(source.file() == files.folder / "images");
  CHECK(source.notes() ==
        std::vector<std::string>{"1 of 3 pictures have no file of labels, so they have no objects",
                                 "1 of 3 files of labels have no picture",
                                 "passed over in " + (files.folder / "images") + ": 1 file (.txt 1), 1 folder"});
  CHECK(code_of([&] { source.key(3); }) == Errc::not_found);
  CHECK(code_of([&] { read_sample(source, 3); }) == Errc::not_found);
}

TEST_CASE("YOLO's classes have names from a list or a file") {
  const YoloFolder files;
  CHECK(files.with_names().schema().at("classes").classes == ClassNames{"cat", "big dog"});
  CHECK(files.with_classes({"x", "y"}).schema().at("classes").classes == ClassNames{"x", "y"});
  const YoloSource one = files.with_classes({"x"});
  const Error unknown = error_of([&] { read_sample(one, 0); });
  CHECK(unknown.cause() == "line 1: the class is 1, which is not one of the 1 class: 0 x");
  Yolo both = files.options();
  both.names = files.folder / "classes.txt";
  both.classes = {"x"};
  CHECK(code_of([&] { YoloSource{both}; }) == Errc::invalid_argument);
  both.classes = {};
  both.names += "x";
  CHECK(code_of([&] { YoloSource{both}; }) == Errc::not_found);
  both.names = files.folder / "data.yaml";
  CHECK(mentions(error_of([&] { YoloSource{both}; }), "this is YAML; give the names in `classes`"));
  files.folder.write("images/a.jpg", "");
  CHECK(mentions(error_of([&] { files.open(); }), "the files \"a.jpg\" and \"a.png\" differ only in their ending"));
}

TEST_CASE("YOLO refuses a folder in which no picture has labels") {
  const YoloFolder files;
  Yolo wrong = files.options();
  wrong.labels = wrong.images;
  CHECK(mentions(error_of([&] { YoloSource{wrong}; }), "none of the 3 pictures has a file of labels here"));
}

TEST_CASE("YOLO's identity is that of what the records are") {
  const YoloFolder files;
  const std::uint64_t identity = files.open().identity(), revision = files.open().revision();
  CHECK(files.open().identity() == identity);
  CHECK(files.with_names().identity() != identity);
  CHECK(files.with_names().identity() == files.with_classes({"cat", "big dog"}).identity());
  files.folder.write("images/a.png", "aaa");
  const std::uint64_t larger = files.open().identity();
  CHECK(larger != identity);
  CHECK(files.open().revision() != revision);
  files.folder.write("labels/a.txt", "1 0.5 0.25 1 0.5");
  CHECK(files.open().identity() != larger);
}

TEST_CASE("YOLO's files that are damaged are bad samples with the place") {
  struct Case {
    std::string text;
    const char* cause;
    std::uint64_t offset;
    Errc code = Errc::corrupt;
  };
  const std::vector<Case> cases{
      {"0", "line 1: it ends too early; a line has 5 numbers", 1},
      {"0 0.5 0.5 1 1\n\n0 0.5 0.5 1\n", "line 3: it ends too early; a line has 5 numbers", 26},
      {"0 0.5 0.5 1 1 0.9", "line 1: it has 6 numbers, like a polygon", 14, Errc::unsupported},
      {"0 0 0 1 0 1 1 0 1", "line 1: it has 9 numbers, like a polygon", 10, Errc::unsupported},
      {"x 0.5 0.5 1 1", "line 1: the class is \"x\", not a whole number from 0 on", 0},
      {"-1 0.5 0.5 1 1", "the class is \"-1\", not a whole number", 0},
      {"1.0 0.5 0.5 1 1", "the class is \"1.0\", not a whole number", 0},
      {"2147483648 0.5 0.5 1 1", "the class is \"2147483648\", not a whole number", 0},
      {"99999999999999999999 0.5 0.5 1 1", "not a whole number", 0},
      {"0 a 0.5 1 1", "line 1: the centre's x is \"a\", not a number", 2},
      {"0 0.5 0,5 1 1", "line 1: the centre's y is \"0,5\", not a number", 6},
      {"0 0.5 0.5 nan 1", "line 1: the width is nan, not a share of the picture", 10},
      {"0 0.5 0.5 1 inf", "line 1: the height is inf, not a share of the picture", 12},
      {"0 0.5 0.5 1 1e999", "the height is \"1e999\", not a number", 12},
      {"0 320 0.5 1 1", "line 1: the centre's x is 320, not a share of the picture from 0 to 1; are these pixels?", 2},
      {"0 -0.02 0.5 1 1", "the centre's x is -0.02, not a share", 2},
      {"0 1.02 0.5 1 1", "the centre's x is 1.02, not a share", 2},
      {"0 0.5 0.5 -0.001 1", "line 1: the width or height is negative", 0},
      {std::string("0 0.5 0.5 1 1\0", 14), "the height is", 12},
      {"\xff\xfe"
       "0",
       "the class is", 0},
  };
  const YoloFolder files;
  const YoloSource source = files.open();
  for (const Case& damaged : cases) {
    CAPTURE(damaged.text);
    files.folder.write("labels/a.txt", damaged.text);
    const Error error = error_of([&] { read_sample(source, 0); });
    CAPTURE(error.what());
    CHECK(error.code() == damaged.code);
    CHECK(mentions(error, damaged.cause));
    CHECK(error.offset() == damaged.offset);
    CHECK(error.file() == files.folder / "labels/a.txt");
    CHECK(error.key() == "a");
    CHECK(error.source() == "yolo");
  }
  files.folder.write("labels/a.txt",
                     "\xef\xbb\xbf"
                     "0 1.01 -0.01 1 1");
  CHECK(values_in<float>(read_sample(source, 0)["boxes"]) == Floats{1.01f, -0.01f, 1, 1, 1});
  std::filesystem::remove(files.folder / "images/a.png");
  CHECK(error_of([&] { read_sample(source, 0); }).file() == files.folder / "images/a.png");
}

}  // namespace PENSTOCK_TEST_FILE
