// SPDX-License-Identifier: Apache-2.0
// Rows about other forms of slides: another codec, pixels of another size, masks of tissue, and OpenSlide as a rival.
#include <penstock/sources/slide.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "../data.hpp"
#include "../plain_deflate.hpp"
#include "../plain_jpeg2000.hpp"
#include "../plain_slide.hpp"
#include "../raw_loop.hpp"
#include "rows.hpp"

#ifdef PENSTOCK_BENCH_OPENSLIDE
#include <openslide.h>
#endif

namespace penstock::bench {

namespace {

constexpr std::int32_t image_side = 256;
constexpr std::size_t image_bytes = std::size_t{image_side} * image_side * 3, most_block_bytes = std::size_t{64} << 20;

Timing loaded(const Pipeline& pipeline, unsigned threads) {
  const Executor executor(threads);
  Timing timing = time_loader(pipeline, executor, threads, 1, most_block_bytes);
  timing.value = static_cast<double>(pipeline.size()) / timing.value;
  return timing;
}

// Proves that both sides do the same work: compares the first two batches.
void check_rows(const Pipeline& pipeline, const Ring& ring) {
  Loader loader(pipeline, {.threads = 1, .epochs = 1});
  for (std::uint64_t b = 0; b < 2; ++b) {
    const std::optional<Batch> batch = loader.next();
    if (!batch) return;
    const TensorView images = (*batch)["image"];
    if (std::memcmp(images.data, ring.row(b * batch_rows), images.bytes()) != 0)
      throw std::runtime_error(fmt::format("batch {} differs from that of the raw loop", b));
  }
}

// Makes squares of a level that is reduced by `divisor`. Each thread has a band of rows, and keeps the rows of tiles
// that a row is made from.
class ScaledLoop {
 public:
  ScaledLoop(const PlainSlide& slide, std::int32_t divisor, const Ring& ring)
      : slide_(slide),
        ring_(ring),
        width_(static_cast<std::int32_t>(slide.width() / divisor)),
        height_(static_cast<std::int32_t>(slide.height() / divisor)) {}

  std::int64_t columns() const { return width_ / image_side; }
  std::int64_t rows() const { return height_ / image_side; }

  Timing run(unsigned threads, std::int64_t most_rows) const {
    const std::int64_t bands = threads, all = std::min(rows(), most_rows);
    Timing timing = raw_loop(threads, threads, [&] {
      return [&, tiles = std::make_shared<PlainTiles>(slide_, JpegOptions::Decoder::automatic)](std::uint64_t band) {
        const auto number = static_cast<std::int64_t>(band);
        walk(*tiles, all * number / bands, all * (number + 1) / bands);
      };
    });
    timing.value = static_cast<double>(columns() * all) / timing.value;
    return timing;
  }

 private:
  class OwnScratch final : public Scratch {
   public:
    std::byte* allocate(std::size_t bytes) override {
      const std::size_t at = (used_ + 63) / 64 * 64;
      if (at + bytes > memory_.size()) throw std::runtime_error("the scratch is too small");
      used_ = at + bytes;
      auto* const first =
          reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory_.data()) + 63) / 64 * 64);
      return first + at;
    }
    void reset() { used_ = 0; }

   private:
    std::vector<std::byte> memory_ = std::vector<std::byte>(std::size_t{4} << 20);
    std::size_t used_ = 64;
  };

  ImageOp box(std::int64_t row, std::int64_t column) const {
    ImageOp op({static_cast<std::int32_t>(slide_.height()), static_cast<std::int32_t>(slide_.width()), 3});
    op.resize({height_, width_});
    op.crop({static_cast<std::int32_t>(row) * image_side, static_cast<std::int32_t>(column) * image_side, image_side,
             image_side});
    return op;
  }

  void walk(PlainTiles& tiles, std::int64_t first, std::int64_t last) const {
    const std::int64_t side = slide_.tile(), stride = slide_.columns() * side * 3, tile_row = stride * side;
    std::vector<std::byte> strip;
    OwnScratch scratch;
    std::int64_t from = 0, to = 0;  // range of the rows of tiles that the strip has
    for (std::int64_t row = first; row < last; ++row) {
      const Box needed = box(row, 0).needed();
      const std::int64_t begin = needed.top / side, end = (needed.top + needed.height - 1) / side + 1;
      strip.resize(std::max(strip.size(), static_cast<std::size_t>((end - begin) * tile_row)));
      const std::int64_t kept = std::max(to - begin, std::int64_t{0});
      if (kept != 0)
        std::memmove(strip.data(), strip.data() + (begin - from) * tile_row, static_cast<std::size_t>(kept * tile_row));
      for (std::int64_t tile = begin + kept; tile < end; ++tile)
        for (std::int64_t column = 0; column < slide_.columns(); ++column)
          tiles.decode(tile * slide_.columns() + column, {},
                       strip.data() + (tile - begin) * tile_row + column * side * 3, stride);
      from = begin;
      to = end;
      for (std::int64_t column = 0; column < columns(); ++column) {
        scratch.reset();
        const ImageOp op = box(row, column);
        image_executor().run(
            {reinterpret_cast<const std::uint8_t*>(strip.data()) - begin * side * stride, stride, op.source}, op,
            ring_.row(static_cast<std::uint64_t>(row * columns() + column)), scratch);
      }
    }
  }

  const PlainSlide& slide_;
  const Ring& ring_;
  std::int32_t width_, height_;
};

}  // namespace

