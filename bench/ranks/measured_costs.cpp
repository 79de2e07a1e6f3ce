// SPDX-License-Identifier: Apache-2.0
#include "measured_costs.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/write.hpp>

namespace penstock_bench {

namespace {

namespace fs = std::filesystem;
namespace ps = penstock;
constexpr int rounds = 5;

double seconds(const auto& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

ps::Slides cohort(const std::string& slide, bool masked) {
  ps::Slides slides{.files = slide, .size = 256, .edges = ps::SlideEdges::pad};
  if (masked) slides.tissue.by = ps::SlideTissue::By::saturation;
  return slides;
}

}  // namespace

TileCosts measure_costs(const std::string& slide, const std::string& folder, bool encode) {
  const double bytes = static_cast<double>(fs::file_size(slide));
  std::vector<double> opened, masked, made;
  std::uint64_t tiles = 0, stored = 0;
  for (int round = 0; round < rounds; ++round) {
    opened.push_back(seconds([&] { const ps::SlideSource source(cohort(slide, false)); }));
    masked.push_back(seconds([&] { const ps::SlideSource source(cohort(slide, true)); }));
    const ps::SlideSource source(cohort(slide, false));
    const std::string out = folder + "/tiles";
    made.push_back(seconds([&] {
      const ps::WriteProgress progress =
          ps::write(ps::from(source) | ps::encode_jpeg("image", {.quality = 80, .keep_stored = !encode}),
                    ps::WebDatasetSink(
                        {.path = out, .max_samples = 1'000'000, .max_bytes = std::uint64_t{1} << 40, .sync = false}),
                    {.threads = 1});
      tiles = progress.done;
    }));
    stored = fs::file_size(out + "-000000.tar");
    fs::remove(out + "-000000.tar");
  }
  return {.open_s = std::max(0.0, median(masked) - median(opened)) / (bytes / 1e9),
          .start_s = median(opened),
          .s_per_byte = median(made) / bytes,
          .stored_per_byte = static_cast<double>(stored) / bytes,
          .bytes_per_tile = bytes / static_cast<double>(std::max<std::uint64_t>(tiles, 1))};
}

}  // namespace penstock_bench
