// SPDX-License-Identifier: Apache-2.0
#include "coco/coco_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "boxes.hpp"
#include "coco/coco_entry.hpp"
#include "errors.hpp"

namespace penstock::detection {

namespace json = common::json;
using namespace std::string_view_literals;

namespace {

constexpr std::string_view images_list = "images", annotations_list = "annotations", categories_list = "categories";

bool is_below_folder(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != path.npos) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

// A number of an entry, and the entry's position in its list; sorted, it finds entries by that number.
struct IdOfEntry {
  std::int64_t id;
  std::uint32_t entry;
  friend auto operator<=>(const IdOfEntry&, const IdOfEntry&) = default;
};

// Returns the position of the entry with that id, or nothing.
std::optional<std::uint32_t> find_entry(const std::vector<IdOfEntry>& sorted, std::int64_t id) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), IdOfEntry{id, 0});
  return found != sorted.end() && found->id == id ? std::optional(found->entry) : std::nullopt;
}

struct Category {
  std::int64_t id = 0;
  std::uint64_t offset = 0;
  std::string name = {};
  std::int64_t keypoints = 0;
};

[[noreturn]] void refuse_entry(std::string_view list, std::uint64_t entry, const std::string& why, std::uint64_t offset,
                               Errc code = Errc::corrupt) {
  throw Error(code, std::string(list) + "[" + std::to_string(entry) + "]: " + why).with_offset(offset);
}

[[noreturn]] void refuse_twice(std::string_view list, std::uint64_t first, std::uint64_t second, std::int64_t id,
                               std::uint64_t offset) {
  refuse_entry(
      list, second,
      "the id " + std::to_string(id) + " is also that of " + std::string(list) + "[" + std::to_string(first) + "]",
      offset);
}

}  // namespace

/// Reads the lists in one pass over the text, and then joins them by their ids.
class CocoScan {
 public:
  CocoScan(std::string_view text, const Coco& options, CocoTable& table)
      : options_(options),
        table_(table),
        cursor_(text, json::Cursor::Whole::file, text.starts_with("\xef\xbb\xbf") ? 3 : 0) {}

  void run() {
    read();
    check_ids();
    join_images();
    number_classes();
    group();
  }

 private:
  void read() {
    const json::Kind kind = cursor_.peek();
    if (kind != json::Kind::object)
      throw Error(Errc::corrupt, "the file is " + std::string(json::to_words(kind)) +
                                     "; a file of annotations is an object with images, annotations and categories")
          .with_offset(cursor_.offset());
    std::array<bool, 3> seen{};
    std::string buffer;
    cursor_.each_member([&](const json::Text& name) {
      std::string_view list = name.raw;
      if (name.escaped) {
        try {
          list = json::characters(name, buffer);
        } catch (const Error&) {
          list = {};
        }
      }
      const std::size_t number = list == images_list        ? 0
                                 : list == annotations_list ? 1
                                 : list == categories_list  ? 2
                                                            : 3;
      if (number == 3) return cursor_.skip();
      if (std::exchange(seen[number], true))
        throw Error(Errc::corrupt, "member \"" + std::string(list) + "\" comes twice").with_offset(name.offset);
      if (const json::Kind found = cursor_.peek(); found != json::Kind::array)
        throw Error(Errc::corrupt,
                    "member \"" + std::string(list) + "\" is " + std::string(json::to_words(found)) + ", not an array")
            .with_offset(cursor_.offset());
      if (number == 0) return read_images();
      number == 1 ? read_annotations() : read_categories();
    });
    cursor_.end();
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (!seen[i])
        throw Error(Errc::corrupt,
                    "there is no member \"" +
                        std::string(std::array{images_list, annotations_list, categories_list}[i]) +
                        "\"; a file of annotations is an object with images, annotations and categories");
  }

  void read_images() {
    static constexpr std::array members{"id"sv, "file_name"sv, "height"sv, "width"sv};
    constexpr std::size_t needed = 2;
    cursor_.each_element([&] {
      const std::uint64_t number = table_.images_.size();
      cursor_.peek();
      CocoImage image{.offset = cursor_.offset()};
      if (number == std::uint64_t{1} << 31)
        refuse_entry(images_list, number, "more than 2^31 images can't be read", image.offset, Errc::limit_exceeded);
      CocoEntry entry(cursor_, images_list, number);
      entry.each_member(members, [&](std::size_t member) {
        if (member == 0) {
          image.id = entry.whole_number();
        } else if (member == 1) {
          const std::uint64_t offset = entry.require(json::Kind::text);
          const std::string_view name = entry.text();
          if (!is_below_folder(name))
            entry.refuse("\"" + shown(name) + "\" is not a file below the folder of the pictures", offset);
          table_.names_.add(name);
        } else if (!options_.masks) {
          cursor_.skip();
        } else {
          (member == 2 ? image.height : image.width) = pixels(entry);
        }
      });
      entry.require_members(members, needed, image.offset);
      if (options_.masks && (image.height == 0 || image.width == 0))
        refuse_entry(images_list, number, "there is no width or no height, which masks need", image.offset,
                     Errc::invalid_argument);
      table_.images_.push_back(image);
    });
  }

