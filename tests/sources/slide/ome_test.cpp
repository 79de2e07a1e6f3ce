// SPDX-License-Identifier: Apache-2.0
// What OME-XML says of a file's images decides which is read, and whether one is.
#include <penstock/sources/slide.hpp>

#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/sources/slide_picture.hpp>

#include "sources/slide/picture_text.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

std::string document(const std::string& inside, const std::string& attributes = {}) {
  return R"(<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" )" +
         attributes + ">" + inside + "</OME>";
}

// Of that size, with what else its Pixels have.
std::string image(int width, int height, const std::string& attributes = {}, const std::string& inside = {}) {
  return R"(<Image><Pixels SizeX=")" + std::to_string(width) + R"(" SizeY=")" + std::to_string(height) + "\" " +
         attributes + ">" + inside + "</Pixels></Image>";
}

std::string in_directory(int number) { return "<TiffData IFD=\"" + std::to_string(number) + "\"/>"; }

SlideForm form_of(const std::string& description, SlideForm form = {}) {
  form.description = description;
  return form;
}

SlideForm plain_form_of(const std::string& description, SlideForm form = {}) {
  return openslide_form(form_of(description, form));
}

SlideInfo opened(const std::string& path, std::int32_t level = 0) {
  return SlideSource({.files = path, .level = level, .size = 16}).slides().front();
}

// What is wrong with the slide.
std::string fault_of(const std::string& path, Errc code) {
  const SlideInfo info = opened(path);
  REQUIRE(info.failure.has_value());
  CHECK(info.failure->code() == code);
  CHECK(info.failure->file() == path);
  return info.failure->cause();
}

bool says(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

void check_pixels(const std::string& path, std::int32_t level, const Image& pixels) {
  std::uint64_t records = 0;
  for_each_record({.files = path, .level = level, .size = 64, .edges = SlideEdges::shrink},
                  [&](const Image& record, std::int64_t x, std::int64_t y) {
                    CAPTURE(level, x, y);
                    ++records;
                    const std::int64_t times = level == 0 ? 1 : 2;
                    REQUIRE(record == box_of(pixels, x / times, y / times, record.shape.width, record.shape.height));
                  });
  CHECK(records > 1);
}

}  // namespace

TEST_CASE("the largest image of OME-XML is read, from the directory that it lies in") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const std::string macro = image(160, 120, R"(PhysicalSizeX="8" PhysicalSizeY="8")", in_directory(0));
  const std::string description = document(
      R"(<Instrument><Objective ID="O:0" NominalMagnification="1.25"/><Objective ID="O:1" NominalMagnification="40"/>
         </Instrument>)" +
      macro +
      R"(<Image><ObjectiveSettings ID="O:1"/><Pixels SizeX="500" SizeY="300" SizeC="3" PhysicalSizeX="0.25"
         PhysicalSizeY="0.25"><Channel SamplesPerPixel="3"/>)" +
      in_directory(1) + "</Pixels></Image>");
  for (const SlideLevels layout : {SlideLevels::ome, SlideLevels::tiff})
    for (const bool strips : {false, true})
      for (const bool big_endian : {false, true}) {
        CAPTURE(static_cast<int>(layout), strips, big_endian);
        // What the first directory says of itself is not the image's.
        SlideForm first{.width = 160, .height = 120, .strips = strips, .lower = {}, .per_unit = 1250, .orientation = 6};
        if (strips) first.tile_width = first.tile_height = 160;
        first.big_tiff = first.big_endian = big_endian;
        const std::vector<WrittenSlide> written =
            write_images(path, {form_of(description, first),
                                {.width = 500, .height = 300, .seed = 3, .lower = {{250, 150}}, .layout = layout}});
        const SlideInfo info = opened(path);
        INFO((info.failure ? info.failure->what() : ""));
        REQUIRE_FALSE(info.failure.has_value());
        CHECK(info.levels == std::vector<SlideLevel>{{500, 300, 64, 64}, {250, 150, 64, 64}});
        CHECK(info.mpp_x == 0.25);
        CHECK(info.magnification == 40);
        CHECK(info.unread_images.empty());
        check_pixels(path, 0, written[1].pixels);
        check_pixels(path, 1, written[1].lower.front());
      }
}

TEST_CASE("a reduced image that lies before the one that is read is a level of it") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const std::string description = document(image(250, 150) + image(500, 300, "", in_directory(1)));
  const std::vector<WrittenSlide> written = write_images(
      path,
      {form_of(description, {.width = 250, .height = 150, .reduced = true}), {.width = 500, .height = 300, .seed = 3}});
  const SlideInfo info = opened(path);
  CHECK(info.levels == std::vector<SlideLevel>{{500, 300, 64, 64}, {250, 150, 64, 64}});
  CHECK(info.unread_images.empty());
  check_pixels(path, 0, written[1].pixels);
  check_pixels(path, 1, written[0].pixels);
}

