#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/schema.hpp>

#include "common/tables/text_table.hpp"

namespace penstock::common {

inline constexpr std::size_t no_line = static_cast<std::size_t>(-1);

/// One value for each slide that has a line; of the others, nothing that means something.
struct TableColumn {
  Field field = {};
  std::vector<std::int64_t> whole = {};  ///< values of a field of whole numbers, or of classes
  std::vector<float> numbers = {};       ///< values of a field of other numbers
};

/// No value, in whatever column.
bool is_missing(std::string_view cell);
/// No value, in a column of numbers: that, or what programs write for it: "N/A", "nan", "NULL", ...
bool is_missing_number(std::string_view cell);
/// A number as C writes it, with a '+' before it or not; none where the cell is no number, or one that f64 doesn't
/// hold.
std::optional<double> number_in(std::string_view cell);

/// For a cell that is a number but for its comma. Error(invalid_argument).
Error decimal_comma(const TextTable& table, std::size_t column, std::size_t line);

/// The values of a column, in the lines of slides; `no_line` where one has none. Its kind is that of all lines. To
/// `notes` goes a line where it is most likely not of the kind that it is taken for.
/// @throws Error(invalid_argument) for a cell without a value, for a number that neither i64 nor f32 holds, and where
/// all are numbers but for a comma in some, unless commas stand between cells.
TableColumn read_column(const TextTable& table, std::size_t column, std::span<const std::size_t> line_of,
                        std::vector<std::string>& notes);

}  // namespace penstock::common
