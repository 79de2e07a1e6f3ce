#include "table/slide_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <penstock/extend/source.hpp>
#include <penstock/sources/csv.hpp>

#include "file/errors.hpp"
#include "file/resolution.hpp"
#include "table/slide_finder.hpp"

namespace penstock::slide {

namespace {

constexpr std::size_t nobody = SlideFinder::nobody, no_line = nobody;

// The cells of a CSV file, column by column, as they stand there.
struct Cells {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;
  std::vector<std::string> where;  // each line stands, for errors: "cohort.csv:00000017"

  std::size_t lines() const noexcept { return where.size(); }

  // Its header is read as a line like others: a column without a name, as an index may be, is none to read by name.
  explicit Cells(const std::string& path) {
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
        std::string cell(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        (line == 0 ? names : columns[column]).push_back(std::move(cell));
      }
    }
  }

  std::size_t find(const std::string& column, const std::string& path) const {
    const auto found = std::find(names.begin(), names.end(), column);
    if (found != names.end() && std::find(std::next(found), names.end(), column) != names.end())
      throw error_in(path, Errc::invalid_argument,
                     "two columns have the name \"" + column + "\"; give each one of its own");
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + printable(name, 60);
    throw error_in(path, Errc::invalid_argument, "there is no column \"" + column + "\"; the columns are " + all);
  }
};

bool is_missing(std::string_view cell) { return cell.empty() || cell == "NA"; }

// invalid_argument where the cell is no number, result_out_of_range where it is too large.
template <class Number>
std::errc read_number(std::string_view cell, Number& value) {
  if (cell.starts_with("+-")) return std::errc::invalid_argument;
  if (cell.starts_with('+')) cell.remove_prefix(1);
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return end == cell.data() + cell.size() ? failed : std::errc::invalid_argument;
}

template <class Number>
std::optional<Number> number_in(std::string_view cell) {
  Number value{};
  return read_number(cell, value) == std::errc() ? std::optional(value) : std::nullopt;
}

bool is_number(std::string_view cell) {
  double value = 0;
  return read_number(cell, value) != std::errc::invalid_argument;
}

// Whole numbers fit into i64, others into f32.
bool fits(std::string_view cell) {
  const bool whole = cell.find_first_not_of("+-0123456789") == std::string_view::npos;
  if (whole) return number_in<std::int64_t>(cell).has_value();
  const auto value = number_in<double>(cell);
  return value && (!std::isfinite(*value) || std::isfinite(static_cast<float>(*value)));
}

// The value of each line, as all cells of the column have it.
class ColumnReader {
 public:
  ColumnReader(const std::string& path, const Cells& table, std::size_t column)
      : path_(path), name_(table.names[column]), cells_(table.columns[column]), where_(table.where) {
    std::size_t too_large = no_line;
    for (std::size_t line = 0; line < cells_.size(); ++line) {
      const std::string_view text = trimmed(cells_[line]);
      if (is_missing(text)) continue;
      whole_ = whole_ && number_in<std::int64_t>(text);
      numbers_ = numbers_ && is_number(text);
      if (!numbers_) break;
      if (too_large == no_line && !fits(text)) too_large = line;
    }
    if (numbers_ && too_large != no_line)
      throw error_in(path_, Errc::invalid_argument,
                     where_[too_large] + " has a number in the column \"" + name_ +
                         "\" that neither i64 nor f32 holds: " + printable(trimmed(cells_[too_large]), 60) +
                         "; make it text, or name the columns that you need in `columns`");
    if (numbers_) return;
    std::vector<std::string> classes;
    for (const std::string& cell : cells_)
      if (!is_missing(trimmed(cell))) classes.emplace_back(trimmed(cell));
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    for (std::size_t i = 0; i < classes.size(); ++i) number_of_[classes[i]] = static_cast<std::int64_t>(i);
    classes_ = ClassNames(std::move(classes));
  }

