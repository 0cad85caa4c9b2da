// Volume flow through a vessel, computed from axial (Doppler) velocities: finds the lumen, its course, and the flow
// through sections of it. The course converts velocities along the beam to velocities along the vessel. The flow
// through any plane that cuts the vessel is the same, regardless of the plane's angle. Planes of the volume itself are
// therefore used, so that nothing is interpolated and a B-scan has a single time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "compute/plan/described.h"
#include "compute/types.h"
#include "engine/flow/time_series.h"

namespace echolux {

// ---- Planes of a volume perpendicular to one of its axes: phases unwrapped in them, and masks of vessels.

// Orientation of the planes. Axes are in memory order: 0 depth, 1 A-scans, 2 B-scans.
struct GridPlanes {
    int across = 2;               // the axis normal to the planes
    std::array<int, 2> in{1, 0};  // the axes within a plane: column, row
    std::array<std::int64_t, 3> size{};
    std::array<std::int64_t, 3> stride{};
    std::array<double, 3> spacing_um{};

    GridPlanes(const VolumeGrid& grid, int axis)
        : across(axis), size{grid.depth, grid.a_scans, grid.b_scans}, stride{1, grid.depth, grid.depth * grid.a_scans},
          spacing_um(grid.spacing_um) {
        constexpr std::array<std::array<int, 2>, 3> others{{{1, 2}, {2, 0}, {1, 0}}};
        in = others.at(index(axis));
    }

    // Number of planes, and their size in pixels.
    std::int64_t count() const { return of(size, across); }
    std::int64_t width() const { return of(size, in[0]); }
    std::int64_t height() const { return of(size, in[1]); }
    double spacing(int axis) const { return of(spacing_um, axis); }
    // Area of a pixel of a plane, in um^2.
    double pixel_um2() const { return of(spacing_um, in[0]) * of(spacing_um, in[1]); }

    // Index of pixel (i, j) of a plane in the volume.
    std::size_t voxel(std::int64_t plane, std::int64_t i, std::int64_t j) const {
        return index(plane * of(stride, across) + i * of(stride, in[0]) + j * of(stride, in[1]));
    }

  private:
    template <class T>
    static T of(const std::array<T, 3>& three, int axis) {
        return three.at(index(axis));
    }
};

// ---- Unwraps velocities beyond v_max in one plane of a vessel, where they change sign. Blood is at rest at the wall.
// From the wall inwards, each velocity is shifted by the multiple of 2 v_max that brings it closest to its neighbours.

// Mask of a lumen in a plane: 1 inside, [height][width].
struct LumenMask {
    std::int64_t width = 0, height = 0;
    std::vector<std::uint8_t> inside{};

