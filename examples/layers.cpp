// Finds the layers of a volume, writes their surfaces and prints their thickness.
// Usage: layers volume.nrrd surfaces.nrrd [KEY=VALUE ...]; keys are arguments of `echolux segment`, such as count=5.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include <echolux/echolux.hpp>

namespace lux = echolux::api;

namespace {

// Mean of the known values of a map; unknown ones are NaN.
double mean_of(const lux::Span<const float>& map, std::size_t begin, std::size_t count) {
    double sum = 0, known = 0;
    for (std::size_t i = begin; i < begin + count; ++i) {
        if (std::isnan(map[i])) continue;
        sum += map[i];
        ++known;
    }
    return sum / known;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fprintf(stderr, "usage: layers VOLUME SURFACES [KEY=VALUE ...]\n"), 2;
    try {
        const lux::Volume volume = lux::Volume::open(argv[1]);
        lux::Operation segment("segment", {"preset=layers"});
        segment.set(lux::Assignments(argv + 3, argv + argc)).add_input("input", volume);
        segment.set("output", argv[2]).keep("thickness").run();
        const lux::Volume maps = segment.volume("thickness");
        // One map per layer, stored one after another.
        const auto map = static_cast<std::size_t>(maps.grid().depth * maps.grid().a_scans);
        for (std::int64_t i = 0; i < maps.grid().b_scans; ++i) {
            const double mean = mean_of(maps.voxels<float>(), static_cast<std::size_t>(i) * map, map);
            std::printf("layer %d: %.1f %s\n", static_cast<int>(i + 1), mean, maps.grid().unit);
        }
    } catch (const lux::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
