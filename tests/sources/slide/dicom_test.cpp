// SPDX-License-Identifier: Apache-2.0
// DICOM: a series of files is one slide. Which version of OpenSlide there is decides whether it can be read.
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/dicom_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

bool is_told(const SlideSource& source, const std::string& line) {
  const std::vector<std::string> lines = source.left_out();
  return std::ranges::find(lines, line) != lines.end();
}

}  // namespace

TEST_CASE("files of one DICOM series are one slide, whichever are given and however they are called") {
  const TempFolder folder;
  for (const bool lengths : {false, true})
    for (const bool types : {true, false}) {
      CAPTURE(lengths, types);
      std::vector<std::string> paths;
      for (const auto& [name, series, number] : {std::tuple("b.dcm", "1.2.3", 1),
                                                 {"a.DCM", "1.2.3", 2},
                                                 {"c", "1.2.3", 3},
                                                 {"d.dcm", "1.2.30", 1},
                                                 {"e", "1.2.30", 2},
                                                 {"f.dcm", "1.2", 1}}) {
        paths.push_back(folder / name);
        write_dicom(paths.back(),
                    {.series = series, .number = number, .sequences_have_lengths = lengths, .without_types = !types});
      }
      const SlideSource source({.paths = paths, .size = 64});
      REQUIRE(source.slides().size() == 3);
      CHECK(source.slides()[0].path == paths[0]);
      CHECK(source.slides()[1].path == paths[3]);
      CHECK(source.slides()[2].path == paths[5]);
      CHECK(is_told(source, "3 files of DICOM series passed over: one file stands for its series"));
      // However its folder is spelled.
      std::filesystem::create_directory_symlink(folder.path(), folder / "link");
      std::vector<std::string> spelled = paths;
      for (std::size_t i = 0; i < spelled.size(); i += 2)
        spelled[i] = folder / ("link/" + std::filesystem::path(paths[i]).filename().string());
      CHECK(SlideSource({.paths = spelled, .size = 64}).slides().size() == 3);
      std::filesystem::remove(folder / "link");
      // Another folder's series is not what OpenSlide would read here.
      folder.write("x/y", "");
      const std::string elsewhere = folder / "x/g.dcm";
      write_dicom(elsewhere, {.series = "1.2.3", .without_types = !types});
      paths.push_back(elsewhere);
      CHECK(SlideSource({.paths = paths, .size = 64}).slides().size() == 4);
    }
}

TEST_CASE("processes that share slides of DICOM files have each of them once") {
  const TempFolder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 9; ++i) {
    paths.push_back(folder / (std::to_string(i) + ".dcm"));
    write_dicom(paths.back(), {.series = "1.2." + std::to_string(i / 3), .number = i});
  }
  for (std::size_t first = 0; first < 9; first += 3) {
    const SlideSource source({.paths = paths, .size = 64, .first_file = first, .file_count = 3});
    REQUIRE(source.slides().size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(source.slides()[i].passed_over == (i != first / 3));
  }
}

TEST_CASE("a DICOM series has the pixels of its instances, or is an error that names the version that reads it") {
  const TempFolder folder;
  const Image finest = write_dicom(folder / "a.dcm", {.width = 300, .height = 200, .number = 1});
  const Image lower = write_dicom(folder / "b.dcm", {.width = 150, .height = 100, .number = 2, .seed = 1});
  write_dicom(folder / "c.dcm", {.kind = "LABEL", .width = 60, .height = 60, .tile = 64, .number = 3});
  const Slides options{.files = folder / "*.dcm", .size = 300, .edges = SlideEdges::shrink};
  const SlideSource source(options);
  REQUIRE(source.slides().size() == 1);
  const SlideInfo& info = source.slides().front();
  if (info.openslide < "4") {
    REQUIRE(info.failure.has_value());
    CHECK(info.failure->code() == Errc::unsupported);
    CHECK(mentions(*info.failure,
                   "it is a DICOM file. OpenSlide 3.4.1 doesn't know it either; say in "
                   "PENSTOCK_OPENSLIDE where OpenSlide 4 is"));
    return;
  }
  REQUIRE_FALSE(info.failure.has_value());
  CHECK(info.levels.size() == 2);
  CHECK(info.mpp_x == 0.5);
  CHECK(image_of(read_sample(source, 0)["image"]) == finest);
  Slides second = options;
  second.level = 1;
  CHECK(image_of(read_sample(SlideSource(second), 0)["image"]) == lower);
}

TEST_CASE("a DICOM file that is cut off anywhere before it names its series is a slide by itself") {
  const TempFolder folder;
  write_dicom(folder / "a.dcm", {});
  std::ifstream file(folder / "a.dcm", std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  const std::size_t at = whole.find("1.2.3.4", whole.find("1.2.3.4.1"));
  for (std::size_t bytes = 0; bytes < at; bytes += 3) {
    folder.write("b.dcm", whole.substr(0, bytes));
    CHECK(SlideSource({.files = folder / "*.dcm", .size = 64}).slides().size() == 2);
  }
}

TEST_CASE("a DICOM series of which another file changed is another slide") {
  const TempFolder folder;
  write_dicom(folder / "a.dcm", {.kind = "LABEL", .width = 60, .height = 60, .tile = 64, .number = 1});
  write_dicom(folder / "b.dcm", {.number = 2});
  write_dicom(folder / "c.dcm", {.series = "1.2", .number = 1});
  // Of one file alone the others are found, as OpenSlide finds them.
  const Slides slides{.paths = {folder / "a.dcm"}, .size = 64};
  const SlideSource before(slides);
  CHECK(before.slides()[0].other_files == std::vector<std::string>{folder / "./b.dcm"});
  const std::string index = folder / "slides.index";
  write_slide_index(slides, index);
  Slides indexed = slides;
  indexed.index = index;
  CHECK(SlideSource(indexed).revision() == before.revision());
  const bool readable = !before.slides()[0].failure;
  if (readable) (void)read_sample(before, 0);
  write_dicom(folder / "b.dcm", {.number = 2, .seed = 5});
  const SlideSource after(slides);
  CHECK(after.revision() != before.revision());
  CHECK(mentions(error_of([&] { SlideSource source(indexed); }), "has other files now"));
  write_slide_index(slides, index);
  CHECK(SlideSource(indexed).revision() == after.revision());
}

TEST_CASE("a MIRAX slide is made of the files in the folder of its name") {
  const TempFolder folder;
  folder.write("a.mrxs", "no MIRAX");
  folder.write("a/Data0001.dat", "pixels");
  folder.write("a/Slidedat.ini", "[GENERAL]");
  folder.write("b/Data0001.dat", "of another");
  const Slides slides{.paths = {folder / "a.mrxs"}, .size = 64};
  const SlideSource before(slides);
  CHECK(before.slides()[0].other_files ==
        std::vector<std::string>{folder / "a/Data0001.dat", folder / "a/Slidedat.ini"});
  for (const char* const skipped : {"a/Thumbs.db", "a/._Data0001.dat", "a/.DS_Store"}) folder.write(skipped, "x");
  CHECK(SlideSource(slides).identity() == before.identity());
  folder.write("b/Data0001.dat", "of another one");
  CHECK(SlideSource(slides).revision() == before.revision());
  folder.write("a/Data0001.dat", "Pixels");
  CHECK(SlideSource(slides).revision() != before.revision());
  CHECK(SlideSource(slides).identity() == before.identity());
  folder.write("a/Data0002.dat", "more");
  CHECK(SlideSource(slides).identity() != before.identity());
}
