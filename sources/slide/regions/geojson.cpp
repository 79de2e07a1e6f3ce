// SPDX-License-Identifier: Apache-2.0
#include "regions/geojson.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <penstock/extend/system_error.hpp>

#include "common/json_input.hpp"
#include "file/errors.hpp"

namespace penstock::slide {

namespace {

using Json = nlohmann::json;

// The meaning of an object or a list, by its position.
enum class Role : std::uint8_t {
  top,  // a collection, a feature or a geometry; only its member `type`, which may come last, shows which
  geometry,
  properties,
  classification,
  features,     // a list
  geometries,   // a list
  coordinates,  // a list, or a list in such a list
  classification_names,
  other
};

// QuPath writes some measurements as NaN or Infinity. JSON does not allow these two words. Returns the text with a
// number of the same length in place of each word. The numbers can't be coordinates on a slide. Returns an empty text
// if `text` has neither word.
std::string without_special_numbers(std::string_view text) {
  constexpr std::string_view not_a_number = "NaN", infinity = "Infinity", none = "9e9", other = "9e9     ";
  std::string plain;
  if (text.find(not_a_number) == std::string_view::npos && text.find(infinity) == std::string_view::npos) return plain;
  plain = text;
  bool in_text = false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (in_text && plain[i] == '\\') {
      ++i;
    } else if (plain[i] == '"') {
      in_text = !in_text;
    } else if (!in_text && text.substr(i, not_a_number.size()) == not_a_number) {
      plain.replace(i, none.size(), none);
    } else if (!in_text && text.substr(i, infinity.size()) == infinity) {
      plain.replace(i, other.size(), other);
    }
  }
  return plain;
}

// Gets the values of the text from the parser, one after another. Keeps only points and names.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  Reader(const std::string& path, Regions& regions) : path_(path), regions_(regions) {}

  bool null() override { return refuse_in_lists(); }
  bool boolean(bool) override { return refuse_in_lists(); }
  bool number_integer(number_integer_t number) override { return take(static_cast<double>(number)); }
  bool number_unsigned(number_unsigned_t number) override { return take(static_cast<double>(number)); }
  bool number_float(number_float_t number, const string_t&) override { return take(number); }
  bool binary(binary_t&) override { return true; }

  bool string(string_t& text) override {
    const Role role = role_now();
    refuse_in_lists();
    if (role == Role::classification_names) {
      parts_of_class_ += (parts_of_class_.empty() ? "" : ": ") + text;
    } else if ((role == Role::top || role == Role::geometry) && key_ == "type") {
      open_.back().type = text;
    } else if (role == Role::top && key_ == "id") {
      // Versions of QuPath before 0.3 mark their objects like this.
      of_qupath_ = of_qupath_ || text == "PathAnnotationObject" || text == "PathDetectionObject" ||
                   text == "PathCellObject" || text == "PathTileObject" || text == "TMACoreObject" ||
                   text == "PathRootObject";
      if (text == "PathDetectionObject" || text == "PathCellObject" || text == "PathTileObject")
        object_type_ = "detection";
    } else if (role == Role::properties && key_ == "classification") {
      classification_ = text;
    } else if (role == Role::properties && (key_ == "objectType" || key_ == "object_type")) {
      object_type_ = text;
      of_qupath_ = of_qupath_ || text == "annotation" || text == "detection" || text == "cell" || text == "tile" ||
                   text == "tmaCore" || text == "root";
    } else if (role == Role::classification && key_ == "name") {
      classification_ = text;
    }
    return true;
  }

  bool start_object(std::size_t) override {
    if (role_now() == Role::coordinates) refuse_in_lists();
    const Role role = role_of_object();
    if (role == Role::top) begin_feature();
    if (role == Role::top || role == Role::geometry) begin_coordinates();
    if (role == Role::classification) {
      classification_.clear();
      parts_of_class_.clear();
    }
    open(role);
    return true;
  }
  bool key(string_t& text) override {
    key_ = text;
    return true;
  }
  bool end_object() override {
    const Open ended = std::move(open_.back());
    open_.pop_back();
    const bool is_collection = ended.type == "FeatureCollection" || ended.type == "Feature";
    if (ended.role == Role::geometry || (ended.role == Role::top && !is_collection)) end_geometry(ended.type);
    if (ended.role == Role::top) {
      if (ended.type != "FeatureCollection") ++(of_qupath_ ? of_qupath_count_ : of_others_count_);
      end_feature();
      known_ = true;
    }
    return true;
  }

  bool start_array(std::size_t) override {
    const Role role = role_of_list();
    if (role == Role::coordinates && role_now() != Role::coordinates) begin_coordinates();
    open(role);
    if (role == Role::coordinates) {
      if (at_ != 0) throw error_in(path_, Errc::corrupt, "a position with a list in it");
      ++depth_;
    }
    return true;
  }
  bool end_array() override {
    const Role role = role_now();
    open_.pop_back();
    if (role == Role::coordinates) end_coordinates();
    return true;
  }

  bool parse_error(std::size_t at, const std::string&, const Json::exception& failed) override {
    throw error_in(path_, Errc::corrupt, "it is no JSON: " + common::json_cause(failed, 120), at);
  }

  bool is_geojson() const noexcept { return known_; }
  bool is_of_qupath() const noexcept { return of_qupath_count_ != 0 && of_others_count_ == 0; }

 private:
  struct Open {
    Role role;
    std::string type;  // the object's member `type`
  };

  void open(Role role) {
    constexpr std::size_t deepest = 100;
    if (open_.size() == deepest) throw error_in(path_, Errc::corrupt, "lists and objects are nested too deep");
    open_.push_back({role, {}});
  }

