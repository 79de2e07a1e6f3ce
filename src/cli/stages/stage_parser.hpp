// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/pipeline.hpp>
#include <penstock/stages/stage.hpp>

#include "stages/stage_arguments.hpp"

namespace penstock::cli {

/// A stage as the command line knows it.
struct StageSyntax {
  std::string_view name;  ///< the name of the C++ function
  bool order;             ///< the stage chooses or arranges records
  std::vector<Parameter> parameters;
  Stage (*make)(const Arguments& arguments);
};

/// Returns all built-in stages.
std::span<const StageSyntax> stage_table();

struct ParsedStage {
  const StageSyntax* syntax;
  Word word;  ///< the stage as it was written, with its arguments
  Stage stage;
};

/// Parses `decode_jpeg | random_resized_crop 224 scale=0.2,1 | random_flip | batch 64`: stages by their C++ names
/// between bars, with arguments by position or as name=value. A stage that works on an image takes the field `image` if
/// the text names no field. The result's words are views of `text`, which must outlive them. @throws UsageError, which
/// shows the place. For an unknown stage, the message lists the known names.
std::vector<ParsedStage> parse_stages(std::string_view text);

/// Returns a line per stage, for --help.
std::string stages_help();

}  // namespace penstock::cli
