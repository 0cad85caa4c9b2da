// Simulated scans in memory (the spectra and the truth that `echolux simulate` writes to files), and validation as a
// report.
#include <cmath>
#include <cstring>
#include <fstream>

#include "compute/indexing.h"
#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

const lux::Assignments small{"simulation.samples=256",       "simulation.a_scans=8",
                             "simulation.b_scans=4",         "simulation.b_repeats=2",
                             "simulation.flyback_lines=3",   "simulation.flyback_frames=1",
                             "simulation.bidirectional=true"};

TEST(LibrarySimulation, ReturnsSameTruthAsFiles) {
    const TemporaryFolder folder;
    lux::Simulation simulation("vessel", small);
    simulation.write((folder.path() / "scan.toml").string());
    const std::pair<const char*, const char*> arrays[] = {{"boundaries_um", "boundaries_um.f32"},
                                                          {"tubes", "tubes.f32"},
                                                          {"labels", "labels.u8"},
                                                          {"en_face", "en_face.u8"}};
    for (const auto& [name, file] : arrays) {
        const echolux_truth truth = simulation.truth(name);
        std::vector<char> values(index(truth.bytes)), of_file(values.size());
        simulation.truth(name, {reinterpret_cast<std::byte*>(values.data()), values.size()});
        std::ifstream(folder.path() / "truth" / file, std::ios::binary)
            .read(of_file.data(), static_cast<std::streamsize>(of_file.size()));
        EXPECT_EQ(values, of_file) << name;
        EXPECT_EQ(std::filesystem::file_size(folder.path() / "truth" / file), values.size());
    }
    EXPECT_NE(simulation.facts().find("pitch_um"), std::string::npos);
    const echolux_truth flow = simulation.truth("velocity_mm_s");
    EXPECT_EQ(flow.shape[0], 4);
    EXPECT_EQ(flow.shape[1], 8);
    std::vector<float> speeds(index(flow.bytes) / 4);
    simulation.truth("velocity_mm_s", {reinterpret_cast<std::byte*>(speeds.data()), speeds.size() * 4});
    EXPECT_TRUE(std::any_of(speeds.begin(), speeds.end(), [](float v) { return std::abs(v) > 0.1f; }));
}

TEST(LibrarySimulation, RejectsInvalidSettings) {
    EXPECT_EQ(status_of([] { lux::Simulation("no such scene"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([] { lux::Simulation("vessel", {"simulation.samples=-3"}); }), ECHOLUX_BAD_SETTING);
    lux::Simulation simulation("vessel", small);
    std::vector<std::byte> few(10);
    EXPECT_EQ(status_of([&] { simulation.record(0, 0, 1, few); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { simulation.record(0, 4, 1, few); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { simulation.truth("nothing"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { simulation.truth("labels", few); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { simulation.write("/proc/nowhere/scan.toml"); }), ECHOLUX_OUTPUT);
}

}  // namespace
}  // namespace echolux::test
