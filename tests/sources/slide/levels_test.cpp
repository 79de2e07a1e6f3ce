// SPDX-License-Identifier: Apache-2.0
// Levels of slides: which there are, their pixels, and how large a pixel is.
#include <penstock/sources/slide.hpp>

#include <fstream>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr const char* aperio =
    "Aperio Image Library v1\r\n500x300 [0,0 500x300] (64x64) JPEG/RGB Q=70|AppMag = 40|"
    "StripeWidth = 2040|MPP = 0.2500|Left = 3.5";

std::string ome(const std::string& sizes, const std::string& objective = {}) {
  return R"(<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">)" + objective +
         R"(<Image ID="Image:0"><Pixels ID="Pixels:0" )" + sizes + R"(><Channel/></Pixels></Image></OME>)";
}

SlideForm three_levels(SlideLevels layout) {
  SlideForm form{.width = 500, .height = 300, .lower = {{250, 150}, {124, 75}}, .layout = layout};
  if (layout == SlideLevels::aperio) {
    form.description = aperio;
    form.thumbnail = true;
  }
  if (layout == SlideLevels::ome) form.description = ome(R"(PhysicalSizeX="0.25" PhysicalSizeY="0.25")");
  return form;
}

SlideInfo info_of(const std::string& path, Slides options = {}) {
  options.files = path;
  options.size = 16;
  return SlideSource(options).slides().front();
}

// Numbers of a TIFF of little-endian ones, as they stand in the file.
class FileNumbers {
 public:
  explicit FileNumbers(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    big_ = number(2, 2) == 43;
  }
  std::uint64_t number(std::uint64_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_.at(at + i));
    return value;
  }
  std::uint64_t bytes() const { return bytes_.size(); }
  std::uint64_t first_directory() const { return big_ ? number(8, 8) : number(4, 4); }
  // Where it says which directory follows.
  std::uint64_t next_at(std::uint64_t directory) const {
    return directory + (big_ ? 8 + 20 * number(directory, 8) : 2 + 12 * number(directory, 2));
  }
  std::uint64_t next_of(std::uint64_t directory) const { return number(next_at(directory), big_ ? 8 : 4); }
  // Where the value of an entry stands, or where it says that it stands.
  std::uint64_t value_at(std::uint64_t directory, std::uint16_t tag) const {
    for (std::uint64_t entry = directory + (big_ ? 8 : 2);; entry += big_ ? 20 : 12)
      if (number(entry, 2) == tag) return entry + (big_ ? 12 : 8);
  }

 private:
  std::string bytes_;
  bool big_ = false;
};

Bytes little_endian(std::uint64_t value, int size) {
  Bytes bytes;
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> 8 * i));
  return bytes;
}

bool nearly(double a, double b) { return std::abs(a - b) < 1e-6 * b; }

}  // namespace

TEST_CASE("levels are found in the files of each maker, and have their own pixels") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  for (const SlideLevels layout : {SlideLevels::tiff, SlideLevels::aperio, SlideLevels::ome})
    for (const bool big_endian : {false, true}) {
      SlideForm form = three_levels(layout);
      form.big_endian = big_endian;
      form.big_tiff = big_endian;
      CAPTURE(static_cast<int>(layout), big_endian);
      const WrittenSlide slide = write_slide(path, form);
      const SlideInfo info = info_of(path);
      REQUIRE(info.levels == std::vector<SlideLevel>{{500, 300, 64, 64}, {250, 150, 64, 64}, {124, 75, 64, 64}});
      for (std::int32_t level = 0; level < 3; ++level) {
        const Image& pixels = level == 0 ? slide.pixels : slide.lower[static_cast<std::size_t>(level) - 1];
        const SlideInfo of_level = info_of(path, {.level = level});
        CHECK(of_level.level == static_cast<std::size_t>(level));
        CHECK(of_level.width == 500);
        CHECK(of_level.image_width == pixels.shape.width);
        CHECK_FALSE(of_level.resampled);
        for (const auto& [size, stride] : {std::pair(64, 64), {40, 33}, {80, 100}}) {
          CAPTURE(level, size, stride);
          // Places follow from their numbers: what they are at level 0 is rounded.
          const SlideSource source(
              {.files = path, .level = level, .size = size, .stride = stride, .edges = SlideEdges::pad});
          const std::int64_t columns = std::min((pixels.shape.width - size + stride - 1) / stride + 1,
                                                (pixels.shape.width + stride - 1) / stride);
          for (std::uint64_t i = 0; i < source.size(); ++i) {
            const std::int64_t x = static_cast<std::int64_t>(i) % columns * stride,
                               y = static_cast<std::int64_t>(i) / columns * stride;
            const OwnedSample sample = read_sample(source, i);
            REQUIRE(image_of(sample["image"]) == box_of(pixels, x, y, size, size));
            REQUIRE(number_of(sample, "x") == std::llround(static_cast<double>(x * 500) / pixels.shape.width));
            REQUIRE(number_of(sample, "y") == std::llround(static_cast<double>(y * 300) / pixels.shape.height));
          }
        }
      }
    }
}

