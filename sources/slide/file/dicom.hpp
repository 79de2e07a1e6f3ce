// What a DICOM file says of the series that it is one instance of.
#pragma once

#include <string>

namespace penstock::slide {

/// Whether an open file begins as DICOM files do: "DICM" after 128 bytes. @throws Error(io).
bool is_dicom(int descriptor, const std::string& path);

/// The unique identifier of its series (0020,000E): the levels of a slide, its label and its photograph are files of
/// one series. Empty for what is no DICOM file, and where its first MiB doesn't say it. Takes time as that is long,
/// whatever the file says. @throws Error(not_found | io).
std::string dicom_series(const std::string& path);

}  // namespace penstock::slide
