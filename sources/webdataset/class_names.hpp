#pragma once

#include <string>
#include <vector>

namespace penstock::webdataset {

struct ClassNames {
  std::vector<std::string> names;
  bool differ = false;  ///< several files say different things, so there are no names
};

/// The file that names the classes of shards "PATH-000000.tar", ...: a line each, the first one that of label 0.
std::string classes_file(const std::string& path);

/// Its content; empty for no classes, which have no file. @throws Error(invalid_argument), without a file, for a name
/// that is no line.
std::string classes_text(const std::vector<std::string>& classes);

/// What the file beside the shards says: PATH-classes.txt, or, where no shard has such a one, classes.txt in the
/// shards' folder. @throws Error(io | limit_exceeded).
ClassNames classes_beside(const std::vector<std::string>& shards);

}  // namespace penstock::webdataset
