// Volume flow through a vessel, computed from axial (Doppler) velocities: finds the lumen, its course, and the flow
// through sections of it. The course converts velocities along the beam to velocities along the vessel. The flow
// through any plane that cuts the vessel is the same, whatever the plane's angle. Therefore planes of the volume itself
// are used: nothing is interpolated, and a B-scan has a single time.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "engine/flow/mean_velocity.h"
#include "engine/flow/planes.h"

namespace echolux {

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
struct VoxelPlace {
    double a_scan = 0, b_scan = 0, row = 0;
};

// Returns the position in micrometres from the centre of the first voxel, in the order depth, A-scans, B-scans.
inline std::array<double, 3> in_um(const VoxelPlace& place, const VolumeGrid& grid) {
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
    double error_ul_s = std::numeric_limits<double>::quiet_NaN();  // noise only; the angle error is common to all
                                                                   // planes
    double mean_mm_s = std::numeric_limits<double>::quiet_NaN();   // along the vessel
    double area_mm2 = std::numeric_limits<double>::quiet_NaN();    // perpendicular to the vessel
    double wrapped = 0;                                            // share of the lumen beyond v_max
    double when = 0;                                               // share of the volume's acquisition time elapsed at
                                                                   // this plane, 0 to 1
    FlowReason reason = FlowReason::ok;
};

// Measures one vessel in a series of volumes of the same size. Throws Error{bad_setting} if nothing moves near the
// point.
class VesselFlow {
  public:
    // `through` is a point in the vessel; without it, the fastest flow of the middle B-scan is used. `towards` is
    // another point on the vessel's axis; the two points then define the course instead of a fit.
    VesselFlow(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
               const std::optional<VoxelPlace>& through, const std::optional<VoxelPlace>& towards);

    // If not ok, none of the volumes has a flow value.
    FlowReason reason() const { return reason_; }
    const VesselCourse& course() const { return course_; }
    const VoxelPlace& place() const { return place_; }
    double angle_error_deg() const;                      // degrees; combines the error of the fit with
                                                         // recipe.angle_error_deg
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

    void find_lumen(const MeanVelocity& mean, const std::optional<VoxelPlace>& through);
    void choose_axis();
    void cut(const MeanVelocity& mean);
    void fit_course();
    void take_course(const VoxelPlace& towards);
    void orient();
    std::vector<std::array<double, 3>> centres() const;
    double slope_at(int coordinate, double place_um) const;
    FlowValue through_plane(const Plane& plane, const std::vector<float>& velocities,
                            const std::map<std::int32_t, float>& weights) const;
    std::map<std::int32_t, float> blood_weights(const std::vector<float>& power) const;

    VolumeGrid grid_;
    CrossSectionRecipe recipe_;
    std::vector<std::uint8_t> inside_;
    VoxelPlace place_;
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
