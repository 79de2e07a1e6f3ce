#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace penstock::cli {

/// The words of a command line, with what its settings file says before them: `--settings FILE` is looked for among
/// them. The file is TOML; its keys are the long options of `command` without dashes, and `slides` is the list of what
/// stands there without an option:
///
///     slides = ["cohort/*.svs"]
///     out = "tiles.lmdb"
///     mpp = 0.5
///     include = ["Tumor", "Stroma"]
///     encode = true
///
/// An option that the words have counts, and the file's is passed over; so are options that can't stand beside one of
/// the words. `words` are as CLI11 takes them: the last one first. @throws Error(not_found | io | corrupt) for a file
/// that isn't there or is no TOML, with the line; UsageError for a key that is no option, and for a value of a kind
/// that no option has.
std::vector<std::string> with_settings_file(const CLI::App& command, std::vector<std::string> words);

}  // namespace penstock::cli
