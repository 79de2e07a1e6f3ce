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
inline constexpr std::size_t several = static_cast<std::size_t>(-2);  ///< any of which it could be

/// What the cells of a column name.
struct FoundSlides {
  std::vector<std::size_t> slides = {};  ///< for each cell: its slide's number, `no_match` or `several`
  std::size_t exact = 0;                 ///< how many cells name one as well as can be
  std::string elsewhere = {};            ///< a folder of paths that were taken by their ends; empty: none was
};
using FindSlides = std::function<FoundSlides(std::span<const std::string> cells)>;

/// What is wanted of a table.
struct TableWish {
  std::string slide_column = {};          ///< empty: the one that names most slides
  std::vector<std::string> columns = {};  ///< empty: all but the slides', the group's and those that are set aside
  std::string group = {};                 ///< empty: none
  std::vector<std::string> set_aside = {};
  std::string say_more = {};  ///< what helps where a name could be several slides', "more of its path"
};

/// What a table says of slides.
struct SlideLines {
  std::vector<TableColumn> columns = {};
  std::vector<std::string> groups = {};   ///< groups of the slides, where one is wanted
  std::vector<std::size_t> line_of = {};  ///< line of each slide, or `no_line`
  std::vector<bool> listed = {};          ///< which slides have a line
  std::size_t other_lines = 0;            ///< lines that name no slide
  std::string elsewhere = {};             ///< where lines say that slides lie, and they do not; empty: no other place
  std::optional<std::string> guessed_column = {};  ///< the column that slides are named by, where others might be meant
  std::vector<std::string> notes = {};
};

/// Finds the column with the slides' names, the line of each slide, and the values in it. `names` are the slides'.
/// @throws Error(invalid_argument) where a column isn't there or it could be several, where a line could be several
/// slides', or several are one slide's, and as `read_column`.
SlideLines read_slide_lines(const TextTable& table, const TableWish& wish, std::span<const std::string> names,
                            const FindSlides& find);

}  // namespace penstock::common
