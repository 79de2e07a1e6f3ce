// SPDX-License-Identifier: Apache-2.0
// Where tables end, and how large they may be.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("no byte after a table's last page is read") {
  const TempFolder folder;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::string text = "a,b\n";
  while (text.size() + 2 * std::string_view("1,2\n").size() <= page) text += "1,2\n";
  text += "-3," + std::string(page - text.size() - 3, '4');
  REQUIRE(text.size() == page);
  folder.write("t.csv", text);
  // Holes of one page, each before a page that can't be read: a map of the table comes to lie in one of them.
  std::vector<char*> guards;
  for (int i = 0; i < 64; ++i) {
    void* const two = ::mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(two != MAP_FAILED);
    guards.push_back(static_cast<char*>(two));
  }
  for (char* const guard : guards) ::munmap(guard, page);
  const CsvSource source({.path = folder / "t.csv", .vectors = {{"v", {"a", "b"}}}});
  const auto reader = source.open_reader();
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  for (std::uint64_t i = 0; i < source.size(); ++i) reader->read(i, out);
  CHECK(sample["v"].as<float, 1>()(0) == -3);
  for (char* const guard : guards) ::munmap(guard + page, page);
}

TEST_CASE("records lie where they lie in a table of more than 4 GiB") {
  // Most of it are holes, which take no room: records of zeros.
  const TempFolder folder;
  constexpr std::uint64_t far = std::uint64_t{1} << 32, step = std::uint64_t{2} << 20;
  const std::string path = folder / "t.csv";
  std::ofstream file(path, std::ios::binary);
  file << "a\n";
  std::uint64_t holes = 0;
  for (std::uint64_t at = step; at < far + 2 * step; at += step) {
    if (at == far) {
      // Numbers on both sides of it, one of them across.
      file.seekp(static_cast<std::streamoff>(far - 9));
      file << "\n12\n345\n678\n9";
    } else {
      file.seekp(static_cast<std::streamoff>(at));
    }
    file << '\n';
    ++holes;
  }
  file.close();
  REQUIRE(file);
  const CsvSource source({.path = path, .columns = {{"a", CsvType::number, DType::i32}}});
  REQUIRE(source.size() == holes + 4);
  const std::uint64_t first = far / step;  // before it a record for each hole
  const std::array<std::int32_t, 4> numbers{12, 345, 678, 9};
  for (std::size_t i = 0; i < numbers.size(); ++i)
    CHECK(*read_sample(source, first + i)["a"].as<std::int32_t, 0>().data() == numbers[i]);
  const Error last = error_of([&] { (void)read_sample(source, source.size() - 1); });
  CHECK(last.offset() == far + 5);
  CHECK(last.key() == "t.csv:" + std::to_string(source.size() + 1));
}
