// The option --classes: which classes there are, and their numbers.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include <penstock/class_names.hpp>

namespace penstock::cli {

void add_classes_option(CLI::App& command, std::string& path);

/// Those that `path` names: a text file, a name a line, or those of a store. None for an empty path. @throws UsageError
/// for a store without names of classes; penstock::Error. `isolate` as of InputStoreOptions, for HDF5 files.
ClassNames read_classes(const std::string& path, bool isolate = false);

}  // namespace penstock::cli
