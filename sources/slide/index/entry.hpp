// What an index keeps of one slide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "file/slide_file.hpp"

namespace penstock::slide {

/// What tells whether an entry still says what is there: all that it was made of but for the settings.
struct EntryKey {
  std::string name;
  FileSample sample;
  FileSample others;          ///< of the other files that the slide is made of
  double own_mpp = 0;         ///< micrometres a pixel that a table says
  std::uint64_t list = 0;     ///< hash of its list of places; 0: there is none
  std::uint64_t regions = 0;  ///< hash of its file of regions; 0: there is none
  std::string openslide;      ///< the version that was asked for the slide; empty: none was needed
  bool failed = false;        ///< the slide could not be read, so another try may do better
  /// Whether an entry with this key still holds, where `now` is what there is: `now` says which OpenSlide there is,
  /// whether the slide needs it or not.
  bool holds(const EntryKey& now) const {
    return name == now.name && sample == now.sample && others == now.others && own_mpp == now.own_mpp &&
           list == now.list && regions == now.regions && failed == now.failed &&
           (openslide.empty() || openslide == now.openslide);
  }
};

/// The slide as it was opened, places included.
std::string entry_of(const EntryKey& key, const SlideFile& slide);
/// What an entry begins with. @throws Error(corrupt), without a file.
EntryKey key_of_entry(std::string_view entry);
/// The slide; its number and path are not in it, nor where it is among all records. @throws as `key_of_entry`.
SlideFile slide_of_entry(std::string_view entry);

}  // namespace penstock::slide
