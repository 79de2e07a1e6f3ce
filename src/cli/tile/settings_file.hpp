#pragma once

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// Adds `--settings FILE`, which has to be the first option of `command`, as options are taken in their order. The file
/// is TOML; its keys are the long options of `command` without dashes, and `slides` is the list of what stands there
/// without an option:
///
///     slides = ["cohort/*.svs"]
///     out = "tiles.lmdb"
///     mpp = 0.5
///     include = ["Tumor", "Stroma"]
///     encode = true
///
/// An option that the command line has counts, and the file's is passed over; so are options that can't stand beside
/// one of the command line. Parsing throws Error(not_found | io | corrupt) for a file that isn't there or is no TOML,
/// with the line; UsageError for a key that is no option, and for a value of a kind that no option has.
void add_settings_option(CLI::App& command);

}  // namespace penstock::cli
