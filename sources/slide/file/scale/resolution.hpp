// How large a pixel of level 0 is.
#pragma once

#include <string>
#include <string_view>

namespace penstock::slide {

struct Resolution {
  double mpp_x = 0, mpp_y = 0;  ///< micrometres from a pixel of level 0 to the next; 0: not known
  double magnification = 0;     ///< magnification of the objective; 0: not known
  std::string refused;          ///< what was said and can't be meant, for errors: "the resolution tags say 352.8 ..."
};

/// Whether a pixel of a slide's level 0 can have this size. Scanners make 0.1 to 1 micrometres of it.
bool plausible_mpp(double x, double y) noexcept;

/// Sets the size of a pixel, or says why not. `who` says it: "its description says".
void set_mpp(Resolution& resolution, double x, double y, const char* who);
/// Sets the objective's magnification, where it can be one.
void set_magnification(Resolution& resolution, double value);

/// What Aperio's description says: "...|AppMag = 20|MPP = 0.4990|...".
Resolution aperio_resolution(std::string_view description);
/// What TIFF's resolution tags say. `unit`: 2 for inches, 3 for centimetres; others are none.
Resolution tag_resolution(double x, double y, int unit);

/// The objective's magnification where only the size of a pixel is known: 40 below 0.3 micrometres, 20 below 0.6, and
/// so on, as other tilers have it.
double usual_magnification(double mpp) noexcept;

}  // namespace penstock::slide
