// SPDX-License-Identifier: Apache-2.0
#include "writer.hpp"

#include <algorithm>
#include <array>

#include <libdeflate.h>

#include <penstock/error.hpp>

namespace penstock::png {

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr std::size_t most_in_chunk = mib;
constexpr std::size_t rows_at_once = 64 * kib;    // so that they stay in the processor's caches
constexpr std::size_t most_in_memory = 64 * mib;  // libdeflate needs all rows at once
constexpr std::size_t least_sample = 16 * kib, most_sample = mib;
constexpr std::size_t sample_share = 16;  // a sample has this part of the rows
constexpr std::int32_t most_bands = 4;    // a sample has rows from these parts of the image

std::array<std::byte, 4> big_endian(std::uint32_t value) {
  return {std::byte(value >> 24), std::byte(value >> 16), std::byte(value >> 8), std::byte(value)};
}

// Returns how many rows have `bytes` bytes, rounded up. At least one, at most all.
std::int32_t rows_of(const FilteredRows& rows, std::size_t bytes) {
  const std::size_t wanted = bytes / rows.bytes() + (bytes % rows.bytes() == 0 ? 0 : 1);
  return static_cast<std::int32_t>(std::clamp<std::size_t>(wanted, 1, static_cast<std::size_t>(rows.count())));
}

std::size_t bytes_of(const FilteredRows& rows, std::int32_t count) {
  return rows.bytes() * static_cast<std::size_t>(count);
}

// Rows from several parts of an image: bands of equal height, from the first row to the last one.
struct Sample {
  explicit Sample(const FilteredRows& rows) {
    const std::size_t share = bytes_of(rows, rows.count()) / sample_share;
    const std::int32_t all = rows_of(rows, std::clamp(share, least_sample, most_sample));
    bands = all == rows.count() ? 1 : std::min(all, most_bands);
    height = all / bands;
    between = bands == 1 ? 0 : (rows.count() - height) / (bands - 1);
  }
  std::int32_t rows() const { return bands * height; }

  std::int32_t bands, height, between;
};

}  // namespace

void Writer::write(const Pixels& pixels) {
  header(pixels.shape);
  FilteredRows rows(pixels, scratch_);
  // Most images are in one chunk then, which decoders need not join.
  const std::size_t room = rows.at_most(most_in_chunk - kib) ? bytes_of(rows, rows.count()) + kib : most_in_chunk;
  RunDeflater deflater(scratch_, {scratch_.allocate(room), room});
  const Way way = best_way(rows, deflater);
  if (way == Way::runs)
    write_runs(rows, deflater);
  else
    write_compressed(rows, way);
  chunk("IEND", {});
}

void Writer::header(const ImageShape& shape) {
  constexpr unsigned char signature[] = {137, 'P', 'N', 'G', '\r', '\n', 26, '\n'};
  out_.append(std::as_bytes(std::span(signature)));
  constexpr std::uint8_t colors[] = {gray, gray_alpha, rgb, rgba};
  std::array<std::byte, 13> data{};  // the methods of compression and filters, and interlacing, are 0
  std::ranges::copy(big_endian(static_cast<std::uint32_t>(shape.width)), data.begin());
  std::ranges::copy(big_endian(static_cast<std::uint32_t>(shape.height)), data.begin() + 4);
  data[8] = std::byte(8 * size_of(shape.element));
  data[9] = std::byte(colors[shape.channels - 1]);
  chunk("IHDR", data);
}

void Writer::chunk(std::string_view type, std::span<const std::byte> data) {
  out_.append(big_endian(static_cast<std::uint32_t>(data.size())));
  out_.append(std::as_bytes(std::span(type)));
  out_.append(data);
  std::uint32_t sum = libdeflate_crc32(0, type.data(), type.size());
  if (!data.empty()) sum = libdeflate_crc32(sum, data.data(), data.size());  // of no data, it would begin again
  out_.append(big_endian(sum));
}

Writer::Way Writer::best_way(FilteredRows& rows, RunDeflater& deflater) {
  if (!rows.at_most(most_in_memory)) return Way::runs;
  const Sample sample(rows);
  const std::size_t bytes = bytes_of(rows, sample.rows());
  std::uint8_t* const made = room_for(rows, sample.rows());
  const auto each_band = [&](const auto& make) {
    for (std::int32_t band = 0; band < sample.bands; ++band)
      make(band * sample.between, sample.height, made + bytes_of(rows, band * sample.height));
  };
  each_band([&](std::int32_t first, std::int32_t count, std::uint8_t* to) { rows.make(first, count, to); });
  std::size_t by_runs = 0;
  deflater.add({made, bytes}, true, [&](std::span<const std::byte> piece) { by_runs += piece.size(); });
  const std::size_t filtered = compressed({made, bytes}).size();
  each_band([&](std::int32_t first, std::int32_t count, std::uint8_t* to) { rows.make_plain(first, count, to); });
  const std::size_t plain = compressed({made, bytes}).size();
  if (by_runs <= std::min(filtered, plain)) return Way::runs;
  return filtered <= plain ? Way::filtered : Way::plain;
}

void Writer::write_runs(FilteredRows& rows, RunDeflater& deflater) {
  const std::int32_t at_once = rows_of(rows, rows_at_once);
  std::uint8_t* const made = room_for(rows, at_once);
  for (std::int32_t y = 0; y < rows.count();) {
    const std::int32_t count = std::min(at_once, rows.count() - y);
    rows.make(y, count, made);
    y += count;
    deflater.add({made, bytes_of(rows, count)}, y == rows.count(),
                 [&](std::span<const std::byte> piece) { chunk("IDAT", piece); });
  }
}

void Writer::write_compressed(FilteredRows& rows, Way way) {
  std::uint8_t* const made = room_for(rows, rows.count());
  if (way == Way::filtered)
    rows.make(0, rows.count(), made);
  else
    rows.make_plain(0, rows.count(), made);
  for (std::span<const std::byte> left = compressed({made, bytes_of(rows, rows.count())}); !left.empty();) {
    const auto piece = left.first(std::min(left.size(), most_in_chunk));
    chunk("IDAT", piece);
    left = left.subspan(piece.size());
  }
}

std::span<const std::byte> Writer::compressed(std::span<const std::uint8_t> bytes) {
  const Compressors::Compressor compressor = compressors_.take();
  const std::size_t room = libdeflate_zlib_compress_bound(compressor.get(), bytes.size());
  std::byte* const to = scratch_.allocate(room);
  const std::size_t made = libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), to, room);
  if (made == 0 || made > room) throw Error(Errc::unsupported, "libdeflate could not compress the image");
  return {to, made};
}

std::uint8_t* Writer::room_for(const FilteredRows& rows, std::int32_t count) {
  return reinterpret_cast<std::uint8_t*>(scratch_.allocate(bytes_of(rows, count) + FilteredRows::margin));
}

}  // namespace penstock::png
