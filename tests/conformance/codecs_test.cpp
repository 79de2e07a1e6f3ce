// The codecs' stages, held to the contract of a stage; damaged images among the inputs.
#include <cstring>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/testing/transform.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_stage;

namespace {

// The last file is cut short, the one before it is none.
ps::AnySource damaged_too(std::vector<Bytes> files) {
  Bytes cut(files.front().begin(), files.front().begin() + static_cast<std::ptrdiff_t>(files.front().size() / 2));
  files.push_back(Bytes(100, std::byte{7}));
  files.push_back(std::move(cut));
  return ps::share(Encoded{std::move(files)});
}

std::vector<Bytes> jpegs() {
  std::vector<Bytes> files;
  for (const ps::ImageShape shape : {ps::ImageShape{40, 56, 3}, {64, 33, 3}, {17, 90, 1}, {120, 121, 3}})
    for (const int restart_rows : {0, 1})
      files.push_back(ps::encode_jpeg(photo(shape, files.size()).view(), {.restart_rows = restart_rows}));
  return files;
}

}  // namespace

TEST_CASE("JPEG stages keep the contract of a stage") {
  const ps::AnySource inputs = damaged_too(jpegs());
  for (const ps::Stage& stage : {ps::decode_jpeg("image"), ps::seekable_jpeg("image")}) {
    const auto report = check_stage(stage, inputs, {.allow_bad_records = true});
    CHECK(report.text() == "");
    CHECK(report.passed());
    CHECK_FALSE(check_stage(stage, inputs).passed());  // the damaged ones are seen
  }
}

TEST_CASE("decode_png keeps the contract of a stage") {
  std::vector<Bytes> files;
  for (const PngKind& kind : png_kinds())
    if (kind.depth <= 8) files.push_back(PngFile(kind, {31, 22}, files.size()).bytes());
  const ps::AnySource inputs = damaged_too(std::move(files));
  const auto report = check_stage(ps::decode_png("image"), inputs, {.allow_bad_records = true});
  CHECK(report.text() == "");
  CHECK_FALSE(check_stage(ps::decode_png("image"), inputs).passed());
}

TEST_CASE("decode_image keeps the contract of a stage") {
  std::vector<Bytes> files = jpegs();
  for (const PngKind& kind : png_kinds())
    if (kind.depth == 8) files.push_back(PngFile(kind, {31, 22}, files.size()).bytes());
  const auto report = check_stage(ps::decode_image(), damaged_too(std::move(files)), {.allow_bad_records = true});
  CHECK(report.text() == "");
  CHECK(report.passed());
}
