// SPDX-License-Identifier: Apache-2.0
// Pictures and boxes of Pascal VOC.
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/voc.hpp>

#include "sources/detection/detection_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;
using Bytes = std::vector<std::uint8_t>;

std::string voc_box(const std::string& x0, const std::string& y0, const std::string& x1, const std::string& y1) {
  return "<bndbox><xmin>" + x0 + "</xmin><ymin>" + y0 + "</ymin><xmax>" + x1 + "</xmax><ymax>" + y1 +
         "</ymax></bndbox>";
}
std::string voc_object(const std::string& name, const std::string& box, const std::string& more = "") {
  return "<object><name>" + name + "</name>" + more + box + "</object>";
}
std::string voc_text(const std::string& content) {
  return "<annotation><filename>other.jpg</filename><size><width>4</width></size>" + content + "</annotation>";
}

// The records b, a and c.
class VocFolder {
 public:
  VocFolder() {
    folder.write("Annotations/b.xml",
                 voc_text(voc_object("dog", voc_box("1", "1", "4", "3"), "<difficult>1</difficult><pose>Left</pose>") +
                          voc_object("cat", voc_box("\n 2.5 ", "1e0", "3", "2"),
                                     "<difficult>0</difficult><part><name>head</name>" + voc_box("9", "9", "1", "1") +
                                         "</part>") +
                          voc_object("cow", voc_box("3", "1", "2", "9"))));  // no width
    folder.write("Annotations/a.xml", "<?xml version=\"1.0\"?><!-- x -->\n" + voc_text(""));
    folder.write("Annotations/c.xml", voc_text(voc_object("a &amp; b", voc_box("-1", "0", "1", "1"))));
    folder.write("Annotations/notes.txt", "x");
    folder.write("JPEGImages/a.png", "aa");
    folder.write("JPEGImages/b.jpg", "b");
    folder.write("JPEGImages/c.JPEG", "");
    folder.write("JPEGImages/z.jpg", "z");
    folder.write("ImageSets/Main/train.txt", "c  1\r\n\nb -1\n");
  }
  std::string root() const { return folder.path().string(); }
  VocSource open() const { return VocSource({.root = root()}); }
  VocSource listed() const { return VocSource({.root = root(), .list = folder / "ImageSets/Main/train.txt"}); }
  VocSource with_classes(ClassNames classes) const {
    return VocSource({.root = root(), .classes = std::move(classes)});
  }

  TempFolder folder;
};

}  // namespace

TEST_CASE("VOC gives boxes as edges, classes and what is difficult") {
  const VocFolder files;
  const VocSource source = files.open();
  CHECK(source.schema().to_string() == "{image: u8[?], boxes: f32[?, 5], classes: i64[?], difficult: u8[?]}");
  CHECK(source.schema().at("classes").classes == ClassNames{"a & b", "cat", "dog"});
  REQUIRE(source.size() == 3);
  CHECK(source.key(0) == "a");
  CHECK(source.file_of(0) == files.root() + "/JPEGImages/a.png");
  CHECK(source.file() == files.root());
  CHECK(source.notes() == std::vector<std::string>{"passed over in " + files.root() + "/Annotations: 1 file (.txt 1)"});
  const OwnedSample none = read_sample(source, 0), two = read_sample(source, 1), one = read_sample(source, 2);
  CHECK(text_of(none["image"]) == "aa");
  CHECK(none["boxes"].shape == Shape{0, 5});
  CHECK(text_of(two["image"]) == "b");
  CHECK(values_in<float>(two["boxes"]) == Floats{0, 0, 4, 3, 1, 1.5, 0, 3, 2, 1});
  CHECK(values_in<std::int64_t>(two["classes"]) == Integers{2, 1});
  CHECK(values_in<std::uint8_t>(two["difficult"]) == Bytes{1, 0});
  CHECK(values_in<float>(one["boxes"]) == Floats{-2, -1, 1, 1, 1});
  CHECK(values_in<std::int64_t>(one["classes"]) == Integers{0});
  CHECK(values_in<std::uint8_t>(one["difficult"]) == Bytes{0});
  CHECK(code_of([&] { source.key(3); }) == Errc::not_found);
  CHECK(code_of([&] { read_sample(source, 3); }) == Errc::not_found);
}

TEST_CASE("VOC's lists choose records, and classes have the given numbers") {
  const VocFolder files;
  const VocSource listed = files.listed();
  REQUIRE(listed.size() == 2);
  CHECK(listed.key(0) == "c");
  CHECK(listed.key(1) == "b");
  CHECK(listed.schema().at("classes").classes == ClassNames{"a & b", "cat", "dog"});

  const VocSource given = files.with_classes({"dog", "bird", "cat"});
  CHECK(given.schema().at("classes").classes == ClassNames{"dog", "bird", "cat"});
  CHECK(values_in<std::int64_t>(read_sample(given, 1)["classes"]) == Integers{0, 2});
  const Error unknown = error_of([&] { read_sample(given, 2); });
  CHECK(unknown.code() == Errc::corrupt);
  CHECK(unknown.cause() == "the class \"a & b\" is not one of the 3 classes: 0 dog, 1 bird, 2 cat");
  CHECK(unknown.file() == files.root() + "/Annotations/c.xml");
  CHECK(unknown.key() == "c");
  CHECK(mentions(error_of([&] { files.with_classes({"a", "b", "a"}); }), "`classes` name \"a\" twice"));

  const auto refused = [&](const std::string& list) {
    files.folder.write("ImageSets/Main/train.txt", list);
    return error_of([&] { files.listed(); });
  };
  CHECK(refused("a\nb\na\n").code() == Errc::invalid_argument);
  CHECK(mentions(refused("a\nb\na\n"), "it names \"a\" twice"));
  CHECK(mentions(refused("z\n"), "it names \"z\", and there is no such file in "));
  CHECK(mentions(refused("../a\n"), "it names \"../a\", and there is no such file in "));
}

