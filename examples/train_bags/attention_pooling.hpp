// SPDX-License-Identifier: Apache-2.0
// Attention pooling over the instances of a bag (Ilse, Tomczak and Welling, "Attention-based Deep Multiple Instance
// Learning", ICML 2018), written plainly. Each instance is embedded: z = ReLU(W h + b). The attention is the softmax of
// w tanh(V z) over the bag. The bag is the sum of its z, weighted by the attention, and a logistic regression of this
// sum predicts the class. The network is trained by Adam (Kingma and Ba, 2015). It uses no library and no intrinsics;
// the compiler vectorises the inner loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

class AttentionPooling {
 public:
  AttentionPooling(std::size_t features, std::size_t embedded, std::size_t hidden)
      : features_(features),
        embedded_(embedded),
        hidden_(hidden),
        embed_(embedded * features),
        embed_bias_(embedded),
        tanh_(hidden * embedded),
        attend_(hidden),
        classify_(embedded),
        bias_(1) {
    std::mt19937 random(1);
    const auto fill = [&](std::vector<float>& weights, std::size_t inputs) {
      const float width = std::sqrt(3.0f / static_cast<float>(inputs));
      for (float& w : weights) w = width * (static_cast<float>(random()) / 2147483648.0f - 1.0f);
    };
    fill(embed_.value, features);
    fill(tanh_.value, embedded);
    fill(attend_.value, hidden);
    fill(classify_.value, embedded);
  }

  // Returns the probability that a bag is of class 1. The bag has at least one instance; each instance has `features`
  // numbers.
  double predict(std::span<const float> bag) {
    forward(bag);
    return probability_;
  }

  // Adds the gradients of one bag. Returns the bag's loss.
  double learn(std::span<const float> bag, std::int64_t label) {
    forward(bag);
    backward(bag, static_cast<float>(label));
    ++bags_;
    return -std::log(std::max(1e-12, label == 1 ? probability_ : 1 - probability_));
  }
  // Makes one step with the mean gradient of the bags since the last step.
  void step(float rate) {
    if (bags_ == 0) return;
    ++steps_;
    for (Parameters* p : {&embed_, &embed_bias_, &tanh_, &attend_, &classify_, &bias_})
      p->step(rate, 1.0f / static_cast<float>(bags_), steps_);
    bags_ = 0;
  }

 private:
  struct Parameters {
    explicit Parameters(std::size_t n) : value(n), gradient(n), mean(n), square(n) {}
    void step(float rate, float scale, int steps) {
      constexpr float keep_mean = 0.9f, keep_square = 0.999f, decay = 1e-3f;
      const float mean_part = 1 - std::pow(keep_mean, static_cast<float>(steps));
      const float square_part = 1 - std::pow(keep_square, static_cast<float>(steps));
      for (std::size_t i = 0; i < value.size(); ++i) {
        const float g = scale * gradient[i];
        mean[i] = keep_mean * mean[i] + (1 - keep_mean) * g;
        square[i] = keep_square * square[i] + (1 - keep_square) * g * g;
        value[i] -= rate * (mean[i] / mean_part / (std::sqrt(square[i] / square_part) + 1e-8f) + decay * value[i]);
        gradient[i] = 0;
      }
    }
    std::vector<float> value, gradient, mean, square;
  };

  static float dot(const float* a, const float* b, std::size_t n) {
    // Has eight sums, so that the compiler may compute them side by side.
    float sums[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (std::size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
    float sum = 0;
    for (; i < n; ++i) sum += a[i] * b[i];
    for (const float part : sums) sum += part;
    return sum;
  }
  static void add(float* to, const float* from, float scale, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] += scale * from[i];
  }

  void forward(std::span<const float> bag) {
    const std::size_t rows = bag.size() / features_;
    z_.resize(rows * embedded_);
    t_.resize(rows * hidden_);
    attention_.resize(rows);
    for (std::size_t k = 0; k < rows; ++k) {
      float* const z = &z_[k * embedded_];
      for (std::size_t j = 0; j < embedded_; ++j)
        z[j] = std::max(0.0f, dot(&embed_.value[j * features_], &bag[k * features_], features_) + embed_bias_.value[j]);
      float* const t = &t_[k * hidden_];
      for (std::size_t j = 0; j < hidden_; ++j) t[j] = std::tanh(dot(&tanh_.value[j * embedded_], z, embedded_));
      attention_[k] = dot(attend_.value.data(), t, hidden_);
    }
    const float largest = *std::max_element(attention_.begin(), attention_.end());
    float sum = 0;
    for (float& a : attention_) sum += a = std::exp(a - largest);
    for (float& a : attention_) a /= sum;
    pooled_.assign(embedded_, 0.0f);
    for (std::size_t k = 0; k < rows; ++k) add(pooled_.data(), &z_[k * embedded_], attention_[k], embedded_);
    const float logit = dot(classify_.value.data(), pooled_.data(), embedded_) + bias_.value[0];
    probability_ = 1 / (1 + std::exp(-static_cast<double>(logit)));
  }

  void backward(std::span<const float> bag, float label) {
    const std::size_t rows = attention_.size();
    const float of_logit = static_cast<float>(probability_) - label;
    add(classify_.gradient.data(), pooled_.data(), of_logit, embedded_);
    bias_.gradient[0] += of_logit;
    // The gradient of the softmax: how much more an instance supports class 1 than the whole bag does.
    const float* const u = classify_.value.data();
    const float whole = dot(u, pooled_.data(), embedded_);
    std::vector<float> of_z(embedded_);
    for (std::size_t k = 0; k < rows; ++k) {
      const float* const z = &z_[k * embedded_];
      const float* const t = &t_[k * hidden_];
      const float of_score = of_logit * attention_[k] * (dot(u, z, embedded_) - whole);
      for (std::size_t j = 0; j < embedded_; ++j) of_z[j] = of_logit * attention_[k] * u[j];
      for (std::size_t j = 0; j < hidden_; ++j) {
        attend_.gradient[j] += of_score * t[j];
        const float of_tanh = of_score * attend_.value[j] * (1 - t[j] * t[j]);
        add(&tanh_.gradient[j * embedded_], z, of_tanh, embedded_);
        add(of_z.data(), &tanh_.value[j * embedded_], of_tanh, embedded_);
      }
      for (std::size_t j = 0; j < embedded_; ++j) {
        if (z[j] <= 0) continue;
        embed_bias_.gradient[j] += of_z[j];
        add(&embed_.gradient[j * features_], &bag[k * features_], of_z[j], features_);
      }
    }
  }

  std::size_t features_, embedded_, hidden_;
  Parameters embed_, embed_bias_, tanh_, attend_, classify_, bias_;
  std::vector<float> z_, t_, attention_, pooled_;
  double probability_ = 0.5;
  std::size_t bags_ = 0;
  int steps_ = 0;
};