  static std::uint32_t pixels(CocoEntry& entry) {
    const std::uint64_t offset = entry.require(json::Kind::number);
    const std::int64_t number = entry.whole_number();
    if (number < 1 || number > std::numeric_limits<std::int32_t>::max())
      entry.refuse("is " + std::to_string(number) + ", not the size of a picture", offset);
    return static_cast<std::uint32_t>(number);
  }

  void read_annotations() {
    static constexpr std::array members{"id"sv, "image_id"sv, "category_id"sv, "bbox"sv, "iscrowd"sv};
    constexpr std::size_t needed = 4;
    cursor_.each_element([&] {
      const std::uint64_t number = table_.all_.size();
      cursor_.peek();
      CocoObject object{.offset = cursor_.offset()};
      if (number == std::numeric_limits<std::uint32_t>::max())
        refuse_entry(annotations_list, number, "more than 2^32 annotations can't be read", object.offset,
                     Errc::limit_exceeded);
      CocoEntry entry(cursor_, annotations_list, number);
      std::int64_t id = 0, image_id = 0;
      entry.each_member(members, [&](std::size_t member) {
        switch (member) {
          case 0:
            id = entry.whole_number();
            break;
          case 1:
            image_id = entry.whole_number();
            break;
          case 2:
            object.category = category_id(entry);
            break;
          case 3:
            read_box(entry, object);
            break;
          default:
            object.crowd = entry.flag() ? 1 : 0;
        }
      });
      entry.require_members(members, needed, object.offset);
      table_.all_.push_back(object);
      ids_.push_back(id);
      image_ids_.push_back(image_id);
    });
  }

  static std::int32_t category_id(CocoEntry& entry) {
    const std::uint64_t offset = entry.require(json::Kind::number);
    const std::int64_t id = entry.whole_number();
    if (!std::in_range<std::int32_t>(id))
      entry.refuse("categories with an id of more than 32 bits can't be read", offset, Errc::unsupported);
    return static_cast<std::int32_t>(id);
  }

  static void read_box(CocoEntry& entry, CocoObject& object) {
    const std::uint64_t offset = entry.require(json::Kind::array);
    std::array<double, 4> box{};
    std::size_t count = 0;
    entry.each_element([&] {
      if (count == box.size()) entry.refuse("has more than 4 numbers", offset);
      box[count++] = entry.number();
    });
    if (count != box.size()) entry.refuse("has " + std::to_string(count) + " numbers, not 4", offset);
    const auto& [x, y, width, height] = box;
    object.x0 = static_cast<float>(x);
    object.y0 = static_cast<float>(y);
    object.x1 = static_cast<float>(x + width);
    object.y1 = static_cast<float>(y + height);
    if (!std::isfinite(object.x1) || !std::isfinite(object.y1))
      entry.refuse("the box ends outside the range of f32", offset);
  }

  void read_categories() {
    static constexpr std::array members{"id"sv, "name"sv, "keypoints"sv};
    constexpr std::size_t needed = 2;
    constexpr std::int64_t most_keypoints = 1000;
    cursor_.each_element([&] {
      cursor_.peek();
      Category category{.offset = cursor_.offset()};
      CocoEntry entry(cursor_, categories_list, categories_.size());
      entry.each_member(members, [&](std::size_t member) {
        if (member == 0) {
          category.id = category_id(entry);
        } else if (member == 1) {
          category.name = entry.text();
        } else if (!options_.keypoints) {
          cursor_.skip();
        } else {
          const std::uint64_t offset = entry.require(json::Kind::array);
          entry.each_element([&] {
            cursor_.skip();
            if (++category.keypoints > most_keypoints)
              entry.refuse("has more than " + std::to_string(most_keypoints) + " keypoints", offset,
                           Errc::limit_exceeded);
          });
        }
      });
      entry.require_members(members, needed, category.offset);
      categories_.push_back(std::move(category));
    });
  }

