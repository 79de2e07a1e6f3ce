// SPDX-License-Identifier: Apache-2.0
#include "yolo/yolo_labels.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

#include <penstock/error.hpp>

#include "boxes.hpp"
#include "errors.hpp"

namespace penstock::detection {

namespace {

// One line of a file of labels.
class YoloLine {
 public:
  YoloLine(std::string_view text, std::size_t number, std::uint64_t offset)
      : rest_(text), number_(number), begin_(text.data()), offset_(offset) {}

  YoloObject read(const ClassNames& classes) {
    YoloObject object;
    object.class_number = class_number(next_word(), classes);
    constexpr std::array<const char*, 4> names{"the centre's x", "the centre's y", "the width", "the height"};
    for (std::size_t i = 0; i < names.size(); ++i) object.box[i] = share(next_word(), names[i]);
    if (area_of(object.box[2], object.box[3]) == BoxArea::negative) refuse("the width or height is negative", begin_);
    if (has_more()) refuse_more();
    return object;
  }

  bool has_more() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(space), rest_.size()));
    return !rest_.empty();
  }

 private:
  static constexpr std::string_view space = " \t\r";

  std::string_view next_word() {
    if (!has_more())
      refuse("it ends too early; a line has 5 numbers: class, centre's x and y, width, height", rest_.data());
    const std::string_view word = rest_.substr(0, rest_.find_first_of(space));
    rest_.remove_prefix(word.size());
    ++words_;
    return word;
  }

  std::int64_t class_number(std::string_view word, const ClassNames& classes) const {
    std::int32_t number = 0;
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failed != std::errc() || end != word.data() + word.size() || number < 0)
      refuse("the class is \"" + shown(word) + "\", not a whole number from 0 on", word.data());
    if (!classes.empty() && static_cast<std::size_t>(number) >= classes.size())
      refuse("the class is " + std::to_string(number) + ", which is not one of the " + classes.to_string(),
             word.data());
    return number;
  }

  float share(std::string_view word, const char* name) const {
    // Programs that write labels round.
    constexpr double least = -0.01, most = 1.01;
    double number = 0;
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failed != std::errc() || end != word.data() + word.size())
      refuse(std::string(name) + " is \"" + shown(word) + "\", not a number", word.data());
    if (!(number >= least && number <= most))
      refuse(std::string(name) + " is " + shown(word) + ", not a share of the picture from 0 to 1; are these pixels?",
             word.data());
    return static_cast<float>(number);
  }

  [[noreturn]] void refuse_more() {
    const char* const at = rest_.data();
    while (has_more()) next_word();
    refuse("it has " + std::to_string(words_) +
               " numbers, like a polygon, keypoints or a turned box; only boxes of 5 numbers can be read",
           at, Errc::unsupported);
  }

  [[noreturn]] void refuse(const std::string& why, const char* at, Errc code = Errc::corrupt) const {
    throw Error(code, "line " + std::to_string(number_) + ": " + why)
        .with_offset(offset_ + static_cast<std::uint64_t>(at - begin_));
  }

  std::string_view rest_;
  std::size_t number_;
  const char* begin_;
  std::uint64_t offset_;
  std::size_t words_ = 0;
};

}  // namespace

std::vector<YoloObject> read_yolo(std::string_view text, const ClassNames& classes) {
  std::vector<YoloObject> objects;
  std::size_t number = 0;
  for (std::size_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    YoloLine line(text.substr(begin, end - begin), ++number, begin);
    begin = end + 1;
    if (!line.has_more()) continue;
    const YoloObject object = line.read(classes);
    if (area_of(object.box[2], object.box[3]) == BoxArea::some) objects.push_back(object);
  }
  return objects;
}

}  // namespace penstock::detection
