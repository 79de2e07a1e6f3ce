#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>

namespace penstock::webdataset {

/// The file that names the classes of a field of shards "PATH-000000.tar", ...: a line each, the first one that of
/// number 0. "PATH-classes.txt" for the field label, "PATH-classes-NAME.txt" for others.
std::string classes_file(const std::string& path, std::string_view field);

/// Its content; empty for no classes, which have no file. @throws Error(invalid_argument), without a file, for a name
/// that is no line.
std::string classes_text(const ClassNames& classes);

/// What the file beside the shards says of a field: its `classes_file`, or, of label, where no shard has such a one,
/// classes.txt in the shards' folder. @throws Error(schema_mismatch) where such files say different things, or some
/// shards have none; Error(io | limit_exceeded).
ClassNames classes_beside(const std::vector<std::string>& shards, std::string_view field);

}  // namespace penstock::webdataset
