// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Adds `--settings FILE`. Call it before any other option is added to `command`, because CLI11 evaluates options in
/// the order in which they were added. The file is TOML. Its keys are the long options of `command` without dashes. The
/// key `slides` is the list of the arguments without an option:
///
///     slides = ["cohort/*.svs"]
///     out = "tiles.lmdb"
///     mpp = 0.5
///     include = ["Tumor", "Stroma"]
///     encode = true
///
/// If an option is on the command line, its value in the file is ignored. So is an option of the file that can't be
/// combined with an option on the command line. Parsing throws
/// - Error(not_found | io) if the file is missing or can't be read;
/// - Error(corrupt), with the line, if the file is not TOML;
/// - UsageError for a key that is not an option;
/// - UsageError for a flag's value that is not true or false;
/// - UsageError for another option's value that is not text, a number or a list of these.
void add_settings_option(CLI::App& command);

}  // namespace penstock::cli
