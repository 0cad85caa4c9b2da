// Registration of volumes to a reference: finds the position of each B-scan in it. Compares strips of a few
// neighbouring B-scans, because the eye moves during a volume (C. R. Vogel et al., Optics Express 14(2), 2006; S. B.
// Stevenson and A. Roorda, Proc. SPIE 5688, 2005; for volumes K. Kurokawa et al., 2021). Each B-scan gets a position, a
// quality and a reason; without a match it has no position.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/backend.h"
#include "compute/plan/described.h"
#include "compute/tissue_on_gpu.h"
#include "compute/voxel_target.h"
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

    bool operator==(const RegistrationSettings&) const = default;
};

// Why a B-scan has no valid position; ok if it has one.
enum class RowReason { ok, no_signal, no_overlap, weak_match, ambiguous, saccade, out_of_range };

// Returns the name of a reason as written in tables.
std::string_view name_of(RowReason reason);

// Shift of one B-scan: its sample (depth, A-scan) is at (depth + z, A-scan + x) of B-scan `row + y` of the reference.
// In samples of the grid.
struct RowShift {
    double z = 0, x = 0, y = 0;
    double quality = 0;  // normalized cross-correlation
    RowReason reason = RowReason::ok;
    bool is_saccade = false;  // the eye moved fast here, even if the row was matched

    bool is_valid() const { return reason == RowReason::ok; }
};

// Features to compare B-scans by: the logarithm of smoothed power in the tissue's band of depths, without slow
// variations. Flat layers would otherwise pull lateral shifts to zero.
struct RowFeatures {
    std::int64_t depth = 0, a_scans = 0, rows = 0;  // size of the volume, or fewer depths
    std::vector<float> values;                      // [row][a_scan][depth], with mean 0 in each row
    std::vector<float> norms;                       // per row, root of the sum of squares; 0 without signal

    // Features of one B-scan, [a_scan][depth].
    const float* row(std::int64_t number) const { return values.data() + number * a_scans * depth; }
};

// Linear power [b_scan][a_scan][depth] and its grid; see linear_intensity() in engine/analysis/intensity.h.
struct PowerVolume {
    VolumeGrid grid;
    std::vector<float> power;
};

// Returns the linear power of a volume. Throws Error{bad_setting} for complex voxels, velocities and other quantities
// that are not power, and Error{out_of_memory}.
PowerVolume power_of(const Volume& volume);

// Returns the depths [begin, end) of tissue, extended by `margin` on both sides.
Interval tissue_band(const PowerVolume& volume, std::int64_t margin);

// Computes the features of all B-scans. Throws Error{bad_setting} if no sample is positive.
RowFeatures row_features(const PowerVolume& volume, Interval band);

// Linear power in GPU memory. Does not own the memory.
struct PowerOnGpu {
    VolumeGrid grid;
    const float* power = nullptr;
};

// Owns a copy of a volume in the memory of the GPU named by `choice`, or of the first GPU. Throws Error{device,
// out_of_memory}.
class PowerCopy {
  public:
    PowerCopy(const PowerVolume& volume, const BackendChoice& choice);

    PowerOnGpu on_gpu() const { return {grid_, reinterpret_cast<const float*>(memory_.data)}; }

  private:
    VolumeGrid grid_;
    BlockMemory memory_;
};

// A reference volume that others are registered to, in the memory of the processor chosen by `choice`. Falls back to
// the CPU if the GPU fails.
class Reference {
  public:
    // Throws Error{bad_setting} for B-scans smaller than 16 depth samples or 8 A-scans and for invalid settings, and
    // Error{device, out_of_memory}.
    Reference(const PowerVolume& volume, const RegistrationSettings& settings, const BackendChoice& choice = on_cpu);

    // Computes the reference on the GPU that holds the volume. The volume may be freed afterwards. `gpu` shares the
    // buffers of an earlier registration on that GPU; null creates a new one.
    Reference(const PowerOnGpu& volume, const RegistrationSettings& settings, const BackendChoice& choice,
              std::shared_ptr<RegistrationOnGpu> gpu = nullptr);

    // Returns the shift of each B-scan of `volume`; all are invalid if nothing matches. `progress` advances by 1 per
    // B-scan. Throws Error{bad_setting} if the size differs or the volume is empty, and Error{device, out_of_memory}.
    std::vector<RowShift> register_rows(const PowerVolume& volume, Progress& progress) const;

    // Registers the B-scans of a volume on the same GPU. Throws Error{device} if the reference is on the CPU.
    std::vector<RowShift> register_rows(const PowerOnGpu& volume, Progress& progress) const;

    const SelectedBackend& backend() const { return used_; }
    bool is_on_gpu() const { return gpu_ != nullptr; }

    static const BackendChoice on_cpu;

  private:
    void take(const PowerOnGpu& volume);
    void require_size(const VolumeGrid& grid) const;

