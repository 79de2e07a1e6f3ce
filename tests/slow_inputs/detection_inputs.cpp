// SPDX-License-Identifier: Apache-2.0
// Files of COCO, VOC and YOLO with many entries, long and deep values, and shapes that promise much work.
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/coco.hpp>
#include <penstock/sources/voc.hpp>
#include <penstock/sources/yolo.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// A list of n entries; %% in an entry is its number.
std::string list_of(std::size_t n, const std::string& entry) {
  std::string list = "[";
  for (std::size_t i = 0; i < n; ++i) {
    if (i != 0) list += ',';
    for (std::size_t begin = 0;;) {
      const std::size_t end = entry.find("%%", begin);
      list.append(entry, begin, end - begin);
      if (end == std::string::npos) break;
      list += std::to_string(i);
      begin = end + 2;
    }
  }
  return list + "]";
}

// A file with one image of 64 x 64 pixels, or `images`.
void coco(const TempFolder& folder, const std::string& annotations, const std::string& images = "",
          const std::string& categories = "") {
  folder.write("p/a.jpg", "x");
  folder.write("a.json",
               "{\"images\":" + (images.empty() ? R"([{"id":0,"file_name":"a.jpg","width":64,"height":64}])" : images) +
                   ",\"annotations\":" + annotations + ",\"categories\":" +
                   (categories.empty() ? R"([{"id":0,"name":"a","keypoints":["x"]}])" : categories) + "}");
}
void segmentation(const TempFolder& folder, const std::string& value, const std::string& images = "") {
  coco(folder, R"([{"id":0,"image_id":0,"category_id":0,"bbox":[0,0,1,1],"segmentation":)" + value + "}]", images);
}

Coco options(const TempFolder& folder) { return {.annotations = folder / "a.json", .images = folder / "p"}; }
void open_boxes(const TempFolder& folder) { (void)CocoSource(options(folder)).schema(); }
void open_keypoints(const TempFolder& folder) {
  Coco with = options(folder);
  with.keypoints = true;
  (void)CocoSource(with).schema();
}
void read_masks(const TempFolder& folder) {
  Coco with = options(folder);
  with.masks = true;
  (void)read_sample(CocoSource(with), 0);
}
void read_boxes(const TempFolder& folder) { (void)read_sample(CocoSource(options(folder)), 0); }

void xml(const TempFolder& folder, const std::string& text) {
  folder.write("JPEGImages/a.jpg", "x");
  folder.write("Annotations/a.xml", text);
}
void read_xml(const TempFolder& folder) { (void)read_sample(VocSource({.root = folder.path().string()}), 0); }

void lines(const TempFolder& folder, const std::string& text) {
  folder.write("images/a.jpg", "x");
  folder.write("labels/a.txt", text);
}
void read_lines(const TempFolder& folder) {
  (void)read_sample(YoloSource({.images = folder / "images", .labels = folder / "labels"}), 0);
}

const std::string object = R"({"id":%%,"image_id":0,"category_id":0,"bbox":[0,0,1,1]})";
const std::string voc_object =
    "<object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object>";

}  // namespace

