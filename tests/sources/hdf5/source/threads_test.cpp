// SPDX-License-Identifier: Apache-2.0
// Many threads at once, in one source and in others, and the program's own use of HDF5 beside them.
#include <penstock/sources/hdf5.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/oracle.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::vector<H5Data> of_each_way(hsize_t rows) {
  H5Data text{.path = "text", .type = {.kind = H5Type::Kind::text}, .shape = {rows}};
  H5Data pairs{.path = "pairs", .type = h5_compound({{"a", h5_real(2, true)}, {"b", h5_integer(8, true)}})};
  pairs.shape = {rows};
  return {counting<std::uint16_t>("flat", {rows, 30}),
          counting_chunks<std::uint16_t>("deflated", {rows, 30}, {7, 20}, {H5Filter::shuffle, H5Filter::deflate}),
          counting_chunks<std::uint16_t>("scaled", {rows, 30}, {11, 30}, {H5Filter::scaleoffset}), text, pairs};
}

// Collects what goes wrong on threads, which must not use the checks of the test library.
class Failures {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!text.empty() && first_.empty()) first_ = text;
  }
  template <class Act>
  void watch(const Act& act) {
    try {
      add(act());
    } catch (const std::exception& error) {
      add(error.what());
    }
  }
  std::string first() {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  std::mutex mutex_;
  std::string first_;
};

}  // namespace

TEST_CASE("eight threads read through one source while others open and close files") {
  const TempFolder folder;
  constexpr hsize_t rows = 60;
  const std::vector<H5Data> data = of_each_way(rows);
  write_h5(folder / "a.h5", {.data = data});
  const std::vector<H5Column> columns = columns_of(folder / "a.h5", data);
  const H5Data other = counting_chunks<float>("x", {30, 4}, {4, 4}, {H5Filter::deflate});
  write_h5(folder / "other.h5", {.data = {other}});
  const std::vector<H5Column> other_columns = columns_of(folder / "other.h5", other);
  for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
    const Hdf5Source source({.path = folder / "a.h5", .max_kept_bytes = keep_bytes});
    Failures failures;
    std::atomic<bool> done = false;
    std::thread opens([&] {
      while (!done)
        failures.watch([&] {
          const Hdf5Source brief({.path = folder / "other.h5", .max_kept_bytes = keep_bytes});
          return difference(brief, other_columns);
        });
    });
    std::thread same([&] {
      while (!done)
        failures.watch([&] {
          const Hdf5Source again({.path = folder / "a.h5", .max_kept_bytes = keep_bytes});
          if (again.attribute("/", "nothing")) return std::string("an attribute");
          return difference(read_sample(again, 3), columns, 3);
        });
    });
    std::vector<std::thread> readers;
    for (unsigned t = 0; t < 8; ++t)
      readers.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 4 * rows && failures.first().empty(); ++i)
          failures.watch([&] {
            const std::uint64_t row = (i * (2 * t + 1) + 7 * t) % rows;
            return difference(read_sample(source, row), columns, row);
          });
      });
    for (std::thread& reader : readers) reader.join();
    done = true;
    opens.join();
    same.join();
    CHECK(failures.first() == "");
  }
  CHECK(open_handles() == 0);
}

TEST_CASE("a dataset that is kept is read whole by whoever needs it first") {
  const TempFolder folder;
  const H5Data data = counting_chunks<std::uint32_t>("x", {4000, 8}, {64, 8}, {H5Filter::deflate});
  write_h5(folder / "a.h5", {.data = {data}});
  const std::vector<H5Column> columns = columns_of(folder / "a.h5", data);
  for (int round = 0; round < 10; ++round) {
    const Hdf5Source source({.path = folder / "a.h5"});
    Failures failures;
    std::vector<std::thread> readers;
    for (unsigned t = 0; t < 8; ++t)
      readers.emplace_back([&, t] {
        for (std::uint64_t row = t; row < 4000; row += 397)
          failures.watch([&] { return difference(read_sample(source, row), columns, row); });
      });
    for (std::thread& reader : readers) reader.join();
    CHECK(failures.first() == "");
  }
}

