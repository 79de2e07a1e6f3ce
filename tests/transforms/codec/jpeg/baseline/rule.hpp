// SPDX-License-Identifier: Apache-2.0
// The rule: where the baseline decoder gives pixels, libjpeg gives the same ones, without a warning.
#pragma once

#include <cstdint>
#include <optional>

#include "transforms/codec/jpeg/baseline/core.hpp"

namespace penstock_test {

struct Judgement {
  enum Kind : std::uint8_t {
    refused,      // by its header, or too large to be tried
    equal,        // libjpeg has the same pixels, and no warning
    handed_over,  // to libjpeg
  } kind = refused;
  penstock::jpeg::baseline::HandOverReason reason{};  // why it was handed over
  bool needlessly = false;                            // libjpeg has no warning of what was handed over
  const char* broken = nullptr;                       // how the rule is broken
};

// Decodes a random box of any file, whole or not, now and then to its end.
Judgement judge(Core& core, const Bytes& bytes, Numbers& numbers);

}  // namespace penstock_test