    // Pixels outside the plane are outside the lumen.
    bool at(std::int64_t i, std::int64_t j) const {
        return i >= 0 && j >= 0 && i < width && j < height && inside[index(j * width + i)] != 0;
    }
    // Number of pixels inside.
    std::int64_t area() const;
    bool touches_edge() const;  // the lumen continues outside the plane
};

// Adds enclosed holes to the mask.
void fill_holes(LumenMask& mask);

// Dilates the mask by an ellipse with these half-axes in pixels.
LumenMask widened(const LumenMask& mask, double columns, double rows);

// Returns the pixels of the lumen ordered from the rim inwards.
std::vector<std::int64_t> from_rim(const LumenMask& mask);

struct PlaneVelocities {
    double unwrapped = 0;  // share of the lumen that was beyond v_max
    double torn = 0;       // share of neighbouring pixels that still differ by more than v_max / 2
    double unknown = 0;    // share of the lumen without a velocity, replaced by the mean of neighbours
};

// Unwraps velocities of the lumen in place, in the order of from_rim(). `v_max` 0: unknown, nothing is unwrapped.
// Velocities of 0 are unknown and replaced by the mean of known neighbours.
PlaneVelocities unwrap_plane(std::vector<float>& velocities, const LumenMask& mask,
                             const std::vector<std::int64_t>& order, double v_max);

// ---- Lumen and velocities of a single plane, and measurements of them.

// Return plane `number` of a volume of marks or of values, [height][width].
LumenMask mask_in(const std::vector<std::uint8_t>& inside, const GridPlanes& planes, std::int64_t number);
std::vector<float> values_in(const std::vector<float>& all, const GridPlanes& planes, std::int64_t number);

// Returns the connected piece that contains the pixel nearest to (column, row); empty if the nearest is more than
// `reach` pixels away.
LumenMask piece_near(const LumenMask& mask, double column, double row, double reach);

// Centre of a lumen in pixels, weighted by velocities of the given sign. `sum` is the total weight.
struct LumenCentre {
    double column = 0, row = 0, sum = 0;
};
// Returns the ring of each counted pixel of the lumen: twice the number of steps of `step_um` from its edge, negative
// outside. Pixels whose nearest edge is above or below get 1 more, because beams and windows are wider than deep. Other
// pixels are `no_ring`.
constexpr std::int32_t no_ring = -1'000'000;
std::vector<std::int32_t> rings_of(const LumenMask& lumen, const LumenMask& counted, const GridPlanes& planes,
                                   double step_um);

// Removes pixels that are slow compared with the fastest, and those that flow the other way.
void keep_faster(LumenMask& lumen, const std::vector<float>& velocities, double sign);

// Returns the velocity-weighted centre of the mask.
LumenCentre centre_of(const LumenMask& mask, const std::vector<float>& velocities, double sign);

// ---- The course of a vessel and the flow through it.

// Section [cross_section] of the settings. Fields are described in cross_section.cpp.
struct CrossSectionRecipe {
    double significance = 3;
    double reach_um = 30;
    double course_um = 500;
    double thickness_um = 40;
    double margin_um = 10;
    double min_tilt_deg = 3;
    double angle_error_deg = 0.25;
    double min_snr_db = 10;
    double heart_min_hz = 0.5;
    double heart_max_hz = 3;
};

template <>
const std::vector<Field<CrossSectionRecipe>>& describe<CrossSectionRecipe>();

// Why a flow value is missing; ok if it is not.
enum class FlowReason : std::uint8_t {
    ok,
    no_signal,     // velocities are mostly noise, or unknown for most of the lumen
    angle,         // the vessel is nearly perpendicular to the beam, which hides its flow
    wrapped,       // velocities wrap around too often to be unwrapped
    out_of_range,  // the lumen reaches the edge of the volume
    too_few,       // too few planes show the lumen to fit a course
};

const char* name_of(FlowReason reason);  // as written in tables

// A position in voxels; may be fractional.
struct VoxelPosition {
    double a_scan = 0, b_scan = 0, row = 0;
};

// Returns the position in micrometres from the centre of the first voxel, in the order depth, A-scans, B-scans.
inline std::array<double, 3> in_um(const VoxelPosition& place, const VolumeGrid& grid) {
    return {place.row * grid.spacing_um[0], place.a_scan * grid.spacing_um[1], place.b_scan * grid.spacing_um[2]};
}

// Course of a vessel. Vectors are in micrometres, in the order depth, A-scans, B-scans.
struct VesselCourse {
    // unit vector in the direction of the mean flow
    std::array<double, 3> direction{};
    int across = 2;             // axis normal to the planes that cut the vessel: the axis closest to its course
    double tilt_deg = 0;        // out of the plane perpendicular to the beam
    double tilt_error_deg = 0;  // standard error of the fit alone
    std::int64_t planes = 0;    // number of planes in the fit
    bool is_given = false;      // defined by two points instead of a fit
};

// Flow through one plane, or the mean over several planes. NaN: unknown; see `reason`.
struct FlowValue {
    std::int64_t plane = -1;  // index along the planes' axis, a B-scan if that is axis 2; -1: mean of several
    double place_um = 0;      // along the planes' axis, relative to the given point
    double flow_ul_s = std::numeric_limits<double>::quiet_NaN();
    // Noise only; the angle error is common to all planes.
    double error_ul_s = std::numeric_limits<double>::quiet_NaN();
    double mean_mm_s = std::numeric_limits<double>::quiet_NaN();  // along the vessel
    double area_mm2 = std::numeric_limits<double>::quiet_NaN();   // perpendicular to the vessel
    double wrapped = 0;                                           // share of the lumen beyond v_max
    // Share of the volume's acquisition time elapsed at this plane, 0 to 1.
    double when = 0;
    FlowReason reason = FlowReason::ok;
};

// Measures one vessel in a series of volumes of the same size. Throws Error{bad_setting} if nothing moves near the
// point.
class VesselFlow {
  public:
    // `through` is a point in the vessel; without it, the fastest flow of the middle B-scan is used. `towards` is
    // another point on the vessel's axis; the two points then define the course instead of a fit.
    VesselFlow(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
               const std::optional<VoxelPosition>& through, const std::optional<VoxelPosition>& towards);

