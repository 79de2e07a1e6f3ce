// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_lists.hpp"

#include <array>
#include <cstddef>

#include <penstock/stages/fields.hpp>
#include <penstock/transforms/numeric.hpp>

namespace penstock::cli {

namespace {

DType any_dtype_of(const Arguments& a, DType otherwise) {
  return static_cast<DType>(
      a.choice("dtype", {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bool", "bf16"},
               static_cast<std::size_t>(otherwise)));
}

Stage make_one_hot(const Arguments& a) {
  return one_hot(a.text("field", ""), a.whole("classes"), {.dtype = any_dtype_of(a, OneHotOptions{}.dtype)});
}

}  // namespace

std::vector<StageSyntax> field_stages() {
  return {
      {"select_fields",
       false,
       {{"names", "image,label", true}},
       [](const Arguments& a) { return select_fields(a.names("names")); }},
      {"drop_fields",
       false,
       {{"names", "mask,key", true}},
       [](const Arguments& a) { return drop_fields(a.names("names")); }},
      {"rename",
       false,
       {{"from", "FIELD", true}, {"to", "NAME", true}},
       [](const Arguments& a) { return rename(a.text("from", ""), a.text("to", "")); }},
      {"cast",
       false,
       {{"field", "label", true}, {"dtype", "f32|i64|...", true}},
       [](const Arguments& a) { return cast(a.text("field", ""), any_dtype_of(a, DType::f32)); }},
      {"one_hot",
       false,
       {{"field", "label", true}, {"classes", "N", true}, {"dtype", "f32|f64|i64|..."}},
       make_one_hot},
      {"sample_rows",
       false,
       {{"fields", "FIELD,FIELD", true}, {"rows", "N", true}},
       [](const Arguments& a) { return sample_rows(a.names("fields"), a.count("rows")); }},
      {"drop_hidden",
       false,
       {{"fields", "boxes,classes", true}, {"least", "0.3"}, {"least_side", "1"}},
       [](const Arguments& a) {
         return drop_hidden(a.names("fields"),
                            {.least = a.number("least", 0), .least_side = a.number("least_side", 0)});
       }},
      {"channels_last", false, {image_field}, [](const Arguments& a) { return channels_last(field_of(a)); }},
  };
}

}  // namespace penstock::cli
