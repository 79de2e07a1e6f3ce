// SPDX-License-Identifier: Apache-2.0
// Notes about a source of slides.
#pragma once

#include <string>
#include <vector>

#include "file/slide_file.hpp"
#include "source/slide_opener.hpp"

namespace penstock::slide {

/// Returns the lines about slides in plan(). `unknown_classes`: lines about classes that no slide has.
std::vector<std::string> notes_of(const SlideOpener& opening, const std::vector<SlideFile>& slides,
                                  const std::vector<std::string>& unknown_classes);
/// Returns the lines of `SlideSource::left_out`, for example about slides and places that are not records.
std::vector<std::string> left_out_of(const SlideOpener& opening, const std::vector<SlideFile>& slides,
                                     const std::vector<std::string>& unknown_classes);

}  // namespace penstock::slide