    RegistrationSettings settings_;
    VolumeGrid grid_;
    BackendChoice choice_;
    Interval band_;
    SelectedBackend used_;
    RowFeatures features_;                    // used on the CPU only
    std::shared_ptr<RegistrationOnGpu> gpu_;  // null on the CPU
    std::shared_ptr<FeaturesOnGpu> on_gpu_;
};

// Aligns the B-scans of one volume to their neighbours and accumulates the steps. Tissue slope and slow motion are
// indistinguishable within one volume, so both are kept: in depth the polynomial of settings.tissue_order, along
// B-scans everything slower than a sixteenth of the volume. If the first settings.crosses B-scans run across the
// others, depth and position along the B-scan come from them instead (CPU only). Progress as above. Throws
// Error{bad_setting} for fewer than 3 B-scans and as Reference does.
std::vector<RowShift> align_neighbours(const PowerVolume& volume, const RegistrationSettings& settings,
                                       Progress& progress);
std::vector<RowShift> align_neighbours(const PowerOnGpu& volume, const RegistrationSettings& settings,
                                       Progress& progress, RegistrationOnGpu& gpu);

// Returns the rows after the first `crosses`.
std::span<const RowShift> rows_of_raster(const std::vector<RowShift>& rows, std::int64_t crosses);

// Mean power of registered volumes on the grid of the reference. Each valid B-scan is added to the nearest B-scan
// there, resampled in depth and along A-scans by cubic B-splines and weighted by its quality. Samples that are not
// finite, and those interpolated from them, are excluded.
class RegisteredMean {
  public:
    // Accumulates in host memory.
    explicit RegisteredMean(const VolumeGrid& reference);

    // Accumulates in GPU memory, for volumes that are there. Throws Error{device, out_of_memory}.
    RegisteredMean(const VolumeGrid& reference, const BackendChoice& choice);

    // Adds the B-scans of a volume at their shifts; the second overload for means on the GPU.
    void add(const PowerVolume& volume, const std::vector<RowShift>& rows);
    void add(const PowerOnGpu& volume, const std::vector<RowShift>& rows);

    // Removes all volumes.
    void clear();

    // Returns the mean in the reference's quantity, f32; NaN without data.
    Volume volume() const;

    // Returns the mean as linear power. write_on_gpu() writes it to memory of the mean's GPU.
    std::vector<float> power() const;
    void write_on_gpu(float* power) const;

    // Number of B-scans in the mean, over all volumes.
    std::int64_t b_scans_used() const { return used_; }

  private:
    std::vector<LandingRow> landing(const std::vector<RowShift>& rows);

    VolumeGrid grid_;
    std::vector<float> sums_, weights_;
    std::unique_ptr<ShiftedMeanOnGpu> on_gpu_;  // null on the CPU
    std::int64_t used_ = 0;
};

// Returns CSV with a row per B-scan: volume, b_scan, then z, x, y in samples and, with known spacings, in um, then
// quality, reason, saccade. Cells of B-scans without a position are empty. The first line is `registration_heading`.
inline constexpr std::string_view registration_heading = "# echolux registration";
std::string csv_of(const std::vector<std::vector<RowShift>>& volumes, const VolumeGrid& grid);
// Parts of csv_of(), to write volumes one at a time.
std::string csv_heading();
std::string csv_rows(std::int64_t volume, const std::vector<RowShift>& rows, const VolumeGrid& grid);

// Throws Error{bad_setting} if a value is out of range or settings.strip is even.
void check_registration(const RegistrationSettings& settings);

// ---- Aligns B-scans in depth and along the fast axis to a few B-scans that run across them (scan.protocol
// raster_cross). A single raster cannot distinguish slow motion from the slope of the tissue. A crossing B-scan shows
// the tissue along all others within a few milliseconds. With as many crosses as B-scans, this is the pair of an x-fast
// and a y-fast raster of M. F. Kraus et al., Biomed. Opt. Express 3(6), 2012.

// Replaces the shifts of align_neighbours() in `rows` by those relative to the crosses. The first settings.crosses
// B-scans of `features` are the crosses and keep a shift of 0. The others get z and x; y is 0. Gaps of a few B-scans
// without a match are bridged by the neighbours' shifts, longer gaps are invalid. Throws Error{bad_setting} if too few
// other B-scans are left.
void align_to_crosses(std::vector<RowShift>& rows, const RowFeatures& features, const RegistrationSettings& settings,
                      Progress& progress);

// Returns the number of leading crosses according to a volume's provenance, 0 if it does not mention them. Throws
// Error{bad_file} if the number is out of range.
std::int64_t crosses_of(const std::map<std::string, std::string>& provenance);

// Returns the volume without its first `crosses` B-scans. Throws Error{bad_setting} if too few are left.
PowerVolume without_crosses(PowerVolume volume, std::int64_t crosses);

// Returns the linear power of a volume without its crosses. Throws as crosses_of(), without_crosses() and power_of()
// do.
PowerVolume raster_of(const Volume& volume);

// Removes the crosses from the provenance of a volume without them, so that they are not removed twice.
void forget_crosses(std::map<std::string, std::string>& provenance);

}  // namespace echolux
