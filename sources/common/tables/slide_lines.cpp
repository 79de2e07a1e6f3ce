// SPDX-License-Identifier: Apache-2.0
#include "common/tables/slide_lines.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include <penstock/extend/system_error.hpp>

namespace penstock::common {

namespace {

constexpr std::size_t told = 60;  // how many characters of a name an error shows

// How many slides a column names, and how many of its lines name a slide that an earlier line names. A cell that could
// name any of several slides counts as one slide.
struct Named {
  std::size_t slides = 0, again = 0;
};

Named named_in(const std::vector<std::size_t>& slides, std::size_t count) {
  Named named;
  std::vector<bool> known(count);
  for (const std::size_t slide : slides) {
    if (slide == several) ++named.slides;
    if (slide >= count) continue;
    ++(known[slide] ? named.again : named.slides);
    known[slide] = true;
  }
  return named;
}

struct NameColumn {
  std::size_t column = 0;
  FoundSlides found;
  // True if `slide_column` was set, or if no other column names slides and this one names at least one exactly.
  bool is_plain = true;
};

// Returns whether the two columns name different slides in at least one line. Lines in which neither column names
// exactly one slide don't count.
bool differ(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  for (std::size_t line = 0; line < a.size(); ++line)
    if (a[line] != b[line] && (a[line] < several || b[line] < several)) return true;
  return false;
}

Error no_names(const TextTable& table) {
  const std::string cause = table.likely_cause();
  return table.error("no column has the name of a slide in it; " +
                     (cause.empty() ? "say which one is meant in `slide_column`" : cause));
}

NameColumn find_slide_column(const TextTable& table, const TableRequest& request, std::size_t count,
                             const FindSlides& find) {
  if (!request.slide_column.empty()) {
    const std::size_t column = table.find(request.slide_column);
    return {column, find(table.columns[column])};
  }
  NameColumn best;
  Named most;
  std::size_t naming = 0;
  std::optional<std::size_t> as_good;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    FoundSlides found = find(table.columns[column]);
    const Named named = named_in(found.slides, count);
    if (named.slides == 0) continue;
    ++naming;
    // The best column names the most slides. If several do, the one with the fewest repeats is the best. If they are
    // still tied, the one with the most exact names is the best.
    const auto rank = [](const Named& it, const FoundSlides& of) { return std::tuple(it.slides, ~it.again, of.exact); };
    if (naming != 1 && rank(named, found) < rank(most, best.found)) continue;
    const bool same = naming != 1 && rank(named, found) == rank(most, best.found);
    if (same && !differ(found.slides, best.found.slides)) continue;
    as_good = same ? std::optional(column) : std::nullopt;
    if (same) continue;
    best = {column, std::move(found)};
    most = named;
  }
  if (naming == 0) throw no_names(table);
  if (as_good)
    throw table.error("the columns \"" + printable(table.names[best.column], told) + "\" and \"" +
                      printable(table.names[*as_good], told) +
                      "\" both name slides, and not the same ones; say which one is meant in `slide_column`");
  best.is_plain = naming == 1 && best.found.exact != 0;
  return best;
}

// Returns each slide's line, or `no_line`.
std::vector<std::size_t> lines_of_slides(const TextTable& table, const TableRequest& request, const NameColumn& by,
                                         std::span<const std::string> names) {
  const std::vector<std::size_t>& slides = by.found.slides;
  std::vector<std::size_t> line_of(names.size(), no_line);
  for (std::size_t line = 0; line < table.lines(); ++line) {
    if (slides[line] == no_match) continue;
    if (slides[line] == several)
      throw table.error(table.where[line] + " calls a slide \"" + printable(table.columns[by.column][line]) +
                        "\", which any of several could be; say " + request.say_more);
    std::size_t& known = line_of[slides[line]];
    if (known != no_line)
      throw table.error(table.where[known] + " and " + table.where[line] + " are of the same slide, \"" +
                        names[slides[line]] + "\", by the column \"" + printable(table.names[by.column], told) +
                        "\"; where another column has the slides' names, say so in `slide_column`");
    known = line;
  }
  return line_of;
}

std::vector<std::string> groups_of(const TextTable& table, std::size_t column,
                                   const std::vector<std::size_t>& line_of) {
  std::vector<std::string> groups;
  for (const std::size_t line : line_of) {
    groups.push_back(line == no_line ? "" : table.columns[column][line]);
    if (line != no_line && is_missing(groups.back()))
      throw table.error(table.where[line] + " has no value in the column \"" + table.names[column] +
                        "\", which says what slides belong together");
  }
  return groups;
}

// Returns the columns that become fields. `used`: the columns that have another purpose.
std::vector<std::size_t> wanted_columns(const TextTable& table, const TableRequest& request,
                                        const std::vector<std::size_t>& used) {
  std::vector<std::size_t> wanted;
  for (const std::string& column : request.columns) wanted.push_back(table.find(column));
  if (!request.columns.empty()) return wanted;
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    if (!table.names[column].empty() && std::ranges::find(used, column) == used.end())
      wanted.push_back(table.find(table.names[column]));
  return wanted;
}

}  // namespace

SlideLines read_slide_lines(const TextTable& table, const TableRequest& request, std::span<const std::string> names,
                            const FindSlides& find) {
  const NameColumn by = find_slide_column(table, request, names.size(), find);
  SlideLines lines;
  lines.line_of = lines_of_slides(table, request, by, names);
  lines.other_lines = static_cast<std::size_t>(std::ranges::count(by.found.slides, no_match));
  lines.elsewhere = by.found.elsewhere;
  if (!by.is_plain) lines.guessed_column = table.names[by.column];
  for (const std::size_t line : lines.line_of) lines.listed.push_back(line != no_line);
  std::vector<std::size_t> used{by.column};
  for (const std::string& column : request.set_aside) used.push_back(table.find(column));
  if (!request.group.empty()) {
    used.push_back(table.find(request.group));
    lines.groups = groups_of(table, used.back(), lines.line_of);
  }
  for (const std::size_t column : wanted_columns(table, request, used))
    lines.columns.push_back(read_column(table, column, lines.line_of, lines.notes));
  return lines;
}

}  // namespace penstock::common
