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
inline constexpr std::size_t several = static_cast<std::size_t>(-2);  ///< it could be any of several slides

/// The slides that the cells of a column name.
struct FoundSlides {
  std::vector<std::size_t> slides = {};  ///< for each cell: its slide's number, `no_match` or `several`
  std::size_t exact = 0;                 ///< how many cells name one slide with its file's own ending
  std::string elsewhere = {};            ///< a folder of paths that were matched only by their ends; empty: none
};
using FindSlides = std::function<FoundSlides(std::span<const std::string> cells)>;

/// What to read from a table.
struct TableWish {
  std::string slide_column = {};          ///< empty: the column that names most slides
  std::vector<std::string> columns = {};  ///< empty: all except the slides', the group's and those that are set aside
  std::string group = {};                 ///< empty: none
  std::vector<std::string> set_aside = {};
  std::string say_more = {};  ///< what helps if a name could be several slides', for example "more of its path"
};

/// A table's values for slides.
struct SlideLines {
  std::vector<TableColumn> columns = {};
  std::vector<std::string> groups = {};   ///< groups of the slides, if `group` is set
  std::vector<std::size_t> line_of = {};  ///< line of each slide, or `no_line`
  std::vector<bool> listed = {};          ///< which slides have a line
  std::size_t other_lines = 0;            ///< lines that don't name a slide of the source
  std::string elsewhere = {};             ///< the folder that lines name although the slides are not there; empty: none
  std::optional<std::string> guessed_column = {};  ///< the column of the slides' names, if others might be meant
  std::vector<std::string> notes = {};
};

/// Finds the column with the slides' names, the line of each slide, and the values in it. `names`: the slides' names.
/// @throws Error(invalid_argument) if
/// - a column does not exist, or several columns could be meant;
/// - a line could be several slides', or several lines are one slide's;
/// - `read_column` throws it.
SlideLines read_slide_lines(const TextTable& table, const TableWish& wish, std::span<const std::string> names,
                            const FindSlides& find);

}  // namespace penstock::common
