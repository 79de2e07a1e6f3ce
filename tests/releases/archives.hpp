// SPDX-License-Identifier: Apache-2.0
// The archives VERSION.tar.xz beside this file: what each release has written.
#pragma once

#include <string>
#include <vector>

namespace penstock_test {

// The version of the library.
std::string this_release();

// Versions, older ones first; at least one.
std::vector<std::string> releases();

// The newest release that has an archive.
std::string newest_release();

// Whether `release` has the minor version of this one, which must read all its files but caches.
bool is_of_this_minor(const std::string& release);

// Unpacks the archive of `release` into `folder`.
void unpack(const std::string& release, const std::string& folder);

// Whether a message says that a version or a job is another one.
bool names_the_difference(const std::string& message);

// Sets the times of all files in `folder` to a whole second. Caches and indexes know a file by its time, of which an
// archive keeps the seconds.
void set_whole_seconds(const std::string& folder);

}  // namespace penstock_test
