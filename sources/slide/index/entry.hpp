// SPDX-License-Identifier: Apache-2.0
// An index's entry for one slide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "file/slide_file.hpp"

namespace penstock::slide {

/// Everything that an entry was made from, except the settings. A comparison with the present state shows whether the
/// entry is still valid.
struct EntryKey {
  std::string name;
  PartialDigest sample;
  PartialDigest others;       ///< identifies the other files of the slide
  double own_mpp = 0;         ///< micrometres per pixel from a table
  std::uint64_t list = 0;     ///< hash of its list of places; 0: there is none
  std::uint64_t regions = 0;  ///< hash of its file of regions; 0: there is none
  std::string openslide;      ///< the version that was used for the slide; empty: none was needed
  bool failed = false;  ///< the slide could not be read; the entry is never valid, so that the slide is tried again
  /// Returns whether an entry with this key is still valid. `now` is the key of the present state. `now.openslide` is
  /// the version that was found, whether or not the slide needs OpenSlide.
  bool holds(const EntryKey& now) const {
    return name == now.name && sample == now.sample && others == now.others && own_mpp == now.own_mpp &&
           list == now.list && regions == now.regions && failed == now.failed &&
           (openslide.empty() || openslide == now.openslide);
  }
};

/// Returns the entry of an opened slide, including its places.
std::string entry_of(const EntryKey& key, const SlideFile& slide);
/// Reads the key at the beginning of an entry. @throws Error(corrupt), without the index's name.
EntryKey key_of_entry(std::string_view entry);
/// Returns the slide of an entry. Some members are not in the entry, like the slide's path, its number, and the
/// number of its first record. @throws like `key_of_entry`.
SlideFile slide_of_entry(std::string_view entry);

}  // namespace penstock::slide
