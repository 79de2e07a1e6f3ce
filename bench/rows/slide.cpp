// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/slide.hpp>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>

#include "../data.hpp"
#include "../plain_slide.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

using Decoder = JpegOptions::Decoder;

// Reads the squares of a grid over a slide. Our side may keep 64 MiB of decoded tiles.
struct SlideJob {
  static constexpr std::size_t block_bytes = std::size_t{64} << 20;

  SlideJob(const Settings& s, Store made, std::int32_t pixels, std::int64_t begins)
      : settings(s),
        store(std::move(made)),
        size(pixels),
        origin(begins),
        plain(store.folder / "slide.svs"),
        slides{.files = (store.folder / "slide.svs").string(), .size = size, .left = origin, .top = origin},
        ring(static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * 3, batch_rows, ring_depth),
        columns((plain.width() - origin - size) / size + 1),
        rows((plain.height() - origin - size) / size + 1) {}

  Pipeline in_order() const { return from(slides) | batch(batch_rows); }
  // Returns the first `records` records of the order with this seed. Each round has another seed.
  Pipeline shuffled(std::uint64_t seed, std::uint64_t records) const {
    return from(slides) | shuffle({.seed = seed}) | take(records) | batch(batch_rows);
  }
  Timing ours(const Pipeline& pipeline, unsigned threads) const {
    const Executor executor(threads);
    Timing timing = time_loader(pipeline, executor, threads, 1, block_bytes);
    timing.value = static_cast<double>(pipeline.size()) / timing.value;
    return timing;
  }
  // Decodes each record from the parts of its tiles. A record on the file's grid is a part of only one tile.
  Timing raw(const std::vector<std::uint64_t>& order, unsigned threads, Decoder which = Decoder::automatic) const {
    Timing timing = raw_loop(threads, order.size(), [&] {
      return [&, tiles = std::make_shared<PlainTiles>(plain, which)](std::uint64_t ticket) {
        const auto record = static_cast<std::int64_t>(order[ticket]);
        tiles->decode_parts(origin + record % columns * size, origin + record / columns * size, size, ring.row(ticket));
      };
    });
    timing.value = static_cast<double>(order.size()) / timing.value;
    return timing;
  }
  // Decodes records in order. Each thread has a band of rows for itself, and keeps the two rows of tiles that it needs.
  Timing raw_rows(unsigned threads) const {
    const std::int64_t bands = threads;
    Timing timing = raw_loop(threads, threads, [&] {
      return [&, tiles = std::make_shared<PlainTiles>(plain, Decoder::automatic)](std::uint64_t band) {
        const auto number = static_cast<std::int64_t>(band);
        walk(*tiles, rows * number / bands, rows * (number + 1) / bands);
      };
    });
    timing.value = static_cast<double>(columns * rows) / timing.value;
    return timing;
  }
  // Proves that both sides do the same work: compares the first batches.
  void check(const Pipeline& pipeline, std::uint64_t batches = 2) const {
    Loader loader(pipeline, {.threads = 1, .max_block_bytes = block_bytes, .epochs = 1});
    std::vector<std::uint64_t> order = order_of(pipeline, 1);
    order.resize(batches * batch_rows);
    raw(order, 1);
    for (std::uint64_t b = 0; b < batches; ++b) {
      const std::optional<Batch> batch = loader.next();
      const TensorView images = batch.value()["image"];
      if (std::memcmp(images.data, ring.row(b * batch_rows), images.bytes()) != 0)
        throw std::runtime_error(fmt::format("batch {} differs from that of the raw loop", b));
    }
  }

  Settings settings;
  Store store;
  std::int32_t size;
  std::int64_t origin;
  PlainSlide plain;
  Slides slides;
  Ring ring;
  std::int64_t columns, rows;

