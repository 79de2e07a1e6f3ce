#include "bag_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/sources/csv.hpp>

#include "bag_file.hpp"

namespace penstock::coords {

namespace {

constexpr std::size_t no_line = static_cast<std::size_t>(-1);
constexpr std::size_t nobody = no_line, several = no_line - 1;
constexpr std::size_t told = 60;  // characters of a cell

Error table_error(const FeatureBags& options, const std::string& why) {
  return Error(Errc::invalid_argument, why).with_source(bags_name).with_file(options.labels);
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

bool is_missing_cell(std::string_view cell) { return cell.empty() || cell == "NA"; }

// The cells as they stand there, without the spaces around them. The header is read as a line like others: a column
// without a name, as an index may be, is none to read by name.
struct TextCells {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;
  std::vector<std::string> where;  // each line stands, for errors: "cohort.csv:00000017"
  std::unordered_map<std::string, std::vector<std::size_t>> by_name;

  explicit TextCells(const std::string& path) {
    Csv csv{.path = path, .header = false};
    for (const Field& field : CsvSource(csv).schema())
      csv.columns.push_back({.column = field.name, .type = CsvType::text});
    const CsvSource source(csv);
    columns.resize(csv.columns.size());
    const auto reader = source.open_reader();
    OwnedSample sample(source.schema());
    for (std::uint64_t line = 0; line < source.size(); ++line) {
      SampleBuilder out = sample.builder();
      reader->read(line, out);
      if (line != 0) where.push_back(source.key(line));
      for (std::size_t column = 0; column < columns.size(); ++column) {
        const std::span<const std::byte> bytes = sample.sample().bytes(column);
        const std::string_view cell(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        (line == 0 ? names : columns[column]).emplace_back(without_spaces(cell));
      }
    }
    for (std::size_t column = 0; column < names.size(); ++column) by_name[names[column]].push_back(column);
  }
};

std::size_t find_column(const FeatureBags& options, const TextCells& cells, const std::string& column) {
  const auto found = cells.by_name.find(column);
  if (found != cells.by_name.end() && found->second.size() > 1)
    throw table_error(options, "two columns have the name \"" + column + "\"; give each one of its own");
  if (found != cells.by_name.end()) return found->second.front();
  std::string all;
  for (const std::string& name : cells.names) all += (all.empty() ? "" : ", ") + printable(name, told);
  throw table_error(options, "there is no column \"" + column + "\"; the columns are " + all);
}

// Slides by the ends of their names: "A/1" and "1" of "A/1".
class NameEnds {
 public:
  explicit NameEnds(std::span<const SlideFile> slides) {
    for (std::size_t i = 0; i < slides.size(); ++i) {
      const std::string& name = slides[i].slide;
      whole_.emplace(name, i);
      parts_ = std::max<std::size_t>(parts_, 1 + static_cast<std::size_t>(std::ranges::count(name, '/')));
      for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
        if (const auto [end, added] = ends_.emplace(name.substr(slash + 1), i); !added) end->second = several;
    }
  }
  // The cell is the end of a name, or a name is the end of the cell: the longest one that is. Each with its file's
  // ending, and without.
  std::size_t slide_of(std::string_view cell) const {
    if (cell.empty()) return nobody;
    for (const Names* const names : {&whole_, &ends_})
      if (const std::size_t slide = find(cell, *names); slide != nobody) return slide;
    // An end with more parts than any name is none: a long cell costs no more than its length.
    std::size_t first = cell.size();
    for (std::size_t part = 0; part < parts_ && first != std::string_view::npos; ++part)
      first = first == 0 ? std::string_view::npos : cell.rfind('/', first - 1);
    if (first != std::string_view::npos) cell.remove_prefix(first + 1);
    while (true) {
      if (const std::size_t slide = find(cell, whole_); slide != nobody) return slide;
      const std::size_t slash = cell.find('/');
      if (slash == std::string_view::npos) return nobody;
      cell.remove_prefix(slash + 1);
    }
  }

 private:
  using Names = std::unordered_map<std::string, std::size_t>;

  static std::size_t find(std::string_view file, const Names& names) {
    for (std::string_view name = file;;) {
      if (const auto found = names.find(std::string(name)); found != names.end()) return found->second;
      const std::size_t dot = name.rfind('.');
      if (dot == std::string_view::npos || dot == 0 || name.find('/', dot) != std::string_view::npos) return nobody;
      // One ending, or ".ome" before it.
      if (name.size() != file.size() && name.substr(dot) != ".ome") return nobody;
      name = name.substr(0, dot);
    }
  }

  Names whole_, ends_;
  std::size_t parts_ = 0;  // of the name that has most
};

struct ColumnOfNames {
  std::size_t column = 0;
  std::vector<std::size_t> slides;  // of each line
  bool only = true;                 // it was asked for, or no other could be meant
};

ColumnOfNames find_names(const FeatureBags& options, const TextCells& cells, std::span<const SlideFile> slides) {
  const NameEnds ends(slides);
  const auto slides_in = [&](std::size_t column) {
    std::vector<std::size_t> found;
    for (const std::string& cell : cells.columns[column]) found.push_back(ends.slide_of(cell));
    return found;
  };
  if (!options.slide_column.empty()) {
    const std::size_t column = find_column(options, cells, options.slide_column);
    return {column, slides_in(column)};
  }
  const auto count = [&](const std::vector<std::size_t>& found) {
    std::vector<bool> known(slides.size());
    std::size_t named = 0;
    for (const std::size_t slide : found) {
      if (slide == nobody || (slide != several && known[slide])) continue;
      if (slide != several) known[slide] = true;
      ++named;
    }
    return named;
  };
  ColumnOfNames best;
  std::size_t most = 0, naming = 0, as_good = nobody;
  for (std::size_t column = 0; column < cells.columns.size(); ++column) {
    std::vector<std::size_t> found = slides_in(column);
    const std::size_t named = count(found);
    if (named == 0) continue;
    ++naming;
    if (named == most && found != best.slides) as_good = column;
    if (named <= most) continue;
    most = named;
    as_good = nobody;
    best = {column, std::move(found)};
  }
  if (naming == 0)
    throw table_error(options, "no column has the name of a slide in it; say which one is meant in `slide_column`");
  if (as_good != nobody)
    throw table_error(options, "the columns \"" + printable(cells.names[best.column], told) + "\" and \"" +
                                   printable(cells.names[as_good], told) +
                                   "\" both name slides, and not the same ones; say which one is meant in "
                                   "`slide_column`");
  best.only = naming == 1;
  return best;
}

// The line of each slide, or none.
std::vector<std::size_t> lines_of(const FeatureBags& options, const TextCells& cells, const ColumnOfNames& names,
                                  std::span<const SlideFile> slides) {
  std::vector<std::size_t> line_of(slides.size(), no_line);
  for (std::size_t line = 0; line < names.slides.size(); ++line) {
    const std::size_t slide = names.slides[line];
    if (slide == nobody) continue;
    if (slide == several)
      throw table_error(options, cells.where[line] + " calls a slide \"" +
                                     printable(cells.columns[names.column][line]) +
                                     "\", which any of several could be; say more of its path");
    if (line_of[slide] != no_line)
      throw table_error(options, cells.where[line_of[slide]] + " and " + cells.where[line] +
                                     " are of the same slide, \"" + slides[slide].slide + "\", by the column \"" +
                                     printable(cells.names[names.column], told) +
                                     "\"; where another column has the slides' names, say so in `slide_column`");
    line_of[slide] = line;
  }
  return line_of;
}

template <class Number>
Number number_in_cell(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  Number value{};
  (void)std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return value;
}

// What the cells of each of these columns are: i64, f64, or text as u8[?].
std::vector<DType> types_of(const FeatureBags& options, const TextCells& cells,
                            const std::vector<std::size_t>& wanted) {
  Csv csv{.path = options.labels};
  for (const std::size_t column : wanted) csv.columns.push_back({.column = cells.names[column]});
  std::vector<DType> types;
  if (wanted.empty()) return types;
  for (const Field& field : CsvSource(csv).schema()) types.push_back(field.dtype);
  return types;
}

class ColumnOfTable {
 public:
  ColumnOfTable(const FeatureBags& options, const TextCells& cells, std::size_t column, DType type)
      : options_(options), cells_(cells), column_(column), type_(type) {
    if (type_ != DType::u8) return;
    for (const std::string& cell : cells.columns[column])
      if (!is_missing_cell(cell)) classes_.push_back(cell);
    std::sort(classes_.begin(), classes_.end());
    classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
  }

  BagColumn read(const std::vector<std::size_t>& line_of) const {
    const std::string& name = cells_.names[column_];
    BagColumn out;
    if (type_ == DType::f64) {
      out.field = {name, DType::f32, {}};
      for (const std::size_t line : line_of) out.numbers.push_back(line == no_line ? 0 : number(line));
    } else {
      out.field = {name, DType::i64, {}, {}, ClassNames(classes_)};
      for (const std::size_t line : line_of) out.whole.push_back(line == no_line ? 0 : whole(line));
    }
    return out;
  }

 private:
  const std::string& cell(std::size_t line) const { return cells_.columns[column_][line]; }
  float number(std::size_t line) const {
    if (is_missing_cell(cell(line))) return std::numeric_limits<float>::quiet_NaN();
    const auto value = number_in_cell<double>(cell(line));
    if (std::isfinite(value) && !std::isfinite(static_cast<float>(value)))
      throw table_error(options_, cells_.where[line] + " has a number in the column \"" + cells_.names[column_] +
                                      "\" that f32 does not hold: " + printable(cell(line), told));
    return static_cast<float>(value);
  }
  std::int64_t whole(std::size_t line) const {
    if (is_missing_cell(cell(line)))
      throw table_error(options_, cells_.where[line] + " has no value in the column \"" + cells_.names[column_] +
                                      "\": give it one, leave the line out, or name the columns that you need in "
                                      "`columns`");
    if (type_ == DType::i64) return number_in_cell<std::int64_t>(cell(line));
    return std::ranges::lower_bound(classes_, cell(line)) - classes_.begin();
  }

  const FeatureBags& options_;
  const TextCells& cells_;
  const std::size_t column_;
  const DType type_;
  std::vector<std::string> classes_;
};

std::vector<std::string> groups_of_slides(const FeatureBags& options, const TextCells& cells,
                                          const std::vector<std::size_t>& line_of) {
  const std::size_t column = find_column(options, cells, options.group);
  std::vector<std::string> groups;
  for (const std::size_t line : line_of) {
    groups.push_back(line == no_line ? "" : cells.columns[column][line]);
    if (line != no_line && is_missing_cell(groups.back()))
      throw table_error(options, cells.where[line] + " has no value in the column \"" + options.group +
                                     "\", which says what slides belong together");
  }
  return groups;
}

}  // namespace

BagTable read_bag_table(const FeatureBags& options, std::span<const SlideFile> slides) {
  const TextCells cells(options.labels);
  const ColumnOfNames names = find_names(options, cells, slides);
  const std::vector<std::size_t> line_of = lines_of(options, cells, names, slides);
  BagTable table;
  table.other_lines = static_cast<std::size_t>(std::ranges::count(names.slides, nobody));
  if (!names.only) table.guessed_column = cells.names[names.column];
  for (const std::size_t line : line_of) table.listed.push_back(line != no_line);
  if (!options.group.empty()) table.groups = groups_of_slides(options, cells, line_of);
  std::vector<std::size_t> wanted;
  for (const std::string& column : options.columns) wanted.push_back(find_column(options, cells, column));
  if (options.columns.empty())
    for (std::size_t column = 0; column < cells.names.size(); ++column)
      if (column != names.column && !cells.names[column].empty() && cells.names[column] != options.group) {
        wanted.push_back(find_column(options, cells, cells.names[column]));
      }
  const std::vector<DType> types = types_of(options, cells, wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    table.columns.push_back(ColumnOfTable(options, cells, wanted[i], types[i]).read(line_of));
  return table;
}

}  // namespace penstock::coords