TEST_CASE("coordinates, keys and labels are of level 0 whatever records are made of") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  write_slide(path, {.width = 500, .height = 300, .lower = {{124, 75}}});
  const SlideSource source({.files = path, .level = 1, .size = 50, .left = 40, .top = 8});
  // 500 / 124 = 4.03: pixel 10 of the level is the one at 40.3.
  CHECK(source.key(0) == "a/000008_000040");
  CHECK(source.key(1) == "a/000008_000242");
  CHECK(source.size() == 2);
  CHECK(source.labels("x") == std::vector<std::int64_t>{40, 242});
  CHECK(source.labels("y") == std::vector<std::int64_t>{8, 8});
}

TEST_CASE("directories that are no levels are passed over") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  // Another shape; not marked as reduced; larger than level 0; twice.
  write_slide(path, {.width = 500, .height = 300, .lower = {{250, 250}, {250, 150}, {250, 150}, {600, 360}}});
  CHECK(info_of(path).levels == std::vector<SlideLevel>{{500, 300, 64, 64}, {250, 150, 64, 64}});
  write_slide(path, {.width = 500, .height = 300, .lower = {{250, 150}}, .layout = SlideLevels::aperio});
  CHECK(info_of(path).levels.size() == 1);
  const Error error = error_of([&] { (void)read_sample(SlideSource({.files = path, .level = 1, .size = 16}), 0); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.file() == path);
  CHECK(mentions(error, "there is no level 1; the slide has 1"));
}

TEST_CASE("a level that can't be read keeps its number, and is told of") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide =
      write_slide(path, {.width = 800, .height = 600, .lower = {{400, 300}, {200, 150}}, .per_unit = 40'000});
  const FileNumbers file(path);
  constexpr std::uint16_t compression = 259;
  slide.overwrite(file.value_at(file.next_of(file.first_directory()), compression), little_endian(34925, 2));
  const SlideInfo info = info_of(path);
  CHECK(info.levels == std::vector<SlideLevel>{{800, 600, 64, 64}, {400, 300, 0, 0}, {200, 150, 64, 64}});
  CHECK(info.missing_levels == "its compression is 34925 (LZMA)");
  CHECK(info_of(path, {.level = 2}).image_width == 200);
  const SlideInfo wanted = info_of(path, {.level = 1});
  REQUIRE(wanted.failure.has_value());
  CHECK(mentions(*wanted.failure, "its level 1 can't be read: its compression is 34925 (LZMA)"));
  const SlideInfo half = info_of(path, {.mpp = 0.5});
  CHECK(half.level == 0);
  CHECK(half.resampled);
  CHECK(from(Slides{.files = path, .size = 16}).plan().find("1 slide has levels that can't be read") !=
        std::string::npos);
}

TEST_CASE("a chain of directories that is broken, or goes round, ends there") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, {.width = 500, .height = 300, .lower = {{250, 150}}});
  const FileNumbers file(path);
  const auto set_next = [&](std::uint64_t to) {
    slide.overwrite(file.next_at(file.first_directory()), little_endian(to, 4));
  };
  CHECK(info_of(path).levels.size() == 2);
  set_next(file.bytes() + 100);
  CHECK(info_of(path).levels.size() == 1);
  CHECK_FALSE(info_of(path).failure.has_value());
  const SlideInfo wanted = info_of(path, {.level = 1});
  REQUIRE(wanted.failure.has_value());
  CHECK(mentions(*wanted.failure, "without those that can't be read: the file ends in the middle of a directory"));
  set_next(file.first_directory());
  CHECK(info_of(path).levels.size() == 1);
  CHECK(mentions(*info_of(path, {.level = 1}).failure, "they go round"));
  // Up to 64 are followed.
  for (const std::size_t directories : {64u, 65u}) {
    SlideForm form{.width = 500, .height = 300};
    form.lower.assign(directories - 1, {250, 150});
    write_slide(path, form);
    CHECK(mentions(*info_of(path, {.level = 99}).failure, "more than 64 directories") == (directories > 64));
  }
}

