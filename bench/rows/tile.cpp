// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/slide.hpp>

#include <malloc.h>

#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <lmdb.h>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/write.hpp>

#include "../child.hpp"
#include "../data.hpp"
#include "../plain_lmdb.hpp"
#include "../plain_slide.hpp"
#include "../program_paths.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

namespace fs = std::filesystem;

// Cuts `names` copies of a slide into a store, which is made again for each side of each round. One slide is cut so
// fast that the disk's speed would vary too much.
struct TileJob {
  TileJob(const Settings& s, int names) : settings(s), store(drawn_slide(s)), work(s.data / "tile-work") {
    fs::remove_all(work);
    fs::create_directories(work / "slides");
    for (int name = 0; name < names; ++name)
      fs::copy_file(store.folder / "slide.svs", work / "slides" / fmt::format("slide_{}.svs", name));
    slides.files = (work / "slides" / "*.svs").string();
    store.description = fmt::format("{} times {}", names, store.description);
  }
  ~TileJob() { fs::remove_all(work); }
  TileJob(const TileJob&) = delete;
  TileJob& operator=(const TileJob&) = delete;

  fs::path fresh() const {
    fs::remove_all(work / "tiles.lmdb");
    return work / "tiles.lmdb";
  }
  Timing ours(bool keep_stored) const {
    const fs::path path = fresh();
    const Executor executor(settings.threads);
    const Pipeline tiles = from(slides) | encode_jpeg("image", {.quality = quality, .keep_stored = keep_stored});
    const Stopwatch watch;
    write(tiles | select_fields({"image"}),
          LmdbSink({.path = path.string(), .records = LmdbRecords::raw, .keys = LmdbKeys::automatic}),
          {.threads = settings.threads, .executor = executor});
    return {static_cast<double>(tiles.size()) / watch.wall_s(), watch.cpu_s()};
  }

  static constexpr int quality = 80;
  Settings settings;
  Store store;
  fs::path work;
  Slides slides;
};

[[noreturn]] void fail(int code, const char* call) {
  throw std::runtime_error(fmt::format("{}: {}", call, ::mdb_strerror(code)));
}

// Appends the values in order. Each transaction has as many values as a transaction of `write`, and is synced.
void append_all(const fs::path& path, const std::vector<std::string>& keys,
                const std::vector<std::span<const std::byte>>& values) {
  fs::create_directories(path);
  MDB_env* env = nullptr;
  std::size_t bytes = 0;
  for (const auto& value : values) bytes += value.size() + 8192;
  if (const int code = ::mdb_env_create(&env); code != 0) fail(code, "mdb_env_create");
  ::mdb_env_set_mapsize(env, bytes + (std::size_t{64} << 20));
  if (const int code = ::mdb_env_open(env, path.c_str(), 0, 0644); code != 0) fail(code, "mdb_env_open");
  for (std::size_t first = 0; first < values.size();) {
    MDB_txn* txn = nullptr;
    MDB_dbi dbi = 0;
    if (const int code = ::mdb_txn_begin(env, nullptr, 0, &txn); code != 0) fail(code, "mdb_txn_begin");
    if (const int code = ::mdb_dbi_open(txn, nullptr, 0, &dbi); code != 0) fail(code, "mdb_dbi_open");
    const std::size_t end = std::min(values.size(), first + static_cast<std::size_t>(WriteOptions{}.commit_every));
    for (; first < end; ++first) {
      MDB_val key{keys[first].size(), const_cast<char*>(keys[first].data())};
      MDB_val value{values[first].size(), const_cast<std::byte*>(values[first].data())};
      if (const int code = ::mdb_put(txn, dbi, &key, &value, MDB_APPEND); code != 0) fail(code, "mdb_put");
    }
    if (const int code = ::mdb_txn_commit(txn); code != 0) fail(code, "mdb_txn_commit");
  }
  ::mdb_env_close(env);
}

}  // namespace

