// SPDX-License-Identifier: Apache-2.0
#include "library/selection.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace penstock::hdf5 {

namespace {

constexpr std::int64_t most_places = std::numeric_limits<std::int64_t>::max();

std::int64_t clamped(hsize_t value) noexcept {
  return static_cast<std::int64_t>(std::min<hsize_t>(value, std::uint64_t{1} << 62));
}

// Returns the product, or `most_places` if that is less.
std::int64_t times(std::int64_t a, std::int64_t b) noexcept {
  return b != 0 && a > most_places / b ? most_places : a * b;
}

std::string shape_text(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (const std::int64_t d : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

// Returns the selection's lengths in dimension `first` and later dimensions, except lengths of 1.
std::vector<std::int64_t> lengths_from(std::size_t first, const Selection& of) {
  std::vector<std::int64_t> lengths;
  for (std::size_t d = first; d < of.axes().size(); ++d)
    if (of.places(d) != 1) lengths.push_back(of.places(d));
  return lengths;
}

// Returns whether two selections have the same lengths within a row, not counting lengths of 1. Returns true if they
// have different numbers of lengths, because the same values may have different shapes.
bool within_rows_alike(const Selection& a, const Selection& b) {
  const bool same_rank = a.axes().size() == b.axes().size();
  std::vector<std::int64_t> of_a = lengths_from(same_rank ? 1 : 0, a), of_b = lengths_from(same_rank ? 1 : 0, b);
  if (of_a.size() != of_b.size()) return true;
  if (!same_rank && !of_a.empty()) of_a.front() = of_b.front();  // the caller compares the numbers of rows
  return of_a == of_b;
}

}  // namespace

std::int64_t Selection::Axis::below(std::int64_t place) const noexcept {
  if (place <= start) return 0;
  const std::int64_t whole = (place - start) / stride, rest = std::min((place - start) % stride, block);
  return whole >= count ? times(count, block) : whole * block + rest;
}

Selection::Selection(hid_t space, std::span<const std::int64_t> dims) {
  const int rank = H5Sget_simple_extent_ndims(space);
  rank_ = rank < 0 ? 0 : static_cast<std::size_t>(rank);
  switch (H5Sget_select_type(space)) {
    case H5S_SEL_ALL:
      all_ = true;
      for (const std::int64_t d : dims) axes_.push_back({0, std::max<std::int64_t>(d, 1), 1, d, false});
      break;
    case H5S_SEL_HYPERSLABS:
      if (H5Sis_regular_hyperslab(space) > 0)
        take_regular(space, dims);
      else
        take_blocks(space, dims.empty() ? 0 : dims.front());
      break;
    default:
      break;  // nothing is selected
  }
  if (!axes_.empty()) measure(dims);
}

void Selection::take_regular(hid_t space, std::span<const std::int64_t> dims) {
  std::array<hsize_t, H5S_MAX_RANK> start{}, stride{}, count{}, block{};
  if (H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0) return;
  for (std::size_t d = 0; d < rank_; ++d) {
    Axis axis{clamped(start[d]), clamped(stride[d]), clamped(count[d]), clamped(block[d])};
    const std::int64_t end = d < dims.size() ? dims[d] : 0;
    axis.grows = count[d] == H5S_UNLIMITED || block[d] == H5S_UNLIMITED;
    if (block[d] == H5S_UNLIMITED) {
      axis.block = std::max<std::int64_t>(end - axis.start, 0);
      axis.count = 1;
    }
    // If there is only one block, the file may specify any stride.
    axis.stride = std::max({axis.stride, axis.block, std::int64_t{1}});
    axes_.push_back(axis);
  }
}

// Reads a selection that the file stores as a list of blocks.
void Selection::take_blocks(hid_t space, std::int64_t rows) {
  const hssize_t count = H5Sget_select_hyper_nblocks(space);
  if (count <= 0 || rank_ == 0) return;
  std::vector<hsize_t> blocks(static_cast<std::size_t>(count) * 2 * rank_);
  if (H5Sget_select_hyper_blocklist(space, 0, static_cast<hsize_t>(count), blocks.data()) < 0) return;
  ends_.assign(rank_, 0);
  for (const hsize_t* block = blocks.data(); block != blocks.data() + blocks.size(); block += 2 * rank_) {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < rank_; ++d) {
      ends_[d] = std::max(ends_[d], clamped(block[rank_ + d]) + 1);
      elements = times(elements, clamped(block[rank_ + d]) - clamped(block[d]) + 1);
    }
    points_ = points_ > most_places - elements ? most_places : points_ + elements;
    const std::int64_t first = clamped(block[0]), end = std::min(clamped(block[rank_]) + 1, rows);
    if (first < end) rows_.push_back(RowPattern::of_rows(first, end));
  }
}

void Selection::measure(std::span<const std::int64_t> dims) {
  points_ = 1;
  places_.clear();
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const Axis& axis = axes_[d];
    places_.push_back(axis.grows ? axis.below(d < dims.size() ? dims[d] : 0) : times(axis.count, axis.block));
    points_ = times(points_, places_.back());
  }
  const Axis& axis = axes_.front();
  const std::int64_t end = dims.empty() ? 0 : dims.front();
  // The number of blocks within the space. The last one may be incomplete.
  const std::int64_t in = axis.below(end);
  const std::int64_t blocks = axis.block == 0 ? 0 : (in + axis.block - 1) / axis.block;
  rows_ = {{axis.start, axis.stride, blocks, axis.block, axis.start, end}};
}

