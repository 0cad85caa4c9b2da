// Registration of volumes to a reference: where each B-scan lies in it. B-scans are compared as strips of a few
// neighbours, since the eye moves while a volume is scanned (C. R. Vogel et al., Optics Express 14(2), 2006; S. B.
// Stevenson and A. Roorda, Proc. SPIE 5688, 2005; for volumes K. Kurokawa et al., 2021). Every B-scan gets a place, a
// quality and a reason; where nothing fits there is no place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/block_memory.h"
#include "compute/chosen_processor.h"
#include "compute/plan/describe.h"
#include "compute/registration.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"

namespace echolux {

// Section [registration] of the settings.
struct RegistrationSettings {
    std::int64_t axial_range = 64;
    std::int64_t lateral_range = 32;
    std::int64_t row_range = 24;
    std::int64_t strip = 3;
    double min_quality = 0.75;
    double saccade_speed = 0.6;
    std::int64_t tissue_order = 2;
    std::int64_t crosses = 0;
};

enum class RowReason { ok, no_signal, no_overlap, weak_match, ambiguous, saccade, out_of_range };

std::string_view name_of(RowReason reason);

// Of one B-scan: sample (z, x) of it lies at (z + z, x + x) of B-scan `row + y` of the reference. In depth rows,
// A-scans and B-scans.
struct RowShift {
    double z = 0, x = 0, y = 0;
    double quality = 0;  // normalised cross-correlation
    RowReason reason = RowReason::ok;
    bool is_saccade = false;  // the eye moved fast here; also where it was matched nevertheless

    bool is_valid() const { return reason == RowReason::ok; }
};

// What is compared: B-scans as the logarithm of their smoothed power, without what changes slowly, the tissue's band of
// depths alone. Flat layers would pull lateral shifts to zero otherwise.
struct RowFeatures {
    std::int64_t depth = 0, a_scans = 0, rows = 0;  // as many of them as the volume has, or fewer depths
    std::vector<float> values;                      // [row][a_scan][depth], of mean 0 in each row
    std::vector<float> norms;                       // of each row, root of the sum of squares; 0: no signal

    const float* row(std::int64_t number) const { return values.data() + number * a_scans * depth; }
};

// Linear power [b_scan][a_scan][depth] and what it lies on (linear_intensity() of engine/analysis/intensity.h).
struct PowerVolume {
    VolumeGrid grid;
    std::vector<float> power;
};

// Throws Error{bad_setting}: complex voxels, velocities and whatever else is not power; Error{out_of_memory}.
PowerVolume power_of(const Volume& volume);

// [begin, end) of the depths at which there is tissue, with room for `margin` on both sides.
Interval tissue_band(const PowerVolume& volume, std::int64_t margin);

// Throws Error{bad_setting}: no sample is above zero.
RowFeatures row_features(const PowerVolume& volume, Interval band);

// The same in the memory of a GPU, of whoever made it.
struct PowerOnGpu {
    VolumeGrid grid;
    const float* power = nullptr;
};

// A copy of a volume in the memory of the GPU that `choice` names, or the first. Throws Error{device, out_of_memory}.
class PowerCopy {
  public:
    PowerCopy(const PowerVolume& volume, const BackendChoice& choice);

    PowerOnGpu on_gpu() const { return {grid_, reinterpret_cast<const float*>(memory_.data)}; }

  private:
    VolumeGrid grid_;
    BlockMemory memory_;
};

// A volume that others are registered to, in the memory of the processor that does it: that of `choice`, the CPU where
// a GPU refuses.
class Reference {
  public:
    // Throws Error{bad_setting}: B-scans of fewer than 16 samples along depth or 8 A-scans, and settings; Error{device,
    // out_of_memory}.
    Reference(const PowerVolume& volume, const RegistrationSettings& settings, const BackendChoice& choice = on_cpu);

    // On the GPU that holds the volume, which it does not need any more. `gpu`: what registers there already, whose
    // memory serves on; null: a new one.
    Reference(const PowerOnGpu& volume, const RegistrationSettings& settings, const BackendChoice& choice,
              std::shared_ptr<RegistrationOnGpu> gpu = nullptr);

