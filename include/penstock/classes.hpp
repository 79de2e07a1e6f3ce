#pragma once

#include <string>

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/extend/any_source.hpp>

namespace penstock {

// What the numbers of a source's field stand for. A source that knows the names of its classes says them in its schema
// (`Field::classes`); they go with the field through the pipeline into batches, sinks and `Pipeline::plan()`, and joins
// (`concat`, `interleave`, `mix`) use them, so that a number means the same class in all parts. Results are sources;
// immutable, any thread.

/// Says what a field's numbers stand for, where the source does not, or says it otherwise. No value changes: number i
/// is `classes[i]` from here on; numbers beyond the list have no name. Without classes the field has no names.
///
///     from(name_classes(Csv{.path = "digits.csv"}, "label", {"zero", "one", "two"}))
///
/// @throws Error(schema_mismatch) where there is no such field, or it is not of whole numbers.
PENSTOCK_API AnySource name_classes(AnySource source, std::string field, ClassNames classes);

/// Renumbers a field's classes: the class that `classes[i]` names has the number i from here on, whatever number the
/// source gives it. For test data beside a model that was trained on other classes:
///
///     const ClassNames trained = train.schema().at("label").classes;
///     from(map_classes(Lmdb{.path = "test.lmdb"}, "label", trained))
///
/// Where the numbers change, a record whose number stands for no class of the source is a bad sample,
/// Error(unsupported): one of a mask that marks what is to be ignored, too. Blocks of which the
/// field's rows would go into a batch as they are, are copied from instead.
/// @throws Error(schema_mismatch) where there is no such field, the source has no names for its numbers, `classes`
/// lacks one of its classes, two classes have one name, or the field's dtype does not hold the new numbers.
PENSTOCK_API AnySource map_classes(AnySource source, std::string field, ClassNames classes);

}  // namespace penstock
