// SPDX-License-Identifier: Apache-2.0
// The size of a pixel of level 0.
#pragma once

#include <string>
#include <string_view>

namespace penstock::slide {

struct Resolution {
  double mpp_x = 0, mpp_y = 0;  ///< micrometres from a pixel of level 0 to the next; 0: unknown
  double magnification = 0;     ///< magnification of the objective; 0: unknown
  /// Describes a size of a pixel that the file gives and that can't be used, for errors: "its resolution tags say
  /// 352.8 ...". Empty: there is none.
  std::string refused;
};

/// Returns whether a pixel of a slide's level 0 can have this size: 0.05 to 20 micrometres, and nearly the same across
/// and down. Scanners' pixels have 0.1 to 1 micrometres.
bool plausible_mpp(double x, double y) noexcept;

/// Sets the size of a pixel if it is plausible; otherwise sets `refused`. `who` is the beginning of `refused`: "its
/// description says".
void set_mpp(Resolution& resolution, double x, double y, const char* who);
/// Sets the objective's magnification, if the value is plausible.
void set_magnification(Resolution& resolution, double value);

/// Reads Aperio's description: "...|AppMag = 20|MPP = 0.4990|...".
Resolution aperio_resolution(std::string_view description);
/// Reads TIFF's resolution tags. `x`, `y`: pixels per unit. `unit`: 2 for inches, 3 for centimetres. With any other
/// unit, the size of a pixel stays unknown.
Resolution tag_resolution(double x, double y, int unit);

/// Returns the magnification that objectives usually have for this size of a pixel: 40 for 0.2 to 0.3 micrometres, 20
/// for 0.3 to 0.6, and so on, as in other tilers.
double usual_magnification(double mpp) noexcept;

}  // namespace penstock::slide
