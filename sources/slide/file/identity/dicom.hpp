// SPDX-License-Identifier: Apache-2.0
// Finds the identifier of a DICOM file's series.
#pragma once

#include <string>

namespace penstock::slide {

/// Returns whether an open file begins like DICOM files, with "DICM" after 128 bytes. @throws Error(io).
bool is_dicom(int descriptor, const std::string& path);

/// Returns the unique identifier of the file's series (0020,000E). The levels of a slide, its label and its photograph
/// are files of one series. Returns an empty text if the file is not DICOM, or its first MiB lacks the identifier.
/// Reads at most the first MiB; takes time proportional to what it reads. @throws Error(not_found | io).
std::string dicom_series(const std::string& path);

}  // namespace penstock::slide
