// Parts that operations on series and contrasts share: volumes in order of time; moments, which are volumes of a series
// or the repeats of each position within one volume; maps.
#pragma once

#include <complex>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/open/convert_input.h"
#include "app/operations/operation.h"
#include "compute/plan/describe.h"
#include "compute/plan/params.h"
#include "engine/analysis/figures.h"
#include "engine/geometry/beam_map.h"

namespace echolux {

// ---- Volumes in order of time

// All time points of an input, from files or memory.
class VolumeSeries {
  public:
    explicit VolumeSeries(const VolumeInput& input);

    // A time point.
    struct Point {
        std::string name;  // of its file
        VolumeGrid grid;
        std::shared_ptr<const Volume> held;  // nullptr: in `file`
        ConvertInput* file;
        std::int64_t time_point;

        std::shared_ptr<const Volume> read() const;
        std::vector<std::byte> read(Interval b_scans) const;
    };
    const std::vector<Point>& points() const { return points_; }
    const VolumeGrid& grid() const { return points_.front().grid; }
    std::int64_t count() const { return std::ssize(points_); }
    const ConvertInput* only_file() const { return files_.size() == 1 ? files_.front().get() : nullptr; }
    double step_s() const { return files_.empty() ? 0 : files_.front()->header().step_s; }
    const std::map<std::string, std::string>& provenance() const {
        return files_.empty() ? points_.front().held->provenance : files_.front()->header().provenance;
    }

  private:
    std::vector<std::unique_ptr<ConvertInput>> files_;
    std::vector<Point> points_;
};

void require_growing(const std::vector<double>& times_s, ErrorCode code, const std::string& where);

// Interval between volumes, 0 if unknown, and the time of each; empty: derived from the interval.
struct SeriesTimes {
    double step_s = 0;
    std::vector<double> times_s{};

    // Returns the time since the first volume; NaN: unknown.
    double since_start(std::int64_t number) const;
};

// The arguments `step_s` and `times_s` replace the times of the files, in this order. Throws Error{bad_setting} for
// another number of times, and for times that do not ascend.
SeriesTimes times_of(const VolumeSeries& series, double step_s, const std::vector<double>& times_s);

// ---- Moments

// Arguments of operations on moments.
struct MomentOptions {
    std::int64_t repeats = 0;  // of each B-scan within one volume; 0: as the volume states
    double step_s = 0;         // between moments; 0: as the files state
};

// The same B-scans at ascending times: volumes of a series, or the repeats within one volume that was reconstructed
// with recipe.average = none. Consecutive B-scans (scan.b_repeats) or A-scans (scan.a_repeats) then show one position.
class Moments {
  public:
    // Throws Error{bad_setting} for scans, for volumes that differ, and unless there are at least `min_count` moments.
    Moments(const VolumeInput& input, const MomentOptions& options, std::int64_t min_count);

    std::int64_t count() const { return volumes() > 1 ? volumes() : repeats_; }
    const VolumeGrid& grid() const { return grid_; }  // of one moment
    const std::string& name() const { return name_; }
    const std::map<std::string, std::string>& provenance() const { return series_.provenance(); }
    const ScanGeometry& scan() const { return scan_; }

    // Seconds from the first moment. Throws Error{bad_setting} if they are unknown.
    const std::vector<double>& times_s() const;

    // Throws Error{bad_setting} if the times are unknown.
    bool are_even() const;
    double mean_step_s() const { return times_s().back() / static_cast<double>(count() - 1); }

    // The step of evenly spaced moments. Throws Error{bad_setting} if they are uneven or unknown.
    double step_s() const;

    // Time from one A-scan to the next within a moment; 0 if unknown, and for A-scan repeats, which are one experiment
    // per A-scan.
    double a_scan_s() const;

    // Number of B-scans of all moments that fit into 64 MiB, at least one.
    std::int64_t b_scans_together() const;

    // B-scans [begin, end) of all moments, in order.
    std::vector<Volume> read(Interval b_scans) const;

  private:
    static const VolumeInput& checked(const VolumeInput& input);
    std::int64_t volumes() const { return std::ssize(series_.points()); }
    void require_alike() const;
    void find_repeats(std::int64_t given);
    void find_times(double given_s);
    // Distributes consecutive B-scans or A-scans over the moments.
    void deal(const std::vector<std::byte>& voxels, std::vector<Volume>& all) const;

    VolumeSeries series_;
    std::string name_;
    StoredAs stored_as_;
    VolumeGrid grid_;
    ScanGeometry scan_;
    BeamGeometry beam_;
    std::int64_t repeats_ = 1;
    bool of_a_scans_ = false;  // repeats are consecutive A-scans
    std::vector<double> times_s_;
};

// Complex voxels of a volume. Throws Error{bad_setting} for other voxels.
std::vector<std::complex<float>> field_of(const Volume& volume, const std::string& name);

// Linear intensities of any volume, also of a complex one.
std::vector<float> intensity_of(const Volume& volume, const std::string& name);

// ---- Maps: f32 volumes of the size of a moment, in order of their voxels

// Returns `b_scan`, or the middle one if it is negative. Throws Error{bad_setting} for B-scans outside the volume.
std::int64_t chosen_b_scan(std::int64_t b_scan, const VolumeGrid& grid);

// The grid of maps of a volume. Quantity and unit are still those of the volume.
VolumeGrid map_grid(VolumeGrid grid);

// A B-scan of a map.
Figure map_plane(const std::vector<float>& map, const VolumeGrid& grid, std::int64_t b_scan);

// ---- Arguments of these operations

template <class S>
void describe_moments(OperationParts<S>& parts, std::int64_t S::*repeats, double S::*step_s) {
    parts
        .argument(integer("repeats", repeats, 0, 1'000'000, "", Effect::file,
                          "consecutive B-scans of one volume that show one position")
                      .special(0, "from the file")
                      .written_as("N"))
        .argument(number("step_s", step_s, 0, 1e12, "s", Effect::file, "time from one moment to the next")
                      .special(0, "from the file")
                      .written_as("SECONDS"));
}

}  // namespace echolux
