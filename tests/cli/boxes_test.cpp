// SPDX-License-Identifier: Apache-2.0
// inspect, verify, bench and convert take pictures with boxes of COCO, VOC and YOLO.
#include <filesystem>
#include <string>

#include <penstock/sources/lmdb.hpp>

#include "cli/tool.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr const char* coco = R"({"images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
  "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4]},
                  {"id": 2, "image_id": 1, "category_id": 7, "bbox": [0, 0, 0, 4]}],
  "categories": [{"id": 3, "name": "cat"}, {"id": 7, "name": "dog"}]})";

void write_pictures(const TempFolder& folder, const std::string& where) {
  for (const char* name : {"a.jpg", "b.jpg"}) folder.write(where + "/" + name, "no picture");
}

}  // namespace

TEST_CASE("the tool reads COCO's annotations, with the pictures where programs put them") {
  struct Place {
    const char *annotations, *pictures;
  };
  for (const auto& [annotations, pictures] :
       {Place{"annotations/instances_val.json", "val"}, Place{"annotations/instances_val.json", "images/val"},
        Place{"annotations/person_keypoints_val.json", "val"}, Place{"train/_annotations.coco.json", "train"},
        Place{"a.json", "images"}, Place{"labels/a.json", "images"}, Place{"val.json", "val"}}) {
    CAPTURE(annotations, pictures);
    const TempFolder folder;
    folder.write(annotations, coco);
    write_pictures(folder, pictures);
    const ToolResult inspected = tool({"inspect", folder / annotations, "--json"});
    REQUIRE(inspected.status == 0);
    CHECK(inspected.json()["kind"] == "coco");
    CHECK(inspected.json()["records"] == 2);
    CHECK(inspected.json()["schema"] == "{image: u8[?], boxes: f32[?, 5], classes: i64[?], image_id: i64[]}");
    CHECK(inspected.json()["first_key"] == "a.jpg");
  }
  const TempFolder folder;
  folder.write("annotations/instances_val.json", coco);
  const ToolResult missing = tool({"inspect", folder / "annotations/instances_val.json"});
  CHECK(missing.status == 1);
  CHECK(one_line(missing.err));
  CHECK(missing.err.find("\"a.jpg\" is in none of ") != std::string::npos);
  CHECK(missing.err.find(folder / "val") != std::string::npos);

  write_pictures(folder, "val");
  const std::string file = folder / "annotations/instances_val.json";
  CHECK(tool({"inspect", file}).out.find("boxes have no width or no height: 1") != std::string::npos);
  const ToolResult verified = tool({"verify", file, "--json"});
  CHECK(verified.status == 3);
  CHECK(verified.json()["bad"].size() == 2);  // they are no pictures
  CHECK(tool({"bench", file, "--fields", "image_id", "--stages", "batch 2", "--epochs", "1"}).status == 0);
  REQUIRE(tool({"convert", file, "--out", folder / "c.lmdb", "-q"}).status == 0);
  const LmdbSource converted(Lmdb{.path = folder / "c.lmdb"});
  CHECK(converted.schema().to_string() == "{image: u8[?], boxes: f32[?, 5], classes: i64[?], image_id: i64[]}");
  CHECK(converted.schema().at("classes").classes == ClassNames{"cat", "dog"});
  CHECK(converted.key(0) == "a.jpg");

  folder.write("annotations/other.json", "{\"a\": 1}");
  const ToolResult other = tool({"inspect", folder / "annotations/other.json"});
  CHECK(other.status == 1);
  CHECK(one_line(other.err));
  CHECK(other.err.find("neither a list of stores, as `penstock merge` writes it, nor COCO's annotations") !=
        std::string::npos);
}

TEST_CASE("the tool reads a folder of VOC") {
  const TempFolder folder;
  folder.write("Annotations/a.xml",
               "<annotation><object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>4</ymax>"
               "</bndbox></object></annotation>");
  folder.write("JPEGImages/a.jpg", "no picture");
  const auto json = tool({"inspect", folder / ".", "--json"}).json();
  CHECK(json["kind"] == "voc");
  CHECK(json["records"] == 1);
  CHECK(json["schema"] == "{image: u8[?], boxes: f32[?, 5], classes: i64[?], difficult: u8[?]}");
}

TEST_CASE("the tool reads folders of YOLO, and folders of pictures as before") {
  const TempFolder folder;
  write_pictures(folder, "images/train");
  folder.write("labels/train/a.txt", "1 0.5 0.5 0.2 0.2\n");
  folder.write("classes.txt", "cat\ndog\n");
  const auto json = tool({"inspect", folder / "images/train", "--json"}).json();
  CHECK(json["kind"] == "yolo");
  CHECK(json["records"] == 2);
  CHECK(json["schema"] == "{image: u8[?], boxes: f32[?, 5], classes: i64[?]}");
  CHECK(tool({"inspect", folder / "images/train"}).out.find("1 of 2 pictures have no file of labels") !=
        std::string::npos);

  const TempFolder flat;
  write_pictures(flat, "images");
  flat.write("labels/b.txt", "0 0.5 0.5 0.2 0.2\n");
  CHECK(tool({"inspect", flat / ".", "--json"}).json()["kind"] == "yolo");
  CHECK(tool({"inspect", flat / "images", "--json"}).json()["kind"] == "yolo");

  const TempFolder plain;
  write_pictures(plain, "images/cat");
  write_pictures(plain, "labels/dog");
  CHECK(tool({"inspect", plain / ".", "--json"}).json()["kind"] == "files");
  CHECK(tool({"inspect", plain / "images", "--json"}).json()["kind"] == "files");
}

}  // namespace PENSTOCK_TEST_FILE
