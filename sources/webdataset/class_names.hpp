// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/schema.hpp>

namespace penstock::webdataset {

/// Returns whether the field's numbers may be classes. If not, no files with class names are looked for.
bool may_have_classes(const Field& field);

/// Returns the path of the file with a field's class names, for shards "PATH-000000.tar", ...: "PATH-classes.txt" for
/// the field `label`, "PATH-classes-NAME.txt" for other fields. The file has one line per class, from class 0 on.
std::string classes_file(const std::string& path, std::string_view field);

/// Returns the content of the file with these class names; empty if there are no classes, because then there is no
/// file.
/// @throws Error(invalid_argument), which names no file, if a name does not fit in a line.
std::string classes_text(const ClassNames& classes);

/// Returns the path of "classes.txt" in the shard's folder. Shards from other software may have this file. It names the
/// classes of a field `label` that has one number per sample.
std::string common_classes_file(const std::string& shard);

/// Reads a file. Returns nothing if the file does not exist.
using ReadText = std::function<std::optional<std::string>(const std::string& file)>;

/// Reads the class names of a field from the files next to the shards. First looks for each shard's `classes_file`. If
/// none exists, and the field is a `label` with one number per sample, looks for each shard's `common_classes_file`.
/// Returns no names if neither exists.
/// @throws Error(schema_mismatch) if shards have different files, or only some shards have one; Error(io |
/// limit_exceeded).
ClassNames classes_beside(const std::vector<std::string>& shards, const Field& field, const ReadText& read);

}  // namespace penstock::webdataset
