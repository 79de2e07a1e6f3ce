// SPDX-License-Identifier: Apache-2.0
// decode_tiff, held to the contract of a stage; damaged images among the inputs.
#include <penstock/penstock.hpp>
#include <penstock/testing/transform.hpp>
#include <penstock/transforms/decode_tiff.hpp>

#include "support/catch.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/tiff/tiff_files.hpp"

namespace ps = penstock;
using namespace penstock_test;

TEST_CASE("decode_tiff keeps the contract of a stage") {
  Encoded source;
  Bytes cut = TiffFile({}, {31, 22}, 1).bytes();
  cut.resize(cut.size() / 2);
  source.files = {Bytes(100, std::byte{7}), cut};
  for (const TiffKind& kind : tiff_kinds())
    if (kind.bits <= 8) source.files.push_back(TiffFile(kind, {31, 22}, source.files.size()).bytes());
  const ps::AnySource inputs = ps::share(source);
  const auto report = ps::testing::check_stage(ps::decode_tiff("image"), inputs, {.allow_bad_records = true});
  CHECK(report.text() == "");
  CHECK(report.passed());
  CHECK_FALSE(ps::testing::check_stage(ps::decode_tiff("image"), inputs).passed());  // the damaged ones are seen
}
