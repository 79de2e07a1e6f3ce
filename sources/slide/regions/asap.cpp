// SPDX-License-Identifier: Apache-2.0
#include "regions/asap.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"
#include "file/text_number.hpp"

namespace penstock::slide {

namespace {

struct NumberedPoint {
  double order;
  RegionPoint point;
};

double number_of(const pugi::xml_node& node, const char* name, const std::string& path) {
  const pugi::xml_attribute attribute = node.attribute(name);
  const std::optional<double> number = number_in(attribute.value());
  if (!number)
    throw error_in(
        path, Errc::corrupt,
        std::string("a Coordinate has ") +
            (attribute ? "\"" + printable(attribute.value(), 40) + "\", which is no number, as its " : "no ") + name,
        static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0)));
  return *number;
}

// Returns the points of an annotation, ordered by their attribute Order. For a point without this attribute, its
// position in the file is used instead, counted from 0.
std::vector<RegionPoint> ring_of(const pugi::xml_node& annotation, const std::string& path) {
  std::vector<NumberedPoint> numbered;
  for (const pugi::xml_node& coordinate : annotation.child("Coordinates").children("Coordinate")) {
    const double order =
        coordinate.attribute("Order") ? number_of(coordinate, "Order", path) : static_cast<double>(numbered.size());
    numbered.push_back({order, {number_of(coordinate, "X", path), number_of(coordinate, "Y", path)}});
  }
  // Points with equal numbers stay in the file's order.
  std::vector<std::pair<double, std::size_t>> sorted;
  for (std::size_t i = 0; i < numbered.size(); ++i) sorted.emplace_back(numbered[i].order, i);
  std::sort(sorted.begin(), sorted.end());
  std::vector<RegionPoint> ring;
  for (const auto& [number, i] : sorted) ring.push_back(numbered[i].point);
  return ring;
}

}  // namespace

void read_asap(std::string& text, const std::string& path, Regions& regions) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer_inplace(text.data(), text.size());
  if (parsed.status == pugi::status_out_of_memory)
    throw Error(Errc::out_of_memory, "no memory to read a file of regions").with_file(path);
  if (!parsed)
    throw error_in(path, Errc::corrupt, std::string("it is no XML: ") + parsed.description(),
                   static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(parsed.offset, 0)));
  const pugi::xml_node root = document.child("ASAP_Annotations");
  if (!root)
    throw error_in(path, Errc::corrupt,
                   "it has no element ASAP_Annotations; of XML, only ASAP's annotations can be read");
  for (const pugi::xml_node& list : root.children("Annotations"))
    for (const pugi::xml_node& annotation : list.children("Annotation")) {
      const std::string_view type = annotation.attribute("Type").value();
      if (type != "Polygon" && type != "Rectangle" && type != "Spline") {
        ++regions.without_area;
        continue;
      }
      const std::string group = annotation.attribute("PartOfGroup").value();
      RegionPolygon polygon{{ring_of(annotation, path)}};
      class_named(regions, group.empty() || group == "None" ? no_class : group, path)
          .polygons.push_back(std::move(polygon));
    }
}

}  // namespace penstock::slide
