// SPDX-License-Identifier: Apache-2.0
// A cohort of slides at size: PENSTOCK_COHORT_SLIDES of them (12), of PENSTOCK_COHORT_SIDE pixels a side (8,192), which
// the tool draws, and PENSTOCK_COHORT_SECONDS (1) of each epoch. What is measured is printed, in lines that begin with
// COHORT.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide_index.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

using namespace penstock;
using namespace penstock_test;

namespace fs = std::filesystem;

namespace {

std::uint64_t number_of(const char* name, std::uint64_t usual) {
  const char* const text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

const std::uint64_t slides_there = number_of("PENSTOCK_COHORT_SLIDES", 12),
                    side = number_of("PENSTOCK_COHORT_SIDE", 8192),
                    seconds_of_epoch = number_of("PENSTOCK_COHORT_SECONDS", 1);

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// While it lives this process has so many open files at most.
class OpenFilesLimit {
 public:
  explicit OpenFilesLimit(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit small{most, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &small);
  }
  OpenFilesLimit(const OpenFilesLimit&) = delete;
  OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;
  ~OpenFilesLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Megabytes in memory, at most so far.
double most_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void draw_slide(const std::string& path, std::uint64_t pixels) {
  const std::string size = std::to_string(pixels) + "x" + std::to_string(pixels);
  const std::string command = path_of("make_slides") + " " + path + " --repeat --quiet --size " + size;
  REQUIRE(std::system(command.c_str()) == 0);
}

// Slides s0, s1, ..., four of them of each patient, and a table that says so.
void draw_cohort(const TempFolder& folder) {
  draw_slide(folder / "s0.svs", side);
  std::ofstream table(folder / "labels.csv");
  table << "slide,patient\n";
  for (std::uint64_t i = 0; i < slides_there; ++i) {
    if (i != 0) fs::copy_file(folder / "s0.svs", folder / ("s" + std::to_string(i) + ".svs"));
    table << "s" << i << ",p" << i / 4 << "\n";
  }
}

struct Seen {
  std::uint64_t rows = 0;
  double first = 0, seconds = 0;
  std::set<std::int64_t> slides;
};

// Runs a part of an epoch, or all of it.
Seen run(const Pipeline& pipeline, const LoaderOptions& options, const Stopwatch& watch, double most_seconds) {
  Seen seen;
  Loader loader(pipeline, options);
  while (const auto batch = loader.next()) {
    if (seen.rows == 0) seen.first = watch.seconds();
    seen.rows += batch->size();
    const auto slides = batch->view<const std::int64_t, 1>("slide");
    for (std::int64_t row = 0; row < slides.extent(0); ++row) seen.slides.insert(slides(row));
    if (watch.seconds() > seen.first + most_seconds) break;
  }
  seen.seconds = watch.seconds() - seen.first;
  return seen;
}

constexpr std::size_t block_bytes = std::size_t{128} << 20;
constexpr unsigned threads = 2;

// What a loader may take beside its budget, and what the program had before it.
void check_memory(double before) { CHECK(most_megabytes() <= before + (block_bytes >> 20) + 64 * threads); }

void tell(const char* order, std::uint64_t slides, std::uint64_t records, const Seen& seen, double before) {
  std::printf("COHORT | %s | %llu slides | %llu records | first batch %.2f s | %.0f rows/s | %.0f MB, %.0f before |\n",
              order, static_cast<unsigned long long>(slides), static_cast<unsigned long long>(records), seen.first,
              static_cast<double>(seen.rows) / seen.seconds, most_megabytes(), before);
}

void train_on_cohort(const char* order, const Slides& how, const ShuffleOptions& shuffled) {
  const TempFolder folder;
  draw_cohort(folder);
  Slides slides = how;
  slides.files = folder / "*.svs";
  slides.labels = folder / "labels.csv";
  slides.group = "patient";
  write_slide_index(slides, folder / "cohort.tiles");
  slides.index = folder / "cohort.tiles";
  const OpenFilesLimit few(256);
  const double before = most_megabytes();
  // Slides are numbered in the order of their names' bytes.
  std::vector<std::uint64_t> patient_of;
  for (const SlideInfo& slide : SlideSource(slides).slides())
    patient_of.push_back(std::stoull(slide.name.substr(1)) / 4);
  std::vector<std::set<std::uint64_t>> patients(2);
  for (std::size_t part = 0; part < 2; ++part) {
    const Stopwatch watch;
    const SlideSource source(slides);
    const Pipeline pipeline = from(source) |
                              split({.shares = {0.5, 0.5}, .part = part, .by = SplitOptions::By::group}) |
                              shuffle(shuffled) | batch(64);
    const Seen seen = run(pipeline, {.threads = threads, .max_block_bytes = block_bytes, .epochs = 1}, watch,
                          static_cast<double>(seconds_of_epoch));
    CHECK(seen.first <= 2);
    for (const std::int64_t slide : seen.slides) patients[part].insert(patient_of[static_cast<std::size_t>(slide)]);
    tell(order, source.slides().size(), source.size(), seen, before);
  }
  for (const std::uint64_t patient : patients[0]) CHECK_FALSE(patients[1].contains(patient));
  CHECK_FALSE(patients[0].empty());
  CHECK_FALSE(patients[1].empty());
  check_memory(before);
}

// Slides, and how often a tile of theirs is decoded, whole or in part.
class Counting {
 public:
  explicit Counting(SlideSource source) : source_(std::move(source)) {}
  std::uint64_t size() const { return source_.size(); }
  Schema schema() const { return source_.schema(); }
  std::uint64_t blocks() const { return source_.blocks(); }
  std::uint64_t block_bytes(std::uint64_t block) const { return source_.block_bytes(block); }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const { source_.blocks_of(index, ids); }
  bool can_do_without(std::uint64_t block) const { return source_.can_do_without(block); }
  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    ++*decoded_;
    source_.load(block, bytes);
  }
  void read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks, SampleBuilder& out) const {
    for (const auto& block : blocks)
      if (block.empty()) ++*decoded_;
    source_.read(index, blocks, out);
  }
  std::vector<std::uint64_t> block_ends() const { return source_.block_ends(); }
  std::uint64_t decoded() const { return *decoded_; }

 private:
  SlideSource source_;
  std::shared_ptr<std::atomic<std::uint64_t>> decoded_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

}  // namespace

TEST_CASE("a cohort is trained on by a full shuffle, from its first second on") {
  train_on_cohort("full shuffle", {.size = 256}, {.seed = 1});
}

TEST_CASE("a cohort is trained on by squares, from its first second on") {
  train_on_cohort("squares of 8 x 8", {.size = 224, .order = SlideOrder::squares},
                  {.seed = 1, .blocks = true, .window_blocks = 64});
}

TEST_CASE("one large slide is read as a cohort is") {
  const TempFolder folder;
  const std::uint64_t pixels = number_of("PENSTOCK_COHORT_LARGE", 8192);
  draw_slide(folder / "s0.svs", pixels);
  const OpenFilesLimit few(256);
  const double before = most_megabytes();
  const Stopwatch watch;
  const SlideSource source({.files = folder / "s0.svs", .size = 224, .order = SlideOrder::squares});
  const Pipeline pipeline = from(source) | shuffle({.seed = 1, .blocks = true, .window_blocks = 64}) | batch(64);
  const Seen seen = run(pipeline, {.threads = threads, .max_block_bytes = block_bytes, .epochs = 1}, watch, 1e9);
  CHECK(seen.rows == source.size());
  CHECK(seen.first <= 2);
  tell("one large slide", 1, source.size(), seen, before);
  check_memory(before);
}

TEST_CASE("four ranks that the shuffle knows of decode hardly more tiles together than one") {
  const TempFolder folder;
  draw_cohort(folder);
  const Slides slides{.files = folder / "s?.svs", .size = 224, .order = SlideOrder::squares};
  // One rank alone needs no word of ranks.
  const auto decoded = [&](int ranks) {
    const Counting source{SlideSource(slides)};
    const Pipeline pipeline =
        from(source) |
        shuffle({.seed = 1, .blocks = true, .window_blocks = 16, .ranks = static_cast<std::uint64_t>(ranks)}) |
        batch(64);
    std::uint64_t rows = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      Loader loader(ranks == 1 ? pipeline : pipeline | for_rank({.rank = rank, .world = ranks}),
                    {.threads = threads, .max_block_bytes = block_bytes, .epochs = 1});
      while (const auto batch = loader.next()) rows += batch->size();
    }
    CHECK(rows == source.size());
    return source.decoded();
  };
  const std::uint64_t one = decoded(1), four = decoded(4);
  std::printf("COHORT | ranks | one rank decodes %llu tiles, four together %llu: %.3f |\n",
              static_cast<unsigned long long>(one), static_cast<unsigned long long>(four),
              static_cast<double>(four) / static_cast<double>(one));
  // Blocks at the cuts between ranks are decoded twice, which matters the less the more slides there are.
  const double most = slides_there >= 24 ? 1.1 : 1.2;
  CHECK(static_cast<double>(four) <= most * static_cast<double>(one));
}
