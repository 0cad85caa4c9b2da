// Synthetic scans for tests: fringes of a mirror with some noise, in memory and as files.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "echolux/echolux.hpp"

namespace echolux::test {

namespace lux = echolux::api;

struct Size {
    std::int64_t samples = 256, a_scans = 12, b_scans = 6, volumes = 1;
};

inline constexpr const char* plain_recipe = "recipe.background=none";
inline const lux::Assignments fixed_levels{plain_recipe, "recipe.levels=fixed", "recipe.low=20", "recipe.high=120"};

// Spectra [volumes][b_scans][a_scans][samples], u16.
inline std::vector<std::uint16_t> fringes(const Size& size = {}) {
    std::vector<std::uint16_t> spectra;
    std::uint32_t random = 1;
    for (std::int64_t line = 0; line < size.volumes * size.b_scans * size.a_scans; ++line) {
        const double depth = 20 + static_cast<double>(line % 40);
        for (std::int64_t s = 0; s < size.samples; ++s) {
            random = random * 1664525u + 1013904223u;
            const double phase =
                2 * 3.141592653589793 * depth * static_cast<double>(s) / static_cast<double>(size.samples);
            spectra.push_back(static_cast<std::uint16_t>(3000 + 900 * std::cos(phase) + (random >> 26)));
        }
    }
    return spectra;
}

inline lux::Scan described(const Size& size = {}, const lux::Assignments& settings = fixed_levels) {
    return lux::Scan::create(size.samples, size.a_scans, size.b_scans, "u16", settings);
}

// Block of B-scans [first, first + count) of the first volume.
inline echolux_block block_of(const std::vector<std::uint16_t>& spectra, const Size& size, std::int64_t first,
                              std::int64_t count) {
    auto block = lux::make<echolux_block>();
    block.data = spectra.data() + first * size.a_scans * size.samples;
    block.bytes = count * size.a_scans * size.samples * 2;
    block.first_b_scan = first;
    block.b_scans = count;
    return block;
}

template <class T>
echolux_place place_in(std::vector<T>& voxels) {
    auto place = lux::make<echolux_place>();
    place.data = voxels.data();
    place.bytes = static_cast<std::int64_t>(voxels.size() * sizeof(T));
    return place;
}

// Reconstructs a whole volume of `spectra` in blocks of `b_scans`.
inline std::vector<float> reconstructed(const lux::Scan& scan, const std::vector<std::uint16_t>& spectra,
                                        const Size& size, std::int64_t b_scans) {
    lux::Reconstructor work(scan, lux::make<echolux_device>(), b_scans);
    std::vector<float> voxels(index(work.grid().bytes) / sizeof(float));
    const echolux_place place = place_in(voxels);
    std::vector<std::uint64_t> done;
    for (std::int64_t b = 0; b < size.b_scans; b += b_scans) {
        done.push_back(work.submit(block_of(spectra, size, b, std::min(b_scans, size.b_scans - b)), place));
    }
    for (const std::uint64_t completion : done) work.wait(completion);
    return voxels;
}

// Writes scan.toml and its raw file to `folder`. `more` contains TOML lines that follow [recipe].
inline std::string scan_in(const std::filesystem::path& folder, const Size& size = {},
                           const std::string& more = "background = \"none\"\n") {
    const std::vector<std::uint16_t> spectra = fringes(size);
    std::ofstream(folder / "spectra.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(spectra.data()), static_cast<std::streamsize>(spectra.size() * 2));
    std::ofstream(folder / "scan.toml") << "[scan]\nfile = \"spectra.raw\"\nsample_format = \"u16\"\nsamples = "
                                        << size.samples << "\na_scans = " << size.a_scans
                                        << "\nb_scans = " << size.b_scans << "\nvolumes = " << size.volumes
                                        << "\nline_rate_hz = 20000\n\n[recipe]\n"
                                        << more;
    return (folder / "scan.toml").string();
}

// A test with one volume of the usual size.
class FringesTest : public ::testing::Test {
  protected:
    const Size size_;
    const std::vector<std::uint16_t> spectra_ = fringes();
    const echolux_block whole_ = block_of(spectra_, size_, 0, size_.b_scans);
};

// Returns the status with which a call of the C++ interface throws, or ECHOLUX_OK.
template <class Call>
echolux_status status_of(const Call& call) {
    try {
        call();
    } catch (const lux::Error& error) {
        EXPECT_FALSE(error.problem().empty());
        return error.status();
    }
    return ECHOLUX_OK;
}

}  // namespace echolux::test