  void check_ids() {
    std::vector<std::int64_t> sorted(ids_.begin(), ids_.end());
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
      const auto first = std::find(ids_.begin(), ids_.end(), *twice);
      const auto entry = static_cast<std::uint64_t>(std::find(first + 1, ids_.end(), *twice) - ids_.begin());
      refuse_twice(annotations_list, static_cast<std::uint64_t>(first - ids_.begin()), entry, *twice,
                   table_.all_[entry].offset);
    }
    std::deque<std::int64_t>().swap(ids_);
  }

  // Returns the entries sorted by their ids. @throws Error(corrupt) if two have the same.
  template <class Entries>
  static std::vector<IdOfEntry> sorted_ids(std::string_view list, const Entries& entries) {
    std::vector<IdOfEntry> sorted;
    sorted.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) sorted.push_back({entries[i].id, static_cast<std::uint32_t>(i)});
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                          [](const IdOfEntry& a, const IdOfEntry& b) { return a.id == b.id; });
    if (twice != sorted.end())
      refuse_twice(list, twice[0].entry, twice[1].entry, twice->id, entries[twice[1].entry].offset);
    return sorted;
  }

  void join_images() {
    const std::vector<IdOfEntry> sorted = sorted_ids(images_list, table_.images_);
    for (std::size_t i = 0; i < table_.all_.size(); ++i) {
      const std::optional<std::uint32_t> image = find_entry(sorted, image_ids_[i]);
      if (!image) refuse_unknown(i, "image_id", image_ids_[i], images_list);
      table_.all_[i].image = *image & 0x7fff'ffff;
    }
    std::deque<std::int64_t>().swap(image_ids_);
  }

  void number_classes() {
    const std::vector<IdOfEntry> sorted = sorted_ids(categories_list, categories_);
    for (std::size_t i = 0; i < table_.all_.size(); ++i) {
      CocoObject& object = table_.all_[i];
      const auto found = std::lower_bound(sorted.begin(), sorted.end(), IdOfEntry{object.category, 0});
      if (found == sorted.end() || found->id != object.category)
        refuse_unknown(i, "category_id", object.category, categories_list);
      object.category = static_cast<std::int32_t>(found - sorted.begin());
    }
    std::vector<std::string> names;
    for (const IdOfEntry& category : sorted) {
      const Category& from = categories_[category.entry];
      names.push_back(from.name);
      table_.category_ids_.push_back(category.id);
      if (from.keypoints == 0) continue;
      if (table_.keypoints_ != 0 && table_.keypoints_ != from.keypoints)
        refuse_entry(categories_list, category.entry,
                     "it lists " + std::to_string(from.keypoints) + " keypoints, and another category lists " +
                         std::to_string(table_.keypoints_) + "; a field has one number of keypoints",
                     from.offset, Errc::unsupported);
      table_.keypoints_ = from.keypoints;
    }
    table_.classes_ = ClassNames(std::move(names));
    if (options_.keypoints && table_.keypoints_ == 0)
      throw Error(Errc::invalid_argument,
                  "no category lists keypoints; COCO's are in the files person_keypoints_*.json");
  }

  [[noreturn]] void refuse_unknown(std::uint64_t annotation, std::string_view member, std::int64_t id,
                                   std::string_view list) const {
    refuse_entry(annotations_list, annotation,
                 "member \"" + std::string(member) + "\": " + std::to_string(id) + " is not the id of an entry of " +
                     std::string(list),
                 table_.all_[annotation].offset);
  }

  // Lists the annotations of each image, and the images that are records.
  void group() {
    const std::size_t images = table_.images_.size();
    table_.first_.assign(images + 1, 0);
    const auto is_kept = [&](const CocoObject& object, CocoTable::LeftOut& left_out) {
      if (object.crowd != 0 && options_.crowd == CocoCrowd::leave_out) return ++left_out.crowds, false;
      if (area_of(object.x1 - object.x0, object.y1 - object.y0) == BoxArea::none) return ++left_out.without_area, false;
      return true;
    };
    for (const CocoObject& object : table_.all_)
      if (is_kept(object, table_.left_out_)) ++table_.first_[object.image + 1];
    for (std::size_t i = 0; i < images; ++i) table_.first_[i + 1] += table_.first_[i];
    std::vector<std::uint64_t> next(table_.first_.begin(), table_.first_.end() - 1);
    table_.objects_of_.resize(table_.first_.back());
    CocoTable::LeftOut ignored;
    for (std::uint32_t i = 0; i < table_.all_.size(); ++i)
      if (is_kept(table_.all_[i], ignored)) table_.objects_of_[next[table_.all_[i].image]++] = i;
    for (std::uint32_t i = 0; i < images; ++i)
      if (options_.without_boxes || table_.first_[i] != table_.first_[i + 1]) table_.records_.push_back(i);
    table_.left_out_.images = images - table_.records_.size();
  }

  const Coco& options_;
  CocoTable& table_;
  json::Cursor cursor_;
  std::deque<std::int64_t> ids_, image_ids_;  // of annotations
  std::vector<Category> categories_;
};

CocoTable::CocoTable(std::string_view text, const Coco& options) { CocoScan(text, options, *this).run(); }

}  // namespace penstock::detection
