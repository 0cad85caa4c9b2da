// Surfaces of simulated retinas with vessels, compared with the simulator's truth: spectra, reconstruction and search
// for five seeds, with the brightest layer 25 to 15 dB above the noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/layers/find_surfaces.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/settings.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/simulator.h"
#include "engine/simulate/truth.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

constexpr double db_25 = 0.0045, db_15 = 0.0014;  // simulation.brightness

LayerRecipe retina_layers() {
    LayerRecipe recipe;
    Settings settings;
    settings.bind("layers", recipe);
    for (const std::string& assignment : layer_preset_named("retina").assignments) settings.set_assignment(assignment);
    return recipe;
}

class SlowLayers : public testing::TestWithParam<std::int64_t> {};

TEST_P(SlowLayers, FindsSurfacesBelowVesselsWithSubvoxelError) {
    for (const double brightness : {db_25, db_15}) {
        Simulation s;
        s.scene = "retina";
        s.a_scans = 128;
        s.b_scans = 96;
        s.seed = GetParam();
        s.brightness = brightness;
        const TemporaryFolder folder;
        SilentProgress silent;
        simulate(s, folder.path() / "scan.toml", silent);
        Reconstruction reconstruction(open_scan(folder.path() / "scan.toml"));
        const Volume volume = reconstruction.run({}, silent);
        const Surfaces surfaces = find_surfaces(volume, retina_layers(), silent);
        const Instrument instrument(s);
        const Truth truth = truth_of(instrument.simulation(), instrument.scenery(), instrument.pitch_um());
        EXPECT_GE(share_found(surfaces), 0.99);
        const DepthScale scale(volume.grid);
        double all = 0, worst = 0;
        std::string worst_name;
        for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
            double sum = 0, count = 0;
            for (std::size_t i = 0; i < surfaces.all[k].rows.size(); ++i) {
                const float row = surfaces.all[k].rows[i];
                if (std::isnan(row)) continue;
                if (k > 0) {
                    ASSERT_FALSE(row < surfaces.all[k - 1].rows[i]) << "surfaces cross";
                }
                const std::size_t place = k * surfaces.all[k].rows.size() + i;
                sum += std::abs(static_cast<double>(row) - scale.row(static_cast<double>(truth.boundaries_um[place])));
                ++count;
            }
            const double mean = sum / count;
            all += mean / static_cast<double>(surfaces.all.size());
            if (mean > worst) worst_name = surfaces.all[k].name;
            worst = std::max(worst, mean);
        }
        std::printf("seed %d, brightness %.4f: %.2f voxels over all surfaces, worst %.2f (%s)\n",
                    static_cast<int>(GetParam()), brightness, all, worst, worst_name.c_str());
        EXPECT_LE(all, 0.8);
        EXPECT_LE(worst, 1.2);
    }
}

INSTANTIATE_TEST_SUITE_P(FiveSeeds, SlowLayers, testing::Range<std::int64_t>(1, 6));

}  // namespace
}  // namespace echolux
