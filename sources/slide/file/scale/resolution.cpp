// SPDX-License-Identifier: Apache-2.0
#include "file/scale/resolution.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include <penstock/extend/system_error.hpp>

#include "file/text_number.hpp"

namespace penstock::slide {

namespace {

constexpr double least_mpp = 0.05, most_mpp = 20;

}  // namespace

bool plausible_mpp(double x, double y) noexcept {
  if (!(x >= least_mpp && x <= most_mpp && y >= least_mpp && y <= most_mpp)) return false;
  constexpr double most_apart = 1.1;
  return x <= y * most_apart && y <= x * most_apart;
}

void set_mpp(Resolution& resolution, double x, double y, const char* who) {
  if (plausible_mpp(x, y)) {
    resolution.mpp_x = x;
    resolution.mpp_y = y;
    return;
  }
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%s %.6g x %.6g micrometres, which can't be", who, x, y);
  resolution.refused = text.data();
}

void set_magnification(Resolution& resolution, double value) {
  constexpr double most = 1000;
  if (value > 0 && value <= most) resolution.magnification = value;
}

Resolution aperio_resolution(std::string_view description) {
  Resolution resolution;
  while (!description.empty()) {
    const std::size_t end = description.find('|');
    const std::string_view entry = description.substr(0, end);
    description.remove_prefix(end == std::string_view::npos ? description.size() : end + 1);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = without_spaces(entry.substr(0, equals));
    if (key != "MPP" && key != "AppMag") continue;
    std::string value(without_spaces(entry.substr(equals + 1)));
    // In some languages, fractions have a comma. Some programs write an x after the magnification.
    std::ranges::replace(value, ',', '.');
    if (key == "AppMag" && (value.ends_with('x') || value.ends_with('X'))) value.pop_back();
    const std::optional<double> number = number_in(value);
    if (key == "AppMag") {
      set_magnification(resolution, number.value_or(0));
    } else if (number) {
      set_mpp(resolution, *number, *number, "its description says");
    } else {
      resolution.refused = "its description says \"MPP = " + printable(value, 40) + "\", which is no number";
    }
  }
  return resolution;
}

Resolution tag_resolution(double x, double y, int unit) {
  Resolution resolution;
  constexpr int inches = 2, centimetres = 3;
  if ((unit != inches && unit != centimetres) || !(x > 0) || !(y > 0)) return resolution;
  const double micrometres_a_unit = unit == inches ? 25'400 : 10'000;
  set_mpp(resolution, micrometres_a_unit / x, micrometres_a_unit / y, "its resolution tags say");
  return resolution;
}

double usual_magnification(double mpp) noexcept {
  struct Step {
    double below, magnification;
  };
  constexpr std::array<Step, 7> steps{{{0.16, 80}, {0.2, 60}, {0.3, 40}, {0.6, 20}, {1.2, 10}, {2.4, 5}, {4.8, 2.5}}};
  for (const Step& step : steps)
    if (mpp < step.below) return step.magnification;
  return 1.25;
}

}  // namespace penstock::slide
