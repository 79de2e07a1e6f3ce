// SPDX-License-Identifier: Apache-2.0
// A writer of HDF5 files that runs on many threads, is killed at any moment, and runs again until it is done.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <penstock/sources/feature_sink.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>

#include "killed_writer.hpp"
#include "sources/files/folder_files.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// numbers: 700 of the bytes of image, with noise.
struct Numbers {
  static constexpr std::int64_t count = 700;
  Schema schema(const Schema& in) const { return in.with({"numbers", DType::u16, {count}}); }
  std::string name() const { return "numbers"; }
  void operator()(Sample& sample, Context& context) const {
    const auto from = sample.view<const std::uint8_t, 1>("image").flat();
    std::size_t i = 0;
    for (std::uint16_t& number : sample.emplace<std::uint16_t, 1>("numbers", {count}).flat())
      number = static_cast<std::uint16_t>(from[i++ % from.size()] + context.rng().below(300));
  }
};

// Sequences in shards by number, and compressed chunks of numbers in shards by bytes.
void write_hdf5_files(const Task& task) {
  const Pipeline records = read_lmdb(task.from) | seed(9) | shuffle();
  Hdf5SinkOptions options{.path = task.to + "/part", .keys = "key", .job = std::to_string(records.fingerprint())};
  if (task.variant == 0) {
    options.fields = {{.field = "image", .chunk_rows = 11}, {.field = "label", .chunk_rows = 10, .fletcher32 = true}};
    options.max_samples = 37;
    return write_all(task, records | Noise{}, Hdf5Sink(options));
  }
  options.fields = {{.field = "numbers", .chunk_rows = 16}};
  options.sync = false;
  options.max_bytes = 100'000;
  write_all(task, records | Numbers{} | select_fields({"numbers", "label"}), Hdf5Sink(options));
}

Content hdf5_content(const std::string& path) { return files_in(path); }

// True where any file can be opened as a whole one.
bool hdf5_opens(const std::string& path) {
  if (!std::filesystem::exists(path)) return false;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() != ".h5") continue;
    try {
      return Hdf5Source({.path = entry.path().string()}).size() != 0;
    } catch (const Error&) {
    }
  }
  return false;
}

}  // namespace

TEST_CASE("a killed write to HDF5 ends with the same bytes") {
  if (is_child()) return write_hdf5_files(task());
  const TempFolder folder;
  write_lmdb(folder / "from");
  kill_writing("writer: LMDB to HDF5, sequences by number and compressed chunks by bytes",
               "a killed write to HDF5 ends with the same bytes", folder, {hdf5_content, hdf5_opens});
}

namespace {

// Features of a slide, which come in batches of any size.
void write_features(const Task& task) {
  constexpr int slides = 12;
  constexpr std::int64_t dimension = 16;
  std::mt19937_64 random(task.number);
  FeatureSink sink({.folder = task.to, .chunk_rows = 8, .job = "features", .sync = task.number % 2 == 0});
  int there = 0;
  while (there < slides && sink.has("slide " + std::to_string(there))) ++there;
  tell("begun " + std::to_string(there));
  for (int slide = there; slide < slides; ++slide) {
    const std::string name = "slide " + std::to_string(slide);
    sink.begin(name, {{"patch_size", 256}});
    const std::int64_t rows = 40 + 13 * slide;
    for (std::int64_t first = 0; first < rows;) {
      const std::int64_t n =
          std::min(rows - first, task.number == 0 ? 5 : static_cast<std::int64_t>(1 + random() % 20));
      std::vector<float> features;
      std::vector<std::int64_t> coords;
      for (std::int64_t i = first * dimension; i < (first + n) * dimension; ++i)
        features.push_back(static_cast<float>(help::mix(static_cast<std::uint64_t>(i + slide)) % 1000));
      for (std::int64_t i = first * 2; i < (first + n) * 2; ++i) coords.push_back(i * slide);
      sink.put({reinterpret_cast<std::byte*>(features.data()), DType::f32, {n, dimension}},
               {reinterpret_cast<std::byte*>(coords.data()), DType::i64, {n, 2}});
      first += n;
    }
    tell("committing");
    sink.end();
    tell("committed " + std::to_string(slide + 1));
  }
  tell("finishing");
  tell("finished");
}

// Rows of every slide, and the lines of the list, in order.
Content feature_content(const std::string& path) {
  Content content;
  std::ifstream in(path + "/metadata.csv");
  for (std::string line; std::getline(in, line);) content[line] = "";
  for (const auto& [name, bytes] : files_in(path + "/h5_files")) {
    if (!name.ends_with(".h5")) continue;
    const Hdf5Source source({.path = std::string(path).append("/h5_files/").append(name)});
    std::string& rows = content[name];
    for (std::uint64_t i = 0; i < source.size(); ++i)
      for (const char* const field : {"features", "coords"}) {
        const OwnedSample sample = read_sample(source, i);
        const TensorView value = sample[field];
        rows.append(reinterpret_cast<const char*>(value.data), value.bytes());
      }
  }
  return content;
}

}  // namespace

TEST_CASE("a killed writer of features leaves whole slides and ends with all of them") {
  if (is_child()) return write_features(task());
  const TempFolder folder;
  Kills kills("writer: features of slides", {{"committing", "committed"}});
  std::uint64_t number = 0;
  const auto process_for = [&](const std::string& to) {
    return Child(this_program("a killed writer of features leaves whole slides and ends with all of them"),
                 {{"PENSTOCK_KILLED_STORE", "none"},
                  {"PENSTOCK_KILLED_FOLDER", to},
                  {"PENSTOCK_KILLED_VARIANT", "0"},
                  {"PENSTOCK_KILLED_NUMBER", std::to_string(number++)}},
                 folder / "output");
  };
  Child first = process_for(folder / "whole");
  kills.measure(first);
  const Content expected = feature_content(folder / "whole");
  REQUIRE(expected.size() == 12 + 13);
  const std::string to = folder / "killed";
  while (!kills.enough()) {
    std::filesystem::remove_all(to);
    std::uint64_t committed = 0;
    unsigned died = 0;
    for (bool finished = false; !finished;) {
      Child child = process_for(to);
      finished = !kills.strike(child, died);
      if (!finished) ++died;
      if (child.told("begun ") != 0) REQUIRE(last_number(child, "begun ") >= committed);
      committed = std::max(committed, last_number(child, "committed "));
      // What has its name is whole.
      if (std::filesystem::exists(to + "/h5_files"))
        for (const auto& [name, rows] : feature_content(to))
          if (name.ends_with(".h5")) REQUIRE(rows == expected.at(name));
    }
    INFO("after " << died << " kills");
    REQUIRE(difference(feature_content(to), expected) == "");
    kills.run_completed();
  }
  kills.check();
}