TEST_CASE("of images that are as large the first is read, and TiffData that names no directory means the first") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const auto read = [&](const std::string& images) {
    const std::vector<WrittenSlide> written = write_images(path, {form_of(document(images)), {.seed = 5}});
    const SlideInfo info = opened(path);
    INFO((info.failure ? info.failure->what() : ""));
    REQUIRE_FALSE(info.failure.has_value());
    const Image record = image_of(read_sample(SlideSource({.files = path, .size = 140}), 0)["image"]);
    return record == box_of(written[0].pixels, 0, 0, 140, 140)   ? 0
           : record == box_of(written[1].pixels, 0, 0, 140, 140) ? 1
                                                                 : -1;
  };
  CHECK(read(image(200, 140, "", in_directory(1)) + image(200, 140, "", in_directory(0))) == 1);
  CHECK(read(image(200, 140, "", in_directory(0)) + image(200, 140, "", in_directory(1))) == 0);
  CHECK(read(image(20, 14, "", in_directory(1)) + image(200, 140, "", "<TiffData/>")) == 0);
  CHECK(read(image(20, 14, "", in_directory(1)) + image(200, 140)) == 0);
  CHECK(read(image(20, 14, "", "<TiffData/>") + image(200, 140, "", "<TiffData FirstC=\"0\" IFD=\" 1 \"/>")) == 1);
}

TEST_CASE("stacks and channels are refused by name, whoever would read them") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const std::string planes = in_directory(0) + in_directory(1) + in_directory(2);
  const std::string grey = R"(<Channel Name="red" SamplesPerPixel="1"/><Channel Name="green" SamplesPerPixel="1"/>
                              <Channel Name="blue" SamplesPerPixel="1"/>)";
  struct Refused {
    std::string attributes, inside, says;
  };
  const std::vector<Refused> all{
      {R"(SizeZ="3" SizeC="1")", planes, "it is a z-stack of 3 planes"},
      {R"(SizeT="3" SizeC="1")", planes, "it is a series of 3 times"},
      {R"(SizeC="3")", grey + planes, R"(it has 3 channels ("red", "green", "blue"), which are not the colours)"},
      {R"(SizeC="3")", R"(<Channel Name="H&amp;E" SamplesPerPixel="1"/>)" + planes, R"(it has 3 channels ("H&E"))"},
      {R"(SizeC="6")", R"(<Channel SamplesPerPixel="3"/><Channel SamplesPerPixel="3"/>)", "it has 6 channels"},
      {R"(SizeC="2")", R"(<Channel SamplesPerPixel="2"/>)", "it has 2 channels"},
      {R"(SizeC="3")", "<Channel/>" + planes, "it has 3 channels"},
  };
  for (const Refused& refused : all) {
    const std::string description = document(image(200, 140, refused.attributes, refused.inside));
    CAPTURE(refused.attributes, refused.inside);
    SlideForm one{.samples = 1};
    const SlideForm maker{.software = "Philips DP v1.0"};
    for (const SlideForm& form : {form_of(description), plain_form_of(description), plain_form_of(description, one),
                                  form_of(description, maker)}) {
      write_images(path, {form, plain_form(one), plain_form(one)});
      const std::string fault = fault_of(path, Errc::unsupported);
      says(fault, refused.says);
      says(fault, refused.says.find("channels") != std::string::npos ? "write it as one 8-bit RGB image"
                                                                     : "write one of them as a file of its own");
    }
  }
  // Of colours that lie apart, whatever OME-XML says of their channel.
  for (const char* const channel :
       {R"(<Channel SamplesPerPixel="3"/>)", "<Channel/>", "<Channel/><Channel/><Channel/>", ""}) {
    const std::string description = document(image(200, 140, R"(SizeC="3")", channel));
    write_images(path, {plain_form_of(description, {.samples = 1}), plain_form({.samples = 1})});
    says(fault_of(path, Errc::unsupported), "it has 3 channels, which are not the colours of one image");
  }
  // An image that is not read may be anything.
  write_images(path, {form_of(document(image(200, 140) + image(90, 90, R"(SizeZ="7" SizeC="5")", in_directory(1)))),
                      {.width = 90, .height = 90}});
  CHECK_FALSE(opened(path).failure.has_value());
}