TEST_CASE("VOC's pictures are found by name") {
  const VocFolder files;
  files.folder.write("JPEGImages/a.jpg", "a");
  CHECK(mentions(error_of([&] { files.open(); }), "the files \"a.jpg\" and \"a.png\" differ only in their ending"));
  std::filesystem::remove(files.root() + "/JPEGImages/a.jpg");
  std::filesystem::remove(files.root() + "/JPEGImages/a.png");
  const Error missing = error_of([&] { files.open(); });
  CHECK(missing.code() == Errc::not_found);
  CHECK(mentions(missing, "there is no picture \"a\", with an ending like .jpg, for \"a.xml\""));
  CHECK(files.listed().size() == 2);
  CHECK(code_of([&] { VocSource({.root = files.root() + "/none"}); }) == Errc::not_found);
}

TEST_CASE("VOC's identity is that of what the records are") {
  const VocFolder files;
  const std::uint64_t identity = files.open().identity(), revision = files.open().revision();
  CHECK(files.open().identity() == identity);
  CHECK(files.listed().identity() != identity);
  CHECK(files.with_classes({"a & b", "cat", "dog"}).identity() == identity);
  CHECK(files.with_classes({"dog", "cat", "a & b"}).identity() != identity);
  files.folder.write("JPEGImages/a.png", "aaa");
  const std::uint64_t larger = files.open().identity();
  CHECK(larger != identity);
  CHECK(files.open().revision() != revision);
  files.folder.write("Annotations/a.xml", voc_text(voc_object("cat", voc_box("1", "1", "4", "3"))));
  CHECK(files.open().identity() != larger);
}

TEST_CASE("VOC's files that are damaged are refused, or bad samples, with the place") {
  const auto box = [](const std::string& number) {
    return voc_text(voc_object("cat", voc_box("1", "1", number, "3")));
  };
  const std::string good = box("4");
  const std::vector<std::pair<std::string, const char*>> cases{
      {"", "it is not XML: No document element found"},
      {"abc", "it is not XML"},
      {"<annotation>", "it is not XML"},
      {good.substr(0, good.size() / 2), "it is not XML"},
      {good.substr(0, good.size() - 1), "it is not XML"},
      {good + "</annotation>", "it is not XML"},
      {std::string("\0\0\0", 3) + good, "it is not XML"},
      {"<annotations/>", "it has no element annotation at its top"},
      {times_over(1'000'000, "<a>"), "it is not XML"},
      {times_over(1'000'000, "<a>") + times_over(1'000'000, "</a>"), "it has no element annotation at its top"},
      {voc_text("<object/>"), "object 1: it has no name"},
      {voc_text(voc_object(" ", voc_box("1", "1", "4", "3"))), "object 1: it has no name"},
      {voc_text(voc_object("cat", voc_box("1", "1", "4", "3")) + voc_object("cat", "")),
       "object 2: it has no element bndbox"},
      {voc_text(voc_object("cat", "<bndbox><xmin>1</xmin></bndbox>")), "object 1: its box has no ymin"},
      {box(""), "object 1: xmax is \"\", not a finite number"},
      {box("x"), "object 1: xmax is \"x\", not a finite number"},
      {box("4,5"), "object 1: xmax is \"4,5\", not a finite number"},
      {box("4 5"), "object 1: xmax is \"4 5\", not a finite number"},
      {box("nan"), "object 1: xmax is \"nan\", not a finite number"},
      {box("inf"), "object 1: xmax is \"inf\", not a finite number"},
      {box("1e999"), "object 1: xmax is \"1e999\", not a finite number"},
      {box("1e39"), "object 1: xmax is \"1e39\", not a finite number"},
      {box("-1"), "object 1: its box has a negative width or height"},
      {voc_text(voc_object("cat", voc_box("1", "1", "4", "3"), "<difficult>yes</difficult>")),
       "object 1: difficult is \"yes\", not 0 or 1"},
  };
  const VocFolder files;
  const VocSource given = files.with_classes({"cat"});
  for (const auto& [text, cause] : cases) {
    CAPTURE(text.substr(0, 200));
    files.folder.write("Annotations/a.xml", text);
    for (const Error& error : {error_of([&] { files.open(); }), error_of([&] { read_sample(given, 0); })}) {
      CAPTURE(error.what());
      CHECK(error.code() == Errc::corrupt);
      CHECK(mentions(error, cause));
      CHECK(error.file() == files.root() + "/Annotations/a.xml");
      CHECK(error.source() == "voc");
    }
  }
  std::filesystem::remove(files.root() + "/Annotations/a.xml");
  CHECK(code_of([&] { read_sample(given, 0); }) == Errc::not_found);
  std::filesystem::remove(files.root() + "/JPEGImages/b.jpg");
  CHECK(error_of([&] { read_sample(given, 1); }).file() == files.root() + "/JPEGImages/b.jpg");
}

}  // namespace PENSTOCK_TEST_FILE
