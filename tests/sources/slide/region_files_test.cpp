// SPDX-License-Identifier: Apache-2.0
// Files of regions: their forms, and what is wrong with some.
#include <penstock/sources/slide.hpp>

#include <map>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Four places of 50 pixels, side by side.
SlideForm row_of_places() { return {.width = 200, .height = 50, .per_unit = 10'000}; }

// What the four places show: the names of classes, "-" for none.
std::string shown(const TempFolder& folder) {
  const SlideSource source({.files = folder / "a.tif",
                            .size = 50,
                            .regions = {.folder = folder.path().string(), .least = 0.6, .field = "kind"}});
  if (const auto& failure = source.slides().front().failure) throw Error(*failure);
  const auto numbers = source.labels("kind");
  std::string text;
  for (const std::int64_t number : *numbers) {
    const std::string& name = source.schema().at("kind").classes[static_cast<std::size_t>(number)];
    text += (text.empty() ? "" : " ") + (name.empty() ? "-" : name);
  }
  return text;
}

const std::string first = "[[[0,0],[50,0],[50,50],[0,50],[0,0]]]",
                  second = "[[[50,0],[100,0],[100,50],[50,50],[50,0]]]";

std::string feature(const std::string& coordinates, const std::string& properties) {
  return R"({"type":"Feature","geometry":{"type":"Polygon","coordinates":)" + coordinates + R"(},"properties":)" +
         properties + "}";
}

}  // namespace

TEST_CASE("GeoJSON is read in every form that programs write") {
  const TempFolder folder;
  write_slide(folder / "a.tif", row_of_places());
  const auto of = [&](const std::string& text) {
    folder.write("a.geojson", text);
    return shown(folder);
  };
  const std::string tumor = R"({"classification":{"name":"tumor"}})";
  // A collection, a list, a feature, a geometry; with a mark of the byte order.
  CHECK(of(R"({"type":"FeatureCollection","features":[)" + feature(first, tumor) + "]}") == "tumor - - -");
  CHECK(of("[" + feature(first, tumor) + "," + feature(second, R"({"classification":{"name":"fat"}})") + "]") ==
        "tumor fat - -");
  CHECK(of(feature(second, tumor)) == "- tumor - -");
  CHECK(of("\xef\xbb\xbf" + feature(second, tumor)) == "- tumor - -");
  CHECK(of(R"({"type":"Polygon","coordinates":)" + first + "}") == "unclassified - - -");
  CHECK(of(R"({"coordinates":)" + first + R"(,"type":"Polygon"})") == "unclassified - - -");
  CHECK(of(R"({"type":"GeometryCollection","geometries":[{"type":"Polygon","coordinates":)" + first +
           R"(},{"type":"MultiPolygon","coordinates":[)" + second + "]}]}") == "unclassified unclassified - -");
  CHECK(of(R"({"type":"Feature","properties":)" + tumor +
           R"(,"geometry":{"type":"GeometryCollection","geometries":[{"coordinates":)" + first +
           R"(,"type":"Polygon"}]}})") == "tumor - - -");
  // What a class is called.
  CHECK(of(feature(first, R"({"classification":"tumor"})")) == "tumor - - -");
  CHECK(of(feature(first, R"({"classification":{"names":["tumor","positive"],"color":[1,2,3]}})")) ==
        "tumor: positive - - -");
  CHECK(of(feature(first, R"({"name":"Annotation 1","tissue_id":7})")) == "unclassified - - -");
  CHECK(of(feature(first,
                   R"({"classification":{"colorRGB":-1,"name":"tumor"},"measurements":[{"name":"x","value":1}]})")) ==
        "tumor - - -");
  CHECK(of(feature(first, "null")) == "unclassified - - -");
  // Three numbers a position, whole or not, and rings that don't end where they begin.
  CHECK(of(feature("[[[0,0,1],[5e1,0.0,1],[50,50,1],[0,50,1]]]", tumor)) == "tumor - - -");
  // Where a class has a name and parts of it, the name counts, in either order.
  CHECK(of(feature(first, R"({"classification":{"name":"a: b","names":["a","b"]}})")) == "a: b - - -");
  CHECK(of(feature(first, R"({"classification":{"names":["a","b"],"name":"a: b"}})")) == "a: b - - -");
  // Measurements that are no numbers, as QuPath writes them; and texts that look like these.
  CHECK(
      of(feature(first,
                 R"({"measurements":{"Area":NaN,"x":-Infinity,"y":Infinity,"NaN\"":"NaN"},"classification":"NaN"})")) ==
      "NaN - - -");
  // Geometries in a list.
  CHECK(of(R"([{"type":"Polygon","coordinates":)" + first + R"(},{"type":"FeatureCollection","features":[)" +
           feature(second, tumor) + "]}]") == "unclassified tumor - -");
  // Members that mean nothing here.
  CHECK(
      of(R"({"crs":{"type":"Polygon","coordinates":[[[0,0]]]},"bbox":[0,0,1,1],"type":"FeatureCollection","features":[)" +
         feature(first, R"({"geometry":{"type":"Polygon","coordinates":)" + second + R"(},"classification":"tumor"})") +
         "]}") == "tumor - - -");
  // Nothing at all.
  CHECK(of(R"({"type":"FeatureCollection","features":[]})") == "- - - -");
  CHECK(of("[]") == "- - - -");
  CHECK(of(feature("[]", tumor)) == "- - - -");
  CHECK(of(R"({"type":"Feature","geometry":null,"properties":null})") == "- - - -");
}

