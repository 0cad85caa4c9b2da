#include "compute/depth_entropy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/fft/fft.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

// ln of p > 0 with a relative error of 1e-7, branch-free so that loops vectorize. Finite for p = 0. Uses p = 2^e m with
// m in sqrt(1/2) .. sqrt(2) and ln m = 2 artanh((m - 1) / (m + 1)).
inline float natural_log(float p) {
    constexpr std::uint32_t root_of_half = 0x3f3504f3, mantissa = 0x007fffff;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(p) - root_of_half;
    const auto exponent = static_cast<float>(static_cast<std::int32_t>(bits) >> 23);
    const float m = std::bit_cast<float>((bits & mantissa) + root_of_half);
    const float s = (m - 1) / (m + 1), t = s * s;
    const float series = 2 * s * (1 + t * (1.0F / 3 + t * (1.0F / 5 + t * (1.0F / 7 + t * (1.0F / 9)))));
    return exponent * std::numbers::ln2_v<float> + series;
}

struct Power {
    double sum = 0;
    double with_log = 0;  // sum of p ln p
};

// Accumulates in lanes that match the width of vector registers.
Power power_of(const std::complex<float>* bins, std::int64_t count) {
    constexpr std::int64_t lanes = 16;
    std::array<float, lanes> p{}, with_log{};
    std::array<double, lanes> sums{}, sums_with_log{};
    for (std::int64_t z = 0; z < count; z += lanes) {
        const std::int64_t here = std::min(lanes, count - z);
        if (here < lanes) p.fill(0);
        for (std::int64_t i = 0; i < here; ++i) p[index(i)] = std::norm(bins[z + i]);
        for (std::size_t i = 0; i < lanes; ++i) with_log[i] = p[i] * natural_log(p[i]);
        for (std::size_t i = 0; i < lanes; ++i) sums[i] += static_cast<double>(p[i]);
        for (std::size_t i = 0; i < lanes; ++i) sums_with_log[i] += static_cast<double>(with_log[i]);
    }
    return {std::accumulate(sums.begin(), sums.end(), 0.0),
            std::accumulate(sums_with_log.begin(), sums_with_log.end(), 0.0)};
}

class EntropyOnCpu : public DepthEntropy {
  public:
    explicit EntropyOnCpu(const SpectraOnGrid& spectra) : spectra_(spectra) {
        for (std::int64_t part = 0; part < parts; ++part) {
            transforms_.emplace_back(Fft::Kind::complex_forward, spectra_.points);
        }
    }

    std::vector<double> of(std::span<const std::complex<float>> phasors) override {
        std::vector<double> entropies;
        for (std::size_t first = 0; first < phasors.size(); first += index(spectra_.points)) {
            entropies.push_back(of_one(phasors.subspan(first, index(spectra_.points))));
        }
        return entropies;
    }

    Backend backend() const override { return Backend::cpu; }

  private:
    static constexpr std::int64_t parts = 16;  // fixed, so that sums do not depend on the number of threads

    double of_one(std::span<const std::complex<float>> phasors_of_one) {
        std::array<Power, parts> powers{};
        parallel_for(0, parts, [&](std::int64_t part) { powers[index(part)] = power_of_part(part, phasors_of_one); });
        Power all;
        for (const Power& power : powers) {
            all.sum += power.sum;
            all.with_log += power.with_log;
        }
        return entropy_of(all.sum, all.with_log);
    }

    Power power_of_part(std::int64_t part, std::span<const std::complex<float>> phasors_of_one) {
        Fft& transform = transforms_[index(part)];
        Power power;
        for (std::int64_t line = part; line < spectra_.lines(); line += parts) {
            const std::complex<float>* spectrum = spectra_.values.data() + line * spectra_.points;
            for (std::int64_t j = 0; j < spectra_.points; ++j) {
                const std::complex<float> t = phasors_of_one[index(j)], s = spectrum[j];
                transform.complex_in()[j] = {t.real() * s.real() - t.imag() * s.imag(),
                                             t.real() * s.imag() + t.imag() * s.real()};
            }
            transform.execute();
            const Power of_line = power_of(transform.complex_out(), spectra_.points);
            power.sum += of_line.sum;
            power.with_log += of_line.with_log;
        }
        return power;
    }

    SpectraOnGrid spectra_;
    std::vector<Fft> transforms_;
};

}  // namespace

double entropy_of(double power, double power_with_log) {
    return std::log(power) - power_with_log / power;
}

std::unique_ptr<DepthEntropy> depth_entropy(const SpectraOnGrid& spectra, const BackendChoice& choice) {
    std::unique_ptr<DepthEntropy> entropy;
    on_gpu_or_cpu(
        choice, [&] { entropy = required_gpu().depth_entropy(spectra, choice); },
        [&] { entropy = std::make_unique<EntropyOnCpu>(spectra); });
    return entropy;
}

}  // namespace echolux
