// SPDX-License-Identifier: Apache-2.0
// A made-up cohort: features of slides, like those of a network, in the files that FeatureSink writes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <penstock/sources/feature_sink.hpp>
#include <penstock/tensor.hpp>

// Patients have one to three slides. A third of the patients have a tumor in each of their slides. The tumor takes 3 to
// 10 % of a slide's tiles, whose features differ from those of the other kinds of tissue. Each slide has its own dye,
// which moves all its features by more than a tumor moves their mean. Every 25th slide has no tissue.
class Cohort {
 public:
  static constexpr std::size_t dimension = 64;
  static constexpr std::int64_t tile = 256;  // pixels

  explicit Cohort(std::uint32_t seed) : random_(seed) {
    for (auto& kind : kinds_) kind = vector_of_length(6);
    tumor_ = vector_of_length(5);
  }

  // Writes `folder`/features/h5_files/*.h5 and `folder`/cohort.csv. Existing slides are kept.
  void write(const std::filesystem::path& folder, std::size_t slides) {
    std::filesystem::create_directories(folder);
    penstock::FeatureSink sink({.folder = (folder / "features").string(),
                                .encoder = "made up",
                                .job = "cohort of " + std::to_string(slides),
                                .sync = false});
    std::ofstream table(folder / "cohort.csv");
    table << "slide,patient,label\n";
    for (std::size_t slide = 0, patient = 0; slide < slides; ++patient) {
      const bool tumor = patient % 3 == 0;
      for (std::size_t of_patient = 1 + below(3); of_patient != 0 && slide < slides; --of_patient, ++slide) {
        const std::string name = "slide-" + std::to_string(slide);
        table << name << ",patient-" << patient << (tumor ? ",tumor\n" : ",normal\n");
        draw(slide % 25 == 24 ? 0 : 60 + below(240), tumor);
        if (sink.has(name)) continue;
        sink.begin(name, {{"patch_size", tile}, {"patch_level", std::int64_t{0}}});
        const auto rows = static_cast<std::int64_t>(coords_.size() / 2);
        if (rows != 0)
          sink.put({reinterpret_cast<std::byte*>(features_.data()),
                    penstock::DType::f32,
                    {rows, static_cast<std::int64_t>(dimension)}},
                   {reinterpret_cast<std::byte*>(coords_.data()), penstock::DType::i64, {rows, 2}});
        sink.end();
      }
    }
  }

 private:
  using Vector = std::vector<float>;

  std::size_t below(std::size_t n) { return random_() % n; }
  // Returns a number that is about normally distributed, and the same with every standard library.
  float normal() {
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<float>(random_() >> 8) * 0x1p-24f;
    return sum;
  }
  Vector vector_of_length(float length) {
    Vector v(dimension);
    float squares = 0;
    for (float& x : v) {
      x = normal();
      squares += x * x;
    }
    for (float& x : v) x *= length / std::sqrt(squares);
    return v;
  }

  // Draws the features and the positions of a slide's tiles.
  void draw(std::size_t rows, bool tumor) {
    const Vector dye = vector_of_length(3);
    features_.clear();
    coords_.clear();
    const std::size_t ill = tumor ? 1 + rows * (3 + below(8)) / 100 : 0;
    for (std::size_t row = 0; row < rows; ++row) {
      // A tumor grows in one place, so its rows follow each other.
      const Vector& kind = row < ill ? tumor_ : kinds_[below(kinds_.size())];
      for (std::size_t i = 0; i < dimension; ++i) features_.push_back(kind[i] + dye[i] + normal());
      coords_.push_back(static_cast<std::int64_t>(row % 16) * tile);
      coords_.push_back(static_cast<std::int64_t>(row / 16) * tile);
    }
  }

  std::mt19937 random_;
  std::vector<Vector> kinds_ = std::vector<Vector>(5);
  Vector tumor_, features_;
  std::vector<std::int64_t> coords_;
};
