// A simulated instrument: spectra of scenes with known truth. Spectra are computed without Fourier transforms or
// interpolation, so that they test these steps of the reconstruction. Optics, noise and file formats:
// docs/simulator.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "compute/plan/params.h"
#include "engine/io/output_rule.h"
#include "engine/progress.h"

namespace echolux {

enum class Relief { flat, tilted, curved };  // shape of the boundaries in the scene "layers"

// Section [simulation] of the settings: the scan, and the instrument that acquires it. Spacings and a refractive index
// of 0 mean "as in the scene", see with_scene_defaults().
struct Simulation : ScanGeometry {
    Simulation() {
        samples = 1024;
        a_scans = 128;
        b_scans = 128;
        refractive_index = 0;
        line_rate_hz = 70'000;
    }

    std::string scene = "vessel";  // see scene.h
    std::int64_t seed = 1;

    // Spectrometer
    double centre_nm = 845;
    double bandwidth_nm = 105;
    double span_nm = 190;
    double curve2_nm = 2.5;
    double curve3_nm = -0.8;
    double a2_rad = 0;
    double a3_rad = 0;
    bool roll_off = true;

    // Camera
    std::int64_t adc_bits = 12;
    double dark_counts = 120;
    double reference_level = 0.6;
    double full_well_electrons = 400'000;
    double read_noise_electrons = 150;

    // Sample arm
    double beam_radius_um = 10;
    bool confocal = true;
    double brightness = 0.014;
    std::int64_t scatterers_per_cell = 10;

    // Scenes
    std::vector<double> mirror_um{120, 300};
    std::vector<double> mirror_amplitude{0.2, 0.1};
    Relief relief = Relief::curved;
    double flow_mm_s = 8;
    double flow_ul_s = 0.4;
    double tilt_deg = 5;
    double heart_rate_hz = 1.2;
    double pulsation = 0.5;

    // Patient motion and speckle renewal
    double motion_axial_um = 0;
    double motion_lateral_um = 0;
    double motion_saccade_rate_hz = 1;
    std::int64_t motion_seed = 1;
    std::string motion_file{};
    double renewal_s = 0;
};

// Replaces values of 0 that the scene determines: spacings and refractive index. Also sets the number of B-scans if the
// protocol fixes it.
Simulation with_scene_defaults(Simulation simulation);

// Writes an ordinary scan: `scan_toml`, the raw spectra, calibration files and the folder truth/ next to it. The same
// Simulation gives the same bytes for any number of threads. Throws Error{bad_setting, output, cancelled}; then no
// partial file is left under a final name.
void simulate(const Simulation& simulation, const std::filesystem::path& scan_toml, Progress& progress);

// ---- File names of a simulated scan, and a check whether a scan is simulated.

// Endings of the files next to NAME.toml: spectra, background, dark, wavelengths.
inline constexpr std::array companion_endings{".raw", ".background.f32", ".dark.f32", ".wavelengths.f64"};

// Returns whether simulate() wrote the scan. Recordings and scans from elsewhere return false.
bool is_own_simulation(const std::filesystem::path& scan_toml);

// Returns everything that simulate() writes. The files next to the TOML file and the folder truth/ belong to it and may
// be replaced together with it.
std::vector<Output> outputs_of_simulation(const std::filesystem::path& scan_toml);

}  // namespace echolux
