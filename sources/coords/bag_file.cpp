// SPDX-License-Identifier: Apache-2.0
#include "bag_file.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <penstock/extend/half.hpp>

namespace penstock::coords {

namespace {

// A dataset is read whole, and only once, so no rows are kept for later reads.
Hdf5Source open_dataset(const std::string& path, const std::string& dataset) {
  return Hdf5Source({.path = path, .fields = {{.dataset = dataset}}, .max_kept_bytes = 0});
}

std::span<std::byte> bytes_of(const TensorView& out) { return {out.data, out.bytes()}; }

void convert_features(std::span<const std::byte> from, const TensorView& out) {
  if (out.dtype == DType::f32) {
    const auto* half = reinterpret_cast<const std::uint16_t*>(from.data());
    std::transform(half, half + from.size() / 2, reinterpret_cast<float*>(out.data), from_half);
  } else {
    const auto* value = reinterpret_cast<const float*>(from.data());
    std::transform(value, value + from.size() / 4, reinterpret_cast<std::uint16_t*>(out.data),
                   [](float one) { return to_half(one); });
  }
}

}  // namespace

BagFile::BagFile(const FeatureBags& options, const std::string& path)
    : options_(options), path_(path), features_(open_dataset(path, options.features)) {
  const Field field = features_.schema()[0];
  const Shape& shape = field.shape;
  dtype_ = field.dtype;
  // If a slide has no tissue, TRIDENT writes features without rows and without a second dimension.
  if (features_.size() == 0) return;
  const bool is_float = field.dtype == DType::f32 || field.dtype == DType::f16;
  const bool one_more = shape.rank() == 2 && features_.size() == 1;  // [1, N, D]
  if (!is_float || !shape.fixed() || (shape.rank() != 1 && !one_more))
    throw error(Errc::unsupported, "its `" + options.features + "` are " + std::string(to_string(field.dtype)) + " [" +
                                       std::to_string(features_.size()) + "]" + shape.to_string() +
                                       ", and should be f32 or f16 [N, D]");
  rows_ = one_more ? static_cast<std::uint64_t>(shape[0]) : features_.size();
  dimension_ = static_cast<std::uint64_t>(shape[shape.rank() - 1]);
}

Error BagFile::error(Errc code, const std::string& why) const {
  return Error(code, why).with_source(bags_name).with_file(path_);
}

void BagFile::read_features(const TensorView& out) const {
  if (out.bytes() == 0) return;
  if (out.dtype == dtype()) return features_.read_rows(0, 0, features_.size(), bytes_of(out));
  std::vector<std::byte> stored(out.shape.elements() * size_of(dtype()));
  features_.read_rows(0, 0, features_.size(), stored);
  convert_features(stored, out);
}

template <class T>
void BagFile::take_coords(const Hdf5Source& source, const TensorView& out) const {
  std::vector<std::byte> stored(out.shape.elements() * sizeof(T));
  source.read_rows(0, 0, source.size(), stored);
  const auto* from = reinterpret_cast<const T*>(stored.data());
  auto* to = reinterpret_cast<std::int64_t*>(out.data);
  for (std::size_t i = 0; i < out.shape.elements(); ++i) {
    if (!std::in_range<std::int64_t>(from[i])) throw error(Errc::corrupt, "it has a place beyond any slide");
    to[i] = static_cast<std::int64_t>(from[i]);
  }
}

void BagFile::read_coords(const TensorView& out) const {
  const Hdf5Source source = open_dataset(path_, options_.coords);
  if (rows_ == 0 && source.size() == 0) return;
  const Field field = source.schema()[0];
  const bool paired = field.shape == Shape{2};
  if (source.size() != rows_ && (paired || rows_ == 0))
    throw error(Errc::corrupt, "it has " + std::to_string(rows_) + " rows of `" + options_.features + "`, and " +
                                   std::to_string(source.size()) + " of `" + options_.coords + "`");
  if (paired) switch (field.dtype) {
      case DType::i64:
        return source.read_rows(0, 0, rows_, bytes_of(out));
      case DType::i32:
        return take_coords<std::int32_t>(source, out);
      case DType::i16:
        return take_coords<std::int16_t>(source, out);
      case DType::u64:
        return take_coords<std::uint64_t>(source, out);
      case DType::u32:
        return take_coords<std::uint32_t>(source, out);
      case DType::u16:
        return take_coords<std::uint16_t>(source, out);
      default:
        break;
    }
  throw error(Errc::unsupported, "its `" + options_.coords + "` are " + std::string(to_string(field.dtype)) + " [" +
                                     std::to_string(source.size()) + "]" + field.shape.to_string() +
                                     ", and should be whole numbers [N, 2]");
}

}  // namespace penstock::coords
