// The flow through a vessel, from axial velocities: where its lumen is, which way it runs, and what passes through a
// section of it. Velocities along the beam become those along the vessel by its course; the sum over any plane through
// it is then its flow, whatever the plane's angle, so planes of the volume itself are taken: one B-scan has one time,
// and nothing is interpolated.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/flow/mean_velocity.h"
#include "engine/flow/plane_unwrap.h"

namespace echolux {

// Section [cross_section] of the settings; described in cross_section.cpp.
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

enum class FlowReason : std::uint8_t {
    ok,
    no_signal,     // velocities are noise here, or unknown for most of the lumen
    angle,         // the vessel runs so nearly at right angles to the beam that its flow is hidden
    wrapped,       // velocities turn over so often that they cannot be put in order
    out_of_range,  // the lumen reaches the edge of the volume
    too_few,       // not enough planes show the lumen for its course to be known
};

const char* name_of(FlowReason reason);  // as tables spell it

// A place in voxels, fractions allowed.
struct VoxelPlace {
    double a_scan = 0, b_scan = 0, row = 0;
};

// From the middle of the first voxel, along depth, A-scans, B-scans.
inline std::array<double, 3> in_um(const VoxelPlace& place, const VolumeGrid& grid) {
    return {place.row * grid.spacing_um[0], place.a_scan * grid.spacing_um[1], place.b_scan * grid.spacing_um[2]};
}

// Which way a vessel runs, in the direction of its mean flow; micrometres in the order depth, A-scans, B-scans.
struct VesselCourse {
    std::array<double, 3> direction{};
    int across = 2;             // axis of the planes that cut it: the one that it follows most
    double tilt_deg = 0;        // out of the plane at right angles to the beam
    double tilt_error_deg = 0;  // standard error of the fit alone
    std::int64_t planes = 0;    // that its course was fitted to
    bool is_given = false;      // by two points
};

struct FlowValue {
    std::int64_t plane = -1;  // a B-scan where the course follows these; -1: mean of several
    double place_um = 0;      // along the planes' axis, from the point
    double flow_ul_s = std::numeric_limits<double>::quiet_NaN();
    double error_ul_s = std::numeric_limits<double>::quiet_NaN();  // of noise alone; the angle's is common to all
    double mean_mm_s = std::numeric_limits<double>::quiet_NaN();   // along the vessel
    double area_mm2 = std::numeric_limits<double>::quiet_NaN();    // at right angles to it
    double wrapped = 0;                                            // share of the lumen beyond v_max
    double when = 0;                                               // part of the volume's time that had passed
    FlowReason reason = FlowReason::ok;
};

// A vessel in a series of volumes of one size. Throws Error{bad_setting}: no flow near the point.
class VesselFlow {
  public:
    // `through`: nothing for where the flow is fastest. `towards`: another point of the vessel's axis, which gives its
    // course instead of a fit.
    VesselFlow(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
               const std::optional<VoxelPlace>& through, const std::optional<VoxelPlace>& towards);

    FlowReason reason() const { return reason_; }  // other than ok: nothing can be said, whatever the volume
    const VesselCourse& course() const { return course_; }
    const VoxelPlace& place() const { return place_; }
    double angle_error_deg() const;                      // of the fit and of recipe.angle_error_deg
    double angle_error() const { return angle_error_; }  // what that makes of the flow, relative

    // Through each plane along the course, then through the section: the mean over those within thickness_um.
    // `power`: linear intensities of the same volume, or none. Beam and windows blur bright blood into dark tissue,
    // where velocities are means weighted by power; their sum weighted by power over that of blood is not blurred.
    // The power is the mean over rings of the lumen, so that speckle does not weigh.
    std::vector<FlowValue> along(const std::vector<float>& velocities, const std::vector<float>& power) const;
    FlowValue section(const std::vector<FlowValue>& along) const;

    // Of the lumen's centres along the course, from the first whole plane to the last: arrows in the direction of
    // the flow, `count` of them; six numbers each, from and to, in micrometres from the middle of the first voxel along
    // depth, A-scans, B-scans.
    std::vector<double> arrows(std::int64_t count) const;
    // The centres themselves, smoothed, in the direction of the flow.
    std::vector<std::array<double, 3>> course_points() const;

    // Through planes of constant depth, which needs no angle; NaN where no such plane holds the whole lumen.
    double en_face_ul_s(const MeanVelocity& mean) const;

    // Mean intensity of the lumen near the section, for whoever knows the noise.
    double mean_within(const std::vector<float>& power) const;

  private:
    struct Plane {
        std::int64_t number = 0;
        LumenMask lumen, counted;         // the latter with a margin
        std::vector<std::int64_t> order;  // from_rim()
        std::vector<std::int32_t> rings;  // rings_of()
        double factor = 0;                // of an axial velocity, to that at right angles to the plane
        double direction = 0;             // to that along the vessel
        double row = 0, column = 0;       // centre of the lumen
        bool is_cut = false;              // by the edge of the volume
        bool is_flat = false;             // the vessel hardly rises or falls here
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
    double single_noise_ = 0;
    double angle_error_ = 0;
    double sign_ = 1;
    std::array<std::array<double, 3>, 2> fit_{};  // of both coordinates in a plane over the place: 1, s, s^2; um
    std::vector<Plane> planes_;
};

}  // namespace echolux
