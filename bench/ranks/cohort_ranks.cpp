// SPDX-License-Identifier: Apache-2.0
// Predicts what sharing a cohort of slides among ranks costs: the time, the longest rank, and the bytes. Slides are
// shared by the real function, Rank::items_of. Costs are measured on one slide. The sizes of the cohort's slides are
// drawn at random, and the slides are not made.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <penstock/rank.hpp>

#include "measured_costs.hpp"

namespace {

using namespace penstock_bench;

struct Options {
  std::string slide, folder = "/tmp";
  std::uint64_t slides = 10'000, seed = 1;
  std::vector<int> ranks{1, 10, 100, 1000};
  double mean_gb = 1.0, spread = 0.7;
  unsigned threads = 8;
  bool encode = false, tissue = false;
};

// Draws log-normal sizes, like sizes of files: a few are several times the mean.
std::vector<std::uint64_t> draw_sizes(const Options& options) {
  std::mt19937_64 random(options.seed);
  std::normal_distribution<double> normal(std::log(options.mean_gb * 1e9) - options.spread * options.spread / 2,
                                          options.spread);
  std::vector<std::uint64_t> sizes(options.slides);
  for (std::uint64_t& size : sizes) size = static_cast<std::uint64_t>(std::exp(normal(random)));
  return sizes;
}

struct RankWork {
  double seconds = 0, bytes = 0;
  std::size_t slides = 0;
};

RankWork work_of(const std::vector<std::uint64_t>& sizes, const TileCosts& costs, const Options& options, int rank,
                 int world) {
  const penstock::ItemRange run = penstock::Rank{.rank = rank, .world = world}.items_of(sizes);
  RankWork work{.slides = run.count};
  double longest_mask = 0, masks = 0, opening = 0;
  for (std::size_t i = run.first; i < run.first + run.count; ++i) {
    const double bytes = static_cast<double>(sizes[i]);
    work.bytes += bytes;
    opening += costs.start_s;
    if (!options.tissue) continue;
    const double mask = costs.open_s * bytes / 1e9;
    masks += mask;
    longest_mask = std::max(longest_mask, mask);
  }
  // Masks are made side by side, each by one thread. The tiles of a slide are made by all threads.
  const double threads = options.threads;
  work.seconds = opening / threads + std::max(longest_mask, masks / threads) + work.bytes * costs.s_per_byte / threads;
  return work;
}

void tell(const std::vector<std::uint64_t>& sizes, const TileCosts& costs, const Options& options) {
  fmt::print("{:>6} {:>14} {:>14} {:>14} {:>10} {:>10} {:>12} {:>12}\n", "ranks", "longest", "mean", "bound",
             "imbalance", "above 1.1", "GB a rank", "slides");
  for (const int world : options.ranks) {
    std::vector<RankWork> ranks;
    for (int rank = 0; rank < world; ++rank) ranks.push_back(work_of(sizes, costs, options, rank, world));
    double all = 0, longest = 0, most_bytes = 0, all_bytes = 0;
    std::size_t fewest = sizes.size(), most = 0, empty = 0;
    for (const RankWork& rank : ranks) {
      all += rank.seconds;
      all_bytes += rank.bytes;
      longest = std::max(longest, rank.seconds);
      most_bytes = std::max(most_bytes, rank.bytes);
      fewest = std::min(fewest, rank.slides);
      most = std::max(most, rank.slides);
      if (rank.slides == 0) ++empty;
    }
    const double mean = all / world, mean_bytes = all_bytes / world;
    const auto stragglers =
        std::ranges::count_if(ranks, [&](const RankWork& rank) { return rank.seconds > 1.1 * mean; });
    // No way to share whole slides takes less time than the largest slide.
    const double largest = static_cast<double>(*std::ranges::max_element(sizes)) * costs.s_per_byte / options.threads;
    fmt::print("{:>6} {:>12.0f} s {:>12.0f} s {:>12.0f} s {:>10.3f} {:>10} {:>12.1f} {:>5} to {}{}\n", world, longest,
               mean, std::max(mean, largest), most_bytes / mean_bytes, stragglers,
               most_bytes * costs.stored_per_byte / 1e9, fewest, most,
               empty == 0 ? "" : fmt::format(", {} without any", empty));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Computes what a cohort of slides takes on so many ranks, from costs measured on SLIDE."};
  app.add_option("SLIDE", options.slide, "A slide, which is cut here: make_slides x.svs --gigapixels 0.1")->required();
  app.add_option("--slides", options.slides, "In the cohort")->capture_default_str();
  app.add_option("--ranks", options.ranks, "How many, between commas")->delimiter(',')->capture_default_str();
  app.add_option("--mean-gb", options.mean_gb, "Mean size of a slide's file")->capture_default_str();
  app.add_option("--spread", options.spread, "Of the logarithm of sizes: its standard deviation")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Of a rank; each is taken to be as fast as one here")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the sizes")->capture_default_str();
  app.add_option("--folder", options.folder, "For what is written while costs are measured")->capture_default_str();
  app.add_flag("--encode", options.encode, "Tiles are decoded and encoded; else copied");
  app.add_flag("--tissue", options.tissue, "Each slide gets a mask of tissue");
  CLI11_PARSE(app, argc, argv);
  const TileCosts costs = measure_costs(options.slide, options.folder, options.encode);
  const std::vector<std::uint64_t> sizes = draw_sizes(options);
  fmt::print(
      "measured, a thread: {:.1f} MB/s of file {}, {:.2f} ms to open a slide, {:.2f} s for the mask of a GB; "
      "{:.3f} bytes stored for one, {:.1f} KB a tile\n",
      1 / costs.s_per_byte / 1e6, options.encode ? "decoded and encoded" : "copied", costs.start_s * 1e3, costs.open_s,
      costs.stored_per_byte, costs.bytes_per_tile / 1e3);
  const double all = std::accumulate(sizes.begin(), sizes.end(), 0.0,
                                     [](double sum, std::uint64_t size) { return sum + static_cast<double>(size); });
  fmt::print("{} slides of {:.2f} GB, the largest of {:.1f}; {:.1f} TB in all; {} threads a rank\n\n", sizes.size(),
             all / 1e9 / static_cast<double>(sizes.size()), static_cast<double>(*std::ranges::max_element(sizes)) / 1e9,
             all / 1e12, options.threads);
  tell(sizes, costs, options);
  fmt::print(
      "\nlongest: the rank that ends last. bound: the mean, or the largest slide, which no cut of whole slides "
      "beats. imbalance: bytes of the\nlargest rank to the mean. above 1.1: ranks that take a tenth longer than "
      "the mean. Disks and networks are not in it.\n");
}
