// SPDX-License-Identifier: Apache-2.0
// 7. Stages after `batch`. Compares the time of the image stages' kernel with a copy in the GPU's memory, and its
// results with float64. Checks that every byte is written.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <penstock/transforms/image.hpp>

#include "../batches.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr std::int32_t side = 224, channels = 3;
constexpr std::int64_t pixels = side * side;
constexpr double mean[] = {0.485, 0.456, 0.406}, deviation[] = {0.229, 0.224, 0.225};
constexpr std::uint64_t batches = 8;

std::uint8_t value_at(std::uint64_t record, std::uint64_t j) {
  return static_cast<std::uint8_t>((record * 31 + j * 7 + (j >> 8) * 13) & 255);
}

struct Pattern {
  std::uint64_t count = 0;
  std::uint64_t size() const { return count; }
  Schema schema() const { return {{"image", DType::u8, {side, side, channels}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    std::uint64_t j = 0;
    for (std::uint8_t& v : out.emplace<std::uint8_t, 3>("image", {side, side, channels})) v = value_at(i, j++);
  }
};

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

double number_at(const std::byte* data, DType dtype, std::size_t i) {
  if (dtype == DType::f16) {
    std::uint16_t bits;
    std::memcpy(&bits, data + 2 * i, sizeof bits);
    return from_half(bits);
  }
  float value;
  std::memcpy(&value, data + 4 * i, sizeof value);
  return static_cast<double>(value);
}

// Returns the largest error of a row, channels first, against float64. Tries the row as it is and flipped, and returns
// the smaller error.
double row_error(const std::byte* row, DType dtype, std::uint64_t record) {
  double errors[2] = {0, 0};
  for (int flipped = 0; flipped < 2; ++flipped)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < side; ++y)
        for (std::int64_t x = 0; x < side; ++x) {
          const std::int64_t from = flipped != 0 ? side - 1 - x : x;
          const double v = value_at(record, static_cast<std::uint64_t>((y * side + from) * channels + c));
          const double wanted = (v / 255 - mean[c]) / deviation[c];
          const double got = number_at(row, dtype, static_cast<std::size_t>((c * side + y) * side + x));
          // With this order of comparison, a NaN counts as an error.
          const double distance = std::abs(got - wanted);
          errors[flipped] = distance <= errors[flipped] ? errors[flipped] : distance;
        }
  return std::min(errors[0], errors[1]);
}

struct Checked {
  std::uint64_t differing = 0;  // number of batches whose bits differ from the host's
  double error = 0;
};

// Checks each batch, and then fills its memory with 0xCD, so that bytes which a later batch does not write are found.
Checked check(const Pipeline& pipeline, const Pipeline& on_host, DType dtype) {
  Checked out;
  const CudaStream stream;
  Loader ours(pipeline, {.device = gpu(0), .device_depth = 2, .epochs = 1});
  Loader reference(on_host, {.epochs = 1});
  std::unique_ptr<Memory> copied;
  for (const Batch& batch : ours.epoch(stream.ref())) {
    const TensorView image = batch["image"];
    if (!copied) copied = std::make_unique<Memory>(Kind::pinned, image.bytes());
    copy(copied->data(), image.data, image.bytes(), stream.handle());
    must(cudaMemsetAsync(image.data, 0xCD, image.bytes(), stream.handle()), "cudaMemsetAsync");
    stream.synchronize();
    const auto same = reference.next();
    if (!same || std::memcmp((*same)["image"].data, copied->data(), image.bytes()) != 0) ++out.differing;
    const std::size_t row_bytes = image.bytes() / batch.size();
    for (std::uint64_t row = 0; row < batch.size(); row += std::max<std::uint64_t>(1, batch.size() / 4)) {
      const double error = row_error(copied->data() + row * row_bytes, dtype, batch.indices()[row]);
      out.error = error <= out.error ? out.error : error;
    }
  }
  return out;
}

using Stages = std::function<Pipeline(const Pipeline&)>;

NormalizeOptions normal_of(DType dtype) {
  return {.mean = {mean[0], mean[1], mean[2]}, .std = {deviation[0], deviation[1], deviation[2]}, .dtype = dtype};
}

// Adds the time of a batch's stages, compared with the copy of the batch.
void add_time(Results& results, const std::string& name, const std::vector<double>& seconds, double to_gpu_s,
              Gate gate) {
  results.raw()["stages"][name] = seconds;
  results.add({.name = name + ", against its batch's copy",
               .ours = 1e3 * median_of(seconds),
               .against = 1e3 * to_gpu_s,
               .unit = "ms",
               .gate = gate,
               .bound = 0.15});
}

// Returns the seconds of each batch's stages, except the first batch's. They are measured by events directly before and
// after the stages, on the stages' stream.
std::vector<double> time_stages(const Pipeline& decoded, const Stages& made) {
  const Marks before(batches), after(batches);
  {
    const CudaStream stream;
    Loader loader(made(decoded | before) | after, {.device = gpu(0), .epochs = 1});
    for (const Batch& batch : loader.epoch(stream.ref())) static_cast<void>(batch);
    stream.synchronize();
  }
  std::vector<double> seconds;
  for (std::size_t i = 1; i < batches; ++i) seconds.push_back(after[i].since(before[i]));
  return seconds;
}

void measure_type(Results& results, const Settings& settings, DType dtype) {
  const std::string name = dtype == DType::f16 ? "f16" : "f32";
  const std::uint64_t rows = settings.quick ? 32 : 256;
  const Pipeline decoded = from(Pattern{.count = rows * batches}) | batch(rows);
  const auto made = [&](const Pipeline& p) { return p | random_flip("image") | normalize("image", normal_of(dtype)); };

  const std::vector<double> seconds = time_stages(decoded, made);
  const double kernel_s = median_of(seconds);
  const std::size_t read = rows * pixels * channels, written = read * size_of(dtype);

  // A copy of n bytes reads n bytes and writes n bytes.
  const std::size_t as_many = (read + written) / 2;
  const Memory one(Kind::device, as_many), other(Kind::device, as_many);
  const CudaStream stream;
  const double copy_s = time_on(stream, 20, [&] { copy(other.data(), one.data(), as_many, stream.handle()); }) / 20;
  const double to_gpu_s = static_cast<double>(read) / results.peak_pinned;

  const Checked checked = check(made(decoded), made(decoded), dtype);
  auto& raw = results.raw()["stages"][name];
  raw["kernel_s"] = seconds;
  raw["device_copy_s"] = copy_s;
  raw["error"] = checked.error;
  const auto rate = [&](double s) { return static_cast<double>(read + written) / s / 1e9; };
  results.add({.name = "flip and normalize to " + name + ": memory traffic",
               .ours = rate(kernel_s),
               .against = rate(copy_s),
               .unit = "GB/s",
               .gate = Gate::at_least,
               .bound = 0.5});
  results.add({.name = "its time, " + name + ", against its batch's copy",
               .ours = 1e3 * kernel_s,
               .against = 1e3 * to_gpu_s,
               .unit = "ms",
               .gate = Gate::at_most,
               .bound = 0.15});
  results.add({.name = "greatest error, " + name + ", against float64",
               .ours = checked.error,
               .against = dtype == DType::f16 ? 1.0e-3 : 2e-6,
               .gate = Gate::at_most,
               .bound = 1,
               .of_speed = false});
  results.add({.name = "poisoned batches that differ from the host's, " + name,
               .ours = static_cast<double>(checked.differing),
               .against = static_cast<double>(batches),
               .unit = "batches",
               .gate = Gate::at_most,
               .bound = 0,
               .of_speed = false});
}

// Measures other stages. Their times are only printed, compared with the copy of their batch.
void measure_others(Results& results, const Settings& settings) {
  const std::uint64_t rows = settings.quick ? 32 : 256;
  const Pipeline decoded = from(Pattern{.count = rows * batches}) | batch(rows);
  const double to_gpu_s = static_cast<double>(rows * pixels * channels) / results.peak_pinned;
  const NormalizeOptions normal = normal_of(DType::f16);
  const auto tell = [&](const std::string& name, const Stages& made) {
    add_time(results, name, time_stages(decoded, made), to_gpu_s, Gate::none);
  };
  tell("turn and normalize to f16", [&](const Pipeline& p) {
    return p | random_flip("image") | random_rot90("image") | normalize("image", normal);
  });
  tell("color_jitter", [](const Pipeline& p) {
    return p | color_jitter("image", {.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1});
  });
  tell("stain_jitter", [](const Pipeline& p) { return p | stain_jitter("image", {.alpha = 0.2, .beta = 0.1}); });
}

// Decoded photographs of 500 x 375, which are copied to the GPU as packed, ragged rows.
struct Photographs {
  static constexpr std::int64_t height = 375, width = 500;
  std::uint64_t count = 0;
  std::uint64_t size() const { return count; }
  Schema schema() const { return {{"image", DType::u8, {dynamic, dynamic, channels}, Collate::ragged()}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    std::uint64_t j = 0;
    for (std::uint8_t& v : out.emplace<std::uint8_t, 3>("image", {height, width, channels})) v = value_at(i, j++);
  }
};

void measure_resampling(Results& results, const Settings& settings) {
  const std::uint64_t rows = settings.quick ? 32 : 256;
  const Pipeline decoded = from(Photographs{.count = rows * batches}) | batch(rows);
  const auto bytes = static_cast<double>(rows * Photographs::height * Photographs::width * channels);
  const double to_gpu_s = bytes / results.peak_pinned;
  const NormalizeOptions normal = normal_of(DType::f16);
  const auto tell = [&](const std::string& name, const Stages& made) {
    add_time(results, name, time_stages(decoded, made), to_gpu_s, Gate::at_most);
  };
  const auto crop = [&](const Pipeline& p) {
    return p | random_resized_crop("image", {side, side}) | random_flip("image") | normalize("image", normal);
  };
  tell("500 x 375 to 224 x 224, random_resized_crop to f16", crop);
  tell("500 x 375 to 224 x 224, resize to f16", [&](const Pipeline& p) {
    return p | resize("image", {side, side}) | random_flip("image") | normalize("image", normal);
  });
  const Checked checked = check(crop(decoded), crop(decoded), DType::f16);
  results.add({.name = "resampled batches that differ from the host's",
               .ours = static_cast<double>(checked.differing),
               .against = static_cast<double>(batches),
               .unit = "batches",
               .gate = Gate::at_most,
               .bound = 0,
               .of_speed = false});
}

}  // namespace

void stages(Results& results, const Settings& settings) {
  results.begin(7, "image stages after batch");
  measure_type(results, settings, DType::f16);
  measure_type(results, settings, DType::f32);
  measure_others(results, settings);
  measure_resampling(results, settings);
}

}  // namespace penstock::gpu_bench
