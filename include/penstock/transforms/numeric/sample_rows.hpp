#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// A random part of a record's rows; see `sample_rows`. Immutable; any thread.
class PENSTOCK_API SampleRows {
 public:
  /// @throws Error(invalid_argument) for no field, one that is named twice, and no row.
  SampleRows(std::vector<std::string> fields, std::uint64_t rows);
  /// @throws Error(schema_mismatch) for a field that isn't there, a scalar, and fields of fixed sizes that differ.
  Schema schema(const Schema& in) const;
  /// @throws Error(unsupported) where the fields have other numbers of rows than each other.
  void operator()(Sample& sample, Context& context) const;
  std::string name() const { return "sample_rows"; }
  std::string describe() const;
  std::uint64_t version() const { return 1; }

 private:
  std::vector<std::string> fields_;
  std::uint64_t rows_;
};

/// Keeps at most `rows` rows of each record, drawn anew in each epoch: of N rows each set of `rows` of them is as
/// likely as any other. Rows are what the first dimension counts; the fields, which have as many, keep the same ones,
/// in the order in which they stood. A record with no more rows stays as it is. So a bag of features with its places
/// becomes one of bounded size:
///
///     from(FeatureBags{.path = "features"}) | sample_rows({"features", "coords"}, 2000) | pad("features") | …
///
/// @throws Error(invalid_argument) for no field, one that is named twice, and no row.
PENSTOCK_API Stage sample_rows(std::vector<std::string> fields, std::uint64_t rows);

}  // namespace penstock
