// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/image_op.hpp>

namespace penstock::cli {

/// A parameter of a stage. Its value is given as name=value or by position: a value without a name is for the first
/// parameter that has no value yet.
struct Parameter {
  std::string_view name;
  std::string_view hint;  ///< what a value looks like, for help and messages
  bool required = false;
};

/// The hint of a parameter that `Arguments::size` reads.
inline constexpr std::string_view size_hint = "N|HxW";

/// A part of the text of `--stages`, and where in that text the part begins (counted from 0).
struct Word {
  std::string_view text;
  std::size_t at = 0;
};

/// The arguments of one stage, bound to its parameters. A getter returns the argument of the parameter `name`, or
/// the default if that argument is missing. Call a getter without a default only if the parameter is required or
/// `given`. @throws UsageError, which shows the place in the text, if the argument does not have the getter's form.
class Arguments {
 public:
  /// `line`: the whole text of `--stages`, for messages. @throws UsageError for unknown, repeated, missing or too many
  /// arguments.
  Arguments(std::string_view line, const Word& stage, const std::vector<Word>& words,
            const std::vector<Parameter>& parameters);

  bool given(std::string_view name) const { return find(name) != nullptr; }
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::uint64_t count(std::string_view name, std::uint64_t otherwise = 0) const;
  std::int64_t whole(std::string_view name, std::int64_t otherwise = 0) const;
  std::int32_t pixels(std::string_view name, std::int32_t otherwise = 0) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise) const;
  /// Reads "224" for a square, "HxW" otherwise.
  Size size(std::string_view name) const;
  std::vector<double> numbers(std::string_view name, std::vector<double> otherwise) const;
  /// Reads two numbers, the least and the greatest: "0.2,1".
  std::array<double, 2> pair(std::string_view name, std::array<double, 2> otherwise) const;
  std::vector<std::uint64_t> counts(std::string_view name) const;
  std::vector<std::string> names(std::string_view name) const;
  /// Returns the position of the argument in `choices`, or `otherwise` if the argument is missing.
  std::size_t choice(std::string_view name, std::initializer_list<std::string_view> choices,
                     std::size_t otherwise = 0) const;

 private:
  struct Bound {
    std::string_view name;
    Word value;
  };
  const Word* find(std::string_view name) const;
  [[noreturn]] void refuse(const Word& value, std::string_view wanted) const;

  std::string_view line_;
  std::vector<Bound> bound_;
};

/// Throws UsageError with the reason and the place: `--stages, at character 15: decode_jpeg | >>resiz<< 224: ...`.
[[noreturn]] void refuse_at(std::string_view line, const Word& word, const std::string& message);

/// Returns for example " <size N|HxW> [p=0..1]", for help and messages.
std::string usage_of(const std::vector<Parameter>& parameters);

}  // namespace penstock::cli
