// What CLAM and TRIDENT say of a list of places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/feature_sink.hpp>
#include <penstock/sources/slide.hpp>

namespace penstock::coords {

inline constexpr const char* source_name = "coords";

/// A place as CLAM has it: so many pixels of a stored level on each side.
struct ClamPatch {
  std::int64_t size = 0, level = 0;
};
/// A place as TRIDENT has it: pixels at a magnification that is less than level 0's, or the same.
struct TridentPatch {
  std::int64_t size = 0, size_at_level_0 = 0, overlap = 0, level_0 = 0, target = 0;  ///< the last two: magnifications
};

ClamPatch clam_patch(const SlideInfo& slide, const Slides& options);
/// A place as TRIDENT has it; none where no whole magnification says it: then `why` does.
std::optional<TridentPatch> trident_patch(const SlideInfo& slide, const Slides& options, std::string& why);

/// Attributes of the dataset. `folder`: where the file lies.
std::vector<FeatureAttribute> clam_attributes(const SlideInfo& slide, const ClamPatch& patch,
                                              const std::string& folder);
std::vector<FeatureAttribute> trident_attributes(const SlideInfo& slide, const TridentPatch& patch,
                                                 const std::string& folder);

}  // namespace penstock::coords
