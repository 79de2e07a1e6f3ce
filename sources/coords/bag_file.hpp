// SPDX-License-Identifier: Apache-2.0
// Reads the features of one slide from its file.
#pragma once

#include <cstdint>
#include <string>

#include <penstock/dtype.hpp>
#include <penstock/error.hpp>
#include <penstock/sources/feature_bags.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/tensor.hpp>

namespace penstock::coords {

inline constexpr const char* bags_name = "feature_bags";

/// A slide's file of features and places, open for reading. One thread at a time.
class BagFile {
 public:
  /// Opens the features, but reads none. `options` and `path` must outlive the object.
  /// @throws Error(not_found | corrupt | io) like Hdf5Source; Error(unsupported) if there are features that are not f32
  /// or f16 [N, D] or [1, N, D].
  BagFile(const FeatureBags& options, const std::string& path);

  std::uint64_t rows() const noexcept { return rows_; }
  std::uint64_t dimension() const noexcept { return dimension_; }  ///< length of a feature; 0 if there are no rows
  DType dtype() const noexcept { return dtype_; }

  /// Reads all features into `out`, which is f32 or f16 [rows, dimension]. @throws like Hdf5Source.
  void read_features(const TensorView& out) const;
  /// Reads all places into `out`, which is i64 [rows, 2].
  /// @throws like Hdf5Source; Error(unsupported) if the places are not whole numbers [N, 2] of 16, 32 or 64 bits;
  /// Error(corrupt) if there are more or fewer places than features, or a number does not fit in i64.
  void read_coords(const TensorView& out) const;

 private:
  Error error(Errc code, const std::string& why) const;
  template <class T>
  void take_coords(const Hdf5Source& source, const TensorView& out) const;

  const FeatureBags& options_;
  const std::string& path_;
  Hdf5Source features_;
  std::uint64_t rows_ = 0, dimension_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace penstock::coords