TEST_CASE("a directory that lies in no file is no level, and the slide is read without it") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  for (const SlideLevels layout : {SlideLevels::ome, SlideLevels::tiff}) {
    SlideForm form{.width = 500, .height = 300, .big_tiff = true, .lower = {{250, 150}}, .layout = layout};
    const WrittenSlide slide = write_slide(path, form);
    const FileNumbers file(path);
    constexpr std::uint16_t sub_directories = 330;
    const std::uint64_t at = layout == SlideLevels::ome ? file.value_at(file.first_directory(), sub_directories)
                                                        : file.next_at(file.first_directory());
    CHECK(info_of(path).levels.size() == 2);
    for (const std::uint64_t nowhere : {std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{0} - 3}) {
      slide.overwrite(at, little_endian(nowhere, 8));
      const SlideInfo info = info_of(path);
      CAPTURE(static_cast<int>(layout), nowhere, info.failure ? info.failure->what() : "");
      CHECK_FALSE(info.failure.has_value());
      CHECK(info.levels.size() == 1);
      CHECK(info.missing_levels.find("the file ends in the middle of a directory") != std::string::npos);
    }
  }
}

TEST_CASE("the size of a pixel is what each kind of file says") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  struct Said {
    SlideForm form;
    double x, y, magnification;
  };
  const std::string objective = R"(<Instrument><Objective ID="O:0" NominalMagnification="20"/></Instrument>)";
  const std::vector<Said> all{
      {{.description = aperio}, 0.25, 0.25, 40},
      {{.description = "Aperio v2|MPP=0.499|AppMag=20"}, 0.499, 0.499, 20},
      {{.description = "Aperio v2|AppMag = 20"}, 0, 0, 20},
      {{.description = "Aperio v2|MPP = broken"}, 0, 0, 0},
      {{.description = ome(R"(PhysicalSizeX="0.5" PhysicalSizeY="0.51")", objective)}, 0.5, 0.51, 20},
      {{.description = ome("PhysicalSizeX='250' PhysicalSizeXUnit='nm' PhysicalSizeY='.00025' PhysicalSizeYUnit='mm'")},
       0.25,
       0.25,
       0},
      {{.description = ome("PhysicalSizeX=\"0.3\" PhysicalSizeXUnit=\"\u00b5m\" PhysicalSizeY=\"0.3\"")}, 0.3, 0.3, 0},
      {{.description = ome(R"(PhysicalSizeX="1" PhysicalSizeXUnit="pixel" PhysicalSizeY="1")")}, 0, 0, 0},
      {{.description = R"(<?xml version="1.0"?><!-- <Pixels PhysicalSizeX="9" PhysicalSizeY="9"/> --><o:OME xmlns:o="x">
        <o:Instrument><o:Objective ID="O:0" NominalMagnification="1.25"/><o:Objective ID="O:1" NominalMagnification="40"/>
        </o:Instrument><o:Image><o:Pixels SizeX="20" SizeY="14" PhysicalSizeX="8" PhysicalSizeY="8"><o:TiffData IFD="1"/></o:Pixels></o:Image>
        <o:Image><o:ObjectiveSettings ID="O:1"/><o:Pixels SizeX="200" SizeY="140" PhysicalSizeX = "2500" Name="a>b" PhysicalSizeY="2500"
        PhysicalSizeXUnit="&#xC5;" PhysicalSizeYUnit="&#197;"><o:TiffData/></o:Pixels></o:Image></o:OME>)"},
       0.25,
       0.25,
       40},
      {{.description =
            R"(<OME><Image><Pixels></Pixels></Image><Image><Pixels PhysicalSizeX="8" PhysicalSizeY="8"/></Image></OME>)"},
       0,
       0,
       0},
      {{.description = "Aperio v2|MPP = 0,4990|AppMag = 20x"}, 0.499, 0.499, 20},
      {{.description = ome(R"(PhysicalSizeX="1" PhysicalSizeXUnit="pixel" PhysicalSizeY="1")"), .per_unit = 10'000},
       0,
       0,
       0},
      {{.per_unit = 40'000}, 0.25, 0.25, 0},
      {{.per_unit = 50'800, .unit = 2}, 0.5, 0.5, 0},
      {{.per_unit = 40'000, .unit = 1}, 0, 0, 0},
      {{.per_unit = 72, .unit = 2}, 0, 0, 0},
      {{}, 0, 0, 0},
  };
  for (const Said& said : all) {
    CAPTURE(said.form.description, said.form.per_unit);
    write_slide(path, said.form);
    const SlideInfo info = info_of(path);
    CHECK((said.x == 0 ? info.mpp_x == 0 : nearly(info.mpp_x, said.x)));
    CHECK((said.y == 0 ? info.mpp_y == 0 : nearly(info.mpp_y, said.y)));
    CHECK(info.magnification == said.magnification);
  }
}

TEST_CASE("a size of pixels takes the stored level that has it") {
  const TempFolder folder;
  const std::string path = folder / "a.svs";
  write_slide(path, three_levels(SlideLevels::aperio));
  const auto level = [&](const Slides& options) {
    const SlideInfo info = info_of(path, options);
    return info.resampled || info.failure ? -1 : static_cast<int>(info.level);
  };
  CHECK(level({.mpp = 0.25}) == 0);
  CHECK(level({.mpp = 0.5}) == 1);
  CHECK(level({.mpp = 0.505}) == 1);
  CHECK(level({.mpp = 0.52}) == -1);
  CHECK(level({.mpp = 0.52, .mpp_tolerance = 0.05}) == 1);
  CHECK(level({.mpp = 0.5, .mpp_tolerance = 0}) == 1);
  CHECK(level({.mpp = 1}) == 2);  // 500 / 124 = 4.03
  CHECK(level({.mpp = 1, .mpp_tolerance = 0.001}) == -1);
  // What the tags say is rounded to 24 bits.
  CHECK(level({.mpp = 0.25000001, .mpp_tolerance = 0}) == 0);
  CHECK(level({.magnification = 40}) == 0);
  CHECK(level({.magnification = 20}) == 1);
  CHECK(level({.magnification = 30}) == -1);
}

TEST_CASE("a slide that doesn't say how large a pixel is takes it from elsewhere, or is an error that says how") {
  const TempFolder folder;
  const std::string silent = folder / "silent.tif", wrong = folder / "wrong.tif", says = folder / "says.tif";
  write_slide(silent, {.width = 500, .height = 300, .lower = {{250, 150}}});
  write_slide(wrong, {.width = 500, .height = 300, .seed = 1, .lower = {{250, 150}}, .per_unit = 72, .unit = 2});
  write_slide(says, {.width = 500, .height = 300, .seed = 2, .lower = {{250, 150}}, .per_unit = 40'000});
  const auto slides = [&](const Slides& options) {
    Slides all = options;
    all.paths = {silent, wrong, says};
    all.size = 16;
    return SlideSource(all).slides();
  };
  const std::vector<SlideInfo> failed = slides({.mpp = 0.5});
  REQUIRE(failed[0].failure.has_value());
  CHECK(failed[0].failure->code() == Errc::unsupported);
  CHECK(failed[0].failure->file() == silent);
  CHECK(mentions(*failed[0].failure, "doesn't say how large a pixel is"));
  CHECK(mentions(*failed[0].failure, "`mpp_column`"));
  REQUIRE(failed[1].failure.has_value());
  CHECK(mentions(*failed[1].failure, "its resolution tags say 352.778 x 352.778 micrometres, which can't be"));
  CHECK_FALSE(failed[2].failure.has_value());
  CHECK(failed[2].level == 1);

  const std::vector<SlideInfo> assumed = slides({.mpp = 0.5, .assumed_mpp = 0.5});
  CHECK(assumed[0].level == 0);
  CHECK(assumed[1].level == 0);
  CHECK(assumed[2].level == 1);

  std::ofstream(folder / "t.csv") << "slide,mpp,label\nsilent,0.25,1\nwrong,0.5,0\nsays,NA,1\n";
  const std::vector<SlideInfo> listed =
      slides({.mpp = 0.5, .labels = folder / "t.csv", .mpp_column = "mpp", .assumed_mpp = 0.125});
  CHECK(listed[0].level == 1);
  CHECK(listed[0].mpp_x == 0.25);
  CHECK(listed[1].level == 0);
  CHECK(listed[2].level == 1);
  const SlideSource source(
      {.paths = {silent, wrong, says}, .size = 16, .labels = folder / "t.csv", .mpp_column = "mpp"});
  CHECK_FALSE(source.schema().find("mpp").has_value());
  CHECK(source.schema().find("label").has_value());

  std::ofstream(folder / "t.csv") << "slide,mpp\nsilent,0.25\nwrong,40\nsays,NA\n";
  const Error bad = error_of([&] { slides({.labels = folder / "t.csv", .mpp_column = "mpp"}); });
  CHECK(bad.code() == Errc::invalid_argument);
  CHECK(mentions(bad, "says in the column \"mpp\" that a pixel has 40 micrometres"));
  // Where the file says the objective, an assumption does not take its place.
  const std::string aperio_20 = folder / "b.svs";
  write_slide(aperio_20,
              {.width = 500, .height = 300, .layout = SlideLevels::aperio, .description = "Aperio|AppMag = 20"});
  CHECK(info_of(aperio_20, {.magnification = 10}).image_width == 250);
  CHECK(info_of(aperio_20, {.magnification = 10, .assumed_mpp = 0.25}).image_width == 250);
  // The objective follows from the size of a pixel where only that is known.
  CHECK(slides({.magnification = 20})[2].level == 1);
  CHECK(slides({.magnification = 20})[0].failure.has_value());
  CHECK(slides({.magnification = 20, .assumed_mpp = 0.5})[0].level == 0);
}

TEST_CASE("options of levels that can't work are refused") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  write_slide(path, {.per_unit = 20'000});
  const auto code = [&](Slides options) {
    options.files = path;
    options.size = 16;
    return code_of([&] { SlideSource source(options); });
  };
  CHECK(code({.level = -1}) == Errc::invalid_argument);
  CHECK(code({.level = 1, .mpp = 0.5}) == Errc::invalid_argument);
  CHECK(code({.mpp = 0.5, .magnification = 20}) == Errc::invalid_argument);
  CHECK(code({.mpp = -0.5}) == Errc::invalid_argument);
  CHECK(code({.mpp = 100}) == Errc::invalid_argument);
  CHECK(code({.magnification = -1}) == Errc::invalid_argument);
  CHECK(code({.mpp = 0.5, .mpp_tolerance = -0.1}) == Errc::invalid_argument);
  CHECK(code({.assumed_mpp = 1000}) == Errc::invalid_argument);
  CHECK(code({.mpp_column = "mpp"}) == Errc::invalid_argument);
  CHECK(code({.magnification = 0.001}) == Errc::invalid_argument);
  CHECK(code({.left = std::int64_t{1} << 56}) == Errc::invalid_argument);
  // Pixels are not invented.
  const SlideInfo finer = info_of(path, {.mpp = 0.25});
  REQUIRE(finer.failure.has_value());
  CHECK(mentions(*finer.failure, "its finest pixels are coarser than 0.25 micrometres a pixel: 0.5 micrometres"));
}

TEST_CASE("files of makers whose tiles don't simply stand side by side are not read as if they did") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const std::vector<std::pair<SlideForm, const char*>> all{
      {{.description = "<scn xmlns=\"http://www.leica-microsystems.com/scn/2010/10/01\">"}, "Leica"},
      {{.software = "Philips DP v1.0"}, "Philips"},
      {{.software = "MedScan"}, "Trestle"},
  };
  for (const auto& [form, maker] : all) {
    write_slide(path, form);
    const SlideInfo info = info_of(path);
    CAPTURE(maker);
    // OpenSlide, where it is there, doesn't take these for files of that maker: more belongs to them.
    if (info.failure) {
      CHECK(mentions(*info.failure, maker));
    } else {
      CHECK(info.why_openslide.find(maker) != std::string::npos);
    }
  }
}
