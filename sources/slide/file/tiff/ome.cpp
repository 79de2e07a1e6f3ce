// SPDX-License-Identifier: Apache-2.0
#include "file/tiff/ome.hpp"

#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>

#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"
#include "file/text_number.hpp"

namespace penstock::slide {

namespace {

// Returns the micrometres of a unit of OME; 0 if the list below lacks the unit.
double micrometres(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double micrometres;
  };
  // The first three units write "micro" as the micro sign, as the Greek letter mu, and as u.
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

// Returns the name of an element without the prefix of its namespace.
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

// Returns whether the text's first element is called OME. Doesn't parse the text, so that damaged OME-XML is not taken
// for text of another kind.
bool begins_as_ome(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf", space = " \t\r\n", ends = " \t\r\n/>";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
    if (!text.starts_with('<')) return false;
    const std::string_view end = text.starts_with("<!--") ? "-->" : text.starts_with("<?") ? "?>" : ">";
    if (end == ">" && !text.starts_with("<!")) break;
    const std::size_t at = text.find(end);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + end.size());
  }
  const std::string name(text.substr(1, std::min(text.find_first_of(ends), text.size()) - 1));
  return bare(name.c_str()) == "OME";
}

// Returns an identifier in lower case, without the scheme "urn:uuid:" that some programs write.
std::string identifier_of(std::string_view text) {
  std::string identifier(without_spaces(text));
  std::ranges::transform(identifier, identifier.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::string_view scheme = "urn:uuid:";
  return identifier.starts_with(scheme) ? identifier.substr(scheme.size()) : identifier;
}

// Reads numbers from one file's OME-XML.
class OmeReader {
 public:
  explicit OmeReader(const std::string& path) : path_(path) {}

  // Returns the attribute's whole number, which must be at least `least`. Returns none if the attribute is missing.
  std::optional<std::uint32_t> number(const pugi::xml_node& node, const char* name, std::uint32_t least = 1) const {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) return std::nullopt;
    const std::string_view text = without_spaces(attribute.value());
    std::uint32_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size() || value < least)
      fail(Errc::corrupt,
           "says " + std::string(name) + "=\"" + printable(text, 40) + "\", which can't be; write the file anew");
    return value;
  }

  OmeSize size_of(const pugi::xml_node& image) const {
    const pugi::xml_node pixels = child(image, "Pixels");
    return {number(pixels, "SizeX").value_or(0), number(pixels, "SizeY").value_or(0)};
  }

  [[noreturn]] void fail(Errc code, const std::string& what) const {
    throw error_in(path_, code, "its OME-XML " + what);
  }

 private:
  const std::string& path_;
};

// Says where the pixels of an image are.
struct OmePlace {
  std::uint32_t directory = 0;  // the first directory that TiffData names; TiffData without a number names 0
  bool several = false;         // the pixels are in several directories of this file, or in this file and in others
  bool elsewhere = false;       // all pixels are in other files
  std::string other_file;
};

// Returns where an image's pixels are. `own`: the identifier of the file that is read. If `own` is empty, all pixels
// count as this file's. Pixels without an identifier also do. File names can't decide, because users rename files.
OmePlace place_of(const pugi::xml_node& image, std::string_view own, const OmeReader& reader) {
  OmePlace place;
  bool here = false;
  for (const pugi::xml_node& data : child(image, "Pixels").children()) {
    if (bare(data.name()) != "TiffData") continue;
    const pugi::xml_node file = child(data, "UUID");
    const std::string identifier = identifier_of(file.child_value());
    if (!own.empty() && !identifier.empty() && identifier != own) {
      if (!place.elsewhere) place.other_file = file.attribute("FileName").value();
      place.elsewhere = true;
      continue;
    }
    const std::uint32_t directory = reader.number(data, "IFD", 0).value_or(0);
    if (!here) place.directory = directory;
    place.several = place.several || directory != place.directory;
    here = true;
  }
  place.several = place.several || (here && place.elsewhere);
  place.elsewhere = place.elsewhere && !here;
  return place;
}

