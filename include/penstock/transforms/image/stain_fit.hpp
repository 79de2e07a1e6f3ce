// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// How the stains of an image are measured.
enum class StainMethod : std::uint8_t {
  macenko,   ///< the colours and amounts of haematoxylin and eosin; for slides with these two stains
  reinhard,  ///< the mean and standard deviation of all colours; for any stains
};

/// How an image, or a whole slide, is stained. `fit_stain` measures a fit; `normalize_stain` changes an image from one
/// fit to another. Only the numbers of `method` are set; the other numbers are 0. A value type.
struct PENSTOCK_API StainFit {
  /// How the stains were measured.
  StainMethod method = StainMethod::macenko;
  /// Macenko: the colours of haematoxylin and of eosin as optical densities of R, G and B; each vector has length 1.
  std::array<std::array<float, 3>, 2> stains{};
  /// Macenko: for each stain, the concentration that 1 % of the counted pixels exceed. A concentration is the factor of
  /// the stain's vector in `stains`.
  std::array<float, 2> max_concentrations{};
  /// Reinhard: means of l, alpha and beta.
  std::array<float, 3> mean{};
  /// Reinhard: standard deviations of l, alpha and beta.
  std::array<float, 3> std{};

  /// Returns the numbers in the form of a field: f32 [8] (haematoxylin, eosin, `max_concentrations`) or f32 [6]
  /// (`mean`, `std`).
  std::vector<float> values() const;
  /// Returns the fit with these values. @throws Error(unsupported) if the number of values is not 8 or 6.
  static StainFit of(std::span<const float> values);
  /// Returns the default target of `normalize_stain`, whose values are widely used. For Macenko, they are from Veta's
  /// Matlab implementation (mitkovetta/staining-normalization), in which 240 is white. Most other implementations use
  /// these values. For Reinhard, they are from HistomicsTK, measured on the slide TCGA-A2-A3XS-DX1 (Amgad et al.,
  /// Bioinformatics 35, 2019).
  static StainFit reference(StainMethod method) noexcept;

  friend bool operator==(const StainFit&, const StainFit&) = default;
};

/// Measures how an image of tissue is stained. `image` is u8 [H, W, 3] in RGB, of any size.
///
/// Macenko (Macenko et al., "A method for normalizing histology slides for quantitative analysis", ISBI 2009). Pixels
/// become optical densities to base e, D = -log((I + 1) / 256). Only pixels whose D is at least 0.15 in each of R, G
/// and B count. These pixels are projected onto the plane of the two eigenvectors of their covariance that have the
/// largest eigenvalues. The stains are two directions in this plane: 1 % of the projected pixels have a smaller angle
/// than one of them, and 1 % have a larger angle than the other. Haematoxylin is the stain that absorbs more red. Least
/// squares give each pixel's concentrations, D = c1 stains[0] + c2 stains[1].
///
/// Reinhard (Reinhard et al., "Color transfer between images", IEEE Computer Graphics and Applications 21, 2001). The
/// fit is the mean and standard deviation of all pixels in the space l alpha beta of Ruderman et al. (1998). The space
/// has Reinhard's numbers, and natural logarithms like HistomicsTK. 1 is added to each value of a pixel:
///
///     (L, M, S) = ((0.3811, 0.5783, 0.0402), (0.1967, 0.7244, 0.0782), (0.0241, 0.1288, 0.8444)) (R + 1, G + 1, B + 1)
///     l = (ln L + ln M + ln S) / sqrt 3,   alpha = (ln L + ln M - 2 ln S) / sqrt 6,   beta = (ln L - ln M) / sqrt 2
///
/// Computes in binary64 and rounds the result to binary32. Percentiles come from histograms of 65,536 bins. So angles
/// are exact to 0.01 degrees, and concentrations are exact to 1/10,000 of the largest concentration that a pixel can
/// have. The time is proportional to the number of pixels. Macenko's method takes about 1.6 MB of memory. Every CPU
/// gives the same bits. Any thread may call this function.
/// @throws Error(unsupported) if
/// - the image does not have 3 channels;
/// - the image has fewer than 100 pixels, or, for Macenko, fewer than 100 pixels that count;
/// - Macenko: the two stains are less than one degree apart, for instance if the image has only one colour or only
///   greys;
/// - Reinhard: a standard deviation is less than 0.001.
PENSTOCK_API StainFit fit_stain(View<const std::uint8_t, 3> image, StainMethod method = StainMethod::macenko);

}  // namespace penstock
