// SPDX-License-Identifier: Apache-2.0
// 8. JPEGs become tensors on the GPU, while it does steps of matrix products. Measures how much time prefetching hides,
// and how long an epoch takes without it. Also measures how much each further thread brings, because such a job waits
// for the CPU.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <penstock/extend/rng.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "../batches.hpp"
#include "../steps.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr std::int32_t height = 375, width = 500;
constexpr std::uint64_t pictures = 64;
constexpr double min_hidden = 0.95, max_starved = 0.05;

using Files = std::vector<std::vector<std::byte>>;

// Makes a picture of waves and noise, which has about 90 KB at quality 90.
std::vector<std::byte> picture(std::uint64_t number) {
  Rng rng(8, 0, Place{.position = number});
  const double fx = rng.uniform(0.01, 0.2), fy = rng.uniform(0.01, 0.2), phase = rng.uniform(0, 6);
  std::vector<std::uint8_t> rgb(std::size_t{height} * width * 3);
  std::size_t at = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        rgb[at++] = static_cast<std::uint8_t>(120 + 80 * std::sin(fx * x + c + phase) * std::cos(fy * y) +
                                              rng.uniform(-12, 12));
  return encode_jpeg(Pixels{rgb.data(), std::ptrdiff_t{width} * 3, {height, width, 3}}, {.quality = 90});
}

// Lets readers read records below `allowed`. Readers of other records wait.
struct Gateway {
  std::atomic<std::uint64_t> allowed{~std::uint64_t{0}};
  void open(std::uint64_t to) {
    allowed = to;
    allowed.notify_all();
  }
  void pass(std::uint64_t record) const {
    for (std::uint64_t now = allowed; record >= now; now = allowed) allowed.wait(now);
  }
};

