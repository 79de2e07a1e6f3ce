// SPDX-License-Identifier: Apache-2.0
// Malformed slides: each is read, or is an Error.
#include <penstock/sources/slide.hpp>

#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

struct Counts {
  std::uint64_t slides = 0, unreadable = 0, records = 0, bad = 0;
};

// Some of its records, on the grid and beside it; what is wrong is wrong with one record.
void read_some(const std::string& path, Counts& counts) {
  ++counts.slides;
  for (const std::int32_t stride : {64, 40}) {
    const SlideSource source({.files = path, .size = 64, .stride = stride, .edges = SlideEdges::pad});
    if (source.slides().front().failure) {
      ++counts.unreadable;
      CHECK(source.slides().front().failure->sample_scoped());
      return;
    }
    const std::uint64_t some = std::min<std::uint64_t>(source.size(), 8);
    for (std::uint64_t i = 0; i < some; ++i) {
      ++counts.records;
      try {
        (void)read_sample(source, i * (source.size() / some));
      } catch (const Error& error) {
        ++counts.bad;
        CHECK(error.sample_scoped());
        CHECK(error.file() == path);
      }
    }
  }
}

std::uint64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// Some bytes changed, most of them where the directory is; or the end cut off.
std::string mutated(const std::string& good, Numbers& random, const WrittenSlide* slide) {
  std::string bytes = good;
  const auto size = static_cast<std::int32_t>(bytes.size());
  if (random.below(10) == 0) return bytes.substr(0, static_cast<std::size_t>(random.below(size)));
  for (int changes = 1 + random.below(4); changes > 0; --changes) {
    // The arrays of tiles, and what follows them, end the files that are written here; real ones may have them
    // anywhere.
    const std::int32_t from = random.below(3) == 0 || slide == nullptr
                                  ? 0
                                  : static_cast<std::int32_t>(std::min(slide->offsets_at, slide->sizes_at));
    const std::size_t at = random.below(20) == 0 ? static_cast<std::size_t>(random.below(16))
                                                 : static_cast<std::size_t>(from + random.below(size - from));
    constexpr unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    bytes[at] = static_cast<char>(random.coin() ? values[random.below(5)] : random.below(256));
  }
  return bytes;
}

double scale() {
  const char* const text = std::getenv("PENSTOCK_TEST_SCALE");
  return text != nullptr ? std::atof(text) : 1;
}

}  // namespace

TEST_CASE("slides of which bytes were changed are read, or refused") {
  const TempFolder folder;
  const std::uint64_t before = peak_bytes();
  Numbers random(7);
  Counts counts;
  const auto rounds = static_cast<int>(400 * scale());
  for (const bool big_tiff : {false, true})
    for (const bool rgb : {false, true}) {
      SlideForm form{.rgb = rgb, .big_tiff = big_tiff, .big_endian = rgb != big_tiff, .own_tables = rgb};
      if (rgb) form.luma = {1, 1};
      const WrittenSlide slide = write_slide(folder / "good", form);
      const std::string good = text_in(slide.path);
      for (int i = 0; i < rounds; ++i) {
        folder.write("a.svs", mutated(good, random, &slide));
        read_some(folder / "a.svs", counts);
      }
    }
  if (const char* const slides = std::getenv("PENSTOCK_SLIDES"))
    for (const auto& entry : std::filesystem::directory_iterator(slides)) {
      const std::string good = text_in(entry.path());
      for (int i = 0; i < rounds / 4; ++i) {
        folder.write("a.svs", mutated(good, random, nullptr));
        read_some(folder / "a.svs", counts);
      }
    }
  INFO(counts.slides << " slides, " << counts.unreadable << " unreadable; " << counts.records << " records, "
                     << counts.bad << " bad");
  CHECK(counts.unreadable > counts.slides / 50);
  CHECK(counts.bad > 0);
  CHECK(counts.bad < counts.records);
  CHECK(peak_bytes() - before < (std::uint64_t{1} << 30));
}

TEST_CASE("malformed TIFF files of the world are read, or refused") {
  const char* const folder = std::getenv("PENSTOCK_BAD_TIFFS");
  if (folder == nullptr) PENSTOCK_SKIP("PENSTOCK_BAD_TIFFS names no folder: 0 files were read");
  const std::uint64_t before = peak_bytes();
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) read_some(entry.path().string(), counts);
  INFO(counts.slides << " files, " << counts.unreadable << " unreadable; " << counts.records << " records");
  CHECK(counts.slides > 50);
  CHECK(peak_bytes() - before < (std::uint64_t{1} << 30));
}

}  // namespace PENSTOCK_TEST_FILE