  Field field() const {
    if (!numbers_) return {name_, DType::i64, {}, {}, classes_};
    return {name_, whole_ ? DType::i64 : DType::f32, {}};
  }
  // @throws Error(invalid_argument) for a cell that is missing.
  void read(std::size_t line, std::size_t slide, SlideColumn& out) const {
    const std::string_view text = trimmed(cells_[line]);
    if (is_missing(text)) {
      if (numbers_ && !whole_) {
        out.numbers[slide] = std::numeric_limits<float>::quiet_NaN();
        return;
      }
      throw error_in(path_, Errc::invalid_argument,
                     where_[line] + " has no value in the column \"" + name_ +
                         "\": give it one, leave the line out, or name the columns that you need in `columns`");
    }
    if (!numbers_) {
      out.whole[slide] = number_of_.find(text)->second;
    } else if (whole_) {
      out.whole[slide] = *number_in<std::int64_t>(text);
    } else {
      out.numbers[slide] = static_cast<float>(*number_in<double>(text));
    }
  }

 private:
  const std::string& path_;
  std::string name_;
  const std::vector<std::string>& cells_;
  const std::vector<std::string>& where_;
  bool whole_ = true, numbers_ = true;
  ClassNames classes_;
  std::map<std::string, std::int64_t, std::less<>> number_of_;
};

// How many slides it names, and how many lines say one again.
struct Named {
  std::size_t slides = 0, again = 0;
};

Named named_in(const std::vector<std::size_t>& slides, std::size_t count) {
  Named named;
  std::vector<bool> known(count);
  for (const std::size_t slide : slides) {
    if (slide == SlideFinder::several) ++named.slides;
    if (slide >= count) continue;
    ++(known[slide] ? named.again : named.slides);
    known[slide] = true;
  }
  return named;
}

struct NameColumn {
  std::size_t column = 0;
  SlideFinder::Found found;
  bool is_plain = true;  // it was asked for, or no other could be meant
};

// Two columns give some slide different lines.
bool differ(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  for (std::size_t line = 0; line < a.size(); ++line)
    if (a[line] != b[line] && (a[line] < SlideFinder::several || b[line] < SlideFinder::several)) return true;
  return false;
}

NameColumn find_slide_column(const Slides& options, const Cells& cells, const SlideFinder& finder, std::size_t count) {
  if (!options.slide_column.empty()) {
    const std::size_t column = cells.find(options.slide_column, options.labels);
    return {column, finder.find(cells.columns[column])};
  }
  NameColumn best;
  Named most;
  std::size_t naming = 0;
  std::optional<std::size_t> as_good;
  for (std::size_t column = 0; column < cells.columns.size(); ++column) {
    SlideFinder::Found found = finder.find(cells.columns[column]);
    const Named named = named_in(found.slides, count);
    if (named.slides == 0) continue;
    ++naming;
    // The most slides, the fewest of them again, the most files with their endings.
    const auto rank = [](const Named& it, const SlideFinder::Found& of) {
      return std::tuple(it.slides, ~it.again, of.exact);
    };
    if (naming != 1 && rank(named, found) < rank(most, best.found)) continue;
    const bool same = naming != 1 && rank(named, found) == rank(most, best.found);
    if (same && !differ(found.slides, best.found.slides)) continue;
    as_good = same ? std::optional(column) : std::nullopt;
    if (same) continue;
    best = {column, std::move(found)};
    most = named;
  }
  if (naming == 0)
    throw error_in(options.labels, Errc::invalid_argument,
                   "no column has the name of a slide in it; say which one is meant in `slide_column`");
  if (as_good)
    throw error_in(options.labels, Errc::invalid_argument,
                   "the columns \"" + printable(cells.names[best.column], 60) + "\" and \"" +
                       printable(cells.names[*as_good], 60) +
                       "\" both name slides, and not the same ones; say which one is meant in `slide_column`");
  best.is_plain = naming == 1 && best.found.exact != 0;
  return best;
}

// The line of each slide, or none.
std::vector<std::size_t> lines_of_slides(const Slides& options, const Cells& cells, std::size_t column,
                                         const std::vector<std::size_t>& slides, std::span<const std::string> names) {
  std::vector<std::size_t> line_of(names.size(), no_line);
  for (std::size_t line = 0; line < cells.lines(); ++line) {
    if (slides[line] == nobody) continue;
    if (slides[line] == SlideFinder::several)
      throw error_in(options.labels, Errc::invalid_argument,
                     cells.where[line] + " calls a slide \"" + printable(cells.columns[column][line], 200) +
                         "\", which any of several could be; say more of its path, or its ending");
    std::size_t& known = line_of[slides[line]];
    if (known != no_line)
      throw error_in(options.labels, Errc::invalid_argument,
                     cells.where[known] + " and " + cells.where[line] + " are of the same slide, \"" +
                         names[slides[line]] + "\", by the column \"" + printable(cells.names[column], 60) +
                         "\"; where another column has the slides' names, say so in `slide_column`");
    known = line;
  }
  return line_of;
}

// Micrometres a pixel of each slide; 0 where its cell is empty.
std::vector<double> read_mpp(const Slides& options, const Cells& cells, std::size_t column,
                             const std::vector<std::size_t>& line_of) {
  std::vector<double> mpp(line_of.size());
  for (std::size_t slide = 0; slide < line_of.size(); ++slide) {
    if (line_of[slide] == no_line) continue;
    const std::string_view cell = trimmed(cells.columns[column][line_of[slide]]);
    if (is_missing(cell)) continue;
    const auto value = number_in<double>(cell);
    if (!value || !plausible_mpp(*value, *value))
      throw error_in(options.labels, Errc::invalid_argument,
                     cells.where[line_of[slide]] + " says in the column \"" + options.mpp_column +
                         "\" that a pixel has " + printable(cell, 60) + " micrometres; 0.05 to 20 are possible");
    mpp[slide] = *value;
  }
  return mpp;
}

}  // namespace

