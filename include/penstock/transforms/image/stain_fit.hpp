#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// What is measured of the stains of an image.
enum class StainMethod : std::uint8_t {
  macenko,   ///< the colours of haematoxylin and eosin, and how much there is of each: for slides of these two stains
  reinhard,  ///< mean and standard deviation of all colours, whatever they come from
};

/// How an image, or a whole slide, is stained: `fit_stain` finds it, `normalize_stain` maps from one to another. It has
/// the numbers of its method alone, the others are 0. A value.
struct PENSTOCK_API StainFit {
  /// What was measured.
  StainMethod method = StainMethod::macenko;
  /// Macenko: the colours of haematoxylin and of eosin, as optical densities of R, G and B; each has the length 1.
  std::array<std::array<float, 3>, 2> stains{};
  /// Macenko: of each of the two, the concentration that 1 % of the pixels exceed, in units of `stains`.
  std::array<float, 2> max_concentrations{};
  /// Reinhard: means of l, alpha and beta.
  std::array<float, 3> mean{};
  /// Reinhard: standard deviations of l, alpha and beta.
  std::array<float, 3> std{};

  /// The numbers as a field has them: f32 [8], haematoxylin, eosin, `max_concentrations`; or f32 [6], `mean`, `std`.
  std::vector<float> values() const;
  /// The fit with these values. @throws Error(unsupported) for another number of them than 8 or 6.
  static StainFit of(std::span<const float> values);
  /// What `normalize_stain` maps to by itself: values in wide use. Macenko: those of Veta's implementation in Matlab
  /// (mitkovetta/staining-normalization), which most others took over, and to which 240 is white. Reinhard: those of
  /// the slide TCGA-A2-A3XS-DX1 (Amgad et al., Bioinformatics 35, 2019), as HistomicsTK has them.
  static StainFit reference(StainMethod method) noexcept;

  friend bool operator==(const StainFit&, const StainFit&) = default;
};

/// Finds how an image of tissue is stained. `image`: u8 [H, W, 3], RGB, of any size.
///
/// Macenko (Macenko et al., "A method for normalizing histology slides for quantitative analysis", ISBI 2009): pixels
/// become optical densities to base e, D = -log((I + 1) / 256). Those count that are at least 0.15 in R, G and B. They
/// are projected onto the plane of the two eigenvectors of their covariance whose eigenvalues are largest; there, 1 %
/// of them lie beyond each of two directions: the stains. Haematoxylin is the one that takes more red. Least squares
/// give each pixel's concentrations, D = c1 stains[0] + c2 stains[1].
///
/// Reinhard (Reinhard et al., "Color transfer between images", IEEE Computer Graphics and Applications 21, 2001): mean
/// and standard deviation of all pixels in the space l alpha beta of Ruderman et al. (1998), with that paper's numbers,
/// natural logarithms as in HistomicsTK, and 1 added to each value:
///
///     (L, M, S) = ((0.3811, 0.5783, 0.0402), (0.1967, 0.7244, 0.0782), (0.0241, 0.1288, 0.8444)) (R + 1, G + 1, B + 1)
///     l = (ln L + ln M + ln S) / sqrt 3,   alpha = (ln L + ln M - 2 ln S) / sqrt 6,   beta = (ln L - ln M) / sqrt 2
///
/// It works in binary64 and rounds its result to binary32. Percentiles are those of histograms of 65,536 bins: angles
/// are right to 0.01 degrees, concentrations to a ten-thousandth of the most that a pixel can have. Time grows with the
/// pixels; it takes about a megabyte. The same bits on every CPU. Any thread.
///
/// @throws Error(unsupported) for other than 3 channels, and for an image whose stains can't be told: of which fewer
/// than 100 pixels count; Macenko: whose two stains are less than a degree apart, as in one colour, or in grey;
/// Reinhard: of which one of the standard deviations is less than 0.001.
PENSTOCK_API StainFit fit_stain(View<const std::uint8_t, 3> image, StainMethod method = StainMethod::macenko);

}  // namespace penstock