TEST_CASE("an error says the beginnings of some names of channels") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  std::string channels;
  for (int i = 0; i < 40; ++i)
    channels += "<Channel Name=\"" + std::to_string(i) + "\u03b1" + std::string(300, 'x') + "\"/>";
  write_slide(path, form_of(document(image(200, 140, R"(SizeC="40")", channels))));
  const std::string fault = fault_of(path, Errc::unsupported);
  says(fault, "it has 40 channels (\"0\u03b1xxx");
  says(fault, "\"4\u03b1");
  says(fault, " and others), which");
  CHECK(fault.find("\"5\u03b1") == std::string::npos);
  CHECK(fault.size() < 600);
}

TEST_CASE("the colours of one directory are one image, however they are stored") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const std::string three = R"(SizeC="3" SizeZ="1" SizeT="1")";
  for (const std::string& channel :
       {std::string(R"(<Channel SamplesPerPixel="3"/>)"), std::string("<Channel Name=\"RGB\"/>"), std::string()}) {
    CAPTURE(channel);
    const std::string description = document(image(200, 140, three, channel + in_directory(0)));
    check_pixels(path, 0, write_slide(path, form_of(description)).pixels);
    CHECK(opened(path).why_openslide.empty());
    check_pixels(path, 0, write_slide(path, plain_form_of(description)).pixels);
    CHECK(opened(path).why_openslide == why_openslide_form);
    check_pixels(path, 0, write_slide(path, plain_form_of(description, {.planes = 2})).pixels);
  }
  // Writers that count channels in another way.
  for (const auto& [attributes, channels] :
       {std::pair(R"(SizeC="1")", R"(<Channel SamplesPerPixel="3"/>)"),
        {R"(SizeC="3")", R"(<Channel Name="R"/><Channel Name="G"/><Channel Name="B"/>)"},
        {"", R"(<Channel SamplesPerPixel="1"/><Channel SamplesPerPixel="1"/><Channel SamplesPerPixel="1"/>)"}}) {
    CAPTURE(attributes, channels);
    const std::string description = document(image(200, 140, attributes, channels + in_directory(0)));
    check_pixels(path, 0, write_slide(path, form_of(description)).pixels);
  }
  const std::string grey = document(image(200, 140, R"(SizeC="1")", R"(<Channel SamplesPerPixel="1"/>)"));
  check_pixels(path, 0, write_slide(path, plain_form_of(grey, {.samples = 1})).pixels);
}

TEST_CASE("an image behind others that only OpenSlide could read is refused") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const std::string description = document(image(200, 140, "", in_directory(1)) + image(90, 60));
  write_images(path, {plain_form_of(description, {.width = 90, .height = 60}), openslide_form({})});
  const std::string fault = fault_of(path, Errc::unsupported);
  says(fault, std::string("its image lies in directory 1, counted from 0, and ") + why_openslide_form);
  says(fault, "OpenSlide would read the first directory");
  // A file of a maker that only OpenSlide knows is no other.
  write_images(path, {form_of(description, {.width = 90, .height = 60, .software = "Philips DP"}), {}});
  says(fault_of(path, Errc::unsupported), "it is a file of Philips");
  write_images(path, {form_of(description, {.width = 90, .height = 60}), {.orientation = 3}});
  says(fault_of(path, Errc::unsupported), "stored mirrored or turned");
}

TEST_CASE("what OME-XML says and the file doesn't have is an error with both numbers") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const auto fault = [&](const std::string& images, const SlideForm& second = {}) {
    write_images(path, {form_of(document(images)), second});
    return fault_of(path, Errc::corrupt);
  };
  says(fault(image(201, 140)), "its image has 201x140 pixels; directory 0, counted from 0, has 200x140");
  says(fault(image(200, 139)), "its image has 200x139 pixels; directory 0, counted from 0, has 200x140");
  says(fault(image(200, 140, "", in_directory(1)), {.width = 100, .height = 70}),
       "directory 1, counted from 0, has 100x70");
  says(fault(image(200, 140, "", in_directory(2))), "its image lies in directory 2, counted from 0; the file has 2");
  says(fault(image(200, 140, "", in_directory(-1))), R"(says IFD="-1", which can't be)");
  says(fault(R"(<Image><Pixels SizeX="200.5" SizeY="140"/></Image>)"), R"(says SizeX="200.5", which can't be)");
  says(fault(image(0, 140)), R"(says SizeX="0", which can't be)");
  says(fault(image(200, 140, R"(SizeZ="")")), R"(says SizeZ="", which can't be)");
  says(fault(image(200, 140, R"(SizeC="99999999999")")), R"(says SizeC="99999999999", which can't be)");
  // Also where OpenSlide would read it.
  write_slide(path, plain_form_of(document(image(201, 140))));
  says(fault_of(path, Errc::corrupt), "has 201x140 pixels");
}