TEST_CASE("what has no area, and what is no annotation, is passed over, and it is said") {
  const TempFolder folder;
  write_slide(folder / "a.tif", row_of_places());
  folder.write("a.json",
               "[" + feature(first, R"({"objectType":"annotation","classification":"tumor"})") + "," +
                   feature(second, R"({"objectType":"detection","classification":"cell"})") + "," +
                   feature(second, R"({"object_type":"cell"})") + R"(,{"id":"PathTileObject",)" +
                   feature(second, "{}").substr(1) + "," +
                   R"({"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}},)" +
                   R"({"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[[1,2],[60,30]]}},)" +
                   R"({"type":"Feature","geometry":{"type":"LineString","coordinates":[[60,0],[90,0],[70,40]]}},)" +
                   R"({"type":"Feature","geometry":{"type":"MultiLineString","coordinates":)" + second + "}}]");
  CHECK(shown(folder) == "tumor - - -");
  const std::string plan =
      from(
          Slides{.files = folder / "a.tif", .size = 50, .regions = {.folder = folder.path().string(), .field = "kind"}})
          .plan();
  CHECK(plan.find("4 annotations in ") != std::string::npos);
  CHECK(plan.find("3 objects in ") != std::string::npos);
}

TEST_CASE("ASAP's annotations are read with their points in order") {
  const TempFolder folder;
  write_slide(folder / "a.tif", row_of_places());
  folder.write("a.xml", R"(<?xml version="1.0"?>
<ASAP_Annotations><Annotations>
<Annotation Name="0" Type="Polygon" PartOfGroup="Tumor"><Coordinates>
<Coordinate Order="3" X="0" Y="50" /><Coordinate Order="1" X="50" Y="0" />
<Coordinate Order="2" X="50.0" Y=" 50 " /><Coordinate Order="0" X="-0" Y="0" />
</Coordinates></Annotation>
<Annotation Name="1" Type="Rectangle" PartOfGroup="None"><Coordinates>
<Coordinate X="50" Y="0"/><Coordinate X="100" Y="0"/><Coordinate X="100" Y="50"/><Coordinate X="50" Y="50"/>
</Coordinates></Annotation>
<Annotation Name="2" Type="Spline" PartOfGroup=""><Coordinates>
<Coordinate X="100" Y="0"/><Coordinate X="150" Y="0"/><Coordinate X="150" Y="50"/><Coordinate X="100" Y="50"/>
</Coordinates></Annotation>
<Annotation Name="3" Type="PointSet" PartOfGroup="x"><Coordinates><Coordinate X="160" Y="4"/></Coordinates></Annotation>
<Annotation Name="4" Type="Dot" PartOfGroup="x"/>
</Annotations><AnnotationGroups><Group Name="Tumor" PartOfGroup="None"/></AnnotationGroups></ASAP_Annotations>)");
  CHECK(shown(folder) == "Tumor unclassified unclassified -");
  folder.write("a.xml", as_asap({}));
  CHECK(shown(folder) == "- - - -");
}

