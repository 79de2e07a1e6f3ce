// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>

#include "../data.hpp"
#include "../plain_hdf5.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// Memory for blocks: two blocks, and the blocks of a window of a block shuffle. It is so little that hardly any block
// of an epoch is still in memory in the next epoch.
constexpr std::size_t two_blocks = std::size_t{2} << 20, a_window = std::size_t{16} << 20;

struct Images {
  explicit Images(const Settings& s)
      : settings(s),
        store(image_hdf5(s)),
        epochs(s.quick ? 2 : 4),
        gzip(store.folder / "gzip.h5"),
        contiguous(store.folder / "contiguous.h5"),
        executor(s.threads) {}

  Timing time_ours(const Pipeline& pipeline, std::size_t block_bytes = two_blocks) const {
    return rate(time_loader(pipeline, executor, settings.threads, epochs, block_bytes));
  }
  Timing rate(Timing timing) const {
    timing.value = static_cast<double>(epochs * store.records) / timing.value;
    return timing;
  }
  // Compares the first batch of a pipeline with the first batch in the ring.
  static void check(const Pipeline& pipeline, const Ring& ring) {
    Loader loader(pipeline, {.threads = 1, .epochs = 1});
    const std::optional<Batch> batch = loader.next();
    const TensorView rows = batch.value()["x"];
    if (std::memcmp(rows.data, ring.row(0), rows.bytes()) != 0)
      throw std::runtime_error("the first batch differs from that of the raw loop");
  }

  Settings settings;
  Store store;
  std::uint64_t epochs;
  std::filesystem::path gzip, contiguous;
  Executor executor;
};

// Decompresses stored chunks to the places of their rows in the ring. Each thread has a part of the ring for itself. A
// decompressor reads what it has written, so another thread must not write there, however late the first thread is.
class ChunkReader {
 public:
  ChunkReader(const PlainHdf5& file, const Ring& ring, unsigned part, unsigned parts)
      : file_(&file),
        ring_(&ring),
        chunks_(batch_rows * ring_depth / file.chunk_rows() / parts),
        first_(part * chunks_) {}

  void operator()(std::uint64_t ticket) {
    const std::uint64_t chunk = ticket % (file_->rows() / file_->chunk_rows());
    const std::uint64_t place = first_ + done_++ % chunks_;
    inflater_.inflate(file_->stored_chunk(chunk, stored_),
                      {ring_->row(place * file_->chunk_rows()), file_->chunk_rows() * file_->row_bytes()});
  }

 private:
  const PlainHdf5* file_;
  const Ring* ring_;
  std::uint64_t chunks_, first_, done_ = 0;
  PlainInflater inflater_;
  std::vector<std::byte> stored_;
};

}  // namespace

Row hdf5_gzip_vs_raw(const RowSpec& spec, const Settings& settings) {
  const Images job(settings);
  const PlainHdf5 plain(job.gzip, "x");
  const Ring ring(plain.row_bytes(), batch_rows, ring_depth);
  const Pipeline pipeline = from(Hdf5{.path = job.gzip.string()}) | batch(batch_rows);
  const auto raw = [&](unsigned threads) {
    return [&plain, &ring, threads, part = std::make_shared<std::atomic<unsigned>>(0)] {
      return ChunkReader(plain, ring, part->fetch_add(1), threads);
    };
  };
  raw_loop(1, batch_rows / plain.chunk_rows(), raw(1));
  Images::check(pipeline, ring);
  const std::uint64_t chunks = plain.rows() / plain.chunk_rows() * job.epochs;
  Row row = compare(
      spec, settings, [&] { return job.time_ours(pipeline); },
      [&] { return job.rate(raw_loop(settings.threads, chunks, raw(settings.threads))); });
  row.notes.push_back(job.store.description);
  return row;
}