TEST_CASE("files of COCO take time and memory as they are large") {
  check_inputs(
      "COCO", {.seconds = 1, .megabytes = 200},
      {
          {.name = "n annotations of one image",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { coco(f, list_of(n, object)); },
           .use = read_boxes},
          {.name = "n annotations, n images and n categories",
           .size = 20'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 coco(f, list_of(n, R"({"id":%%,"image_id":%%,"category_id":%%,"bbox":[0,0,1,1]})"),
                      list_of(n, R"({"id":%%,"file_name":"a.jpg"})"), list_of(n, R"({"id":%%,"name":"a"})"));
               },
           .use = open_boxes},
          {.name = "n images whose ids descend",
           .size = 50'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { coco(f, "[]", list_of(n, R"({"id":-%%,"file_name":"a.jpg"})")); },
           .use = open_boxes},
          {.name = "an image of another id than n annotations",
           .size = 50'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { coco(f, list_of(n, object), R"([{"id":1,"file_name":"a.jpg"}])"); },
           .use = open_boxes,
           .refused = Errc::corrupt},
          {.name = "n annotations of one id",
           .size = 50'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 coco(f, list_of(n, R"({"id":0,"image_id":0,"category_id":0,"bbox":[0,0,1,1]})"));
               },
           .use = open_boxes,
           .refused = Errc::corrupt},
          {.name = "a category of n keypoints",
           .size = 100'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 coco(f, list_of(n, object), "", "[{\"id\":0,\"name\":\"a\",\"keypoints\":" + list_of(n, "0") + "}]");
               },
           .use = open_keypoints,
           .refused = Errc::limit_exceeded},
          {.name = "n members that are not known",
           .size = 100'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { coco(f, "[]", "[{\"id\":0" + times(n, ",\"a\":0") + ",\"file_name\":\"a\"}]"); },
           .use = open_boxes},
          {.name = "n levels",
           .size = 200'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { coco(f, "[]", "[{\"x\":" + std::string(n, '[') + std::string(n, ']') + "}]"); },
           .use = open_boxes,
           .refused = Errc::limit_exceeded},
          {.name = "a name of n escapes",
           .size = 50'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { coco(f, "[]", R"([{"id":0,"file_name":")" + times(n, "\\u0061") + "\"}]"); },
           .use = open_boxes},
          {.name = "a box of n numbers",
           .size = 100'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 coco(f, R"([{"id":0,"image_id":0,"category_id":0,"bbox":)" + list_of(n, "1") + "}]");
               },
           .use = open_boxes,
           .refused = Errc::corrupt},
          {.name = "a number of n digits",
           .size = 200'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 coco(f, R"([{"id":0,"image_id":0,"category_id":0,"bbox":[0,0,1,1.)" + std::string(n, '1') + "]}]");
               },
           .use = open_boxes},
          {.name = "a list that never ends",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { coco(f, list_of(n, object).substr(0, n * 20)); },
           .use = open_boxes,
           .refused = Errc::corrupt},
      });
}

TEST_CASE("masks of COCO take time and memory as their files and pictures are large") {
  check_inputs(
      "masks", {.seconds = 1, .megabytes = 200},
      {
          {.name = "a polygon of n points",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { segmentation(f, "[[0,0" + times(n, ",9,9,1,8") + "]]"); },
           .use = read_masks},
          {.name = "a polygon of n points far outside the picture",
           .size = 20'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { segmentation(f, "[[0,0" + times(n, ",1e8,9e7,-1e8,1") + "]]"); },
           .use = read_masks},
          {.name = "a polygon of n points above a wide picture",
           .size = 5'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 segmentation(f, "[[0,0" + times(n, ",1e8,-9,-1e8,-9") + "]]",
                              R"([{"id":0,"file_name":"a.jpg","width":50000,"height":1}])");
               },
           .use = read_masks,
           .refused = Errc::limit_exceeded},
          {.name = "a polygon of steep edges",
           .size = 5'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { segmentation(f, "[[0,0" + times(n, ",0.4,1e8,0,-1e8,63,1e8") + "]]"); },
           .use = read_masks},
          {.name = "n polygons",
           .size = 20'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { segmentation(f, "[[0,0,9,9,1,8]" + times(n, ",[0,0,9,9,1,8]") + "]"); },
           .use = read_masks},
          {.name = "n polygons of the whole picture",
           .size = 20'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { segmentation(f, "[[0,0,64,0,64,64]" + times(n, ",[0,0,64,0,64,64]") + "]"); },
           .use = read_masks,
           .refused = Errc::limit_exceeded},
          {.name = "n runs of no length",
           .size = 100'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { segmentation(f, R"({"size":[64,64],"counts":[4096)" + times(n, ",0") + "]}"); },
           .use = read_masks},
          {.name = "n runs of no length at the beginning",
           .size = 100'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { segmentation(f, R"({"size":[64,64],"counts":[)" + times(n, "0,") + "4096]}"); },
           .use = read_masks},
          {.name = "a string of n runs",
           .size = 100'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 segmentation(f, R"({"size":[64,64],"counts":")" + std::string(n, '0') + "\"}");
               },
           .use = read_masks,
           .refused = Errc::corrupt},
          {.name = "a string of one run without end",
           .size = 100'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 segmentation(f, R"({"size":[64,64],"counts":")" + std::string(n, 'o') + "\"}");
               },
           .use = read_masks,
           .refused = Errc::corrupt},
          {.name = "a picture of n x n pixels",
           .size = 1'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 const std::string size = std::to_string(n * 100);
                 segmentation(f, "[[0,0,9,9,1,8]]",
                              R"([{"id":0,"file_name":"a.jpg","width":)" + size + ",\"height\":" + size + "}]");
               },
           .use = read_masks,
           .refused = Errc::limit_exceeded},
          {.name = "n objects in a large picture",
           .size = 1'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 coco(f,
                      list_of(
                          n,
                          R"({"id":%%,"image_id":0,"category_id":0,"bbox":[0,0,1,1],"segmentation":[[0,0,9,9,1,8]]})"),
                      R"([{"id":0,"file_name":"a.jpg","width":30000,"height":30000}])");
               },
           .use = read_masks,
           .refused = Errc::limit_exceeded},
      });
}

