// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/numeric/drop_hidden.hpp>

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/map.hpp>

#include "kept_rows.hpp"

namespace penstock {

namespace {

// Returns the fewest digits that read back as the same value.
std::string text_of(double value) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

float number(const TensorView& of, std::size_t i) {
  float value = 0;
  std::memcpy(&value, of.data + i * sizeof value, sizeof value);
  return value;
}

class DropHidden {
 public:
  DropHidden(std::vector<std::string> fields, const DropHiddenOptions& options)
      : fields_(std::move(fields)), options_(options) {
    numeric::check_row_fields(name(), fields_);
    const auto refuse = [&](const std::string& why) { throw Error(Errc::invalid_argument, why).with_stage(name()); };
    if (!(options.least >= 0 && options.least <= 1))
      refuse("`.least` is a share of a box, 0 to 1, not " + text_of(options.least));
    if (!(options.least_side >= 0 && options.least_side <= 1e9))
      refuse("`.least_side` is 0 to 1e9 pixels, not " + text_of(options.least_side));
  }

  Schema schema(const Schema& in) const {
    static_cast<void>(numeric::known_rows(in, fields_));
    const Field& first = in.at(fields_.front());
    const std::size_t rank = first.shape.rank();
    const std::int64_t columns = first.shape[rank - 1];
    if (first.dtype != DType::f32 || !((rank == 2 && columns == 5) || ((rank == 2 || rank == 3) && columns == 3)))
      throw Error(Errc::schema_mismatch,
                  "field \"" + first.name + "\" is " + std::string(to_string(first.dtype)) + first.shape.to_string() +
                      ", but the first field is boxes with their visible share, f32[N, 5], or points with their "
                      "visibility, f32[N, 3] or f32[N, K, 3]");
    if (columns == 3 && (options_.least != 0 || options_.least_side != 0))
      throw Error(Errc::schema_mismatch,
                  "`.least` and `.least_side` are for boxes, and field \"" + first.name + "\" is points");
    std::vector<Field> fields(in.begin(), in.end());
    for (const std::string& name : fields_) {
      Shape& shape = fields[in.slot(name)].shape;
      shape = numeric::with_rows(shape, dynamic);
    }
    return Schema(std::move(fields));
  }

  void operator()(Sample& sample, Context&) const {
    const std::vector<TensorView> values = numeric::values_of(sample, fields_);
    const TensorView& first = values.front();
    const auto all = static_cast<std::size_t>(first.shape[0]);
    std::vector<std::size_t> kept;
    for (std::size_t row = 0; row < all; ++row)
      if (visible(first, row)) kept.push_back(row);
    if (kept.size() != all) numeric::keep_rows_of(sample, fields_, values, kept);
  }

  std::string name() const { return "drop_hidden"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const {
    std::string text = "rows of";
    for (const std::string& field : fields_) text += " " + field;
    return text + ", least " + text_of(options_.least) + ", least side " + text_of(options_.least_side);
  }

 private:
  bool visible(const TensorView& first, std::size_t row) const {
    const std::size_t rank = first.shape.rank();
    if (first.shape[rank - 1] == 3) {
      const std::size_t points = rank == 2 ? 1 : static_cast<std::size_t>(first.shape[1]);
      for (std::size_t point = 0; point < points; ++point)
        if (number(first, (row * points + point) * 3 + 2) != 0) return true;
      return false;
    }
    const auto at = [&](std::size_t i) { return static_cast<double>(number(first, row * 5 + i)); };
    const double width = at(2) - at(0), height = at(3) - at(1), share = at(4);
    return width > 0 && height > 0 && width >= options_.least_side && height >= options_.least_side && share > 0 &&
           share >= options_.least;
  }

  std::vector<std::string> fields_;
  DropHiddenOptions options_;
};

}  // namespace

Stage drop_hidden(std::vector<std::string> fields, const DropHiddenOptions& options) {
  return map(DropHidden(std::move(fields), options));
}

}  // namespace penstock