TEST_CASE("a slide's file of regions has its name, or its file's") {
  const TempFolder folder;
  write_slide(folder / "a.tif", row_of_places());
  for (const char* name : {"a.geojson", "a.json", "a.tif.geojson", "a.tif.json"}) {
    folder.write(name, feature(first, R"({"classification":"tumor"})"));
    CHECK(shown(folder) == "tumor - - -");
    std::filesystem::remove(folder / name);
  }
  write_label_png(folder / "a.tif.png", 4, 1, {0, 7, 7, 255});
  CHECK(shown(folder) == "- 7 7 255");
  // Two of them would be a guess.
  folder.write("a.json", "[]");
  const Error two = error_of([&] { shown(folder); });
  CHECK(two.code() == Errc::invalid_argument);
  CHECK(std::string(two.what()).find("has regions in it and in ") != std::string::npos);
  std::filesystem::remove(folder / "a.json");
  std::filesystem::remove(folder / "a.tif.png");
  const Error none = error_of([&] { shown(folder); });
  CHECK(none.code() == Errc::invalid_argument);
  CHECK(std::string(none.what())
            .find("1 of 1 slides have no file of regions in it, NAME.geojson, .json, .xml or .png: a;") !=
        std::string::npos);
  // Slides of one name in two folders.
  const TempFolder slides;
  for (const char* name : {"x", "y"}) {
    std::filesystem::create_directories(slides.path() / name);
    write_slide(slides / (std::string(name) + "/a.tif"), row_of_places());
    folder.write(std::string(name) + "/a.json",
                 feature(*name == 'x' ? first : second, R"({"classification":"tumor"})"));
  }
  const SlideSource source({.paths = {slides / "x/a.tif", slides / "y/a.tif"},
                            .size = 50,
                            .regions = {.folder = folder.path().string(), .include = {"tumor"}}});
  CHECK(source.key(0) == "x/a/000000_000000");
  CHECK(source.key(1) == "y/a/000000_000050");
}