// The images that have pixels in this file, and the largest of them.
struct OmeImages {
  pugi::xml_node largest;
  OmePlace place;
  OmeSize size;
  std::vector<OmeSize> all;
};

OmeImages images_of(const pugi::xml_node& ome, const OmeReader& reader) {
  const std::string own = identifier_of(ome.attribute("UUID").value());
  OmeImages images;
  std::string other_file;
  std::uint64_t most_elsewhere = 0;
  bool elsewhere = false;
  for (const pugi::xml_node& image : ome.children()) {
    if (bare(image.name()) != "Image") continue;
    OmePlace place = place_of(image, own, reader);
    const OmeSize size = reader.size_of(image);
    if (place.elsewhere) {
      if (!elsewhere || size.pixels() > most_elsewhere) {
        other_file = std::move(place.other_file);
        most_elsewhere = size.pixels();
      }
      elsewhere = true;
      continue;
    }
    images.all.push_back(size);
    if (images.largest && size.pixels() <= images.size.pixels()) continue;
    images.largest = image;
    images.place = std::move(place);
    images.size = size;
  }
  // If another file has a larger image, the images in this file may be only the label, so they are not read.
  if (elsewhere && (!images.largest || most_elsewhere > images.size.pixels()))
    reader.fail(Errc::unsupported, "says that another file has its image, \"" + printable(other_file, 100) +
                                       "\"; read that one, or write all into one file");
  return images;
}

[[noreturn]] void refuse_channels(const std::string& path, std::uint64_t channels, const std::string& names) {
  throw error_in(path, Errc::unsupported,
                 "its OME-XML says that it has " + std::to_string(channels) +
                     (channels == 1 ? " channel" : " channels") + names + ", which " + (channels == 1 ? "is" : "are") +
                     " not the colours of one image; write it as one 8-bit RGB image");
}

void refuse_stacks(const pugi::xml_node& pixels, const OmeReader& reader) {
  if (const auto planes = reader.number(pixels, "SizeZ").value_or(1); planes > 1)
    reader.fail(Errc::unsupported, "says that it is a z-stack of " + std::to_string(planes) +
                                       " planes, which is not read; write one of them as a file of its own");
  if (const auto times = reader.number(pixels, "SizeT").value_or(1); times > 1)
    reader.fail(Errc::unsupported, "says that it is a series of " + std::to_string(times) +
                                       " times, which is not read; write one of them as a file of its own");
}

// Reads the number and the names of the image's channels. The channels must be in one directory. `check_ome` compares
// their number with the values per pixel in the directory.
void read_channels(const pugi::xml_node& pixels, bool several_directories, const OmeReader& reader,
                   const std::string& path, OmeImage& image) {
  constexpr std::size_t most_names = 5, most_bytes = 40;
  std::uint32_t elements = 0;
  std::size_t named = 0;
  std::uint32_t samples = 0;
  for (const pugi::xml_node& channel : pixels.children()) {
    if (bare(channel.name()) != "Channel") continue;
    ++elements;
    samples = std::max(samples, reader.number(channel, "SamplesPerPixel").value_or(0));
    const std::string_view name = channel.attribute("Name").value();
    if (name.empty() || named++ >= most_names) continue;
    image.channel_names += (named == 1 ? " (\"" : ", \"") + printable(name, most_bytes) + "\"";
  }
  if (named != 0) image.channel_names += named > most_names ? " and others)" : ")";
  image.channels = std::max({reader.number(pixels, "SizeC").value_or(0), elements, samples});
  // 1 channel is grey, 3 are RGB, and 4 are RGB with alpha.
  const bool colours = image.channels <= 1 || image.channels == 3 || image.channels == 4;
  if (!colours || (several_directories && image.channels > 1))
    refuse_channels(path, image.channels, image.channel_names);
}

