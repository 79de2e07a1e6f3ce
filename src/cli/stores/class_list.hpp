// SPDX-License-Identifier: Apache-2.0
// The option --classes: the classes, and their numbers.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include <penstock/class_names.hpp>

namespace penstock::cli {

void add_classes_option(CLI::App& command, std::string& path);

/// Returns the classes that `path` names: a text file with a name per line, or a store. None for an empty path.
/// `isolate`: see InputStoreOptions, for HDF5 files. @throws UsageError if a store has no names of classes;
/// penstock::Error.
ClassNames read_classes(const std::string& path, bool isolate = false);

}  // namespace penstock::cli
