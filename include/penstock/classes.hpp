// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/extend/any_source.hpp>

namespace penstock {

// The numbers of a field may stand for classes. A source that knows the names of the classes has them in its schema
// (`Field::classes`). The names stay with the field in the pipeline, batches, sinks and `Pipeline::plan()`. Joins
// (`concat`, `interleave`, `mix`) use the names to give a number the same meaning in all parts. Results of these
// functions are immutable sources; any thread may use them.

/// Sets the names of a field's classes, and replaces names that the source has set. No value changes: number i of the
/// result means `classes[i]`, and numbers beyond the list have no name. With empty `classes` the field has no names.
///
///     from(name_classes(Csv{.path = "digits.csv"}, "label", {"zero", "one", "two"}))
///
/// @throws Error(schema_mismatch) if the field does not exist, or does not have whole numbers.
PENSTOCK_API AnySource name_classes(AnySource source, std::string field, ClassNames classes);

/// Renumbers a field's classes: in the result, the class that `classes[i]` names has the number i, whatever its number
/// in the source. Use this, for example, for test data of a model that was trained with other numbers:
///
///     const ClassNames trained = train.schema().at("label").classes;
///     from(map_classes(Lmdb{.path = "test.lmdb"}, "label", trained))
///
/// If `classes` equals the source's names of this field's classes, the source is returned unchanged. Otherwise:
/// - A record with a number that is not a class of the source is a bad sample, Error(unsupported). So if a mask has a
///   number for pixels to ignore, that number must be a class too.
/// - This field's rows can't be decoded from blocks straight into a batch: they are decoded elsewhere and copied.
/// @throws Error(schema_mismatch) if the field does not exist. Also if `classes` differs from the source's names and
/// - the source has no names for the field's numbers;
/// - `classes` lacks one of the source's classes;
/// - two of the source's classes have the same name, or two classes of `classes` have the name of a source's class;
/// - the field's dtype can't hold the new numbers.
PENSTOCK_API AnySource map_classes(AnySource source, std::string field, ClassNames classes);

}  // namespace penstock
