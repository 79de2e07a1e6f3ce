#include "resolution.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace penstock::slide {

namespace {

constexpr double least_mpp = 0.05, most_mpp = 20;

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

std::optional<double> number_in(std::string_view text) {
  text = without_spaces(text);
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Sets the size of a pixel, or says why not.
void set_mpp(Resolution& resolution, double x, double y, const char* who) {
  if (plausible_mpp(x, y)) {
    resolution.mpp_x = x;
    resolution.mpp_y = y;
    return;
  }
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%s says %.6g x %.6g micrometres, which can't be", who, x, y);
  resolution.refused = text.data();
}

// The value of an attribute in the element that begins at `element`: <Pixels ... PhysicalSizeX="0.25" ...>.
std::optional<std::string_view> attribute(std::string_view element, std::string_view name) {
  for (std::size_t at = element.find(name); at != std::string_view::npos; at = element.find(name, at + 1)) {
    std::size_t next = at + name.size();
    if (at == 0 || next + 2 >= element.size()) return std::nullopt;
    const char before = element[at - 1];
    if ((before != ' ' && before != '\t' && before != '\n' && before != '\r') || element[next] != '=') continue;
    const char quote = element[++next];
    if (quote != '"' && quote != '\'') continue;
    const std::size_t end = element.find(quote, ++next);
    if (end == std::string_view::npos) return std::nullopt;
    return element.substr(next, end - next);
  }
  return std::nullopt;
}

// The text of the first element of that name, up to its closing bracket. Prefixes of namespaces are passed over.
std::string_view element(std::string_view xml, std::string_view name) {
  for (std::size_t at = xml.find(name); at != std::string_view::npos; at = xml.find(name, at + 1)) {
    const std::size_t next = at + name.size();
    if (at == 0 || (xml[at - 1] != '<' && xml[at - 1] != ':') || next == xml.size()) continue;
    if (xml[next] != ' ' && xml[next] != '\t' && xml[next] != '\n' && xml[next] != '\r') continue;
    return xml.substr(at, xml.find('>', at) - at);
  }
  return {};
}

// Micrometres of a unit of OME; 0 for what is none of length.
double micrometres(std::optional<std::string_view> unit) {
  if (!unit || *unit == "\u00b5m" || *unit == "\u03bcm" || *unit == "um" || *unit == "&#181;m") return 1;
  if (*unit == "nm") return 1e-3;
  if (*unit == "mm") return 1e3;
  if (*unit == "cm") return 1e4;
  if (*unit == "m") return 1e6;
  return 0;
}

}  // namespace

bool plausible_mpp(double x, double y) noexcept {
  if (!(x >= least_mpp && x <= most_mpp && y >= least_mpp && y <= most_mpp)) return false;
  constexpr double most_apart = 1.1;
  return x <= y * most_apart && y <= x * most_apart;
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
    const std::optional<double> value = number_in(entry.substr(equals + 1));
    if (!value) continue;
    if (key == "MPP") set_mpp(resolution, *value, *value, "its description");
    if (key == "AppMag" && *value > 0 && *value <= 1000) resolution.magnification = *value;
  }
  return resolution;
}

Resolution ome_resolution(std::string_view xml) {
  Resolution resolution;
  const std::string_view pixels = element(xml, "Pixels"), objective = element(xml, "Objective");
  const auto size = [&](std::string_view name, std::string_view unit) {
    const auto text = attribute(pixels, name);
    const std::optional<double> value = text ? number_in(*text) : std::nullopt;
    return value ? *value * micrometres(attribute(pixels, unit)) : 0;
  };
  const double x = size("PhysicalSizeX", "PhysicalSizeXUnit"), y = size("PhysicalSizeY", "PhysicalSizeYUnit");
  if (x != 0 || y != 0) set_mpp(resolution, x, y, "its OME-XML");
  const auto power = attribute(objective, "NominalMagnification");
  const std::optional<double> value = power ? number_in(*power) : std::nullopt;
  if (value && *value > 0 && *value <= 1000) resolution.magnification = *value;
  return resolution;
}

Resolution tag_resolution(double x, double y, int unit) {
  Resolution resolution;
  constexpr int inches = 2, centimetres = 3;
  if ((unit != inches && unit != centimetres) || !(x > 0) || !(y > 0)) return resolution;
  const double micrometres_a_unit = unit == inches ? 25'400 : 10'000;
  set_mpp(resolution, micrometres_a_unit / x, micrometres_a_unit / y, "its resolution tags");
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