TEST_CASE("a file of regions that is wrong is its slide's error, and names the file") {
  const TempFolder folder;
  write_slide(folder / "a.tif", row_of_places());
  struct Bad {
    std::string name, text;
    Errc code;
    std::string says;
  };
  const std::string deep(200, '['), tumor = R"({"classification":"tumor"})";
  std::string classes = "[";
  for (int i = 0; i < 256; ++i)
    classes += (i == 0 ? "" : ",") + feature(first, R"({"classification":")" + std::to_string(i) + R"("})");
  classes += "]";
  for (const Bad& bad : std::vector<Bad>{
           {"a.json", "", Errc::corrupt, "it is no JSON"},
           {"a.json", "{\"type\":", Errc::corrupt, "it is no JSON"},
           {"a.json", "[] []", Errc::corrupt, "it is no JSON"},
           {"a.json", "{}", Errc::corrupt, "it is no GeoJSON"},
           {"a.json", "3", Errc::corrupt, "it is no GeoJSON"},
           {"a.json", R"({"type":"Topology"})", Errc::corrupt, "it is no GeoJSON"},
           {"a.json", "[1,2]", Errc::corrupt, "has something else in it"},
           {"a.json", R"({"type":"GeometryCollection","geometries":[1]})", Errc::corrupt, "has something else in it"},
           {"a.json", feature("[[[0,0],{},[50,50]]]", tumor), Errc::corrupt, "no numbers"},
           {"a.json", R"([{"name":"tumor","points":[[1,2]]}])", Errc::corrupt, "an object in it has no type"},
           {"a.json", R"([{"type":"polygon","coordinates":)" + first + "}]", Errc::corrupt, "of the type \"polygon\""},
           {"a.json", feature("[[[NaN,0],[50,0],[50,50]]]", tumor), Errc::corrupt, "on no slide"},
           {"a.json", feature(R"([[["0","0"],["50","0"],["50","50"]]])", tumor), Errc::corrupt, "no numbers"},
           {"a.json", deep, Errc::corrupt, "nested too deep"},
           {"a.json", feature("[[0,0],[50,0],[50,50]]", tumor), Errc::corrupt, "are not those of one"},
           {"a.json", feature("[" + first + "]", tumor), Errc::corrupt, "are not those of one"},
           {"a.json", feature("[[[0],[50,0],[50,50]]]", tumor), Errc::corrupt, "no positions"},
           {"a.json", feature("[[[0,0],[],[50,50]]]", tumor), Errc::corrupt, "empty position"},
           {"a.json", feature("[[[0,0],[[1,2]],[50,50]]]", tumor), Errc::corrupt, "no positions"},
           {"a.json", feature("[[[0,[1,2]],[50,50]]]", tumor), Errc::corrupt, "a list in it"},
           {"a.json", feature("[[[0,0],[1e300,0],[50,50]]]", tumor), Errc::corrupt, "on no slide"},
           {"a.json", feature("[[[0,0],[1e999,0],[50,50]]]", tumor), Errc::corrupt, "it is no JSON"},
           {"a.json", feature(first, "{\"classification\":\"\xff\"}"), Errc::corrupt, "it is no JSON"},
           {"a.json", classes, Errc::limit_exceeded, "more than 255 classes"},
           {"a.xml", "", Errc::corrupt, "it is no XML"},
           {"a.xml", "<a><b></a>", Errc::corrupt, "it is no XML"},
           {"a.xml", "<Annotations/>", Errc::corrupt, "it has no element ASAP_Annotations"},
           {"a.xml",
            "<ASAP_Annotations><Annotations><Annotation Type=\"Polygon\"><Coordinates><Coordinate X=\"1\"/>"
            "</Coordinates></Annotation></Annotations></ASAP_Annotations>",
            Errc::corrupt, "a Coordinate has no Y"},
           {"a.xml",
            "<ASAP_Annotations><Annotations><Annotation Type=\"Polygon\"><Coordinates><Coordinate X=\"1,5\" Y=\"1\"/>"
            "</Coordinates></Annotation></Annotations></ASAP_Annotations>",
            Errc::corrupt, "a Coordinate has \"1,5\", which is no number, as its X"},
           {"a.png", "PNG", Errc::corrupt, ""},
       }) {
    CAPTURE(bad.name, bad.text.substr(0, 100));
    folder.write(bad.name, bad.text);
    const Slides slides{
        .files = folder / "a.tif", .size = 50, .regions = {.folder = folder.path().string(), .field = "kind"}};
    const SlideSource source(slides);
    REQUIRE(source.slides().front().failure.has_value());
    const Error& failure = *source.slides().front().failure;
    CHECK(failure.code() == bad.code);
    CHECK(failure.file() == folder / bad.name);
    CHECK(std::string(failure.what()).find(bad.says) != std::string::npos);
    // It has one record, so the policy of the pipeline decides.
    CHECK(source.size() == 1);
    CHECK(code_of([&] { (void)read_sample(source, 0); }) == bad.code);
    std::filesystem::remove(folder / bad.name);
  }
  // Another slide's picture, and one in colour.
  write_label_png(folder / "a.png", 10, 10, std::vector<unsigned char>(100, 1));
  const Error other = error_of([&] { shown(folder); });
  CHECK(other.code() == Errc::corrupt);
  CHECK(other.file() == folder / "a.png");
  CHECK(std::string(other.what()).find("is no 200x50 in small") != std::string::npos);
}

