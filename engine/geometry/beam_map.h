// The position of every sample of a point-scanning instrument, and the sample at every position.
//
// Frame of the instrument in mm: z runs along the axis of the beam, 0 at zero delay, positive to greater depth. x and y
// are 0 at the centre of the field, x along the A-scans of a raster, y across its B-scans (engine/scan/scan_pattern.h).
// From a sample (row, A-scan, B-scan) to its position:
//   1. Galvanometers. x'' = w^2 (command(t - delay) - x) - 2 damping w x', w = 2 pi resonance, along the whole pattern
//      with its returns. The position in the scan is (u, v) in mm.
//   2. Optical path. The distance from zero delay is s = depth(row) - path(u, v) / refractive index.
//   3. Lens. X = scale_x u (1 + k2 r^2 + k4 r^4) + bend_x[0] u^2 + bend_x[1] u^3 + ..., r^2 = u^2 + v^2, and Y alike.
//   4. Fan with two pivots (S. Ortiz et al., Applied Optics 48, 2009): the beam leaves the pivot of x at the angle
//      X / px, and the pivot of y turns it by Y / py. With l = px + s and h = l cos(X / px) - px + py:
//      x = l sin(X / px), y = h sin(Y / py), z = h cos(Y / py) - py.
//   Zero delay is a surface at a constant path from the pivot of x. Every step but 1 and 3 has a closed inverse. Step 3
//   is inverted by Newton's method, step 1 by a table.
// Catheters: angle = rotation + 2 pi A-scan / A-scans, radius = zero radius + s, x = radius cos(angle), y = radius
// sin(angle), and z = pullback (B-scan + A-scan / A-scans) along the catheter.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/plan/params.h"
#include "compute/steps/dewarp.h"
#include "compute/types.h"
#include "engine/geometry/beam_geometry.h"
#include "engine/scan/scan_pattern.h"

namespace echolux {

struct Position {
    double x_mm = 0, y_mm = 0, z_mm = 0;
};

// In samples of a volume; fractions are between samples.
struct BeamSample {
    double row = 0;
    std::array<double, 2> a_scan{};  // in even and in odd B-scans, which a bidirectional scan passes in two directions
    double b_scan = 0;
};

// A polynomial in two variables up to fourth order, in the order 1, x, y, x^2, xy, y^2, ...
class Polynomial2 {
  public:
    static constexpr std::size_t max_order = 4;

    explicit Polynomial2(std::vector<double> coefficients) : coefficients_(std::move(coefficients)) {}

    double operator()(double x, double y) const;

    // Number of terms of an order, and their values at a point.
    static constexpr std::size_t terms(std::size_t order) { return (order + 1) * (order + 2) / 2; }
    static std::vector<double> powers(std::size_t order, double x, double y);

  private:
    std::vector<double> coefficients_;
};

// The lens: from mm of the scan to mm in the sample.
class LensMap {
  public:
    explicit LensMap(const BeamGeometry& geometry);

    bool is_identity() const { return is_scale_ && scale_x_ == 1 && scale_y_ == 1; }

    FieldPoint field(const FieldPoint& scan) const;                 // all in mm here
    std::optional<FieldPoint> scan(const FieldPoint& field) const;  // std::nullopt where the distortion folds over

  private:
    struct Slopes {
        double xu, xv, yu, yv;
    };
    Slopes slopes(const FieldPoint& scan) const;

    double scale_x_, scale_y_, k2_, k4_;
    std::vector<double> bend_x_, bend_y_;
    bool is_scale_;  // without distortion
};

// Two pivots, in mm.
class FanMap {
  public:
    FanMap(double pivot_x_mm, double pivot_y_mm) : px_(pivot_x_mm), py_(pivot_y_mm) {}

    bool is_parallel() const { return px_ == 0 && py_ == 0; }

