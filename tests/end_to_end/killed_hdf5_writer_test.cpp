// A writer of HDF5 files that runs on many threads, is killed at any moment, and runs again until it is done.
#include <cstdint>
#include <filesystem>
#include <string>

#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>

#include "killed_writer.hpp"
#include "sources/folder_files.hpp"

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
