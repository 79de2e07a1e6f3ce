// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Adds `--settings FILE`, which must be the first option of `command`, because options are taken in their order. The
/// file is TOML. Its keys are the long options of `command` without dashes; `slides` is the list of the arguments
/// without an option:
///
///     slides = ["cohort/*.svs"]
///     out = "tiles.lmdb"
///     mpp = 0.5
///     include = ["Tumor", "Stroma"]
///     encode = true
///
/// An option on the command line overrides the file's. Options of the file that can't be combined with one on the
/// command line are skipped too. Parsing throws Error(not_found | io | corrupt) if the file is missing or is not TOML,
/// with the line. It throws UsageError for a key that is not an option, and for a value of a kind that no option has.
void add_settings_option(CLI::App& command);

}  // namespace penstock::cli
