// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/filter.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

namespace numeric {
/// The row that a predicate takes.
template <class>
struct RowOf;
/// The row that a call operator takes as a view.
template <class F, class T, std::size_t R>
struct RowOf<bool (F::*)(View<T, R>) const> {
  using Element = std::remove_const_t<T>;  ///< type of its numbers
  static constexpr std::size_t rank = R;   ///< its rank
};
/// A call operator that is noexcept takes the same row.
template <class F, class T, std::size_t R>
struct RowOf<bool (F::*)(View<T, R>) const noexcept> : RowOf<bool (F::*)(View<T, R>) const> {};
}  // namespace numeric

/// Settings of `keep_rows`.
struct KeepRowsOptions {
  std::string name = "keep_rows";  ///< name of the stage in plans, errors and random keys
  std::uint64_t version = 0;       ///< result option: raise the version when the predicate's results change
};

/// Keeps the rows that a predicate chooses; see `keep_rows`. Immutable; any thread may use it.
class PENSTOCK_API KeepRows {
 public:
  /// Decides by one row of the first field.
  struct Predicate {
    std::function<bool(const TensorView& row)> keeps;  ///< any thread calls it at any time
    DType dtype = DType::f32;                          ///< the field's type
    std::size_t rank = 0;                              ///< rank of a row
  };
  /// @throws Error(invalid_argument) if `fields` is empty or names a field twice.
  KeepRows(std::vector<std::string> fields, Predicate predicate, KeepRowsOptions options = {});
  /// @throws Error(schema_mismatch) if a field is missing or a scalar, or fields have different fixed numbers of rows.
  /// Also if the predicate does not take the dtype or the rank of the first field's rows.
  Schema schema(const Schema& in) const;
  /// @throws Error(unsupported) if the fields of a record have different numbers of rows.
  void operator()(Sample& sample, Context& context) const;
  std::string name() const { return options_.name; }
  std::string describe() const;

 protected:
  /// The settings.
  const KeepRowsOptions& options() const noexcept { return options_; }

 private:
  std::vector<std::string> fields_;
  Predicate predicate_;
  KeepRowsOptions options_;
};

/// Does the same, and has a version, so that caches take it.
class PENSTOCK_API KeepVersionedRows : public KeepRows {
 public:
  using KeepRows::KeepRows;
  std::uint64_t version() const { return options().version; }
};

/// Keeps the rows of a record for which `f` returns true, in the record's order. The first dimension of a field counts
/// its rows; in each record, all `fields` must have the same number of rows, and all keep the same rows. `f` sees a row
/// of the first field. A record may be left with no row.
///
///     keep_rows({"boxes", "classes"}, [](View<const float, 1> box) { return box(2) - box(0) >= 8; })
///
/// A cache takes the stage only if the predicate has a version: `options.version`, or a member `std::uint64_t version()
/// const`. Both are added.
/// @throws Error(invalid_argument) if `fields` is empty or names a field twice.
template <FieldPredicate F>
  requires requires { sizeof(numeric::RowOf<decltype(&F::operator())>); }
Stage keep_rows(std::vector<std::string> fields, F f, KeepRowsOptions options = {}) {
  using Row = numeric::RowOf<decltype(&F::operator())>;
  using Element = typename Row::Element;
  bool versioned = options.version != 0;
  if constexpr (requires { f.version(); }) {
    options.version += f.version();
    versioned = true;
  }
  auto keeps = [f = std::move(f)](const TensorView& row) -> bool {
    return f(View<const Element, Row::rank>(reinterpret_cast<const Element*>(row.data), row.shape));
  };
  KeepRows::Predicate predicate{std::move(keeps), dtype_of<Element>, Row::rank};
  if (versioned) return map(KeepVersionedRows(std::move(fields), std::move(predicate), std::move(options)));
  return map(KeepRows(std::move(fields), std::move(predicate), std::move(options)));
}

}  // namespace penstock