std::optional<std::size_t> Selection::growing() const noexcept {
  const auto found = std::ranges::find_if(axes_, &Axis::grows);
  return found == axes_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - axes_.begin()));
}

Selection Selection::block(std::int64_t number, std::span<const std::int64_t> dims) const {
  Selection one = *this;
  Axis& axis = one.axes_[*growing()];
  axis = {axis.start + times(number, axis.stride), axis.stride, 1, axis.block, false};
  one.measure(dims);
  return one;
}

bool Selection::beyond(std::span<const std::int64_t> dims) const noexcept {
  for (std::size_t d = 0; d < ends_.size(); ++d)
    if (ends_[d] > dims[d]) return true;
  for (std::size_t d = 0; d < axes_.size(); ++d)
    if (!axes_[d].grows && axes_[d].below(dims[d]) != times(axes_[d].count, axes_[d].block)) return true;
  return false;
}

AvailableRows available_rows(const Selection& to, const Selection& from, std::span<const std::int64_t> dims) {
  const std::string shape = "the dataset has the shape " + shape_text(dims);
  const AvailableRows other{0, shape + ", and another number of values is read of it"};
  const auto short_of = [&](std::int64_t good) {
    return AvailableRows{good, shape + " and ends before what is read of it"};
  };
  if (!from.all() && from.rank() != dims.size()) return {0, shape + ", of another rank than is read of it"};
  if (!to.regular() || !from.regular()) {
    if (from.beyond(dims)) return short_of(0);
    return to.points() == from.points() ? AvailableRows{} : other;
  }
  if (from.all()) {
    if (!within_rows_alike(to, from)) return {0, shape + ", and its values are read in another one"};
    if (from.points() == to.points()) return {};
    // If a row has more values in one selection than in the other, their rows don't correspond.
    if (from.points_in_row() != to.points_in_row()) return other;
    return from.points() > to.points() ? AvailableRows{} : short_of(from.places(0));
  }
  const auto ends_early = [&](std::size_t d) { return from.axes()[d].below(dims[d]) < from.places(d); };
  const auto grown = to.growing(), of_source = from.growing();
  for (std::size_t d = 1; d < dims.size(); ++d)
    if (ends_early(d)) return short_of(0);
  if (grown.has_value() != of_source.has_value()) return other;
  if (grown) {
    if (*of_source != 0 && ends_early(0)) return short_of(0);
    const std::int64_t there = from.places(*of_source);
    return there >= to.places(*grown) ? AvailableRows{} : short_of(*grown == 0 ? there : 0);
  }
  if (from.points() != to.points()) return other;
  if (!ends_early(0)) return {};
  const std::int64_t there = times(from.axes().front().below(dims.front()), from.points_in_row());
  return short_of(to.points_in_row() == 0 ? 0 : there / to.points_in_row());
}

}  // namespace penstock::hdf5
