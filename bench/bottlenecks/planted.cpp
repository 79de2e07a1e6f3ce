// SPDX-License-Identifier: Apache-2.0
#include "planted.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/write.hpp>

namespace bottlenecks {

namespace {

double thread_us() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

struct RandomBytes {
  std::uint64_t records;
  std::int64_t each_bytes;
  std::uint64_t kept_bits = ~std::uint64_t{0};  // with fewer bits, the bytes can be compressed
  std::uint64_t size() const { return records; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {each_bytes}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const auto bytes = out.emplace<std::uint8_t, 1>("x", {each_bytes});
    std::uint64_t state = 2 * i + 1;
    for (std::int64_t at = 0; at < each_bytes; at += sizeof state) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t mixed = (state ^ state >> 33) * 0xff51afd7ed558ccdu & kept_bits;
      std::memcpy(bytes.data() + at, &mixed, sizeof mixed);
    }
  }
};

}  // namespace

void spin_us(double us) noexcept {
  const double end = thread_us() + us;
  while (thread_us() < end) {
    // On some machines, reading the clock is a system call. Without this loop, the thread would spend most of its time
    // in such calls.
    volatile unsigned sink = 0;
    for (unsigned i = 0; i < 500; ++i) sink = sink + i;
  }
}

void sleep_us(double us) { std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us)); }

ps::Stage work(std::function<void(std::int64_t)> cost) {
  return ps::map("x",
                 [cost = std::move(cost)](ps::View<const std::int64_t, 0> in, ps::View<std::int64_t, 0> out) {
                   cost(in());
                   out() = in();
                 },
                 {.name = "planted_stage"});
}

ColdStore::ColdStore(std::uint64_t records, std::int64_t each_bytes)
    : path_(std::filesystem::temp_directory_path() / ("penstock_cold_" + std::to_string(::getpid()) + ".lmdb")) {
  static_cast<void>(ps::write(ps::from(RandomBytes{records, each_bytes}), ps::LmdbSink({.path = path_})));
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
      throw std::runtime_error("the pages of " + entry.path().string() + " stay in memory");
    ::close(file);
  }
}

ColdStore::~ColdStore() {
  std::error_code failed;
  std::filesystem::remove_all(path_, failed);
}

KeptDataset::KeptDataset(std::uint64_t records, std::int64_t each_bytes)
    : path_(std::filesystem::temp_directory_path() / ("penstock_kept_" + std::to_string(::getpid()) + ".h5")) {
  static_cast<void>(ps::write(ps::from(RandomBytes{records, each_bytes, 0x0f0f0f0f0f0f0f0f}),
                              ps::Hdf5Sink({.path = path_, .single_file = true, .deflate = 1})));
}

KeptDataset::~KeptDataset() {
  std::error_code failed;
  std::filesystem::remove(path_, failed);
  std::filesystem::remove(path_ + "-made-by.json", failed);
}

namespace {
constexpr const char* shards_pattern = "shard-{000000..000003}.tar";
}

SlowServer::SlowServer()
    : folder_(std::filesystem::temp_directory_path() / ("penstock_served_" + std::to_string(::getpid()))) {
  constexpr std::uint64_t records = 2000, shards = 4;
  constexpr std::int64_t each_bytes = 20'000;
  constexpr unsigned bytes_per_s = 4'000'000;
  std::filesystem::create_directories(folder_ / "files");
  static_cast<void>(
      ps::write(ps::from(RandomBytes{records, each_bytes}),
                ps::WebDatasetSink(
                    {.path = (folder_ / "files" / "shard").string(), .max_samples = records / shards, .index = true})));
  server_.emplace(
      folder_ / "files", folder_ / "server",
      penstock::bench::ServerSpeed{.first_byte_s = 0.01, .bytes_per_s = bytes_per_s, .bytes_at_once = 1 << 14});
}

SlowServer::~SlowServer() {
  server_.reset();
  std::error_code failed;
  std::filesystem::remove_all(folder_, failed);
}

ps::Pipeline SlowServer::records(unsigned connections) const {
  ps::Remote options;
  options.connections = connections;
  options.range_bytes = std::size_t{256} << 10;
  options.cache_bytes = 0;
  return ps::from(ps::WebDataset{.path = server_->url() + shards_pattern,
                                 .client = std::make_shared<const ps::RemoteClient>(options)});
}

Neighbours::Neighbours(unsigned cores) {
  for (unsigned i = 0; i < cores; ++i) {
    const int child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (volatile unsigned sink = 0;;) sink = sink + 1;
    }
    if (child > 0) children_.push_back(child);
  }
}

Neighbours::~Neighbours() {
  for (const int child : children_) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

}  // namespace bottlenecks