struct Jpegs {
  std::shared_ptr<const Files> files;
  std::uint64_t count;
  std::shared_ptr<Gateway> gateway;
  std::uint64_t size() const { return count; }
  Schema schema() const { return {{"image", DType::u8, {dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    gateway->pass(i);
    out.view("image", (*files)[i % files->size()]);
  }
};

struct Job {
  std::shared_ptr<const Files> files;
  std::uint64_t rows, steps;
  enum class On : std::uint8_t {
    cpu,
    resampled_on_gpu,
    decoded_on_gpu
  } on = On::cpu;  // what the GPU gets: finished pictures, whole pictures, or files
  double host_share = 0;
  Pipeline pipeline(std::shared_ptr<Gateway> gateway) const {
    const Pipeline source = from(Jpegs{files, rows * steps, std::move(gateway)});
    const Stage crop = random_resized_crop("image", {224, 224});
    const JpegOptions options{.host_share = on == On::decoded_on_gpu ? host_share : 0};
    const Stage decode = decode_jpeg("image", options);
    return (on == On::cpu                ? source | decode | crop | batch(rows)
            : on == On::resampled_on_gpu ? source | decode | ragged("image") | batch(rows) | crop
                                         : source | ragged("image") | batch(rows) | decode | crop) |
           random_flip("image") |
           normalize("image", {.mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}, .dtype = DType::f16});
  }
};

struct Epoch {
  double step_s = 0;
  double starved = 0;  // share of the time in which the consumer's stream waited for a batch
};

// Runs one epoch. `load` may be null. Without `prefetch`, no record is read before the step before its batch is done.
// If there are no `threads`, the loader chooses how many threads it uses.
Epoch run_epoch(const Job& job, const CudaStream& stream, const Load* load, bool prefetch,
                const std::optional<Executor>& threads = {}) {
  const auto gateway = std::make_shared<Gateway>();
  std::vector<CudaEvent> begins(job.steps), ends(job.steps);
  if (!prefetch) gateway->open(job.rows);
  Loader loader(job.pipeline(gateway), {.device = gpu(0), .executor = threads, .epochs = 1});
  // However the loop ends, no reader may continue to wait, because the loader's destructor waits for its readers.
  struct Opener {
    Gateway& gateway;
    ~Opener() { gateway.open(~std::uint64_t{0}); }
  } const opener{*gateway};
  std::size_t i = 0;
  for (const Batch& batch : loader.epoch(stream.ref())) {
    static_cast<void>(batch);
    begins.at(i).record(stream.handle());
    if (load != nullptr) load->enqueue(stream.handle());
    ends.at(i).record(stream.handle());
    ++i;
    if (!prefetch) {
      stream.synchronize();
      gateway->open((i + 1) * job.rows);
    }
  }
  stream.synchronize();
  // The first steps are left out: their batches were ready with prefetching, and nothing was ready without it.
  const std::size_t first = std::min<std::size_t>(4, i / 3);
  double waited = 0;
  for (std::size_t k = first + 1; k < i; ++k) waited += begins[k].since(ends[k - 1]);
  const double whole = ends[i - 1].since(ends[first]);
  return {whole / static_cast<double>(i - 1 - first), waited / whole};
}

// Returns the powers of two below the number of cores, and the number of cores.
std::vector<unsigned> thread_counts(const Settings& settings) {
  const unsigned cores = settings.quick ? 2 : std::max(1u, std::thread::hardware_concurrency());
  std::vector<unsigned> all;
  for (unsigned threads = 1; threads < cores; threads *= 2) all.push_back(threads);
  all.push_back(cores);
  return all;
}

// Each thread has the same number of steps, so that all numbers of threads take about the same time.
void by_threads(Results& results, const Settings& settings, const std::shared_ptr<const Files>& files,
                const CudaStream& stream) {
  constexpr std::uint64_t steps_each = 8;
  auto& raw = results.raw()["jpeg"]["by_threads"];
  double of_one = 0;
  bool engines = true;
  try {
    static_cast<void>(jpeg_decoder()->start_batches(gpu(0)));
  } catch (const Error& error) {
    engines = false;
    fmt::print("    {}\n", error.what());
  }
  for (const unsigned threads : thread_counts(settings)) {
    const Job job{files, settings.quick ? 32u : 128u, steps_each * threads};
    const Executor executor(threads);
    const std::string with = fmt::format("{} {}", threads, threads == 1 ? "thread" : "threads");
    const auto tell = [&](const std::string& name, Job::On on, double host_share, double against) {
      Job other = job;
      other.on = on;
      other.host_share = host_share;
      // The GPU's engines need only a short time for what takes a thread long, so there must be more steps.
      if (on == Job::On::decoded_on_gpu) other.steps = std::max<std::uint64_t>(other.steps, 64);
      std::vector<double> rates;
      for (int round = 0; round < (settings.quick ? 1 : 3); ++round)
        rates.push_back(static_cast<double>(other.rows) / run_epoch(other, stream, nullptr, true, executor).step_s);
      raw[with + ", " + name] = rates;
      const double rate = median_of(rates);
      results.add({.name = "images/s, " + name + ", " + with, .ours = rate, .against = against, .unit = "1/s"});
      return rate;
    };
    const double rate = tell("loader alone", Job::On::cpu, 0, of_one);
    if (threads == 1) of_one = rate;
    tell("whole pictures resampled on the GPU", Job::On::resampled_on_gpu, 0, rate);
    if (!engines) continue;
    tell("decoded on the GPU", Job::On::decoded_on_gpu, 0, rate);
    if (threads > 2) tell("decoded on both", Job::On::decoded_on_gpu, 0.2, rate);
  }
}

}  // namespace

void jpeg_epochs(Results& results, const Settings& settings) {
  results.begin(8, "JPEGs to f16 tensors of 224 x 224 on the GPU");
  auto files = std::make_shared<Files>();
  for (std::uint64_t i = 0; i < pictures; ++i) files->push_back(picture(i));
  const Job job{files, settings.quick ? 32u : 256u, settings.quick ? 16u : 32u};
  const CudaStream stream;
  std::vector<double> alone, together, serial, starved, serial_starved, compute;
  Load load(Load::Sort::gemm);
  static_cast<void>(run_epoch(job, stream, nullptr, true));  // warms threads and caches
  load.take(1.1 * run_epoch(job, stream, nullptr, true).step_s, stream);
  for (int round = 0; round < (settings.quick ? 1 : 3); ++round) {
    alone.push_back(run_epoch(job, stream, nullptr, true).step_s);
    load.warm(stream);
    compute.push_back(time_on(stream, 10, [&] { load.enqueue(stream.handle()); }) / 10);
    const Epoch with = run_epoch(job, stream, &load, true), without = run_epoch(job, stream, &load, false);
    together.push_back(with.step_s);
    starved.push_back(with.starved);
    serial.push_back(without.step_s);
    serial_starved.push_back(without.starved);
  }
  auto& raw = results.raw()["jpeg"];
  raw["loader_alone_s"] = alone;
  raw["compute_alone_s"] = compute;
  raw["together_s"] = together;
  raw["starved"] = starved;
  raw["without_prefetch_s"] = serial;
  raw["without_prefetch_starved"] = serial_starved;
  const auto rows = static_cast<double>(job.rows);
  const double longer = std::max(median_of(alone), median_of(compute));
  results.add({.name = "images/s, loader alone", .ours = rows / median_of(alone), .ratio = 0, .unit = "1/s"});
  results.add({.name = "images/s, under a step of GEMMs",
               .ours = rows / median_of(together),
               .against = rows / longer,
               .unit = "1/s",
               .gate = Gate::at_least,
               .bound = min_hidden});
  results.add({.name = "time in which the consumer's stream starved",
               .ours = 100 * median_of(starved),
               .against = 100,
               .unit = "%",
               .gate = Gate::at_most,
               .bound = max_starved});
  results.add({.name = "images/s without prefetching (control)",
               .ours = rows / median_of(serial),
               .against = rows / longer,
               .unit = "1/s",
               .gate = Gate::must_miss_at_least,
               .bound = min_hidden});
  results.add(
      {.name = "starved without prefetching", .ours = 100 * median_of(serial_starved), .against = 100, .unit = "%"});
  by_threads(results, settings, files, stream);
}

}  // namespace penstock::gpu_bench
