// SPDX-License-Identifier: Apache-2.0
// The kernel that resamples, on the host: what the tables ask for, of images that lie in no more words than they need.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <penstock/extend/resample_tables.hpp>
#include <penstock/extend/rng.hpp>

#include "image/device_resample.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock::detail;

namespace {

std::int32_t below(Rng& random, std::int32_t n) {
  return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
}

// One axis: each output is made of inputs anywhere, with any weights that add up to `one`.
struct AnyAxis {
  std::vector<std::int32_t> starts, spans;
  std::vector<std::vector<std::int32_t>> weights;
  std::int32_t inputs, stride = 0, one;
  bool wide;

  AnyAxis(Rng& random, std::int32_t count, std::int32_t of, std::int32_t narrow_one)
      : inputs(of), one(narrow_one), wide(below(random, 4) == 0) {
    if (wide) one = 1 << 22;
    for (std::int32_t i = 0; i < count; ++i) {
      // Outputs of a group lie near each other, as they do in an image, and inputs at the ends are used.
      const std::int32_t around = static_cast<std::int32_t>(std::int64_t{i} * of / count);
      starts.push_back(std::min(around + below(random, 3), of - 1));
      const std::int32_t most = std::min(of - starts.back(), wide ? 70 : 32);
      std::vector<std::int32_t> cuts{0, one};
      for (std::int32_t k = below(random, most); k > 0; --k) cuts.push_back(below(random, one + 1));
      std::sort(cuts.begin(), cuts.end());
      auto& mine = weights.emplace_back();
      for (std::size_t k = 1; k < cuts.size(); ++k) mine.push_back(cuts[k] - cuts[k - 1]);
      // A lone weight of 65536 has no 16 bits.
      for (std::int32_t& weight : mine) weight = one == 65536 ? std::min(weight, 65535) : weight;
      stride = std::max(stride, static_cast<std::int32_t>(mine.size() + 1) / 2 * 2);
    }
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int32_t end = starts[i] + static_cast<std::int32_t>(weights[i].size());
      if (i % AxisTable::group == 0) spans.insert(spans.end(), {starts[i], end});
      spans[spans.size() - 2] = std::min(spans[spans.size() - 2], starts[i]);
      spans.back() = std::max(spans.back(), end);
    }
  }
};

// The block of memory that a kernel reads.
struct TableBlock {
  std::vector<std::max_align_t> memory;
  std::size_t bytes = sizeof(ResampleTables);

  TableBlock(const AnyAxis& rows, const AnyAxis& columns) : memory(1 << 16) {
    ResampleTables tables{add(rows), add(columns)};
    std::memcpy(memory.data(), &tables, sizeof tables);
  }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(memory.data()); }

 private:
  template <class T>
  std::uint32_t add(const std::vector<T>& values) {
    const std::size_t at = bytes, size = values.size() * sizeof(T);
    REQUIRE(at + size <= memory.size() * sizeof(std::max_align_t));
    std::memcpy(reinterpret_cast<std::byte*>(memory.data()) + at, values.data(), size);
    bytes = (at + size + 15) / 16 * 16;
    return static_cast<std::uint32_t>(at);
  }
  AxisTable add(const AnyAxis& axis) {
    AxisTable out;
    out.count = static_cast<std::int32_t>(axis.starts.size());
    out.stride = axis.stride;
    out.wide = axis.wide ? 1 : 0;
    std::vector<std::int32_t> lengths, wide;
    std::vector<std::uint16_t> narrow;
    for (const auto& weights : axis.weights) {
      lengths.push_back(static_cast<std::int32_t>(weights.size()));
      wide.insert(wide.end(), weights.begin(), weights.end());
      wide.resize(lengths.size() * static_cast<std::size_t>(axis.stride));
    }
    for (const std::int32_t weight : wide) narrow.push_back(static_cast<std::uint16_t>(weight));
    out.starts = add(axis.starts);
    out.lengths = add(lengths);
    out.weights = axis.wide ? add(wide) : add(narrow);
    out.spans = add(axis.spans);
    return out;
  }
};

