// SPDX-License-Identifier: Apache-2.0
#include "data.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <future>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <penstock/transforms/seekable_jpeg.hpp>

#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/write.hpp>

#include "made_once.hpp"
#include "pictures.hpp"
#include "plain_lmdb.hpp"

namespace penstock::bench {

namespace {

namespace fs = std::filesystem;

// Returns the size of an LMDB map, with room for the tree and for pages that are not full.
std::size_t map_bytes(std::uint64_t records, std::size_t bytes) { return records * (bytes + 8192) + (64u << 20); }

}  // namespace

Store picture_store(const Settings& settings, bool noisy) {
  const std::uint64_t records = settings.quick ? 128 : 4000;
  const int quality = noisy ? 95 : 90;
  const double sigma = noisy ? 7 : 0;
  const fs::path folder = settings.data / fmt::format("pictures-{}{}{}", records, noisy ? "-noisy" : "",
                                                      settings.photographs ? "" : "-made-up");
  return made_once(folder, records, [&] {
    const Pictures pictures(settings.photographs);
    PlainWriter writer(folder, map_bytes(records, 256 << 10));
    std::uint64_t bytes = 0;
    constexpr std::uint64_t together = 64;
    for (std::uint64_t first = 0; first < records; first += together) {
      progress(fmt::format("making pictures: {} of {}", first, records));
      std::vector<std::future<std::vector<std::byte>>> some;
      const std::uint64_t end = std::min(records, first + together);
      // Makes two pictures at a time. They are stored in the order of their numbers.
      for (std::uint64_t i = first; i < end; i += 2) {
        for (std::uint64_t k = i; k < std::min(end, i + 2); ++k)
          some.push_back(std::async(std::launch::async, [&, k] { return pictures.jpeg(k, quality, sigma); }));
        for (auto& one : some) one.wait();
      }
      for (std::uint64_t i = first; i < end; ++i) {
        const std::vector<std::byte> jpeg = some[i - first].get();
        bytes += jpeg.size();
        writer.put(DecimalKey(i).text(), jpeg);
      }
    }
    writer.finish();
    return fmt::format("{} JPEGs of 500x375, 4:2:0, quality {}, {:.1f} KB each, {}{}", records, quality,
                       static_cast<double>(bytes) / static_cast<double>(records) / 1000, pictures.source(),
                       noisy ? ", noise of sigma 7" : "");
  });
}

namespace {

// Makes a store next to `pictures` with each picture as `rewrite` returns it.
template <class Rewrite>
Store rewritten_store(const Store& pictures, const std::string& name, const Rewrite& rewrite) {
  fs::path folder = pictures.folder;
  folder += "-" + name;
  return made_once(folder, pictures.records, [&] {
    const PlainStore store(pictures.folder);
    const PlainReader reader(store);
    PlainWriter writer(folder, map_bytes(pictures.records, 256 << 10));
    std::uint64_t before = 0, after = 0;
    for (std::uint64_t i = 0; i < pictures.records; ++i) {
      if (i % 64 == 0) progress(fmt::format("rewriting pictures: {} of {}", i, pictures.records));
      const std::span<const std::byte> original = reader.get(i);
      const std::vector<std::byte> rewritten = rewrite(original);
      before += original.size();
      after += rewritten.size();
      writer.put(DecimalKey(i).text(), rewritten);
    }
    writer.finish();
    return fmt::format("{}; {} {} bytes, ordinary {} bytes: x{:.4f}", pictures.description, name, after, before,
                       static_cast<double>(after) / static_cast<double>(before));
  });
}

}  // namespace

Store seekable_store(const Settings& settings, bool noisy) {
  return rewritten_store(picture_store(settings, noisy), "seekable",
                         [](std::span<const std::byte> jpeg) { return seekable_jpeg(jpeg); });
}

Store own_tables_store(const Settings& settings) {
  return rewritten_store(picture_store(settings, false), "own-tables", with_own_tables);
}

Store value_store(const Settings& settings, std::uint64_t records, std::size_t bytes) {
  const fs::path folder = settings.data / fmt::format("values-{}x{}", records, bytes);
  return made_once(folder, records, [&] {
    PlainWriter writer(folder, map_bytes(records, bytes));
    for (std::uint64_t i = 0; i < records; ++i) {
      if (i % 1024 == 0) progress(fmt::format("writing values of {} bytes: {} of {}", bytes, i, records));
      fill_random(writer.reserve(DecimalKey(i).text(), bytes), i);
    }
    writer.finish();
    return fmt::format("{} values of {} random bytes", records, bytes);
  });
}

Store shard_store(const Settings& settings, std::uint64_t records, std::size_t bytes) {
  const Store values = value_store(settings, records, bytes);
  const fs::path folder = settings.data / fmt::format("shards-{}x{}", records, bytes);
  return made_once(folder, records, [&] {
    progress(fmt::format("writing {} values of {} bytes as tar shards", records, bytes));
    constexpr std::uint64_t samples_a_shard = 1000;
    write(from(Lmdb{.path = values.folder.string(), .values = LmdbValues::raw}),
          WebDatasetSink({.path = (folder / "values").string(), .max_samples = samples_a_shard}));
    return values.description + " in tar shards";
  });
}

Store named_store(const Settings& settings) {
  const std::uint64_t records = settings.quick ? 20'000 : 1'200'000;
  constexpr std::size_t bytes = 128;
  constexpr std::uint64_t classes = 1000;
  const fs::path folder = settings.data / fmt::format("named-{}", records);
  return made_once(folder, records, [&] {
    PlainWriter writer(folder, map_bytes(records, bytes));
    const std::uint64_t each = (records + classes - 1) / classes;
    for (std::uint64_t i = 0; i < records; ++i) {
      if (i % 65536 == 0) progress(fmt::format("writing small records: {} of {}", i, records));
      const std::string key = fmt::format("class{:04}/img_{:08}.jpg", i / each, i);
      fill_random(writer.reserve(key, bytes), i);
    }
    writer.finish();
    return fmt::format("{} records of {} bytes, keys like class0042/img_00050400.jpg", records, bytes);
  });
}

fs::path data_file(const Store& store) { return store.folder / "data.mdb"; }

void drop_cache(const fs::path& file) {
  // Pages that this process has mapped would stay in the cache, so they are dropped from the map first.
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(file.string())) continue;
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is all that /proc gives
    if (::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0)
      throw std::runtime_error("madvise(DONTNEED) was refused");
  }
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("can't open " + file.string());
  ::fdatasync(fd);
  const int code = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
  if (code != 0) throw std::runtime_error("posix_fadvise(DONTNEED) was refused");
}

std::uint64_t disk_bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string key;
  std::uint64_t value = 0;
  while (file >> key >> value)
    if (key == "read_bytes:") return value;
  throw std::runtime_error("/proc/self/io has no read_bytes: cold reads can't be proved here");
}

}  // namespace penstock::bench
