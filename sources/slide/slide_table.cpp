#include "slide_table.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <penstock/extend/source.hpp>
#include <penstock/sources/csv.hpp>

#include "errors.hpp"
#include "slide_names.hpp"

namespace penstock::slide {

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// The cells of a CSV file, column by column, as they stand there.
struct Cells {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;
  std::vector<std::string> where;  // each line stands, for errors: "cohort.csv:00000017"

  std::size_t lines() const noexcept { return where.size(); }

  explicit Cells(const std::string& path) {
    // Once for the names of columns, once for their cells.
    Csv csv{.path = path};
    const Schema found = CsvSource(csv).schema();
    for (const Field& field : found) csv.columns.push_back({.column = field.name, .type = CsvType::text});
    const CsvSource source(csv);
    columns.resize(found.size());
    for (const Field& field : found) names.push_back(field.name);
    const auto reader = source.open_reader();
    OwnedSample sample(source.schema());
    for (std::uint64_t line = 0; line < source.size(); ++line) {
      where.push_back(source.key(line));
      SampleBuilder out = sample.builder();
      reader->read(line, out);
      for (std::size_t column = 0; column < columns.size(); ++column) {
        const std::span<const std::byte> cell = sample.sample().bytes(column);
        columns[column].emplace_back(reinterpret_cast<const char*>(cell.data()), cell.size());
      }
    }
  }

  std::size_t find(const std::string& column, const std::string& path) const {
    const auto found = std::find(names.begin(), names.end(), column);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + printable(name, 60);
    throw error_in(path, Errc::invalid_argument, "there is no column \"" + column + "\"; the columns are " + all);
  }
};

// Finds a slide by what a table may call it.
class SlideFinder {
 public:
  SlideFinder(std::span<const std::string> paths, std::span<const std::string> names) {
    for (std::size_t i = 0; i < names.size(); ++i) by_name_.emplace(names[i], i);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      add(file_name_of(paths[i]), i);
      add(without_ending(file_name_of(paths[i])), i);
    }
  }
  std::size_t find(const std::string& cell) const {
    if (cell.empty()) return nobody;
    for (const std::string& called :
         {cell, without_ending(cell), file_name_of(cell), without_ending(file_name_of(cell))}) {
      if (const auto found = by_name_.find(called); found != by_name_.end()) return found->second;
    }
    return nobody;
  }

 private:
  // What could be any of two slides is neither.
  void add(const std::string& called, std::size_t slide) {
    const auto [place, fresh] = by_name_.emplace(called, slide);
    if (!fresh && place->second != slide) place->second = nobody;
  }
  std::unordered_map<std::string, std::size_t> by_name_;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_missing(std::string_view cell) { return cell.empty() || cell == "NA"; }

template <class Number>
std::optional<Number> number_in(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  Number value{};
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (cell.empty() || failed != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

// The value of each line, as all cells of the column have it.
class ColumnReader {
 public:
  ColumnReader(const std::string& path, const Cells& table, std::size_t column)
      : path_(path), name_(table.names[column]), cells_(table.columns[column]), where_(table.where) {
    for (const std::string& cell : cells_) {
      const std::string_view text = trimmed(cell);
      if (is_missing(text)) continue;
      whole_ = whole_ && number_in<std::int64_t>(text);
      numbers_ = numbers_ && number_in<double>(text);
      if (!numbers_) break;
    }
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

// The slide of each line, or nobody.
std::vector<std::size_t> slides_of_lines(const std::vector<std::string>& cells, const SlideFinder& finder) {
  std::vector<std::size_t> slides;
  for (const std::string& cell : cells) slides.push_back(finder.find(std::string(trimmed(cell))));
  return slides;
}

std::size_t count_named(const std::vector<std::size_t>& slides) {
  return static_cast<std::size_t>(
      std::count_if(slides.begin(), slides.end(), [](std::size_t slide) { return slide != nobody; }));
}

std::size_t find_slide_column(const Slides& options, const Cells& cells, const SlideFinder& finder) {
  if (!options.slide_column.empty()) return cells.find(options.slide_column, options.labels);
  std::size_t best = 0, most = 0;
  for (std::size_t column = 0; column < cells.columns.size(); ++column) {
    const std::size_t named = count_named(slides_of_lines(cells.columns[column], finder));
    if (named > most) {
      best = column;
      most = named;
    }
  }
  if (most == 0)
    throw error_in(options.labels, Errc::invalid_argument,
                   "no column has the name of a slide in it; say which one is meant in `slide_column`");
  return best;
}

}  // namespace

SlideTable read_slide_table(const Slides& options, std::span<const std::string> paths,
                            std::span<const std::string> names) {
  const Cells cells(options.labels);
  const SlideFinder finder(paths, names);
  const std::size_t slide_column = find_slide_column(options, cells, finder);
  const std::vector<std::size_t> slides = slides_of_lines(cells.columns[slide_column], finder);
  std::vector<std::size_t> line_of(names.size(), nobody);
  for (std::size_t line = 0; line < cells.lines(); ++line) {
    if (slides[line] == nobody) continue;
    std::size_t& known = line_of[slides[line]];
    if (known != nobody)
      throw error_in(
          options.labels, Errc::invalid_argument,
          cells.where[known] + " and " + cells.where[line] + " are of the same slide, \"" + names[slides[line]] + "\"");
    known = line;
  }

  SlideTable table;
  table.other_lines = cells.lines() - count_named(slides);
  for (const std::size_t line : line_of) table.listed.push_back(line != nobody);
  const std::size_t group = options.group.empty() ? nobody : cells.find(options.group, options.labels);
  std::vector<std::size_t> wanted;
  for (const std::string& column : options.columns) wanted.push_back(cells.find(column, options.labels));
  if (options.columns.empty())
    for (std::size_t column = 0; column < cells.columns.size(); ++column)
      if (column != slide_column && column != group) wanted.push_back(column);
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
