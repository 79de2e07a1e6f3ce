// SPDX-License-Identifier: Apache-2.0
// The option --classes: the classes, and their numbers.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include <penstock/class_names.hpp>

namespace penstock::cli {

void add_classes_option(CLI::App& command, std::string& path);

/// Returns the classes of the text file (*.txt, a name per line) or store at `path`. Returns no classes if `path` is
/// empty. `isolate`: see InputStoreOptions, for HDF5 files. @throws UsageError if a store has no names of classes;
/// penstock::Error.
ClassNames read_classes(const std::string& path, bool isolate = false);

}  // namespace penstock::cli