TEST_CASE("regions cost no more than their slide and their file") {
  const TempFolder folder;
  write_slide(folder / "a.tif", row_of_places());
  // Ten thousand rectangles around everything: the pixels of a hundred slides for each byte.
  std::string text = "[";
  for (int i = 0; i < 4'000; ++i) text += (i == 0 ? "" : ",") + feature("[[[0,0],[3e9,0],[3e9,3e9],[0,3e9]]]", "{}");
  folder.write("a.json", text + "]");
  CHECK(shown(folder) == "unclassified unclassified unclassified unclassified");
  SlideForm large = row_of_places();
  large.width = 6'000;
  large.height = 2'000;
  large.tile_width = large.tile_height = 2'000;
  write_slide(folder / "a.tif", large);
  const auto fine = [&] {
    const SlideSource source({.files = folder / "a.tif",
                              .size = 500,
                              .regions = {.folder = folder.path().string(), .field = "kind", .mpp = 1}});
    if (const auto& failure = source.slides().front().failure) throw Error(*failure);
  };
  const Error much = error_of(fine);
  CHECK(much.code() == Errc::limit_exceeded);
  CHECK(much.file() == folder / "a.json");
  CHECK(std::string(much.what()).find("are many and large, as no drawing is") != std::string::npos);
}

TEST_CASE("a class that no slide has is an error, which tells what there is") {
  const TempFolder folder;
  write_slide(folder / "a.tif", row_of_places());
  folder.write("a.json", "[" + feature(first, R"({"classification":"Tumor"})") + "," + feature(second, "{}") + "]");
  const auto refusal = [&](SlideRegions regions) {
    if (regions.folder.empty()) regions.folder = folder.path().string();
    const Error error =
        error_of([&] { (void)SlideSource({.files = folder / "a.tif", .size = 50, .regions = regions}); });
    CHECK(error.code() == Errc::invalid_argument);
    return std::string(error.what());
  };
  const std::string said = refusal({.include = {"tumor"}});
  CHECK(said.find("no slide has a region of the class \"tumor\"; there are: Tumor, unclassified") != std::string::npos);
  CHECK(refusal({.include = {"*"}, .exclude = {"fat"}}).find("\"fat\"") != std::string::npos);
  CHECK(refusal({.include = {"Tumor"}, .exclude = {"Tumor"}}).find("in `include` and in `exclude`") !=
        std::string::npos);
  CHECK(refusal({.include = {"Tumor"}, .exclude = {"*"}}).find("none is left to `include`") != std::string::npos);
  CHECK(refusal({}).find("nothing is asked of it") != std::string::npos);
  CHECK(refusal({.include = {"Tumor"}, .field = "x"}).find("a field that is there already") != std::string::npos);
  for (const SlideRegions& bad : {SlideRegions{.include = {"*"}, .least = -0.1},
                                  {.include = {"*"}, .least = 1.1},
                                  {.include = {"*"}, .mpp = 0},
                                  {.include = {"*"}, .mpp = 201},
                                  {.include = {"*"}, .mpp = NAN}})
    refusal(bad);
  // Where another slide can't be read, it may have the class: that is told, and nothing thrown.
  write_slide(folder / "b.tif", row_of_places());
  folder.write("b.json", "{");
  const std::string plan = from(Slides{.files = folder / "?.tif",
                                       .size = 50,
                                       .regions = {.folder = folder.path().string(), .exclude = {"tumor"}}})
                               .plan();
  CHECK(plan.find("no slide that can be read has a region of the class \"tumor\"; there are: Tumor") !=
        std::string::npos);
  CHECK(plan.find("b.tif: it is no JSON") != std::string::npos);
  CHECK(plan.find(" (" + folder / "b.json" + ")") != std::string::npos);
  CHECK(code_of([&] {
          (void)SlideSource(
              {.files = folder / "a.tif", .size = 50, .regions = {.folder = folder / "none", .include = {"*"}}});
        }) == Errc::not_found);
  const Error homeless =
      error_of([&] { (void)SlideSource({.files = folder / "a.tif", .size = 50, .regions = {.include = {"Tumor"}}}); });
  CHECK(std::string(homeless.what()).find("no `folder` with files of regions") != std::string::npos);
}
