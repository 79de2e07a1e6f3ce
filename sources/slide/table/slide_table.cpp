// SPDX-License-Identifier: Apache-2.0
#include "table/slide_table.hpp"

#include <cstddef>

#include <penstock/extend/system_error.hpp>

#include "common/tables/text_lines.hpp"
#include "file/errors.hpp"
#include "file/scale/resolution.hpp"
#include "table/slide_finder.hpp"

namespace penstock::slide {

namespace {

// Returns the micrometres per pixel of each slide, or 0 if the table has no value for the slide.
std::vector<double> read_mpp(const common::TextTable& cells, std::size_t column,
                             const std::vector<std::size_t>& line_of) {
  std::vector<double> mpp(line_of.size());
  for (std::size_t slide = 0; slide < line_of.size(); ++slide) {
    if (line_of[slide] == common::no_line) continue;
    const std::string& cell = cells.columns[column][line_of[slide]];
    if (common::is_missing_number(cell)) continue;
    if (!common::with_point(cell).empty()) throw common::decimal_comma(cells, column, line_of[slide]);
    const auto value = common::number_in(cell);
    if (!value || !plausible_mpp(*value, *value))
      throw cells.error(cells.where[line_of[slide]] + " says in the column \"" + cells.names[column] +
                        "\" that a pixel has " + printable(cell, 60) + " micrometres; 0.05 to 20 are possible");
    mpp[slide] = *value;
  }
  return mpp;
}

}  // namespace

SlideTable read_slide_table(const Slides& options, std::span<const std::string> paths,
                            std::span<const std::string> names) {
  const common::TextTable cells(options.labels, source_name);
  const SlideFinder finder(paths);
  common::TableRequest request{.slide_column = options.slide_column,
                               .columns = options.columns,
                               .group = options.group,
                               .say_more = "more of its path, or its ending"};
  if (!options.mpp_column.empty()) request.set_aside = {options.mpp_column};
  SlideTable table;
  static_cast<common::SlideLines&>(table) = common::read_slide_lines(
      cells, request, names, [&](std::span<const std::string> column) { return finder.find(column); });
  if (!options.mpp_column.empty()) table.mpp = read_mpp(cells, cells.find(options.mpp_column), table.line_of);
  return table;
}

}  // namespace penstock::slide