SlideTable read_slide_table(const Slides& options, std::span<const std::string> paths,
                            std::span<const std::string> names) {
  const Cells cells(options.labels);
  const SlideFinder finder(paths);
  const auto [slide_column, found, is_plain] = find_slide_column(options, cells, finder, names.size());
  const std::vector<std::size_t> line_of = lines_of_slides(options, cells, slide_column, found.slides, names);

  SlideTable table;
  table.other_lines = static_cast<std::size_t>(std::ranges::count(found.slides, nobody));
  table.elsewhere = found.elsewhere;
  if (!is_plain) table.guessed_column = cells.names[slide_column];
  for (const std::size_t line : line_of) table.listed.push_back(line != nobody);
  const std::size_t group = options.group.empty() ? nobody : cells.find(options.group, options.labels);
  const std::size_t mpp = options.mpp_column.empty() ? nobody : cells.find(options.mpp_column, options.labels);
  if (mpp != nobody) table.mpp = read_mpp(options, cells, mpp, line_of);
  std::vector<std::size_t> wanted;
  for (const std::string& column : options.columns) wanted.push_back(cells.find(column, options.labels));
  if (options.columns.empty())
    for (std::size_t column = 0; column < cells.columns.size(); ++column)
      if (column != slide_column && column != group && column != mpp && !cells.names[column].empty())
        wanted.push_back(column);
  for (const std::size_t column : wanted) {
    const ColumnReader reader(options.labels, cells, column);
    SlideColumn& out = table.columns.emplace_back();
    out.field = reader.field();
    (out.field.dtype == DType::f32) ? out.numbers.resize(names.size()) : out.whole.resize(names.size());
    for (std::size_t slide = 0; slide < names.size(); ++slide)
      if (line_of[slide] != nobody) reader.read(line_of[slide], slide, out);
  }
  if (group != nobody)
    for (std::size_t slide = 0; slide < names.size(); ++slide) {
      const std::string_view cell =
          line_of[slide] == nobody ? std::string_view() : trimmed(cells.columns[group][line_of[slide]]);
      if (line_of[slide] != nobody && is_missing(cell))
        throw error_in(options.labels, Errc::invalid_argument,
                       cells.where[line_of[slide]] + " has no value in the column \"" + options.group +
                           "\", which says what slides belong together");
      table.groups.emplace_back(cell);
    }
  return table;
}

}  // namespace penstock::slide
