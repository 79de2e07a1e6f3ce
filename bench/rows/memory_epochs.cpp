// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "../child.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

constexpr double mebibyte = 1 << 20;
constexpr std::uint64_t pictures = 32;
constexpr unsigned early_epoch = 20;

// JPEGs of different sizes. The largest has 20 times the pixels of the smallest, and about 20 times its bytes.
class Growing {
 public:
  Growing() {
    Rng rng(3, 4, Place{});
    auto files = std::make_shared<std::vector<std::vector<std::byte>>>();
    for (std::uint64_t i = 0; i < pictures; ++i) {
      const double side = 100 * std::sqrt(1 + 19.0 * static_cast<double>(i) / (pictures - 1));
      const auto width = static_cast<std::int32_t>(side * 1.25), height = static_cast<std::int32_t>(side);
      std::vector<std::uint8_t> pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
      for (std::size_t k = 0; k < pixels.size(); ++k)
        pixels[k] = static_cast<std::uint8_t>((k / 96) % 160 + rng.below(24));
      files->push_back(encode_jpeg({pixels.data(), std::ptrdiff_t{width} * 3, {height, width, 3}}));
    }
    files_ = std::move(files);
  }
  std::uint64_t size() const { return files_->size(); }
  Schema schema() const { return {{"image", DType::u8, {dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    // Copies the file, so that the memory that a runner needs varies too.
    const std::vector<std::byte>& file = (*files_)[i];
    const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(file.size())});
    std::memcpy(to.data(), file.data(), file.size());
  }
  double spread() const {
    return static_cast<double>(files_->back().size()) / static_cast<double>(files_->front().size());
  }

 private:
  std::shared_ptr<const std::vector<std::vector<std::byte>>> files_;
};

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / mebibyte;
}

}  // namespace

// Arguments: epochs, threads. Prints the resident memory after an early epoch and after the last epoch.
int memory_epochs_child(const std::vector<std::string>& arguments) {
  const auto epochs = static_cast<unsigned>(std::stoul(arguments.at(0)));
  const auto threads = static_cast<unsigned>(std::stoul(arguments.at(1)));
  const Growing source;
  const Pipeline pipeline = from(source) | shuffle({.seed = 5}) | decode_jpeg("image") |
                            random_resized_crop("image", {224, 224}) | random_flip("image") | batch(8);
  nlohmann::json out;
  out["spread"] = source.spread();
  State state;
  std::uint64_t samples = 0, allocations = 0;
  for (unsigned epoch = 1; epoch <= epochs; ++epoch) {
    Loader loader(pipeline, {.threads = threads, .epochs = epoch});
    if (epoch > 1) loader.resume(state);
    for (const Batch& batch : loader.epoch()) samples += batch.size();
    state = loader.state();
    allocations = std::max(allocations, loader.report().batch_allocations);
    if (epoch == early_epoch) out["early"] = resident_mib();
    if (epoch % (epochs / 10) == 0) out["curve"].push_back(std::lround(resident_mib()));
  }
  out["late"] = resident_mib();
  out["samples"] = samples;
  out["batch_allocations"] = allocations;
  fmt::print("{}\n", out.dump());
  std::fflush(stdout);
  return samples == pictures * epochs ? 0 : 1;
}

Row memory_epochs(const RowSpec& spec, const Settings& settings) {
  const unsigned epochs = settings.quick ? 2 * early_epoch : 1000;
  progress(fmt::format("{}: {} epochs", spec.name, epochs));
  const auto result =
      nlohmann::json::parse(run_child("memory_epochs", {std::to_string(epochs), std::to_string(settings.threads)}));
  progress("");
  const double early = result.at("early"), late = result.at("late");
  Row row;
  row.spec = spec;
  row.ours = late;
  row.limit = 1.01 * early + 4;
  row.ratio = row.low = row.high = row.ours / row.limit;
  row.rounds = 1;
  row.notes.push_back(fmt::format(
      "after epoch {}: {:.1f} MiB, after epoch {}: {:.1f} MiB (each tenth: {}); {} JPEGs of which the largest has "
      "{:.0f} x the bytes of the smallest; batch buffers allocated by a loader: {}",
      early_epoch, early, epochs, late, result.at("curve").dump(), pictures, result.at("spread").get<double>(),
      result.at("batch_allocations").get<std::uint64_t>()));
  return row;
}

}  // namespace penstock::bench