    // The position at a distance `s` from zero delay, along the beam that passes `field` there.
    Position position(const FieldPoint& field, double s) const;
    FieldPoint field(const Position& position, double& s) const;

  private:
    double px_, py_;
};

// Follows a periodic command, one value per line, with a galvanometer. Returns its position at each line.
std::vector<double> galvo_response(std::span<const double> command, double line_s, double delay_s, double resonance_hz,
                                   double damping);

// From A-scans and B-scans to mm of the scan.
class ScanLineMap {
  public:
    // `spacing_mm`: along A-scans and B-scans. Throws Error{bad_setting}.
    ScanLineMap(const BeamGeometry& geometry, const ScanGeometry& scan, const std::array<double, 2>& spacing_mm,
                std::span<const double> fast_axis);

    FieldPoint scan(double a_scan, double b_scan) const;
    // NaN in a_scan where the beam has not settled.
    void lines(const FieldPoint& scan, BeamSample& sample) const;

    bool has_galvo() const { return !lag_a_[0].empty(); }
    bool is_raster() const { return pattern_ == LinePattern::raster; }
    std::int64_t first_b_scan() const { return first_b_; }

  private:
    void add_lags(const BeamGeometry& geometry, ScanGeometry scan, std::span<const double> fast_axis);
    void invert_lags();
    bool is_odd(double b_scan) const;
    FieldPoint round_scan(double a_scan, double b_scan) const;
    void round_lines(const FieldPoint& scan, BeamSample& sample) const;

    std::int64_t a_scans_, b_scans_, first_b_ = 0;
    double da_, db_;
    LinePattern pattern_;
    bool is_along_y_ = false;
    // Per parity of the B-scan in the volume, crosses included, and per A-scan: the beam minus its command.
    std::array<std::vector<double>, 2> lag_a_;
    std::vector<double> lag_b_;              // mean of both directions, in B-scans
    std::array<std::vector<double>, 2> at_;  // A-scan at each quarter of an A-scan of position
};

// The whole map of one volume. Thread-safe.
class BeamMap {
  public:
    // `grid`: of the volume. Throws Error{bad_setting} if a spacing or the line rate is needed but unknown, if the grid
    // does not have the lines of the scan, or if the protocol has no raster.
    BeamMap(const BeamGeometry& geometry, const ScanGeometry& scan, const VolumeGrid& grid,
            std::span<const double> fast_axis = {});

    Position position(double row, double a_scan, double b_scan) const;
    // NaN where no beam passes.
    BeamSample sample(const Position& position) const;

    bool is_polar() const { return geometry_.polar; }
    LineOrder order() const;
    // Whether A-scan and B-scan do not depend on z.
    bool is_parallel() const { return !geometry_.polar && fan_.is_parallel(); }
    // Whether A-scans of even and odd B-scans are at different positions.
    bool has_galvo() const { return !geometry_.polar && lines_.has_galvo(); }
    // First B-scan of the raster: those before it run across.
    std::int64_t first_b_scan() const { return geometry_.polar ? 0 : lines_.first_b_scan(); }

    // The smallest box in mm that contains all samples.
    struct Box {
        Position low, high;
    };
    Box box() const;

  private:
    Position polar_position(double row, double a_scan, double b_scan) const;
    BeamSample polar_sample(const Position& position) const;
    double distance_mm(double row, const FieldPoint& scan) const;

    BeamGeometry geometry_;
    VolumeGrid grid_;
    double index_;
    double pullback_mm_ = 0;
    ScanLineMap lines_;
    LensMap lens_;
    FanMap fan_;
    Polynomial2 path_;
};

// Returns the settings of [scan] and [geometry] that a volume stores with its voxels. Values that it does not store are
// unchanged. Throws Error{bad_file} that names `where`.
void take_stored_geometry(const std::map<std::string, std::string>& provenance, const std::string& where,
                          ScanGeometry& scan, BeamGeometry& geometry);

}  // namespace echolux
