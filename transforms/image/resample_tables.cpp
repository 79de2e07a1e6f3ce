// SPDX-License-Identifier: Apache-2.0
#include "resample_tables.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <penstock/extend/resample_tables.hpp>

#include "axis.hpp"
#include "nearest.hpp"

namespace penstock::image {

namespace {

constexpr std::size_t alignment = 16;

std::size_t aligned_bytes(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

std::size_t weight_bytes(Weights kind) { return kind == Weights::wide ? sizeof(std::int32_t) : sizeof(std::int16_t); }

// An axis that is written into the tables.
struct Part {
  AxisRequest request;
  Weights kind;
  Axis axis;
};

std::int32_t groups_of(std::int32_t count) { return (count + AxisTable::group - 1) / AxisTable::group; }

// Makes an axis on which each output is one unchanged input. Weights come in pairs, like the horizontal weights of the
// triangle filter.
Axis nearest_axis(const AxisRequest& r, Weights kind, Scratch& scratch) {
  const auto count = static_cast<std::size_t>(r.count);
  auto* const start = reinterpret_cast<std::int32_t*>(scratch.allocate(count * sizeof(std::int32_t)));
  auto* const length = reinterpret_cast<std::int32_t*>(scratch.allocate(count * sizeof(std::int32_t)));
  auto* const weights = reinterpret_cast<std::uint16_t*>(scratch.allocate(2 * count * sizeof(std::uint16_t)));
  for (std::int32_t i = 0; i < r.count; ++i) {
    const std::int32_t from = below_centre(r.first + i, r.in, r.out);
    start[i] = r.mirror ? r.in - 1 - from : from;
    length[i] = 1;
    weights[2 * i] = kind == Weights::vertical ? 65535 : 16384;
    weights[2 * i + 1] = 0;
  }
  Axis axis;
  axis.count = r.count;
  axis.taps = 2;
  axis.start = start;
  axis.length = length;
  axis.weights = weights;
  return axis;
}

Part make_part(const AxisRequest& request, Weights narrow, Filter filter, Scratch& scratch) {
  Part part{request, narrow, {}};
  if (filter == Filter::nearest && !request.is_identity()) {
    part.axis = nearest_axis(request, narrow, scratch);
    return part;
  }
  if (axis_taps(request) > narrow_taps) part.kind = Weights::wide;
  part.axis = make_axis(request, part.kind, scratch);
  return part;
}

// Sets in `table` where the arrays of an axis begin. The first array begins at `at`. Returns where the last one ends.
std::size_t lay_out(const Part& part, std::size_t at, AxisTable& table) {
  const auto count = static_cast<std::size_t>(part.axis.count), stride = static_cast<std::size_t>(part.axis.taps);
  const auto next = [&at](std::size_t bytes) {
    const auto here = static_cast<std::uint32_t>(at);
    at = aligned_bytes(at + bytes);
    return here;
  };
  table.count = part.axis.count;
  table.stride = part.axis.taps;
  table.wide = part.kind == Weights::wide ? 1 : 0;
  table.starts = next(count * sizeof(std::int32_t));
  table.lengths = next(count * sizeof(std::int32_t));
  table.weights = next(count * stride * weight_bytes(part.kind));
  table.spans = next(static_cast<std::size_t>(groups_of(part.axis.count)) * 2 * sizeof(std::int32_t));
  return at;
}

void write_arrays(const Part& part, const AxisTable& table, std::byte* out) {
  const Axis& axis = part.axis;
  const auto count = static_cast<std::size_t>(axis.count), stride = static_cast<std::size_t>(axis.taps);
  std::memcpy(out + table.starts, axis.start, count * sizeof(std::int32_t));
  std::memcpy(out + table.lengths, axis.length, count * sizeof(std::int32_t));
  std::memcpy(out + table.weights, axis.weights, count * stride * weight_bytes(part.kind));
  auto* const spans = reinterpret_cast<std::int32_t*>(out + table.spans);
  for (std::int32_t g = 0; g < groups_of(axis.count); ++g) {
    std::int32_t low = part.request.in, high = 0;
    for (std::int32_t i = g * AxisTable::group; i < std::min(axis.count, (g + 1) * AxisTable::group); ++i) {
      low = std::min(low, axis.start[i]);
      high = std::max(high, axis.start[i] + axis.length[i]);
    }
    spans[2 * g] = low;
    spans[2 * g + 1] = high;
  }
}

}  // namespace

std::span<const std::byte> make_resample_tables(const ImageOp& op, Scratch& scratch) {
  const Part rows = make_part(rows_of(op, false), Weights::vertical, op.filter, scratch);
  const Part columns = make_part(columns_of(op, false), Weights::horizontal, op.filter, scratch);
  ResampleTables tables;
  const std::size_t after_rows = lay_out(rows, sizeof tables, tables.rows);
  const std::size_t bytes = lay_out(columns, after_rows, tables.columns);
  std::byte* const out = scratch.allocate(bytes);
  std::memset(out, 0, bytes);  // the gaps between the arrays are copied too
  std::memcpy(out, &tables, sizeof tables);
  write_arrays(rows, tables.rows, out);
  write_arrays(columns, tables.columns, out);
  return {out, bytes};
}

}  // namespace penstock::image