    // Every B-scan of `volume`; none of them is valid where nothing fits. `progress` advances by one for each B-scan.
    // Throws Error{bad_setting}: of another size, or empty; Error{device, out_of_memory}.
    std::vector<RowShift> register_rows(const PowerVolume& volume, Progress& progress) const;

    // Of a volume on the same GPU. Throws Error{device} where the reference is on the CPU.
    std::vector<RowShift> register_rows(const PowerOnGpu& volume, Progress& progress) const;

    const ProcessorUsed& processor() const { return used_; }
    bool is_on_gpu() const { return gpu_ != nullptr; }

    static const BackendChoice on_cpu;

  private:
    void take(const PowerOnGpu& volume);
    void require_size(const VolumeGrid& grid) const;

    RegistrationSettings settings_;
    VolumeGrid grid_;
    BackendChoice choice_;
    Interval band_;
    ProcessorUsed used_;
    RowFeatures features_;                    // on the CPU
    std::shared_ptr<RegistrationOnGpu> gpu_;  // null: not there
    std::shared_ptr<FeaturesOnGpu> on_gpu_;
};

// B-scans of one volume against their neighbours, summed up. Slopes of the tissue and slow motion look the same from
// within one volume, so both stay: in depth what a polynomial of settings.tissue_order explains, along B-scans what is
// slower than a sixteenth of the volume. Unless the first settings.crosses B-scans run across the others: depth and
// place along the B-scan are then those in the crosses (crosses.h), on the CPU alone. Progress as above. Throws
// Error{bad_setting}: fewer than 3 B-scans, and as Reference.
std::vector<RowShift> align_neighbours(const PowerVolume& volume, const RegistrationSettings& settings,
                                       Progress& progress);
std::vector<RowShift> align_neighbours(const PowerOnGpu& volume, const RegistrationSettings& settings,
                                       Progress& progress, RegistrationOnGpu& gpu);

// Those of the raster: all but the first `crosses`, which run across it.
std::span<const RowShift> rows_of_raster(const std::vector<RowShift>& rows, std::int64_t crosses);

// The mean power of registered volumes on the voxels of the reference: each valid B-scan at the nearest B-scan there,
// resampled along depth and A-scans by cubic B-splines, weighted by its quality. Samples that are no numbers, and what
// would lie between them and others, count nothing.
class RegisteredMean {
  public:
    explicit RegisteredMean(const VolumeGrid& reference);

    // In the memory of a GPU, for volumes that lie there. Throws Error{device, out_of_memory}.
    RegisteredMean(const VolumeGrid& reference, const BackendChoice& choice);

    void add(const PowerVolume& volume, const std::vector<RowShift>& rows);
    void add(const PowerOnGpu& volume, const std::vector<RowShift>& rows);

    // From the start again.
    void clear();

    // In the reference's own quantity, f32; NaN where no B-scan came.
    Volume volume() const;

    // The same as linear power, and that in memory of the GPU that the mean is in.
    std::vector<float> power() const;
    void write_on_gpu(float* power) const;

    std::int64_t b_scans_used() const { return used_; }

  private:
    std::vector<LandingRow> landing(const std::vector<RowShift>& rows);

    VolumeGrid grid_;
    std::vector<float> sums_, weights_;
    std::unique_ptr<ShiftedMeanOnGpu> on_gpu_;  // null: on the CPU
    std::int64_t used_ = 0;
};

// Comma-separated, a row for each B-scan: volume, b_scan, z, x, y in samples and (where spacings are known) in um,
// quality, reason, saccade. Cells of B-scans without a place are empty. The first line is `registration_heading`.
inline constexpr std::string_view registration_heading = "# echolux registration";
std::string csv_of(const std::vector<std::vector<RowShift>>& volumes, const VolumeGrid& grid);
// Its lines one by one, for volumes that come one by one.
std::string csv_heading();
std::string csv_rows(std::int64_t volume, const std::vector<RowShift>& rows, const VolumeGrid& grid);

// Throws Error{bad_setting}: a value out of its range, a strip without a middle.
void check_registration(const RegistrationSettings& settings);

}  // namespace echolux
