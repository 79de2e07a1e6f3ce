// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Keeps a random part of each record's rows; see `sample_rows`. Immutable; any thread may use it.
class PENSTOCK_API SampleRows {
 public:
  /// @throws Error(invalid_argument) if `fields` is empty or names a field twice, or `rows` is not 1 to 2^62.
  SampleRows(std::vector<std::string> fields, std::uint64_t rows);
  /// @throws Error(schema_mismatch) if a field is missing or a scalar, or fields have different fixed numbers of rows.
  Schema schema(const Schema& in) const;
  /// @throws Error(unsupported) if the fields of a record have different numbers of rows.
  void operator()(Sample& sample, Context& context) const;
  std::string name() const { return "sample_rows"; }
  std::string describe() const;
  std::uint64_t version() const { return 1; }

 private:
  std::vector<std::string> fields_;
  std::uint64_t rows_;
};

/// Keeps at most `rows` rows of each record. The rows are drawn again in each epoch. Each set of `rows` rows is equally
/// likely. The first dimension of a field counts its rows. In each record, all `fields` must have the same number of
/// rows. All `fields` keep the same rows, in the record's order. A record with at most `rows` rows is unchanged. For
/// instance, this stage limits the size of bags of features with their places:
///
///     from(FeatureBags{.path = "features"}) | sample_rows({"features", "coords"}, 2000) | pad("features") | …
///
/// @throws Error(invalid_argument) if `fields` is empty or names a field twice, or `rows` is not 1 to 2^62.
PENSTOCK_API Stage sample_rows(std::vector<std::string> fields, std::uint64_t rows);

}  // namespace penstock