TEST_CASE("two loaders over one source and one over another file run at once") {
  const TempFolder folder;
  const std::vector<H5Data> data = of_each_way(50);
  for (const char* name : {"a.h5", "b.h5"}) write_h5(folder / name, {.data = data});
  const std::vector<H5Column> columns = columns_of(folder / "a.h5", data);
  const Hdf5Source a({.path = folder / "a.h5", .max_kept_bytes = 0}), b({.path = folder / "b.h5", .max_kept_bytes = 0});
  Failures failures;
  std::vector<std::thread> consumers;
  for (int t = 0; t < 3; ++t)
    consumers.emplace_back([&, t] {
      failures.watch([&] {
        const Pipeline pipeline = from(t == 2 ? b : a) | ragged("text") | batch(7);
        Loader loader(pipeline, {.threads = 2, .epochs = 4});
        std::string text;
        for (int epoch = 0; epoch < 4; ++epoch)
          for (const Batch& one : loader.epoch())
            if (text.empty()) text = difference(one, columns);
        return text;
      });
    });
  for (std::thread& consumer : consumers) consumer.join();
  CHECK(failures.first() == "");
}

TEST_CASE("a source in a thread that ends before it leaves others alone") {
  const TempFolder folder;
  const H5Data data = counting_chunks<std::uint32_t>("x", {40, 8}, {4, 8}, {H5Filter::deflate});
  write_h5(folder / "a.h5", {.data = {data}});
  const std::vector<H5Column> columns = columns_of(folder / "a.h5", data);
  std::optional<Hdf5Source> source;
  std::thread([&] { source.emplace(Hdf5{.path = folder / "a.h5", .max_kept_bytes = 0}); }).join();
  CHECK(difference(*source, columns) == "");
  std::thread([&] { source.reset(); }).join();
  CHECK(open_handles() == 0);
}

TEST_CASE("rows that are kept are read by all threads that ask, and where some are damaged only those fail") {
  const TempFolder folder;
  // Four parts, each of which takes so long that threads without one have to wait.
  constexpr hsize_t rows = 15, width = 1 << 19;
  write_h5(folder / "a.h5",
           {.data = {counting_chunks<std::uint16_t>("x", {rows, width}, {4, width}, {H5Filter::deflate})}});
  for (const bool damaged : {false, true}) {
    if (damaged) {
      std::fstream file(folder / "a.h5", std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(folder / "a.h5") / 2));
      for (int i = 0; i < 64; ++i) file.put('\xff');
    }
    const Hdf5Source kept({.path = folder / "a.h5"}), unkept({.path = folder / "a.h5", .max_kept_bytes = 0});
    REQUIRE(kept.fields()[0].way == Hdf5Way::kept);
    REQUIRE(unkept.fields()[0].way == Hdf5Way::chunks);
    const auto read = [](const Hdf5Source& source, std::uint64_t row) -> std::vector<std::byte> {
      std::vector<std::byte> out(width * sizeof(std::uint16_t));
      try {
        source.read_rows(0, row, 1, out);
      } catch (const Error& error) {
        if (error.code() != Errc::corrupt) throw;
        out.clear();
      }
      return out;
    };
    std::vector<std::vector<std::byte>> expected;
    std::size_t lost = 0;
    for (std::uint64_t row = 0; row < rows; ++row) lost += expected.emplace_back(read(unkept, row)).empty();
    Failures failures;
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        failures.watch([&]() -> std::string {
          for (std::uint64_t i = 0; i < rows; ++i)
            if (const std::uint64_t row = (i + 2 * t) % rows; read(kept, row) != expected[row])
              return "row " + std::to_string(row) + " differs";
          return {};
        });
      });
    threads.clear();
    CHECK(failures.first().empty());
    CHECK((lost > 0) == damaged);
    CHECK(lost <= 8);
  }
}