Row hdf5_gzip_vs_h5dread(const RowSpec& spec, const Settings& settings) {
  const Images job(settings);
  const PlainHdf5 plain(job.gzip, "x");
  const Ring ring(plain.row_bytes(), batch_rows, ring_depth);
  const Pipeline pipeline = from(Hdf5{.path = job.gzip.string()}) | batch(batch_rows);
  const auto library = [&] {
    return [&](std::uint64_t ticket) {
      const std::uint64_t first = ticket * plain.chunk_rows();
      plain.read(first % plain.rows(), plain.chunk_rows(), ring.row(first));
    };
  };
  raw_loop(1, batch_rows / plain.chunk_rows(), library);
  Images::check(pipeline, ring);
  // One epoch is enough, because H5Dread is slow.
  const std::uint64_t chunks = plain.rows() / plain.chunk_rows();
  Row row = compare(
      spec, settings, [&] { return job.time_ours(pipeline); },
      [&] {
        Timing timing = raw_loop(1, chunks, library);
        timing.value = static_cast<double>(plain.rows()) / timing.value;
        timing.cpu_s *= static_cast<double>(job.epochs);
        return timing;
      });
  row.notes.push_back(job.store.description);
  return row;
}

Row hdf5_contiguous(const RowSpec& spec, const Settings& settings) {
  const Images job(settings);
  const PlainHdf5 plain(job.contiguous, "x");
  const Ring ring(plain.row_bytes(), batch_rows, ring_depth);
  const Pipeline pipeline =
      from(Hdf5{.path = job.contiguous.string(), .max_kept_bytes = 0}) | shuffle() | batch(batch_rows);
  const std::vector<std::uint64_t> order = order_of(pipeline, job.epochs);
  const int fd = ::open(job.contiguous.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("can't open " + job.contiguous.string());
  const auto raw = [&] {
    return [&](std::uint64_t ticket) {
      const auto at = static_cast<off_t>(plain.offset() + order[ticket] * plain.row_bytes());
      if (::pread(fd, ring.row(ticket), plain.row_bytes(), at) != static_cast<ssize_t>(plain.row_bytes()))
        throw std::runtime_error("a short read");
    };
  };
  raw_loop(1, batch_rows, raw);
  Images::check(pipeline, ring);
  Row row = compare(
      spec, settings, [&] { return job.time_ours(pipeline); },
      [&] { return job.rate(raw_loop(settings.threads, order.size(), raw)); });
  ::close(fd);
  row.notes.push_back(job.store.description + ", contiguous");
  return row;
}

Row hdf5_block_shuffle(const RowSpec& spec, const Settings& settings) {
  const Images job(settings);
  const Pipeline in_order = from(Hdf5{.path = job.gzip.string()}) | batch(batch_rows);
  const Pipeline shuffled = from(Hdf5{.path = job.gzip.string()}) | shuffle({.blocks = true}) | batch(batch_rows);
  Row row = compare(
      spec, settings, [&] { return job.time_ours(shuffled, a_window); }, [&] { return job.time_ours(in_order); });
  row.notes.push_back(job.store.description);
  return row;
}

Row hdf5_open_262144(const RowSpec& spec, const Settings& settings) {
  const Store store = many_chunks_hdf5(settings);
  const std::filesystem::path file = store.folder / "chunks.h5";
  std::uint64_t ours_index = 1, plain_index = 1;
  const auto next = [&](std::uint64_t& index) { return index = (index * 48271 + 11) % store.records; };
  std::byte checksum{};
  Row row = compare(
      spec, settings,
      [&] {
        const Stopwatch watch;
        const Hdf5Source source({.path = file.string(), .max_kept_bytes = 0});
        checksum ^= read_sample(source, next(ours_index))["x"].data[0];
        return Timing{watch.wall_s() * 1e3, 0};
      },
      [&] {
        const Stopwatch watch;
        const PlainHdf5 plain(file, "x");
        std::vector<std::byte> bytes(plain.row_bytes());
        plain.read(next(plain_index), 1, bytes.data());
        checksum ^= bytes[0];
        return Timing{watch.wall_s() * 1e3, 0};
      });
  row.notes.push_back(fmt::format("{} (checksum {:02x})", store.description, std::to_integer<unsigned>(checksum)));
  return row;
}

}  // namespace penstock::bench
