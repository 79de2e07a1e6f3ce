// SPDX-License-Identifier: Apache-2.0
// A file that is no slide is one record, which says so.
#include <penstock/penstock.hpp>
#include <penstock/sources/slide.hpp>

#include <fstream>

#include "say.hpp"

namespace ps = penstock;

int main() {
  std::ofstream("none.svs") << "no slide at all";
  const ps::SlideSource source(ps::Slides{.files = "none.svs"});
  const ps::Pipeline tiles = ps::from(source) | ps::batch(1);
  return say("a file that is no slide", tiles.size() == 1 && source.slides().front().failure.has_value());
}
