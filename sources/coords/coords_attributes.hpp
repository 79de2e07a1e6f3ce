// SPDX-License-Identifier: Apache-2.0
// The attributes that CLAM and TRIDENT write with a list of places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/feature_sink.hpp>
#include <penstock/sources/slide.hpp>

namespace penstock::coords {

inline constexpr const char* source_name = "coords";

/// A place in CLAM's form: pixels of a stored level per side.
struct ClamPatch {
  std::int64_t size = 0, level = 0;
};
/// A place in TRIDENT's form: pixels at a magnification that is at most level 0's.
struct TridentPatch {
  std::int64_t size = 0, size_at_level_0 = 0, overlap = 0, level_0 = 0, target = 0;  ///< the last two: magnifications
};

ClamPatch clam_patch(const SlideInfo& slide, const Slides& options);
/// Returns a place in TRIDENT's form. None if no whole magnification fits; then `why` is the reason.
std::optional<TridentPatch> trident_patch(const SlideInfo& slide, const Slides& options, std::string& why);

/// Returns the attributes of the dataset. `folder`: the file's folder.
std::vector<FeatureAttribute> clam_attributes(const SlideInfo& slide, const ClamPatch& patch,
                                              const std::string& folder);
std::vector<FeatureAttribute> trident_attributes(const SlideInfo& slide, const TridentPatch& patch,
                                                 const std::string& folder);

}  // namespace penstock::coords
