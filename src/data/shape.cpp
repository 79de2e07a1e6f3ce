// SPDX-License-Identifier: Apache-2.0
#include <penstock/shape.hpp>

#include <algorithm>

#include <penstock/error.hpp>

namespace penstock {

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  if (dims.size() > max_rank)
    throw Error(Errc::invalid_argument, "a shape has at most 8 dimensions, not " + std::to_string(dims.size()));
  for (const std::int64_t d : dims) {
    if (d < dynamic) throw Error(Errc::invalid_argument, "a dimension can't be " + std::to_string(d));
    dims_[rank_++] = d;
  }
}

bool Shape::fixed() const noexcept { return std::ranges::find(dims(), dynamic) == dims().end(); }

std::uint64_t Shape::elements() const {
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  std::uint64_t n = 1;
  bool empty = false;
  for (const std::int64_t d : dims()) {
    if (d == dynamic) throw Error(Errc::schema_mismatch, "the shape " + to_string() + " isn't fixed");
    if (d == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(n, static_cast<std::uint64_t>(d), &n) || n > most)
      throw Error(Errc::limit_exceeded, "the shape " + to_string() + " has more than 2^60 elements");
  }
  return empty ? 0 : n;
}

bool Shape::admits(const Shape& other) const noexcept {
  if (rank_ != other.rank_) return false;
  for (std::size_t i = 0; i < rank_; ++i)
    if (dims_[i] != dynamic && dims_[i] != other.dims_[i]) return false;
  return true;
}

std::string Shape::to_string() const {
  std::string out = "[";
  for (std::size_t i = 0; i < rank_; ++i) {
    if (i != 0) out += ", ";
    out += dims_[i] == dynamic ? "?" : std::to_string(dims_[i]);
  }
  return out + "]";
}

bool operator==(const Shape& a, const Shape& b) noexcept { return std::ranges::equal(a.dims(), b.dims()); }

}  // namespace penstock
