// SPDX-License-Identifier: Apache-2.0
#include "library/coverage.hpp"

#include <algorithm>
#include <limits>

namespace penstock::hdf5 {

namespace {

// At most this many pairs of parts are compared.
constexpr std::size_t most_compared = std::size_t{1} << 22;

constexpr const char* the_fill = " the fill value, as the file says";

// Returns the product of the lengths; -1 if it is too large.
std::int64_t product_of(std::span<const std::int64_t> lengths) {
  std::int64_t product = 1;
  for (const std::int64_t length : lengths)
    if (__builtin_mul_overflow(product, length, &product)) return -1;
  return product;
}

std::int64_t end_of(const Selection::Axis& axis, std::int64_t end) {
  if (axis.count > (end - axis.start) / axis.stride) return end;
  return std::min(end, axis.start + (axis.count - 1) * axis.stride + axis.block);
}

// Returns whether `a` and `b` may have a coordinate below `end` in common. May return true although they have none.
bool axes_may_meet(const Selection::Axis& a, const Selection::Axis& b, std::int64_t end) {
  const std::int64_t first = std::max(a.start, b.start), last = std::min(end_of(a, end), end_of(b, end));
  if (first >= last || a.below(last) == a.below(first) || b.below(last) == b.below(first)) return false;
  if (a.stride != b.stride || a.count == 1 || b.count == 1) return true;
  const std::int64_t turn = ((b.start - a.start) % a.stride + a.stride) % a.stride;
  return turn < a.block || turn + b.block > a.stride;
}

}  // namespace

void Coverage::add(const Selection& to) {
  if (to.empty()) return;
  rows_.insert(rows_.end(), to.rows().begin(), to.rows().end());
  const std::size_t mapping = mappings_++;
  std::int64_t points = to.points();
  if (to.regular()) {
    points = 1;
    bool whole_rows = true;
    for (std::size_t d = 0; d < to.axes().size() && d < dims_.size(); ++d) {
      const std::int64_t here = to.axes()[d].below(dims_[d]);
      points = here != 0 && points > std::numeric_limits<std::int64_t>::max() / here ? -1 : points * here;
      whole_rows = whole_rows && (d == 0 || here == dims_[d]);
    }
    whole_rows_ = whole_rows_ && whole_rows;
    whole_ = whole_ || points == product_of(dims_);
    const Selection::Axis& rows = to.axes().front();
    parts_.push_back({rows.start, end_of(rows, dims_.front()), mapping, {to.axes().begin(), to.axes().end()}});
  } else {
    whole_rows_ = false;
    for (const RowPattern& rows : to.rows())
      parts_.push_back({rows.first(),
                        rows.end(),
                        mapping,
                        {{rows.first(), rows.end() - rows.first(), 1, rows.end() - rows.first()}}});
  }
  if (points < 0 || __builtin_add_overflow(points_, points, &points_))
    points_ = std::numeric_limits<std::int64_t>::max();
}

bool Coverage::may_meet(const Part& a, const Part& b) const noexcept {
  if (a.mapping == b.mapping) return false;
  for (std::size_t d = 0; d < std::min({a.axes.size(), b.axes.size(), dims_.size()}); ++d)
    if (!axes_may_meet(a.axes[d], b.axes[d], dims_[d])) return false;
  return true;
}

bool Coverage::apart() {
  std::ranges::sort(parts_, {}, &Part::begin);
  std::size_t left = most_compared;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    for (std::size_t j = i + 1; j < parts_.size() && parts_[j].begin < parts_[i].end; ++j)
      if (left-- == 0 || may_meet(parts_[i], parts_[j])) return false;
  return true;
}

Coverage::Gaps Coverage::gaps() {
  const std::int64_t all = product_of(dims_);
  if (all == 0 || whole_) return {};
  if (std::ranges::all_of(rows_, &RowPattern::together)) {
    std::ranges::sort(rows_, {}, &RowPattern::first);
    std::int64_t end = 0, gaps = 0;
    std::string first;
    const auto gap = [&](std::int64_t from, std::int64_t to) {
      if (from < to && gaps++ == 0) first = RowPattern::of_rows(from, to).words();
    };
    for (const RowPattern& rows : rows_) gap(end, rows.first()), end = std::max(end, rows.end());
    gap(end, dims_.front());
    const bool one = gaps == 1 && first.starts_with("row ");
    if (gaps != 0)
      return {first + (gaps == 1 ? "" : " and others") +
                  (one ? " lies in no source: it is" : " lie in no source: they are") + the_fill,
              !apart()};
    if (whole_rows_) return {};
  }
  const bool disjoint = apart();
  if (all >= 0 && points_ < all)
    return {(disjoint ? "" : "at least ") + std::to_string(all - points_) + " of its " + std::to_string(all) +
                " values lie in no source: they are" + the_fill,
            !disjoint};
  if (disjoint) return {};
  return {"where its sources overlap, some of its values may lie in none: they are" + std::string(the_fill), true};
}

}  // namespace penstock::hdf5
