// SPDX-License-Identifier: Apache-2.0
// A perceptron with one hidden layer (tanh) and softmax, trained by gradient descent with momentum. All parameters are
// in one array, and all gradients are in another, so that ranks can add up their gradients in one call.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

class Network {
 public:
  Network(std::size_t features, std::size_t hidden, std::size_t classes)
      : features_(features), hidden_(hidden), classes_(classes) {
    value_.resize(hidden * (features + 1) + classes * (hidden + 1));
    velocity_.resize(value_.size());
    gradient_.resize(value_.size());
    std::mt19937 random(1);
    const double width = std::sqrt(3.0 / static_cast<double>(features));
    for (double& v : value_) v = width * (static_cast<double>(random()) / 2147483648.0 - 1.0);
  }

  std::span<double> values() { return value_; }
  std::span<double> velocities() { return velocity_; }
  std::span<double> gradients() { return gradient_; }

  struct Result {
    double loss = 0, right = 0;
  };

  // Adds the gradients of one sample to the sums of gradients.
  Result add(std::span<const double> x, std::int64_t label) {
    const double* const w1 = value_.data();
    const double* const w2 = w1 + hidden_ * (features_ + 1);
    double* const g1 = gradient_.data();
    double* const g2 = g1 + hidden_ * (features_ + 1);
    h_.resize(hidden_);
    p_.resize(classes_);
    for (std::size_t j = 0; j < hidden_; ++j) h_[j] = std::tanh(product(w1 + j * (features_ + 1), x));
    for (std::size_t k = 0; k < classes_; ++k) p_[k] = product(w2 + k * (hidden_ + 1), h_);
    const auto largest = std::max_element(p_.begin(), p_.end());
    Result result{.right = largest - p_.begin() == label ? 1.0 : 0.0};
    const double most = *largest;
    double sum = 0;
    for (double& p : p_) sum += p = std::exp(p - most);
    for (double& p : p_) p /= sum;
    result.loss = -std::log(std::max(p_[static_cast<std::size_t>(label)], 1e-300));

    p_[static_cast<std::size_t>(label)] -= 1;  // the gradient of softmax and cross-entropy together
    for (std::size_t k = 0; k < classes_; ++k) accumulate(g2 + k * (hidden_ + 1), p_[k], h_);
    for (std::size_t j = 0; j < hidden_; ++j) {
      double d = 0;
      for (std::size_t k = 0; k < classes_; ++k) d += w2[k * (hidden_ + 1) + j] * p_[k];
      accumulate(g1 + j * (features_ + 1), d * (1 - h_[j] * h_[j]), x);
    }
    return result;
  }

  // Makes one step with the sums divided by `samples`, and sets the sums to zero.
  void step(double rate, double samples) {
    for (std::size_t i = 0; i < value_.size(); ++i) {
      velocity_[i] = 0.9 * velocity_[i] + gradient_[i] / samples;
      value_[i] -= rate * velocity_[i];
      gradient_[i] = 0;
    }
  }

 private:
  // Returns the product of a row of weights and x, plus the row's last number, which is the bias.
  static double product(const double* w, std::span<const double> x) {
    double sum = w[x.size()];
    for (std::size_t i = 0; i < x.size(); ++i) sum += w[i] * x[i];
    return sum;
  }
  static void accumulate(double* g, double d, std::span<const double> x) {
    for (std::size_t i = 0; i < x.size(); ++i) g[i] += d * x[i];
    g[x.size()] += d;
  }

  std::size_t features_, hidden_, classes_;
  std::vector<double> value_, velocity_, gradient_, h_, p_;
};