TEST_CASE("OME-XML that can't be read, or lies in another file, is refused") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const std::string whole = document(image(200, 140));
  for (const std::string& damaged : {whole.substr(0, whole.size() - 9), whole.substr(0, whole.size() - 3),
                                     std::string("<o:OME xmlns:o='x'><o:Im"), std::string("<OME"), whole + "<Image>"}) {
    CAPTURE(damaged);
    write_slide(path, form_of(damaged));
    says(fault_of(path, Errc::corrupt), "its OME-XML is damaged");
    write_slide(path, plain_form_of(damaged));
    says(fault_of(path, Errc::corrupt), "its OME-XML is damaged");
  }
  write_slide(path, form_of(document(R"(<BinaryOnly MetadataFile="a.companion.ome" UUID="urn:uuid:1"/>)")));
  says(fault_of(path, Errc::unsupported), R"(its OME-XML lies in another file, "a.companion.ome")");
  const std::string elsewhere = "<TiffData><UUID FileName='b.ome.tif'> urn:uuid:b </UUID></TiffData>";
  write_slide(path, form_of(document(image(200, 140, "", elsewhere), "UUID='urn:uuid:a'")));
  says(fault_of(path, Errc::unsupported), R"(another file has its image, "b.ome.tif")");
  // What is here may be the label of what is there.
  write_slide(path, form_of(document(image(400, 280, "", elsewhere) + image(200, 140), "UUID='urn:uuid:a'")));
  says(fault_of(path, Errc::unsupported), R"(another file has its image, "b.ome.tif")");
  write_slide(path, form_of(document(image(200, 139, "", elsewhere) + image(200, 140), "UUID='urn:uuid:a'")));
  CHECK_FALSE(opened(path).failure.has_value());
  for (const char* const own : {"UUID='urn:uuid:b'", "UUID='URN:UUID:B'", "UUID=' b'"}) {
    CAPTURE(own);
    write_slide(path, form_of(document(image(200, 140, "", elsewhere), own)));
    CHECK_FALSE(opened(path).failure.has_value());
  }
  // What is no OME-XML says nothing.
  for (const char* const other : {"a slide <of OMERO", "<OMEGA", "OME <", "<a:b OME>", "Aperio <OME", "<x><OME/></x>",
                                  "<x><!-- <OME> --></x>", "OME", ":OME", "see <OME> docs", "<!-- <OME> -->"}) {
    CAPTURE(other);
    write_slide(path, form_of(other));
    CHECK_FALSE(opened(path).failure.has_value());
  }
}

TEST_CASE("images that are about as large and are not read are told of") {
  const TempFolder folder;
  const std::string path = folder / "a.ome.tif";
  const SlideForm first{.width = 200, .height = 140, .lower = {{100, 70}}};
  const std::string both = image(200, 140) + image(100, 70, "", in_directory(1));
  const auto unread = [&](const std::string& images, const SlideForm& form) {
    write_images(path, {form_of(document(images), form), {.width = 180, .height = 150}});
    const SlideInfo info = opened(path);
    INFO((info.failure ? info.failure->what() : ""));
    REQUIRE_FALSE(info.failure.has_value());
    return info.unread_images;
  };
  CHECK(unread(image(200, 140), first).empty());
  // A level is read.
  CHECK(unread(both, first).empty());
  CHECK(unread(both, openslide_form(first)).empty());
  CHECK(unread(both, {.lower = {{100, 70}}, .layout = SlideLevels::ome}) == "another image of 100x70 pixels");
  CHECK(unread(image(200, 140) + image(70, 100), first) == "another image of 70x100 pixels");
  CHECK(unread(image(200, 140) + image(70, 99), first).empty());
  CHECK(unread(image(200, 140) + image(200, 140, "", in_directory(2)), first) == "another image of 200x140 pixels");
  const std::string three = both + image(180, 150, "", in_directory(2)) + image(150, 150);
  for (const SlideForm& form : {first, plain_form(first), openslide_form(first)}) {
    CHECK(unread(three, form) == "2 other images, the first of 180x150 pixels");
    const std::string told =
        "1 slide has images that are not read: " + path + ": 2 other images, the first of 180x150 pixels";
    const SlideSource source({.files = path, .size = 16});
    CHECK(source.left_out() == std::vector<std::string>{told});
    says(from(source).plan(), told);
    CHECK(PictureText().words(draw_slide(source, 0), 140).find("Not read: 2 other images, the first of 180x150") !=
          std::string::npos);
    write_slide_index({.files = path, .size = 16}, folder / "i");
    CHECK(SlideSource({.files = path, .size = 16, .index = folder / "i"}).slides().front().unread_images ==
          "2 other images, the first of 180x150 pixels");
  }
}

}  // namespace PENSTOCK_TEST_FILE