    // If not ok, none of the volumes has a flow value.
    FlowReason reason() const { return reason_; }
    const VesselCourse& course() const { return course_; }
    const VoxelPosition& place() const { return place_; }
    // Degrees; combines the error of the fit with recipe.angle_error_deg.
    double angle_error_deg() const;
    double angle_error() const { return angle_error_; }  // resulting relative error of the flow

    // Returns the flow through each plane along the course. `power` holds linear intensities of the same volume and may
    // be empty. Beam and velocity windows blur bright blood into dark tissue, where velocities are power-weighted
    // means. Weighting these velocities by their power relative to that of blood removes the blur from the sum. Power
    // is averaged over rings of the lumen so that speckle has no influence.
    std::vector<FlowValue> along(const std::vector<float>& velocities, const std::vector<float>& power) const;
    // Returns the mean over the planes within recipe.thickness_um of the point.
    FlowValue section(const std::vector<FlowValue>& along) const;

    // Returns `count` arrows along the course in the direction of flow, between the first and the last whole plane.
    // Each arrow is six numbers, start and end, in micrometres from the centre of the first voxel in the order depth,
    // A-scans, B-scans.
    std::vector<double> arrows(std::int64_t count) const;
    // Returns the smoothed centres of the lumen in the direction of flow, in the same coordinates.
    std::vector<std::array<double, 3>> course_points() const;

    // Returns the flow through planes of constant depth, which needs no angle. NaN if too few such planes contain the
    // whole lumen, or if they disagree.
    double en_face_ul_s(const MeanVelocity& mean) const;

    // Returns the mean intensity in the lumen, for comparison with the noise.
    double mean_within(const std::vector<float>& power) const;

  private:
    // One plane that cuts the vessel. Pixels are [height][width] as in LumenMask.
    struct Plane {
        std::int64_t number = 0;
        LumenMask lumen, counted;         // `counted` is the lumen widened by recipe.margin_um
        std::vector<std::int64_t> order;  // result of from_rim()
        std::vector<std::int32_t> rings;  // result of rings_of()
        double factor = 0;                // converts axial velocity to the velocity normal to the plane
        double direction = 0;             // converts axial velocity to the velocity along the vessel
        double row = 0, column = 0;       // centre of the lumen, in pixels
        bool is_cut = false;              // the lumen touches the edge of the volume
        bool is_flat = false;             // the vessel is too level here to measure flow
    };

    void find_lumen(const MeanVelocity& mean, const std::optional<VoxelPosition>& through);
    void choose_axis();
    void cut(const MeanVelocity& mean);
    void fit_course();
    void take_course(const VoxelPosition& towards);
    void orient();
    std::vector<std::array<double, 3>> centres() const;
    double slope_at(int coordinate, double place_um) const;
    FlowValue through_plane(const Plane& plane, const std::vector<float>& velocities,
                            const std::map<std::int32_t, float>& weights) const;
    std::map<std::int32_t, float> blood_weights(const std::vector<float>& power) const;

    VolumeGrid grid_;
    CrossSectionRecipe recipe_;
    std::vector<std::uint8_t> inside_;
    VoxelPosition place_;
    VesselCourse course_;
    FlowReason reason_ = FlowReason::ok;
    // mm/s, of one voxel in one volume
    double single_noise_ = 0;
    // relative
    double angle_error_ = 0;
    double sign_ = 1;
    // Quadratic fits of both in-plane coordinates over the distance s along the axis: factors of 1, s and s^2, in um.
    std::array<std::array<double, 3>, 2> fit_{};
    std::vector<Plane> planes_;
};

}  // namespace echolux
