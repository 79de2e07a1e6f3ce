// SPDX-License-Identifier: Apache-2.0
// The rule on damaged files.
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/text_in.hpp"
#include "transforms/codec/jpeg/baseline/core.hpp"
#include "transforms/codec/jpeg/baseline/mutant.hpp"
#include "transforms/codec/jpeg/baseline/rule.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct Counts {
  std::uint64_t refused = 0, equal = 0, handed_over = 0, needlessly = 0;
  std::array<std::uint64_t, 9> by_reason{}, needless_by_reason{};
};

void check(Core& core, const Bytes& bytes, Numbers& numbers, Counts& counts) {
  const Judgement judgement = judge(core, bytes, numbers);
  if (judgement.broken != nullptr) FAIL(judgement.broken);
  counts.refused += judgement.kind == Judgement::refused ? 1 : 0;
  counts.equal += judgement.kind == Judgement::equal ? 1 : 0;
  if (judgement.kind != Judgement::handed_over) return;
  const auto reason = static_cast<std::size_t>(judgement.reason);
  ++counts.handed_over;
  ++counts.by_reason[reason];
  counts.needlessly += judgement.needlessly ? 1 : 0;
  counts.needless_by_reason[reason] += judgement.needlessly ? 1 : 0;
}

void print(const Counts& counts, const char* what) {
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  const std::uint64_t all = counts.refused + counts.equal + counts.handed_over;
  std::printf("%llu %s: %llu refused by their headers, %llu equal, %llu left to libjpeg, %llu of these needlessly\n",
              number(all), what, number(counts.refused), number(counts.equal), number(counts.handed_over),
              number(counts.needlessly));
  const char* const reasons[] = {"kind", "colors", "scans",       "sampling", "tables",
                                 "code", "range",  "end of data", "marker"};
  for (std::size_t r = 0; r < counts.by_reason.size(); ++r)
    if (counts.by_reason[r] != 0)
      std::printf("  %s: %llu, %llu needlessly\n", reasons[r], number(counts.by_reason[r]),
                  number(counts.needless_by_reason[r]));
}

}  // namespace

TEST_CASE("damaged files have libjpeg's pixels or are left to it") {
  Numbers numbers(numbered_seed(7));
  Core core;
  Counts counts;
  const std::uint64_t mutants = runs(6'000);
  for (std::uint64_t i = 0; i < mutants;) {
    const RandomJpeg file = random_jpeg(numbers, 120);
    for (int k = 0; k < 20; ++k, ++i) {
      INFO(file.text << ", mutant " << i);
      check(core, damaged(file.bytes, numbers), numbers, counts);
    }
  }
  print(counts, "mutants");
  CHECK(counts.equal > mutants / 10);
  CHECK(counts.handed_over > mutants / 10);
  CHECK(counts.needlessly < mutants * 3 / 100);
}

TEST_CASE("malformed files of the world have libjpeg's pixels or are left to it") {
  const char* const folder = std::getenv("PENSTOCK_BAD_JPEGS");
  if (folder == nullptr || !std::filesystem::is_directory(folder))
    PENSTOCK_SKIP("PENSTOCK_BAD_JPEGS names no folder: 0 malformed files were tried");
  Numbers numbers(numbered_seed(9));
  Core core;
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = text_in(entry.path());
    Bytes bytes(text.size());
    std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    INFO(entry.path());
    for (int box = 0; box < 4; ++box) check(core, bytes, numbers, counts);
  }
  print(counts, "crops of malformed files");
  CHECK(counts.refused + counts.handed_over > 0);
}

TEST_CASE("files to begin with, for tests/campaigns/jpeg_fuzz", "[.files]") {
  const char* const folder = std::getenv("PENSTOCK_FILES_TO");
  REQUIRE(folder != nullptr);
  Numbers numbers(numbered_seed(21));
  for (int i = 0; i < 300; ++i) {
    const Bytes bytes = random_jpeg(numbers, 40).bytes;
    std::ofstream file(std::filesystem::path(folder) / ("generated-" + std::to_string(i) + ".jpg"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(file);
  }
}
