// SPDX-License-Identifier: Apache-2.0
#include "mix_fields.hpp"

#include <algorithm>
#include <cstring>

#include <penstock/error.hpp>

#include "describe.hpp"

namespace penstock::image {

namespace {

// Mixes a pair of rows in place.
template <class Number>
void mix_pair(typename Number::Element* __restrict first, typename Number::Element* __restrict second,
              std::size_t elements, float share) {
  for (std::size_t i = 0; i < elements; ++i) {
    const float own = Number::value(first[i]), other = Number::value(second[i]);
    first[i] = Number::of(mixed(own, other, share));
    second[i] = Number::of(mixed(other, own, share));
  }
}

template <class Number, class Shares>
void mix_numbers(const MixRows& work, const Shares& shares) {
  using Element = typename Number::Element;
  const auto elements = static_cast<std::size_t>(work.elements);
  for (std::uint64_t row = 0; row < work.rows; row += 2) {
    Element* const out = static_cast<Element*>(work.out) + row * elements;
    if (work.in != work.out)
      std::copy_n(static_cast<const Element*>(work.in) + row * elements,
                  elements * std::min<std::uint64_t>(2, work.rows - row), out);
    if (shares.mixes(work.rows, row)) mix_pair<Number>(out, out + elements, elements, shares.share(row));
  }
}

template <class Shares>
void mix_rows(const MixRows& work, const Shares& shares) {
  if (work.dtype == DType::f16)
    mix_numbers<Binary16>(work, shares);
  else if (work.dtype == DType::bf16)
    mix_numbers<Brain16>(work, shares);
  else
    mix_numbers<Binary32>(work, shares);
}

}  // namespace

void check_mix_options(const char* stage, const std::vector<std::string>& fields, double alpha) {
  const auto refuse = [stage](const std::string& cause) {
    throw Error(Errc::invalid_argument, std::string(stage) + ": " + cause);
  };
  for (auto field = fields.begin(); field != fields.end(); ++field)
    if (std::find(fields.begin(), field, *field) != field) refuse("field \"" + *field + "\" is named twice");
  if (!(alpha >= 0.001 && alpha <= 1000)) refuse("alpha " + text(alpha) + " is not 0.001 to 1000");
}

void check_mixed(const Schema& schema, const std::vector<std::string>& fields) {
  for (const std::string& name : fields) {
    const Field& field = schema.at(name);
    if (!field.shape.fixed() || field.collate.kind != Collate::Kind::dense)
      throw Error(Errc::schema_mismatch,
                  "field \"" + name + "\" is " + std::string(to_string(field.dtype)) + field.shape.to_string() +
                      ", but only rows of one fixed shape are mixed: give the field one shape by a map before batch, "
                      "instead of ragged or pad, or leave it out of the fields to mix");
    if (field.dtype != DType::f32 && field.dtype != DType::f16 && field.dtype != DType::bf16)
      throw Error(Errc::schema_mismatch, "field \"" + name + "\" is " + std::string(to_string(field.dtype)) +
                                             field.shape.to_string() +
                                             ", but values are mixed as f32, f16 or bf16: convert or normalize images "
                                             "before, and make labels vectors with one_hot");
  }
}

std::string names_of(const std::vector<std::string>& fields) {
  std::string names;
  for (const std::string& field : fields) names += (names.empty() ? "" : " ") + field;
  return names;
}

MixRows mix_rows_of(const BatchView& in, const BatchView& out, const std::string& field) {
  const TensorView from = in[field], to = out[field];
  return {from.data, to.data, in.rows, from.shape.elements() / in.rows, from.dtype};
}

void mix_on_host(const MixRows& work, const DrawnShares& shares) { mix_rows(work, shares); }
void mix_on_host(const MixRows& work, const CutShares& shares) { mix_rows(work, shares); }

}  // namespace penstock::image