namespace {

// Reads a slide's own tiles in order, beside a loop of pread and `make()`, which returns a function that decodes a
// tile's bytes. Each thread has a function of its own.
template <class Make>
Row own_tiles_vs_raw(const RowSpec& spec, const Settings& settings, const Store& store, const char* name,
                     const Make& make) {
  const std::string file = (store.folder / name).string();
  const Pipeline pipeline = from(Slides{.files = file, .size = image_side}) | batch(batch_rows);
  const PlainSlide plain(file);
  const Ring ring(image_bytes, batch_rows, ring_depth);
  const std::int64_t columns = plain.width() / image_side;
  const auto raw = [&](std::uint64_t records) {
    Timing timing = raw_loop(settings.threads, records, [&] {
      return [&, decode = make(), buffer = std::vector<std::byte>()](std::uint64_t ticket) mutable {
        const auto record = static_cast<std::int64_t>(ticket);
        const std::int64_t tile = record / columns * plain.columns() + record % columns;
        decode(plain.read(tile, buffer), ring.row(ticket));
      };
    });
    timing.value = static_cast<double>(records) / timing.value;
    return timing;
  };
  raw(std::min<std::uint64_t>(2 * batch_rows, pipeline.size()));
  check_rows(pipeline, ring);
  Row row = compare(
      spec, settings, [&] { return loaded(pipeline, settings.threads); }, [&] { return raw(pipeline.size()); });
  row.notes.push_back(store.description);
  return row;
}

}  // namespace

Row slide_jp2k_vs_raw(const RowSpec& spec, const Settings& settings) {
  return own_tiles_vs_raw(spec, settings, jpeg2000_slide(settings), "slide.svs", [] {
    return [](std::span<const std::byte> tile, std::byte* to) { decode_plain_jpeg2000(tile, image_side, to); };
  });
}

Row slide_deflate_vs_raw(const RowSpec& spec, const Settings& settings) {
  return own_tiles_vs_raw(spec, settings, deflate_slide(settings), "slide.tif", [] {
    return [decoder = PlainDeflate()](std::span<const std::byte> tile, std::byte* to) {
      decoder.decode(tile, image_side, to);
    };
  });
}

Row slide_mpp_vs_raw(const RowSpec& spec, const Settings& settings) {
  const Store store = single_level_slide(settings);
  const std::string file = (store.folder / "slide.svs").string();
  const PlainSlide plain(file);
  const Ring ring(image_bytes, batch_rows, ring_depth);
  // A pixel of a drawn slide is half a micrometre, so a divisor of 2 makes it one micrometre.
  const ScaledLoop loop(plain, 2, ring);
  const Pipeline pipeline = from(Slides{.files = file, .mpp = 1, .size = image_side}) | batch(batch_rows);
  loop.run(1, 2 * static_cast<std::int64_t>(batch_rows) / loop.columns() + 1);
  check_rows(pipeline, ring);
  Row row = compare(
      spec, settings, [&] { return loaded(pipeline, settings.threads); },
      [&] { return loop.run(settings.threads, loop.rows()); });
  row.notes.push_back(store.description);
  return row;
}