 private:
  // Makes the rows [first, last) of the grid, one after the other.
  void walk(PlainTiles& tiles, std::int64_t first, std::int64_t last) const {
    const std::int64_t side = plain.tile(), stride = plain.columns() * side * 3;
    const auto row_bytes = static_cast<std::size_t>(stride * side);
    std::vector<std::byte> kept[2]{std::vector<std::byte>(row_bytes), std::vector<std::byte>(row_bytes)};
    std::int64_t known = origin / side - 1;  // the row of tiles that was decoded last
    if (first != 0) known = (origin + first * size) / side - 1;
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t top = origin + row * size;
      while (known < (top + size - 1) / side) {
        ++known;
        for (std::int64_t column = 0; column < plain.columns(); ++column)
          tiles.decode(known * plain.columns() + column, {}, kept[known % 2].data() + column * side * 3, stride);
      }
      for (std::int64_t column = 0; column < columns; ++column) {
        std::byte* to = ring.row(static_cast<std::uint64_t>(row * columns + column));
        for (std::int64_t y = top; y < top + size; ++y, to += size * 3)
          std::memcpy(to, kept[y / side % 2].data() + y % side * stride + (origin + column * size) * 3,
                      static_cast<std::size_t>(size) * 3);
      }
    }
  }
};

Row described(Row row, const SlideJob& job) {
  row.notes.push_back(job.store.description);
  return row;
}

// Reads squares in order, and compares with a loop that keeps rows of tiles.
Row against_rows(const RowSpec& spec, const Settings& settings, std::int32_t size, std::int64_t origin) {
  const SlideJob job(settings, drawn_slide(settings), size, origin);
  job.check(job.in_order());
  return described(compare(
                       spec, settings, [&] { return job.ours(job.in_order(), settings.threads); },
                       [&] { return job.raw_rows(settings.threads); }),
                   job);
}

// Reads `records` shuffled records, in another order in each round.
Row against_random(const RowSpec& spec, const Settings& settings, Store store, std::int64_t origin,
                   std::uint64_t records) {
  const SlideJob job(settings, std::move(store), 256, origin);
  std::uint64_t ours_round = 0, raw_round = 0;
  const auto most = std::min<std::uint64_t>(records, static_cast<std::uint64_t>(job.columns * job.rows));
  job.check(job.shuffled(99, most));
  return described(compare(
                       spec, settings, [&] { return job.ours(job.shuffled(++ours_round, most), settings.threads); },
                       [&] { return job.raw(order_of(job.shuffled(++raw_round, most), 1), settings.threads); }),
                   job);
}

}  // namespace

Row slide_vs_raw(const RowSpec& spec, const Settings& settings) {
  const SlideJob job(settings, drawn_slide(settings), 256, 0);
  job.check(job.in_order());
  const std::vector<std::uint64_t> order = order_of(job.in_order(), 1);
  return described(compare(
                       spec, settings, [&] { return job.ours(job.in_order(), settings.threads); },
                       [&] { return job.raw(order, settings.threads); }),
                   job);
}

Row slide_vs_libjpeg(const RowSpec& spec, const Settings& settings) {
  const SlideJob job(settings, drawn_slide(settings), 256, 0);
  const std::vector<std::uint64_t> order = order_of(job.in_order(), 1);
  return described(compare(
                       spec, settings, [&] { return job.ours(job.in_order(), settings.threads); },
                       [&] { return job.raw(order, settings.threads, Decoder::libjpeg); }),
                   job);
}

Row slide_random_vs_raw(const RowSpec& spec, const Settings& settings) {
  return against_random(spec, settings, drawn_slide(settings), 0, ~std::uint64_t{0});
}

Row slide_offgrid_vs_raw(const RowSpec& spec, const Settings& settings) {
  return against_rows(spec, settings, 256, 128);
}
Row slide_224_vs_raw(const RowSpec& spec, const Settings& settings) { return against_rows(spec, settings, 224, 0); }

Row slide_offgrid_random_vs_raw(const RowSpec& spec, const Settings& settings) {
  return against_random(spec, settings, wide_slide(settings), 128, settings.quick ? 256 : 40'960);
}

Row slide_threads(const RowSpec& spec, const Settings& settings) {
  const SlideJob job(settings, drawn_slide(settings), 256, 0);
  const std::vector<std::uint64_t> order = order_of(job.in_order(), 1);
  const auto scaling = [](const auto& side) { return Timing{side(2u).value / side(1u).value, 0}; };
  return described(compare(
                       spec, settings, [&] { return scaling([&](unsigned t) { return job.ours(job.in_order(), t); }); },
                       [&] { return scaling([&](unsigned t) { return job.raw(order, t); }); }),
                   job);
}

}  // namespace penstock::bench
