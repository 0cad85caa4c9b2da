// The simulated instrument: owns all of its parts and exposes acquired B-scans along the scan pattern.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <vector>

#include "engine/geometry/beam_map.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"
#include "engine/scan/scan_pattern.h"
#include "engine/simulate/motion.h"
#include "engine/simulate/sample_arm.h"
#include "engine/simulate/spectrometer.h"

namespace echolux {

class Instrument {
  public:
    // `beam`: distortions of the instrument. Beams are parallel, so fans and catheters are refused. Throws
    // Error{bad_setting, out_of_memory}.
    explicit Instrument(const Simulation& simulation, const BeamGeometry& beam = {});
    Instrument(const Instrument&) = delete;
    Instrument& operator=(const Instrument&) = delete;

    // Writes the spectra of acquired B-scans [first, first + count) of a volume, including flyback, as [line][sample].
    // The result does not depend on the division into calls or the number of threads. Throws Error{cancelled}.
    void record(std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::uint16_t> counts,
                Progress& progress);

    // Returns the scan description without file names. Frames have a header of 32 bytes.
    Scan scan() const;

    const Simulation& simulation() const { return s_; }  // includes the scene's defaults
    const Spectrometer& spectrometer() const { return spectrometer_; }
    const Scenery& scenery() const { return scenery_; }
    const LineScanCamera& camera() const { return camera_; }
    const ScanPattern& pattern() const { return pattern_; }
    // Depth per bin, in um of tissue.
    double pitch_um() const { return spectrometer_.pitch_um / s_.refractive_index; }

    // Time of a line, counted from the first line of the recording.
    double time_s(std::int64_t line) const { return static_cast<double>(line) / s_.line_rate_hz; }

  private:
    using Sections = std::map<double, Blood::Section>;  // sections by y
    struct Workspace;

    // Lines [begin, end) of a volume, counted over all of its frames, that share tissue.
    struct Run {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        BeamBox box{};
        std::int64_t step = 0;  // step of Renewal
        Sections sections;      // for y values with several lines
    };

    std::uint64_t seed() const { return static_cast<std::uint64_t>(s_.seed); }
    FieldPoint scan_mm(std::int64_t line) const;                         // position in the scan
    FieldPoint beam(std::int64_t line) const;                            // position in the scene, without motion
    double path_um(std::int64_t line) const;                             // detour of this line, in the sample
    FieldPoint beam_over(std::int64_t volume, std::int64_t line) const;  // relative to the moving tissue
    std::int64_t of_all(std::int64_t volume, std::int64_t line) const { return volume * pattern_.lines() + line; }
    void add_reflectors();
    void add(const SlabLists& lists, std::vector<float>& moments) const;
    Run run_from(std::int64_t volume, std::int64_t begin, std::int64_t end) const;
    void expose(const Run& run, std::int64_t volume, std::span<std::uint16_t> counts, Progress& progress) const;
    void expose_line(const Run& run, std::int64_t volume, std::int64_t line, Workspace& work,
                     std::span<std::uint16_t> counts) const;
    const Blood::Section& section_at(const Run& run, const FieldPoint& at, Workspace& work) const;
    void move_in_depth(std::int64_t volume, std::int64_t line, Workspace& work) const;

    Simulation s_;
    Spectrometer spectrometer_;
    Motion motion_;
    Renewal renewal_;
    Scenery scenery_;
    ScanPattern pattern_;
    LensMap lens_;
    Polynomial2 path_;
    bool has_path_ = false;
    std::vector<FieldPoint> real_mm_;  // of each line of a volume; empty if they are those of pattern_
    LineScanCamera camera_;
    SpectrumSum sum_;
    SampleArm arm_;
    Tissue tissue_;
    Blood blood_;
    std::vector<float> mirror_fringes_, mirror_sines_;  // the same for all lines
};

// As simulate() of simulator.h, by an instrument with this geometry, which the scan TOML then has as [geometry]. The
// truth is that of the sample.
void simulate(const Simulation& simulation, const BeamGeometry& beam, const std::filesystem::path& scan_toml,
              Progress& progress);

}  // namespace echolux
