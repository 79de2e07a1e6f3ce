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

/// The size of a place in CLAM's form: pixels per side, and the stored level of these pixels.
struct ClamPatch {
  std::int64_t size = 0, level = 0;
};
/// The size of a place in TRIDENT's form: pixels per side at the magnification `target`.
struct TridentPatch {
  /// `level_0` and `target` are magnifications. Neighbouring places overlap by `overlap` pixels at `target`.
  std::int64_t size = 0, size_at_level_0 = 0, overlap = 0, level_0 = 0, target = 0;
};

ClamPatch clam_patch(const SlideInfo& slide, const Slides& options);
/// Returns the size of a place in TRIDENT's form. If the slide's magnification is unknown, or no whole magnification
/// fits the records, returns none, and sets `why` to the reason.
std::optional<TridentPatch> trident_patch(const SlideInfo& slide, const Slides& options, std::string& why);

/// `clam_attributes` and `trident_attributes` return the attributes for the dataset of a list of places. `folder`: the
/// value of CLAM's `save_path` or TRIDENT's `savetodir`.
std::vector<FeatureAttribute> clam_attributes(const SlideInfo& slide, const ClamPatch& patch,
                                              const std::string& folder);
std::vector<FeatureAttribute> trident_attributes(const SlideInfo& slide, const TridentPatch& patch,
                                                 const std::string& folder);

}  // namespace penstock::coords