  // In a list of features or geometries, refuses a single value. In a list of coordinates, refuses anything but numbers
  // and lists.
  bool refuse_in_lists() const {
    const Role role = role_now();
    if (role == Role::features || role == Role::geometries)
      throw error_in(path_, Errc::corrupt,
                     "it is no GeoJSON: a list of features or geometries has something else in it");
    if (role == Role::coordinates) throw error_in(path_, Errc::corrupt, "a position that is no numbers");
    return true;
  }

  Role role_now() const noexcept { return open_.empty() ? Role::other : open_.back().role; }

  Role role_of_object() const noexcept {
    if (open_.empty()) return Role::top;
    switch (open_.back().role) {
      case Role::features:
        return Role::top;
      case Role::geometries:
        return Role::geometry;
      case Role::top:
        if (key_ == "geometry") return Role::geometry;
        return key_ == "properties" ? Role::properties : Role::other;
      case Role::properties:
        return key_ == "classification" ? Role::classification : Role::other;
      default:
        return Role::other;
    }
  }

  Role role_of_list() {
    if (open_.empty()) {
      known_ = true;  // a list of features, as QuPath writes them
      return Role::features;
    }
    switch (open_.back().role) {
      case Role::coordinates:
        return Role::coordinates;
      case Role::top:
        if (key_ == "features") return Role::features;
        [[fallthrough]];
      case Role::geometry:
        if (key_ == "geometries") return Role::geometries;
        return key_ == "coordinates" ? Role::coordinates : Role::other;
      case Role::classification:
        return key_ == "names" ? Role::classification_names : Role::other;
      default:
        return Role::other;
    }
  }

  bool take(double number) {
    if (role_now() != Role::coordinates) return refuse_in_lists();
    if (at_ < 2) (at_ == 0 ? point_.x : point_.y) = number;
    ++at_;
    return true;
  }

  void begin_coordinates() {
    polygons_here_.clear();
    polygon_ = {};
    ring_.clear();
    at_ = depth_ = position_depth_ = 0;
  }

  // A list of numbers is a position. All positions have the same depth. A list of positions is a ring, and a list of
  // rings is a polygon.
  void end_coordinates() {
    const int depth = depth_--;
    if (at_ != 0) {
      if (position_depth_ == 0) position_depth_ = depth;
      if (at_ < 2 || depth != position_depth_)
        throw error_in(path_, Errc::corrupt, "coordinates that are no positions");
      ring_.push_back(point_);
      at_ = 0;
    } else if (position_depth_ != 0) {
      if (depth >= position_depth_) throw error_in(path_, Errc::corrupt, "an empty position");
      if (depth == position_depth_ - 1) polygon_.rings.push_back(std::exchange(ring_, {}));
      if (depth == position_depth_ - 2) polygons_here_.push_back(std::exchange(polygon_, {}));
    }
  }

  void end_geometry(const std::string& type) {
    constexpr int in_polygon = 3, in_polygons = 4;
    if (type == "Polygon" || type == "MultiPolygon") {
      if (position_depth_ != 0 && position_depth_ != (type == "Polygon" ? in_polygon : in_polygons))
        throw error_in(path_, Errc::corrupt, "a " + type + " whose coordinates are not those of one");
      std::move(polygons_here_.begin(), polygons_here_.end(), std::back_inserter(polygons_));
    } else if (type == "Point" || type == "MultiPoint" || type == "LineString" || type == "MultiLineString") {
      ++without_area_;
    } else if (type != "GeometryCollection") {
      throw error_in(path_, Errc::corrupt,
                     type.empty() ? std::string("it is no GeoJSON: an object in it has no type")
                                  : "it is no GeoJSON: it has something of the type \"" + printable(type, 40) + "\"");
    }
    begin_coordinates();
  }

  void begin_feature() {
    classification_.clear();
    parts_of_class_.clear();
    object_type_.clear();
    of_qupath_ = false;
    polygons_.clear();
    without_area_ = 0;
  }
  void end_feature() {
    if (object_type_ == "detection" || object_type_ == "cell" || object_type_ == "tile") {
      ++regions_.no_annotation;
    } else {
      regions_.without_area += without_area_;
      if (!polygons_.empty()) {
        const std::string& name = classification_.empty() ? parts_of_class_ : classification_;
        auto& to = class_named(regions_, name.empty() ? no_class : name, path_).polygons;
        std::move(polygons_.begin(), polygons_.end(), std::back_inserter(to));
      }
    }
    begin_feature();
  }

  const std::string& path_;
  Regions& regions_;
  bool known_ = false;
  std::vector<Open> open_;
  std::string key_;
  std::uint64_t of_qupath_count_ = 0, of_others_count_ = 0;  // numbers of features

  // The present feature.
  std::string classification_, parts_of_class_, object_type_;
  bool of_qupath_ = false;  // the feature is an object of QuPath
  std::vector<RegionPolygon> polygons_;
  std::uint64_t without_area_ = 0;

  // The present feature's geometry.
  std::vector<RegionPolygon> polygons_here_;
  RegionPolygon polygon_;
  std::vector<RegionPoint> ring_;
  RegionPoint point_;
  int at_ = 0;              // numbers read of the present position
  int depth_ = 0;           // number of open lists of coordinates
  int position_depth_ = 0;  // depth of the positions; 0 before the first position
};

}  // namespace

void read_geojson(std::string_view text, const std::string& path, Regions& regions) {
  Reader reader(path, regions);
  const std::string plain = without_special_numbers(text);
  if (!plain.empty()) text = plain;
  Json::sax_parse(text.begin(), text.end(), &reader);
  if (!reader.is_geojson())
    throw error_in(path, Errc::corrupt,
                   "it is no GeoJSON: it is neither a feature, nor a geometry, nor a list of them");
  regions.of_qupath = reader.is_of_qupath();
}

}  // namespace penstock::slide
