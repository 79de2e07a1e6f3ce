// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/tables/table_column.hpp"
#include "common/tables/text_table.hpp"

namespace penstock::common {

inline constexpr std::size_t no_match = static_cast<std::size_t>(-1);
inline constexpr std::size_t several = static_cast<std::size_t>(-2);  ///< the cell could name any of several slides

/// The slides that the cells of a column name.
struct FoundSlides {
  std::vector<std::size_t> slides = {};  ///< for each cell: its slide's number, `no_match` or `several`
  /// How many cells name one slide exactly. A source may count only cells that have the ending of the slide's file.
  std::size_t exact = 0;
  /// The folder of the first absolute path that matched a slide only by its last parts. Empty if no path did.
  std::string elsewhere = {};
};
using FindSlides = std::function<FoundSlides(std::span<const std::string> cells)>;

/// What to read from a table.
struct TableRequest {
  std::string slide_column = {};  ///< the column of the slides' names; empty: the one that names the most slides
  /// The columns that become fields. Empty: all columns with a name, except the column of the slides' names, `group`
  /// and `set_aside`.
  std::vector<std::string> columns = {};
  std::string group = {};  ///< the column of the slides' groups; empty: no groups are read
  std::vector<std::string> set_aside = {};
  std::string say_more = {};  ///< for errors: what would make an ambiguous name clear, for example "more of its path"
};

/// A table's values for slides.
struct SlideLines {
  std::vector<TableColumn> columns = {};
  std::vector<std::string> groups = {};   ///< group of each slide, if `TableRequest::group` is set
  std::vector<std::size_t> line_of = {};  ///< line of each slide, or `no_line`
  std::vector<bool> listed = {};          ///< which slides have a line
  std::size_t other_lines = 0;            ///< lines that don't name a slide of the source
  std::string elsewhere = {};             ///< `FoundSlides::elsewhere` of the column of the slides' names
  /// The column of the slides' names, if it is a guess: other columns name slides too, or this one names none exactly.
  std::optional<std::string> guessed_column = {};
  std::vector<std::string> notes = {};
};

/// Finds the column with the slides' names, the line of each slide, and the values in that line.
/// @throws Error(invalid_argument) if
/// - a column does not exist, no column names slides, or several columns could be meant;
/// - a line could name any of several slides, or several lines name one slide;
/// - a line of a slide has no value in the column `group`;
/// - `read_column` throws Error(invalid_argument).
SlideLines read_slide_lines(const TextTable& table, const TableRequest& request, std::span<const std::string> names,
                            const FindSlides& find);

}  // namespace penstock::common