TEST_CASE("files of VOC and YOLO take time and memory as they are large") {
  check_inputs(
      "VOC", {.seconds = 1, .megabytes = 300},
      {
          {.name = "n objects",
           .size = 5'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { xml(f, "<annotation>" + times(n, voc_object) + "</annotation>"); },
           .use = read_xml},
          {.name = "n elements that are not known",
           .size = 100'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { xml(f, "<annotation>" + times(n, "<a/>") + "</annotation>"); },
           .use = read_xml},
          {.name = "n elements in an object before its name",
           .size = 100'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { xml(f, "<annotation><object>" + times(n, "<a/>") + "</object></annotation>"); },
           .use = read_xml,
           .refused = Errc::corrupt},
          {.name = "n levels",
           .size = 100'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { xml(f, "<annotation>" + times(n, "<a>") + times(n, "</a>") + "</annotation>"); },
           .use = read_xml},
          {.name = "a name of n references",
           .size = 100'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 xml(f, "<annotation><object><name>" + times(n, "&amp;") + voc_object.substr(15) + "</annotation>");
               },
           .use = read_xml},
          {.name = "a number of n digits",
           .size = 200'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 std::string text = voc_object;
                 text.insert(text.find("2</xmax>") + 1, "." + std::string(n, '1'));
                 xml(f, "<annotation>" + text + "</annotation>");
               },
           .use = read_xml},
      });
  check_inputs(
      "YOLO", {.seconds = 1, .megabytes = 200},
      {
          {.name = "n objects",
           .size = 50'000,
           .make = [](const TempFolder& f, std::size_t n) { lines(f, times(n, "0 0.5 0.5 1 1\n")); },
           .use = read_lines},
          {.name = "n empty lines",
           .size = 500'000,
           .make = [](const TempFolder& f, std::size_t n) { lines(f, std::string(n, '\n')); },
           .use = read_lines},
          {.name = "a line of n numbers",
           .size = 100'000,
           .make = [](const TempFolder& f, std::size_t n) { lines(f, times(n, "0 ")); },
           .use = read_lines,
           .refused = Errc::unsupported},
          {.name = "a line of n spaces",
           .size = 500'000,
           .make = [](const TempFolder& f, std::size_t n) { lines(f, "0 0.5 0.5 1 1" + std::string(n, ' ')); },
           .use = read_lines},
          {.name = "a number of n digits",
           .size = 200'000,
           .make = [](const TempFolder& f, std::size_t n) { lines(f, "0 0.5 0.5 1 0." + std::string(n, '1')); },
           .use = read_lines},
          {.name = "a file of more than 64 MiB",
           .size = std::size_t{65} << 20,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 lines(f, "");
                 std::filesystem::resize_file(f / "labels/a.txt", n);
               },
           .use = read_lines,
           .refused = Errc::limit_exceeded},
      });
}

}  // namespace PENSTOCK_TEST_FILE
