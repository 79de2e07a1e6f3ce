// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>

#include "support/thrown.hpp"

namespace penstock_test {

inline std::string text_of(const penstock::TensorView& tensor) {
  return std::string(reinterpret_cast<const char*>(tensor.data), tensor.bytes());
}

// One field of one record, as bytes.
template <class S>
std::string read_text(const S& source, std::uint64_t index, std::string_view field = "image") {
  return text_of(penstock::read_sample(source, index)[field]);
}

template <class S>
std::int64_t read_label(const S& source, std::uint64_t index) {
  return *penstock::read_sample(source, index)["label"].template as<std::int64_t, 0>().data();
}

}  // namespace penstock_test
