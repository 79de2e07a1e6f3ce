#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/schema.hpp>

namespace penstock::webdataset {

/// Its numbers may stand for classes: files that name them are looked for.
bool may_have_classes(const Field& field);

/// The file that names the classes of a field of shards "PATH-000000.tar", ...: a line each, the first one that of
/// number 0. "PATH-classes.txt" for the field label, "PATH-classes-NAME.txt" for others.
std::string classes_file(const std::string& path, std::string_view field);

/// Its content; empty for no classes, which have no file. @throws Error(invalid_argument), without a file, for a name
/// that is no line.
std::string classes_text(const ClassNames& classes);

/// The file in the folder of these shards that names the classes of a field label of one number a sample, where others
/// wrote the shards.
std::string common_classes_file(const std::string& shard);

/// What the file beside the shards says of a field: its `classes_file`, or, where no shard has such a one, the
/// `common_classes_file`. @throws Error(schema_mismatch) where such files say different things, or some
/// shards have none; Error(io | limit_exceeded).
ClassNames classes_beside(const std::vector<std::string>& shards, const Field& field);

}  // namespace penstock::webdataset