// Returns the objective that the image names. If the image names none, and the file has exactly one objective, returns
// that one. Otherwise returns an empty node.
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

Resolution resolution_of(const pugi::xml_node& ome, const pugi::xml_node& image) {
  Resolution resolution;
  const pugi::xml_node pixels = child(image, "Pixels");
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

// Returns the root element; an empty node if the root is not called OME.
pugi::xml_node parse_ome(const std::string& description, const std::string& path, pugi::xml_document& document) {
  const pugi::xml_parse_result parsed = document.load_buffer(description.data(), description.size());
  if (parsed.status == pugi::status_out_of_memory)
    throw Error(Errc::out_of_memory, "no memory to read a slide's OME-XML").with_file(path);
  // Damaged XML is an error, because it can't show whether the image is one channel of several.
  if (!parsed)
    throw error_in(
        path, Errc::corrupt,
        "its OME-XML is damaged, so it doesn't say what its images are: " + std::string(parsed.description()) + " (" +
            std::to_string(parsed.offset) + " bytes into it); write the file anew");
  return child(document, "OME");
}

}  // namespace

std::optional<OmeImage> read_ome(const std::string& description, const std::string& path) {
  if (!begins_as_ome(description)) return std::nullopt;
  pugi::xml_document document;
  const pugi::xml_node ome = parse_ome(description, path, document);
  if (!ome) return std::nullopt;
  const OmeReader reader(path);
  if (const pugi::xml_node other = child(ome, "BinaryOnly"); other)
    reader.fail(Errc::unsupported, "lies in another file, \"" +
                                       printable(other.attribute("MetadataFile").value(), 100) +
                                       "\", so it doesn't say here what its images are; write all into one file");
  const OmeImages images = images_of(ome, reader);
  const pugi::xml_node pixels = child(images.largest, "Pixels");
  refuse_stacks(pixels, reader);
  OmeImage image{.size = images.size, .directory = images.place.directory};
  read_channels(pixels, images.place.several, reader, path, image);
  image.resolution = resolution_of(ome, images.largest);
  bool passed = false;
  for (const OmeSize& other : images.all) {
    const bool is_it = !passed && other.width == image.size.width && other.height == image.size.height;
    passed = passed || is_it;
    if (!is_it && other.pixels() != 0 && other.pixels() >= (image.size.pixels() + 3) / 4) image.others.push_back(other);
  }
  return image;
}

void check_ome(const OmeImage& image, const OmeSize& size, std::uint32_t samples, const std::string& path) {
  const auto differs = [](std::uint32_t said, std::uint32_t there) { return said != 0 && said != there; };
  const auto text = [](std::uint32_t side) { return side == 0 ? std::string("?") : std::to_string(side); };
  if (differs(image.size.width, size.width) || differs(image.size.height, size.height))
    throw error_in(path, Errc::corrupt,
                   "its OME-XML says that its image has " + text(image.size.width) + "x" + text(image.size.height) +
                       " pixels; directory " + std::to_string(image.directory) + ", counted from 0, has " +
                       std::to_string(size.width) + "x" + std::to_string(size.height) + "; write the file anew");
  if (image.channels > samples) refuse_channels(path, image.channels, image.channel_names);
}

std::string unread_images(const OmeImage& image, std::span<const Level> levels) {
  std::size_t count = 0;
  OmeSize first;
  for (const OmeSize& other : image.others) {
    const auto is_it = [&](const Level& level) { return level.width == other.width && level.height == other.height; };
    if (std::ranges::any_of(levels, is_it) || count++ != 0) continue;
    first = other;
  }
  if (count == 0) return {};
  return (count == 1 ? "another image of " : std::to_string(count) + " other images, the first of ") +
         std::to_string(first.width) + "x" + std::to_string(first.height) + " pixels";
}

}  // namespace penstock::slide