// Both sides use all cores, because opening slides uses all cores.
Row slide_tissue_vs_raw(const RowSpec& spec, const Settings& settings) {
  const Store store = cohort_of_slides(settings);
  std::vector<std::unique_ptr<PlainSlide>> plain;
  for (std::uint64_t i = 0; i < store.records; ++i)
    plain.push_back(std::make_unique<PlainSlide>(store.folder / fmt::format("{}.svs", i)));
  const std::int64_t tiles = plain.front()->columns() * plain.front()->rows();
  const double all = static_cast<double>(tiles) * static_cast<double>(store.records);
  const Slides slides{.files = (store.folder / "*.svs").string(), .tissue = {.by = SlideTissue::By::saturation}};
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  Row row = compare(
      spec, settings,
      [&] {
        const Stopwatch watch;
        const SlideSource source(slides);
        if (source.size() == 0) throw std::runtime_error("no slide has tissue");
        return Timing{all / watch.wall_s(), watch.cpu_s()};
      },
      [&] {
        Timing timing = raw_loop(cores, store.records, [&] {
          return [&, pixels = std::vector<std::byte>(image_bytes)](std::uint64_t ticket) mutable {
            PlainTiles decoder(*plain[ticket], JpegOptions::Decoder::automatic);
            for (std::int64_t tile = 0; tile < tiles; ++tile) decoder.decode(tile, {}, pixels.data(), image_side * 3);
          };
        });
        timing.value = all / timing.value;
        return timing;
      });
  row.notes.push_back(store.description);
  return row;
}

#ifdef PENSTOCK_BENCH_OPENSLIDE

namespace {

Row against_openslide(const RowSpec& spec, const Settings& settings, const Store& store, const char* name,
                      bool shuffled) {
  const std::string file = (store.folder / name).string();
  const Slides slides{.files = file, .size = image_side};
  const std::uint64_t records = SlideSource(slides).size();
  const PlainSlide plain(file);
  const std::int64_t columns = plain.width() / image_side;
  const Ring ring(std::size_t{image_side} * image_side * 4, batch_rows, ring_depth);
  const auto pipeline = [&](std::uint64_t seed) {
    const Pipeline all = from(slides);
    return (shuffled ? all | shuffle({.seed = seed}) : all) | batch(batch_rows);
  };
  // Reads fewer records, because OpenSlide is slow.
  const std::uint64_t some = std::min<std::uint64_t>(records, settings.quick ? 64 : 1024);
  std::uint64_t ours_round = 0, raw_round = 0;
  Row row = compare(
      spec, settings, [&] { return loaded(pipeline(++ours_round), settings.threads); },
      [&] {
        const std::vector<std::uint64_t> order = order_of(pipeline(++raw_round), 1);
        Timing timing = raw_loop(settings.threads, some, [&] {
          return [&, handle = std::shared_ptr<openslide_t>(openslide_open(file.c_str()), openslide_close)](
                     std::uint64_t ticket) {
            const auto record = static_cast<std::int64_t>(order[ticket]);
            openslide_read_region(handle.get(), reinterpret_cast<std::uint32_t*>(ring.row(ticket)),
                                  record % columns * image_side, record / columns * image_side, 0, image_side,
                                  image_side);
            if (const char* const why = openslide_get_error(handle.get()); why != nullptr)
              throw std::runtime_error(why);
          };
        });
        timing.value = static_cast<double>(some) / timing.value;
        return timing;
      });
  row.notes.push_back(fmt::format("{}; OpenSlide {}, a handle a thread", store.description, openslide_get_version()));
  return row;
}

}  // namespace

Row slide_vs_openslide(const RowSpec& spec, const Settings& settings) {
  return against_openslide(spec, settings, drawn_slide(settings), "slide.svs", false);
}
Row slide_random_vs_openslide(const RowSpec& spec, const Settings& settings) {
  return against_openslide(spec, settings, drawn_slide(settings), "slide.svs", true);
}
Row slide_deflate_vs_openslide(const RowSpec& spec, const Settings& settings) {
  return against_openslide(spec, settings, deflate_slide(settings), "slide.tif", false);
}

#else

Row slide_vs_openslide(const RowSpec&, const Settings&) { throw std::logic_error("built without OpenSlide"); }
Row slide_random_vs_openslide(const RowSpec&, const Settings&) { throw std::logic_error("built without OpenSlide"); }
Row slide_deflate_vs_openslide(const RowSpec&, const Settings&) { throw std::logic_error("built without OpenSlide"); }

#endif

}  // namespace penstock::bench
