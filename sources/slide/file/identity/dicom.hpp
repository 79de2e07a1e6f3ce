// SPDX-License-Identifier: Apache-2.0
// What identifies the series of a DICOM file.
#pragma once

#include <string>

namespace penstock::slide {

/// Returns whether an open file begins like DICOM files: "DICM" after 128 bytes. @throws Error(io).
bool is_dicom(int descriptor, const std::string& path);

/// Returns the unique identifier of its series (0020,000E). The levels of a slide, its label and its photograph are
/// files of one series. Empty for another kind of file, and if the first MiB lacks the identifier. Reads at most that
/// MiB; takes time proportional to what it reads. @throws Error(not_found | io).
std::string dicom_series(const std::string& path);

}  // namespace penstock::slide
