// SPDX-License-Identifier: Apache-2.0
#include "sources/slide/region_drawings.hpp"

#include <png.h>

#include <array>
#include <cstdio>
#include <stdexcept>

namespace penstock_test {

namespace {

std::string number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

std::string rings_of(const std::vector<Ring>& rings) {
  std::string text = "[";
  for (const Ring& ring : rings) {
    text += text.size() == 1 ? "[" : ",[";
    for (std::size_t i = 0; i <= ring.size(); ++i) {
      const auto& [x, y] = ring[i % ring.size()];  // the first one again ends it
      text += (i == 0 ? "[" : ",[") + number(x) + "," + number(y) + "]";
    }
    text += "]";
  }
  return text + "]";
}

}  // namespace

std::string as_geojson(const std::vector<DrawnRegion>& regions) {
  std::string text = R"({"type": "FeatureCollection", "features": [)";
  for (const DrawnRegion& region : regions) {
    if (&region != regions.data()) text += ",";
    const bool one = region.polygons.size() == 1;
    text += R"({"type": "Feature", "geometry": {"type": ")" + std::string(one ? "Polygon" : "MultiPolygon") +
            R"(", "coordinates": )";
    if (one) {
      text += rings_of(region.polygons.front());
    } else {
      text += "[";
      for (const auto& polygon : region.polygons)
        text += (&polygon == region.polygons.data() ? "" : ",") + rings_of(polygon);
      text += "]";
    }
    text += R"(}, "properties": {"objectType": "annotation")";
    if (!region.name.empty()) text += R"(, "classification": {"name": ")" + region.name + R"(", "color": [200, 0, 0]})";
    text += "}}";
  }
  return text + "]}";
}

std::string as_asap(const std::vector<DrawnRegion>& regions) {
  std::string text = "<?xml version=\"1.0\"?>\n<ASAP_Annotations>\n<Annotations>\n";
  for (const DrawnRegion& region : regions)
    for (const auto& polygon : region.polygons) {
      text += "<Annotation Name=\"a\" Type=\"Polygon\" PartOfGroup=\"" + region.name + "\" Color=\"#F4FA58\">\n";
      text += "<Coordinates>\n";
      for (std::size_t i = 0; i < polygon.front().size(); ++i)
        text += "<Coordinate Order=\"" + std::to_string(i) + "\" X=\"" + number(polygon.front()[i].first) + "\" Y=\"" +
                number(polygon.front()[i].second) + "\"/>\n";
      text += "</Coordinates>\n</Annotation>\n";
    }
  return text + "</Annotations>\n<AnnotationGroups/>\n</ASAP_Annotations>\n";
}

void write_label_png(const std::string& path, int width, int height, const std::vector<unsigned char>& values,
                     bool palette) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = palette ? PNG_FORMAT_RGB_COLORMAP : PNG_FORMAT_GRAY;
  image.colormap_entries = palette ? 256 : 0;
  std::array<unsigned char, 768> colours{};
  for (std::size_t i = 0; i < colours.size(); ++i) colours[i] = static_cast<unsigned char>(i * 7);
  if (png_image_write_to_file(&image, path.c_str(), 0, values.data(), 0, palette ? colours.data() : nullptr) == 0)
    throw std::runtime_error(image.message);
}

}  // namespace penstock_test
