#pragma once

#include <string>
#include <vector>

#include <penstock/extend/listing.hpp>

namespace penstock::cli {

struct WantedSlides {
  std::vector<std::string> files = {};
  PassedOver passed_over = {};  ///< what lies in the folders beside them
};

/// The slides that arguments name: files as they are, of folders those that end as slides do, of patterns those
/// that fit; each argument's sorted by the bytes of their paths. @throws penstock::Error where one names none.
WantedSlides slide_files(const std::vector<std::string>& arguments);

/// "passed over: 3 files (.txt 3)", and what to do; empty where nothing was.
std::string passed_over_text(const PassedOver& passed_over);

}  // namespace penstock::cli
