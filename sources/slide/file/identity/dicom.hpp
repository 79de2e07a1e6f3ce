// What a DICOM file says of the series that it is one instance of.
#pragma once

#include <string>

namespace penstock::slide {

/// Whether an open file begins as DICOM files do: "DICM" after 128 bytes. @throws Error(io).
bool is_dicom(int descriptor, const std::string& path);

/// The unique identifier of its series (0020,000E). The levels of a slide, its label and its photograph are files of
/// one series. Empty for another kind of file, and where the first MiB lacks the identifier. Takes time in proportion
/// to what it reads, which is no more than that. @throws Error(not_found | io).
std::string dicom_series(const std::string& path);

}  // namespace penstock::slide
