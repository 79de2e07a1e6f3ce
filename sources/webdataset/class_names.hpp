// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/schema.hpp>

namespace penstock::webdataset {

/// Returns whether its numbers may be classes, so that files with names are looked for.
bool may_have_classes(const Field& field);

/// Returns the file with the names of the classes of a field, for shards "PATH-000000.tar", ...: "PATH-classes.txt" for
/// the field label, "PATH-classes-NAME.txt" for others. It has a line per class; the first one is number 0.
std::string classes_file(const std::string& path, std::string_view field);

/// Returns the file's content; empty if there are no classes, and so no file. @throws Error(invalid_argument), without
/// a file, if a name does not fit in a line.
std::string classes_text(const ClassNames& classes);

/// Returns the file, in the folder of these shards, with the names of the classes of a field label of one number per
/// sample, for shards from other software.
std::string common_classes_file(const std::string& shard);

/// Reads the class names of a field from the files next to the shards: its `classes_file`, or, if no shard has one, the
/// `common_classes_file`.
/// @throws Error(schema_mismatch) if such files differ, or some shards have none; Error(io | limit_exceeded).
ClassNames classes_beside(const std::vector<std::string>& shards, const Field& field);

}  // namespace penstock::webdataset