// The vertical pass by the words of ResampleTables.
template <class Input>
std::uint8_t vertical(const AnyAxis& rows, std::size_t y, const Input& input) {
  const auto n = static_cast<std::int32_t>(rows.weights[y].size());
  std::int32_t sum = rows.wide ? 2097152 : 128 + n / 2;
  for (std::int32_t k = 0; k < n; ++k) {
    const std::int32_t product = input(rows.starts[y] + k) * rows.weights[y][static_cast<std::size_t>(k)];
    sum += rows.wide ? product : product >> 8;
  }
  return static_cast<std::uint8_t>(sum >> (rows.wide ? 22 : 8));
}
template <class Input>
std::uint8_t horizontal(const AnyAxis& columns, std::size_t x, const Input& input) {
  std::int32_t sum = columns.wide ? 2097152 : 8192;
  for (std::size_t k = 0; k < columns.weights[x].size(); ++k)
    sum += input(columns.starts[x] + static_cast<std::int32_t>(k)) * columns.weights[x][k];
  return static_cast<std::uint8_t>(sum >> (columns.wide ? 22 : 14));
}

}  // namespace

TEST_CASE("an image is resampled as its tables say and no word is read that has nothing of it") {
  Rng random(20261127, 1, {});
  for (std::int32_t run = 0; run < 600; ++run) {
    CAPTURE(run);
    const std::int32_t channels = 1 + run % 4, kind = below(random, 6);
    const std::int32_t box_height = 1 + below(random, 40);
    const std::int32_t box_width = 1 + below(random, kind == 0 ? 900 : kind == 1 ? 9 : 60);
    const std::int32_t beside = below(random, 4), above = below(random, 3), row_bytes = (box_width + beside) * channels;
    const std::int32_t height = 1 + below(random, 40), width = 1 + below(random, kind == 2 ? 140 : 30);
    const AnyAxis rows(random, height, box_height, 65536), columns(random, width, box_width, 16384);
    const TableBlock tables(rows, columns);

    // The box is the image's lower right corner, and the image ends with the memory.
    const std::int64_t first = below(random, 4);
    const std::size_t bytes = static_cast<std::size_t>(first) +
                              static_cast<std::size_t>(above + box_height) * static_cast<std::size_t>(row_bytes);
    const std::size_t words = (bytes + 3) / 4;
    const std::unique_ptr<std::uint32_t[]> memory(new std::uint32_t[words]);
    auto* const in = reinterpret_cast<std::uint8_t*>(memory.get());
    for (std::size_t i = 0; i < 4 * words; ++i) in[i] = static_cast<std::uint8_t>(below(random, 300));

    const std::int64_t none = 0;
    ResampleOp op;
    op.first = static_cast<std::uint64_t>(above * row_bytes + beside * channels);
    op.stride = static_cast<std::uint64_t>(row_bytes);
    op.height = height, op.width = width, op.columns = box_width;
    op.transpose = kind == 3 ? 1 : 0;
    ResampleWork work;
    work.in = in, work.offsets = &first, work.tables = tables.data(), work.table_offsets = &none, work.ops = &op;
    work.images = 1, work.channels = channels;
    work.height = op.transpose != 0 ? width : height, work.width = op.transpose != 0 ? height : width;
    std::vector<std::uint8_t> got(static_cast<std::size_t>(height * width * channels)), expected(got.size());
    work.out = got.data();
    resample_images(work);

    const std::uint8_t* const box = in + first + op.first;
    for (std::int32_t y = 0; y < height; ++y) {
      std::vector<std::uint8_t> row;
      for (std::int32_t byte = 0; byte < box_width * channels; ++byte)
        row.push_back(vertical(rows, static_cast<std::size_t>(y),
                               [&](std::int32_t input) { return std::int32_t{box[input * row_bytes + byte]}; }));
      for (std::int32_t x = 0; x < width; ++x)
        for (std::int32_t c = 0; c < channels; ++c) {
          const std::int32_t pixel = op.transpose != 0 ? x * work.width + y : y * work.width + x;
          expected[static_cast<std::size_t>(pixel * channels + c)] = horizontal(
              columns, static_cast<std::size_t>(x),
              [&](std::int32_t input) { return std::int32_t{row[static_cast<std::size_t>(input * channels + c)]}; });
        }
    }
    REQUIRE(got == expected);
  }
}
