// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "child.hpp"
#include "data.hpp"
#include "made_once.hpp"
#include "plain_deflate.hpp"
#include "program_paths.hpp"

namespace penstock::bench {

namespace {

namespace fs = std::filesystem;

Store drawn(const Settings& settings, int side, const std::string& name, const std::vector<std::string>& more) {
  const fs::path folder = settings.data / fmt::format("slide-{}-{}", name, side);
  const auto tiles = static_cast<std::uint64_t>((side + 255) / 256);
  return made_once(folder, tiles * tiles, [&] {
#ifdef PENSTOCK_BENCH_PROGRAMS
    progress(fmt::format("drawing a slide of {0} x {0} pixels", side));
    std::vector<std::string> words{make_slides_path, (folder / "slide.svs").string(), "--size",
                                   fmt::format("{0}x{0}", side), "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    run_program(words);
    return fmt::format("a slide of {0} x {0} pixels, {1} tiles of 256, {3}, quality 80, {2:.1f} MB", side,
                       tiles * tiles, static_cast<double>(fs::file_size(folder / "slide.svs")) / 1e6,
                       std::ranges::find(more, "jpeg2000") == more.end() ? "4:2:0" : "JPEG 2000");
#else
    throw std::runtime_error("make_slides, which draws slides, was not built");
    return std::string();
#endif
  });
}

}  // namespace

Store drawn_slide(const Settings& settings) { return drawn(settings, settings.quick ? 2600 : 20'000, "drawn", {}); }
Store single_level_slide(const Settings& settings) {
  return drawn(settings, settings.quick ? 2600 : 20'000, "single", {"--levels", "1"});
}
Store jpeg2000_slide(const Settings& settings) {
  return drawn(settings, settings.quick ? 2100 : 8200, "jpeg2000",
               {"--levels", "1", "--compression", "jpeg2000", "--color", "rgb"});
}
Store deflate_slide(const Settings& settings) {
  const int side = settings.quick ? 2100 : 16'000;
  const fs::path folder = settings.data / fmt::format("slide-deflate-{}", side);
  const Store jpeg = drawn(settings, side, "of-deflate", {"--levels", "1"});
  return made_once(folder, jpeg.records, [&] {
    progress("writing a slide of deflate");
    const fs::path file = folder / "slide.tif";
    write_deflate_slide(PlainSlide(jpeg.folder / "slide.svs"), file);
    return fmt::format("a slide of {0} x {0} pixels, {1} tiles of 256, deflate with predictor 2, {2:.1f} MB", side,
                       jpeg.records, static_cast<double>(fs::file_size(file)) / 1e6);
  });
}
Store cohort_of_slides(const Settings& settings) {
  const int side = settings.quick ? 600 : 4000, count = settings.quick ? 2 : 8;
  const fs::path folder = settings.data / fmt::format("slide-cohort-{}", side);
  return made_once(folder, static_cast<std::uint64_t>(count), [&] {
#ifdef PENSTOCK_BENCH_PROGRAMS
    progress(fmt::format("drawing {0} slides of {1} x {1} pixels", count, side));
    for (int i = 0; i < count; ++i)
      run_program({make_slides_path, (folder / fmt::format("{}.svs", i)).string(), "--size",
                   fmt::format("{0}x{0}", side), "--levels", "1", "--seed", std::to_string(i), "--quiet"});
    return fmt::format("{0} slides of {1} x {1} pixels, tiles of 256, 4:2:0, quality 80", count, side);
#else
    throw std::runtime_error("make_slides, which draws slides, was not built");
    return std::string();
#endif
  });
}
Store wide_slide(const Settings& settings) {
  return drawn(settings, settings.quick ? 5200 : 82'000, "wide", {"--repeat"});
}

}  // namespace penstock::bench
