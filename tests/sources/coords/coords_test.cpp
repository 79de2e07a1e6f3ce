// SPDX-License-Identifier: Apache-2.0
// Lists of places that CLAM and TRIDENT read and write.
#include <penstock/sources/coords.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/coords_file.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

using At = std::vector<std::array<std::int32_t, 2>>;

const std::string script = "/usr/bin/python3 " + path_of("coords_files.py") + " ";

bool has_h5py() { return std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") == 0; }

std::string printed(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

SlideForm with_mpp(std::uint32_t pixels_a_centimetre) {
  return {.width = 400, .height = 300, .lower = {{200, 150}}, .per_unit = pixels_a_centimetre};
}

}  // namespace

TEST_CASE("lists that CLAM and TRIDENT write are read, with the size of their places") {
  if (!has_h5py()) PENSTOCK_SKIP("no h5py");
  const TempFolder folder;
  REQUIRE(std::system((script + "make " + folder.path().string()).c_str()) == 0);
  const std::vector<SlideCoords> lists = read_coords(folder.path().string());
  REQUIRE(lists.size() == 5);
  const At places{{0, 0}, {128, 64}, {33, 17}};
  CHECK(lists[0].slide == "a");
  CHECK(lists[0].at == places);
  CHECK(lists[0].size == 32);
  CHECK(lists[0].level == 1);
  CHECK(lists[0].downsample == 2);
  CHECK(lists[0].slide_width == 400);
  CHECK(lists[0].slide_height == 300);
  CHECK(lists[0].file == folder / "a.h5");
  CHECK(lists[1].slide == "b_patches");
  CHECK(lists[1].at == places);
  CHECK(lists[1].size == 64);
  CHECK(lists[1].level == 0);
  CHECK(lists[1].slide_width == 400);
  CHECK(lists[1].slide_height == 0);
  CHECK(lists[2].at.empty());
  CHECK(lists[2].size == 64);
  CHECK(lists[3].at == At{{5, 6}, {7, 8}});
  CHECK(lists[3].size == 0);
  CHECK(lists[4].slide == "none_patches");
  CHECK(lists[4].at.empty());
  const SlideCoords small = read_coords(folder / "small.hdf5").front();
  CHECK(small.at == At{{5, 6}});
  CHECK(small.size == 64);
  CHECK(small.level == 1);

  // As slides have them.
  write_slide(folder / "a.tif", with_mpp(20'000));
  const Slides slides{.files = folder / "a.tif", .level = 1, .size = 32, .coords = read_coords(folder / "a.h5")};
  CHECK(SlideSource(slides).size() == 3);
  Slides other = slides;
  other.level = 0;
  CHECK(mentions(*SlideSource(other).slides().front().failure, "its places show 64 pixels of level 0"));

  const auto refusal = [&](const char* file, Errc code) {
    const Error error = error_of([&] { (void)read_coords(folder / file); });
    CHECK(error.code() == code);
    CHECK(error.file() == folder / file);
    return error;
  };
  CHECK(mentions(refusal("old.hdf5", Errc::unsupported), "it has images in it"));
  CHECK(mentions(refusal("floats.hdf5", Errc::unsupported), "its `coords` are f64 [N][2]"));
  CHECK(mentions(refusal("wide.hdf5", Errc::unsupported), "its `coords` are i64 [N][3]"));
  CHECK(mentions(refusal("far.hdf5", Errc::corrupt), "beyond any slide"));
  CHECK(mentions(refusal("huge.hdf5", Errc::limit_exceeded), "it has 2147483648 places"));
  refusal("other.hdf5", Errc::not_found);
  refusal("nothing.h5", Errc::not_found);
  folder.write("bad.h5", "no HDF5");
  refusal("bad.h5", Errc::corrupt);
  std::filesystem::create_directories(folder.path() / "empty");
  CHECK(mentions(error_of([&] { (void)read_coords(folder / "empty"); }), "has no files that end in .h5"));
}

TEST_CASE("what is written has the names, types and attributes that both read") {
  const TempFolder folder;
  write_slide(folder / "a.tif", with_mpp(20'000));  // half a micrometre: 20x
  const SlideSource source({.files = folder / "a.tif", .size = 150});
  const WrittenCoords written = write_coords(source, folder / "out");
  CHECK(written.slides == 1);
  CHECK(written.places == 4);
  CHECK(written.notes.empty());
  const std::string clam = folder / "out/patches/a.h5",
                    trident = folder / "out/20x_150px_0px_overlap/patches/a_patches.h5";
  CHECK(std::filesystem::equivalent(clam, trident));
  // Again, with another outcome: each name leads to the new file.
  CHECK(write_coords(source, folder / "out").places == 4);
  CHECK(std::filesystem::equivalent(clam, trident));
  CHECK(std::filesystem::hard_link_count(clam) == 2);
  const std::vector<SlideCoords> again = read_coords(folder / "out");
  REQUIRE(again.size() == 1);
  CHECK(again.front().at == At{{0, 0}, {150, 0}, {0, 150}, {150, 150}});
  CHECK(again.front().size == 150);
  CHECK(SlideSource({.files = folder / "a.tif", .size = 150, .coords = again}).size() == 4);
  if (!has_h5py()) PENSTOCK_SKIP("no h5py");
  CHECK(printed(script + "read " + clam) ==
        "['coords'] int64 (4, 2) (None, 2) [[0, 0], [150, 0], [0, 150], [150, 150]]\n"
        "downsample float64 [1.0, 1.0]\n"
        "downsampled_level_dim int64 [400, 300]\n"
        "level0_height int64 300\n"
        "level0_magnification int64 20\n"
        "level0_width int64 400\n"
        "level_dim int64 [400, 300]\n"
        "name str a\n"
        "overlap int64 0\n"
        "patch_level int64 0\n"
        "patch_size int64 150\n"
        "patch_size_level0 int64 150\n"
        "save_path str " +
            folder / "out/patches" +
            "\n"
            "savetodir str " +
            folder / "out" +
            "\n"
            "target_magnification int64 20\n");
}

TEST_CASE("where records are made smaller there is a file for each, and what can't be said is told") {
  const TempFolder folder;
  write_slide(folder / "a.tif", with_mpp(40'000));  // a quarter of a micrometre: 40x
  write_slide(folder / "b.tif", with_mpp(0));
  folder.write("c.tif", "no slide");
  const auto write = [&](const Slides& pixels) {
    Slides slides = pixels;
    if (slides.paths.empty()) slides.paths = {folder / "a.tif"};
    std::filesystem::remove_all(folder / "out");
    return write_coords(SlideSource(slides), folder / "out");
  };
  const auto list = [&](const char* file) {
    const std::vector<SlideCoords> lists = read_coords(folder / file);
    return std::pair(lists.front().size, lists.front().level);
  };
  // The second level is stored, so both have it; at 10x it isn't.
  CHECK(write({.mpp = 0.5, .size = 40, .overlap = 10}).notes.empty());
  CHECK(list("out/patches/a.h5") == std::pair(80., 0));
  CHECK(std::filesystem::equivalent(folder / "out/patches/a.h5",
                                    folder / "out/20x_40px_10px_overlap/patches/a_patches.h5"));
  CHECK(write({.magnification = 10, .size = 30}).notes.empty());
  CHECK(list("out/patches/a.h5") == std::pair(120., 0));
  CHECK(list("out/10x_30px_0px_overlap/patches/a_patches.h5") == std::pair(120., 0));
  CHECK_FALSE(std::filesystem::equivalent(folder / "out/patches/a.h5",
                                          folder / "out/10x_30px_0px_overlap/patches/a_patches.h5"));
  // 40 / 2.6 is no whole magnification.
  const WrittenCoords odd = write({.mpp = 0.65, .size = 64});
  REQUIRE(odd.notes.size() == 1);
  CHECK(odd.notes.front().find("slide a has no file for TRIDENT: its records have no whole magnification, but 15.4") ==
        0);
  CHECK(list("out/patches/a.h5") == std::pair(166., 0));
  // Slides that don't say, and those that can't be read.
  const WrittenCoords others = write({.paths = {folder / "b.tif", folder / "c.tif"}, .size = 64});
  CHECK(others.slides == 1);
  REQUIRE(others.notes.size() == 2);
  CHECK(others.notes[0] ==
        "slide b has no file for TRIDENT: it doesn't say its magnification, nor how large a pixel is");
  CHECK(others.notes[1].find("slide c gets no list: ") == 0);
  CHECK(list("out/patches/b.h5") == std::pair(64., 0));
  // Without a record: nothing for CLAM, an empty list for TRIDENT.
  CHECK(write({.size = 350}).places == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "out/patches"));
  CHECK(read_coords(folder / "out/40x_350px_0px_overlap").front().at.empty());
}

TEST_CASE("lists are read back, whatever slides are called, and none stays of what is no more") {
  const TempFolder folder;
  for (const char* name : {"p/a", "q/a"}) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    write_slide(folder / (std::string(name) + ".tif"), with_mpp(20'000));
  }
  write_slide(folder / "x_patches.tif", with_mpp(20'000));
  write_slide(folder / "y.ome.tif", with_mpp(20'000));
  const Slides slides{.paths = {folder / "p/a.tif", folder / "q/a.tif", folder / "x_patches.tif", folder / "y.ome.tif"},
                      .size = 100};
  const SlideSource source(slides);
  write_coords(source, folder / "lists");
  CHECK(std::filesystem::exists(folder / "lists/patches/p/a.h5"));
  // As CLAM calls a slide.
  CHECK(std::filesystem::exists(folder / "lists/patches/y.ome.h5"));
  for (const char* of :
       {"lists", "lists/patches", "lists/20x_100px_0px_overlap", "lists/20x_100px_0px_overlap/patches"}) {
    Slides again = slides;
    again.coords = read_coords(folder / of);
    CHECK(SlideSource(again).size() == source.size());
  }
  Slides none = slides;
  none.size = 350;
  write_coords(SlideSource(none), folder / "lists");
  CHECK_FALSE(std::filesystem::exists(folder / "lists/patches/p/a.h5"));
}

TEST_CASE("lists that can't be written are errors that name the file") {
  const TempFolder folder;
  folder.write("file", "");
  const std::vector<std::array<std::int64_t, 2>> places{{0, 0}};
  const Error error = error_of([&] { write_coords_file(folder / "file/a.h5", places, {}); });
  CHECK(mentions(error, "file/a.h5"));
  CHECK(code_of([&] {
          write_coords_file(folder / "a.h5", places, {{"x", std::int64_t{1}}, {"x", std::int64_t{2}}});
        }) == Errc::invalid_argument);
  CHECK_FALSE(std::filesystem::exists(folder / "a.h5"));
}
