#include "file/resolution.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include <penstock/extend/system_error.hpp>

#include "file/text_number.hpp"

namespace penstock::slide {

namespace {

constexpr double least_mpp = 0.05, most_mpp = 20;

// Sets the size of a pixel, or says why not. `who` says it: "its description says".
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

// Micrometres of a unit of OME; 0 for what is none of length.
double micrometres(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double micrometres;
  };
  // The first three are the sign for micro, the Greek letter, and what is written without either.
  constexpr std::array<Unit, 9> units{{{"\u00b5m", 1},
                                       {"\u03bcm", 1},
                                       {"um", 1},
                                       {"nm", 1e-3},
                                       {"pm", 1e-6},
                                       {"\u00c5", 1e-4},
                                       {"mm", 1e3},
                                       {"cm", 1e4},
                                       {"m", 1e6}}};
  for (const Unit& known : units)
    if (known.name == unit) return known.micrometres;
  return 0;
}

// The name of an element or attribute without the prefix of a namespace.
std::string_view bare(const char* name) {
  const std::string_view all = name;
  const std::size_t colon = all.find(':');
  return colon == std::string_view::npos ? all : all.substr(colon + 1);
}

pugi::xml_node child(const pugi::xml_node& node, std::string_view name) {
  for (const pugi::xml_node& one : node.children())
    if (bare(one.name()) == name) return one;
  return {};
}

// Whether an image's pixels are those of the first directory: that is what TiffData without a number means, too.
bool is_in_first_directory(const pugi::xml_node& image) {
  bool any = false;
  for (const pugi::xml_node& data : child(image, "Pixels").children()) {
    if (bare(data.name()) != "TiffData") continue;
    any = true;
    if (data.attribute("IFD").as_int(0) == 0) return true;
  }
  return !any;
}

pugi::xml_node first_image(const pugi::xml_node& ome) {
  for (const pugi::xml_node& image : ome.children())
    if (bare(image.name()) == "Image" && is_in_first_directory(image)) return image;
  return {};
}

// The objective that the image names; where it names none, the only one.
pugi::xml_node objective_of(const pugi::xml_node& ome, const pugi::xml_node& image) {
  const std::string_view id = child(image, "ObjectiveSettings").attribute("ID").value();
  pugi::xml_node found;
  std::size_t objectives = 0;
  for (const pugi::xml_node& instrument : ome.children()) {
    if (bare(instrument.name()) != "Instrument") continue;
    for (const pugi::xml_node& objective : instrument.children()) {
      if (bare(objective.name()) != "Objective") continue;
      if (!id.empty() && id == objective.attribute("ID").value()) return objective;
      found = objective;
      ++objectives;
    }
  }
  return id.empty() && objectives == 1 ? found : pugi::xml_node();
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
    if (key != "MPP" && key != "AppMag") continue;
    std::string value(without_spaces(entry.substr(equals + 1)));
    // Some languages write fractions with a comma, and some programs a magnification with an x.
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

Resolution ome_resolution(const std::string& xml) {
  Resolution resolution;
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size())) {
    resolution.refused = "its OME-XML is damaged";
    return resolution;
  }
  const pugi::xml_node ome = child(document, "OME"), image = first_image(ome), pixels = child(image, "Pixels");
  set_magnification(resolution, objective_of(ome, image).attribute("NominalMagnification").as_double(0));
  const auto size = [&](const char* name, const char* unit) {
    const double of_unit = micrometres(pixels.attribute(unit).as_string("um"));
    if (of_unit == 0)
      resolution.refused = "its OME-XML says how large a pixel is in \"" +
                           printable(pixels.attribute(unit).value(), 40) + "\", which is no length";
    return number_in(pixels.attribute(name).value()).value_or(0) * of_unit;
  };
  const double x = size("PhysicalSizeX", "PhysicalSizeXUnit"), y = size("PhysicalSizeY", "PhysicalSizeYUnit");
  if ((x != 0 || y != 0) && resolution.refused.empty()) set_mpp(resolution, x, y, "its OME-XML says");
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
