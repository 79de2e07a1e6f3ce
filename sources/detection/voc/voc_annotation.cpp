// SPDX-License-Identifier: Apache-2.0
#include "voc/voc_annotation.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>

#include "boxes.hpp"
#include "errors.hpp"

namespace penstock::detection {

namespace {

std::uint64_t offset_of(const pugi::xml_node& node) {
  return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
}

std::string_view trimmed_text(const pugi::xml_node& node) {
  std::string_view text = node.child_value();
  constexpr std::string_view space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

// One element `object`.
class VocElement {
 public:
  VocElement(const pugi::xml_node& node, std::size_t number) : node_(node), number_(number) {}

  VocObject read() const {
    VocObject object{.class_name = std::string(trimmed_text(node_.child("name"))), .offset = offset_of(node_)};
    if (object.class_name.empty()) refuse("it has no name", node_);
    const pugi::xml_node box = node_.child("bndbox");
    if (!box) refuse("it has no element bndbox", node_);
    // The first pixel of the picture is 1, and the last pixel of a box belongs to it.
    object.x0 = edge(box, "xmin", 1);
    object.y0 = edge(box, "ymin", 1);
    object.x1 = edge(box, "xmax", 0);
    object.y1 = edge(box, "ymax", 0);
    if (area_of(object.x1 - object.x0, object.y1 - object.y0) == BoxArea::negative)
      refuse("its box has a negative width or height", box);
    if (const pugi::xml_node difficult = node_.child("difficult")) {
      const std::string_view text = trimmed_text(difficult);
      if (text != "0" && text != "1") refuse("difficult is \"" + shown(text) + "\", not 0 or 1", difficult);
      object.difficult = text == "1";
    }
    return object;
  }

 private:
  float edge(const pugi::xml_node& box, const char* name, double before) const {
    const pugi::xml_node node = box.child(name);
    if (!node) refuse(std::string("its box has no ") + name, box);
    const std::string_view text = trimmed_text(node);
    double number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto edge = static_cast<float>(number - before);
    if (text.empty() || failed != std::errc() || end != text.data() + text.size() || !std::isfinite(edge))
      refuse(std::string(name) + " is \"" + shown(text) + "\", not a finite number", node);
    return edge;
  }

  [[noreturn]] void refuse(const std::string& why, const pugi::xml_node& at) const {
    throw Error(Errc::corrupt, "object " + std::to_string(number_) + ": " + why).with_offset(offset_of(at));
  }

  const pugi::xml_node& node_;
  std::size_t number_;
};

}  // namespace

std::vector<VocObject> read_voc(std::string& text) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer_inplace(text.data(), text.size());
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!parsed)
    throw Error(Errc::corrupt, std::string("it is not XML: ") + parsed.description())
        .with_offset(static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(parsed.offset, 0)));
  const pugi::xml_node root = document.child("annotation");
  if (!root) throw Error(Errc::corrupt, "it has no element annotation at its top; VOC's files have one");
  std::vector<VocObject> objects;
  std::size_t number = 0;
  for (const pugi::xml_node& node : root.children("object")) {
    VocObject object = VocElement(node, ++number).read();
    if (area_of(object.x1 - object.x0, object.y1 - object.y0) == BoxArea::some) objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace penstock::detection
