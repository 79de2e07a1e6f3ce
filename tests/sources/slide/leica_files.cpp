// SPDX-License-Identifier: Apache-2.0
#include "sources/slide/leica_files.hpp"

namespace penstock_test {

namespace {

// Leica counts in nanometres.
std::string in_nanometres(const char* name, int pixels) {
  return " " + std::string(name) + "=\"" + std::to_string(pixels) + "000\"";
}

std::string in_pixels(const SlideForm& part) {
  return " sizeX=\"" + std::to_string(part.width) + "\" sizeY=\"" + std::to_string(part.height) + "\"";
}

}  // namespace

WrittenSlide write_leica(const std::string& path, const LeicaGlass& glass, SlideForm part) {
  part.big_tiff = true;
  part.per_unit = 10'000;
  part.description =
      "<?xml version=\"1.0\"?><scn xmlns=\"http://www.leica-microsystems.com/scn/2010/10/01\"><collection" +
      in_nanometres("sizeX", glass.width) + in_nanometres("sizeY", glass.height) + "><image><view" +
      in_nanometres("sizeX", part.width) + in_nanometres("sizeY", part.height) + in_nanometres("offsetX", glass.left) +
      in_nanometres("offsetY", glass.top) +
      "/><scanSettings><objectiveSettings><objective>10</objective></objectiveSettings>"
      "<illuminationSettings><illuminationSource>brightfield</illuminationSource>"
      "</illuminationSettings></scanSettings><pixels" +
      in_pixels(part) + "><dimension" + in_pixels(part) + " ifd=\"0\"/></pixels></image></collection></scn>";
  return write_slide(path, part);
}

}  // namespace penstock_test
