// SPDX-License-Identifier: Apache-2.0
// Finds the slide that a line of a table belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/tables/slide_lines.hpp"

namespace penstock::slide {

/// Finds slides by their names in a table. Takes time proportional to the bytes of paths and cells.
///
/// - A slide's whole name means that slide. If other slides' paths end like the name, the cell must have "./" before
///   the name.
/// - A name without a folder means the slide whose file has this name, with or without its extension. If no cell names
///   the file with its own extension or with none, a cell may have a different extension, as after a conversion.
/// - A relative path means the slide whose path ends like it.
/// - An absolute path of a slide's file means that slide.
/// - Any other absolute path (of a copy, or of a file on another machine) means the slide whose path has the longest
///   end in common with it. The end must have at least one folder. If all absolute paths of the column are in one
///   folder, the file's name suffices. If the path is of an existing file, that file must have as many bytes as the
///   slide's file.
class SlideFinder {
 public:
  static constexpr std::size_t no_match = common::no_match, several = common::several;

  explicit SlideFinder(std::span<const std::string> paths);

  /// Finds the slide that each cell names. The result's `exact` is the number of cells that name a slide's file with
  /// its extension.
  common::FoundSlides find(std::span<const std::string> cells) const;

 private:
  using Ends = std::unordered_map<std::string, std::size_t>;

  /// How a cell names a file: with the file's own extension, with none, or with a different one.
  enum class Ending : std::uint8_t { own, none, another };
  struct Match {
    std::size_t slide = no_match;
    Ending ending = Ending::none;
  };
  Match find_end(const std::string& end) const;
  Match find_absolute(std::string_view path) const;

  Ends names_;                  // whole names, with which records' keys begin
  Ends with_ending_, without_;  // the last parts of slides' paths, with and without extensions
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> files_;  // slides by device and inode of the file
  std::vector<std::uint64_t> bytes_;                                      // bytes of each slide's file
};

}  // namespace penstock::slide