Row tile_copy(const RowSpec& spec, const Settings& settings) {
#if defined(__GLIBC__)
  // Makes the C library keep freed memory, which makes the loop by hand faster. It would also keep such memory after
  // earlier rows have freed large pieces. The result must not depend on earlier rows.
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
  const TileJob job(settings, 4);
  // The other side appends the keys and values of this store.
  job.ours(true);
  std::vector<std::string> keys;
  std::vector<std::vector<std::byte>> bytes;
  {
    const PlainStore made(job.work / "tiles.lmdb");
    const PlainReader reader(made);
    reader.keys([&](std::string_view key) {
      const std::span<const std::byte> value = reader.get(key);
      keys.emplace_back(key);
      bytes.emplace_back(value.begin(), value.end());
    });
  }
  const std::vector<std::span<const std::byte>> values(bytes.begin(), bytes.end());
  Row row = compare(
      spec, settings, [&] { return job.ours(true); },
      [&] {
        const fs::path path = job.fresh();
        const Stopwatch watch;
        append_all(path, keys, values);
        return Timing{static_cast<double>(values.size()) / watch.wall_s(), watch.cpu_s()};
      });
  row.notes.push_back(job.store.description);
  row.notes.push_back("the C library keeps freed memory, for both");
  return row;
}

Row tile_encode_vs_raw(const RowSpec& spec, const Settings& settings) {
  const TileJob job(settings, 1);
  const PlainSlide plain(job.store.folder / "slide.svs");
  const std::int64_t side = plain.tile(), columns = plain.width() / side, rows = plain.height() / side;
  Row row = compare(
      spec, settings, [&] { return job.ours(false); },
      [&] {
        // Each thread decodes and encodes tiles, and stores nothing.
        Timing timing = raw_loop(settings.threads, static_cast<std::uint64_t>(columns * rows), [&] {
          return [&, tiles = std::make_shared<PlainTiles>(plain, JpegOptions::Decoder::automatic),
                  pixels =
                      std::vector<std::byte>(static_cast<std::size_t>(side * side * 3))](std::uint64_t ticket) mutable {
            const auto at = static_cast<std::int64_t>(ticket);
            tiles->decode(at / columns * plain.columns() + at % columns, {}, pixels.data(), side * 3);
            const auto pixel_side = static_cast<std::int32_t>(side);
            encode_jpeg({reinterpret_cast<const std::uint8_t*>(pixels.data()), side * 3, {pixel_side, pixel_side, 3}},
                        EncodeJpegOptions{.quality = TileJob::quality});
          };
        });
        timing.value = static_cast<double>(columns * rows) / timing.value;
        return timing;
      });
  row.notes.push_back(job.store.description);
  return row;
}

#if defined(PENSTOCK_BENCH_VIPS) && defined(PENSTOCK_BENCH_PROGRAMS)
namespace {

// Times a whole process, which must make `tiles` files.
Timing timed(const std::vector<std::string>& words, const fs::path& folder, std::uint64_t tiles) {
  const Stopwatch watch;
  run_program(words);
  const double seconds = watch.wall_s();
  std::uint64_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    files += entry.path().extension() == ".jpg" ? 1 : 0;
  if (files != tiles) throw std::runtime_error(fmt::format("{} made {} files, not {}", words.front(), files, tiles));
  return {static_cast<double>(tiles) / seconds, 0};
}

}  // namespace

Row tile_encode_vs_vips(const RowSpec& spec, const Settings& settings) {
  const TileJob job(settings, 1);
  Slides all = job.slides;
  all.edges = SlideEdges::shrink;
  const std::uint64_t tiles = SlideSource(all).size();
  const std::string slide = (job.work / "slides" / "slide_0.svs").string(), threads = std::to_string(settings.threads),
                    quality = std::to_string(TileJob::quality);
  const auto fresh = [&] {
    fs::remove_all(job.work / "files");
    fs::create_directories(job.work / "files");
    return job.work / "files";
  };
  Row row = compare(
      spec, settings,
      [&] {
        const fs::path folder = fresh();
        return timed(
            {tool_path, "tile", slide, "--out", (folder / "tiles").string(), "--form", "folder", "--edges", "shrink",
             "--encode", "--quality", quality, "--threads", threads, "--no-sync", "--no-thumbnails", "--quiet"},
            folder, tiles);
      },
      [&] {
        const fs::path folder = fresh();
        return timed(
            {PENSTOCK_BENCH_VIPS, "--vips-concurrency=" + threads, "dzsave", slide, (folder / "tiles").string(),
             "--depth", "one", "--tile-size", "256", "--overlap", "0", "--suffix", ".jpg[Q=" + quality + "]"},
            folder, tiles);
      });
  row.notes.push_back(job.store.description);
  row.notes.push_back("whole processes; vips reads the slide through OpenSlide, as it does by itself");
  return row;
}
#else
Row tile_encode_vs_vips(const RowSpec&, const Settings&) { return {}; }
#endif

}  // namespace penstock::bench
