// SPDX-License-Identifier: Apache-2.0
// decode_webp, held to the contract of a stage; damaged images among the inputs.
#include <penstock/penstock.hpp>
#include <penstock/testing/transform.hpp>
#include <penstock/transforms/decode_webp.hpp>

#include "support/catch.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/webp/webp_files.hpp"

namespace ps = penstock;
using namespace penstock_test;

TEST_CASE("decode_webp keeps the contract of a stage") {
  Encoded source;
  for (const WebpKind& kind : webp_kinds()) source.files.push_back(webp_file({31, 22}, kind, source.files.size()));
  Bytes cut = source.files.front();
  cut.resize(cut.size() / 2);
  source.files.push_back(Bytes(100, std::byte{7}));
  source.files.push_back(cut);
  const ps::AnySource inputs = ps::share(source);
  const auto report = ps::testing::check_stage(ps::decode_webp("image"), inputs, {.allow_bad_records = true});
  CHECK(report.text() == "");
  CHECK(report.passed());
  CHECK_FALSE(ps::testing::check_stage(ps::decode_webp("image"), inputs).passed());  // the damaged ones are seen
}
