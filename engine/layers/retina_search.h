// Boundaries of a retina in B-scans of real eyes (docs/layers.md, method = retina). First ILM and RPE-bottom are
// located jointly on blocks, then the layers between them are cut by their brightness and thickness, and each boundary
// is refined by region likelihood. Shadows of vessels are bridged. Everything is relative to ln(brightness) and to
// micrometres, so gain does not matter. Uses no random numbers.
//
// The model is a table of 9 boundaries in assets/layers/retina*.toml. Its levels were measured in one Spectralis line
// scan, half of a Spectralis circle scan and half of a Cirrus disc scan (development half of the recordings in
// docs/layers.md). Thicknesses are rounded normal values of the literature (foveal: A. Chan et al., Arch. Ophthalmol.
// 124, 193, 2006; circumpapillary: D. L. Budenz et al., Ophthalmology 114, 1046, 2007), with generous deviations.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/layers/edge_paths.h"

namespace echolux {

enum class Reason : std::uint8_t;  // compute/reason.h

inline constexpr std::size_t retina_boundaries = 9;

// The first value of `level`, `thickness_um`, ... belongs to the vitreous and is not used.
struct RetinaModel {
    template <class T>
    using List = std::array<T, retina_boundaries>;

    // Brightness of the layer above each boundary, on a scale of u where the outer nuclear layer is 0 and the RPE is 1.
    List<double> level{0, .90, .50, .22, .36, .00, .90, .65, 1.0};
    List<double> thickness_um{0, 40, 75, 38, 28, 90, 22, 15, 28};
    List<double> thickness_sd_um{0, 60, 35, 12, 12, 30, 8, 8, 8};
    List<double> min_um{0, 8, 0, 0, 0, 35, 10, 6, 10};
    List<double> max_um{0, 260, 150, 75, 65, 190, 42, 42, 50};
    // Difference of u across a boundary, in the direction of its polarity, from which a place is `ok`.
    List<double> contrast{.8, .6, .5, .15, .4, .5, .3, .3, .8};
    double reach_um = 24;  // of the refinement, on either side of the coarse course
};

// A B-scan of linear brightness.
struct BScanBrightness {
    BScanPicture linear;
    std::vector<std::uint8_t> known;   // per pixel
    double floor = 0, top = 0;         // of the whole volume
    double row_um = 4, a_scan_um = 0;  // a_scan_um is 0 if unknown
    double looks = 100;                // averaged speckle patterns
};

// A course with the confidence of its places: the weakest of its grounds, each relative to its threshold. A place is
// `ok` from 1 on.
struct ConfidentCourse {
    Course rows;  // voxel centres at integers
    Course confidence;
    std::vector<Reason> reasons;
};

struct RetinaResult {
    std::vector<ConfidentCourse> boundaries;  // 9, from ILM to RPE-bottom
    Course seen;                              // 1: full signal at the RPE, below 0.3: in a shadow
    double likeness = 0;                      // to a retina; 1 and more: it is one
};

RetinaResult find_retina(const BScanBrightness& b_scan, const RetinaModel& model);

// Curvature and tilt of an eye in a B-scan: the row of RPE-bottom as a parabola of the A-scan.
struct EyeBow {
    double middle = 0, half = 1;  // A-scans: the parabola is defined over -1 to 1
    std::array<double, 3> terms{};

    double at(double a_scan) const {
        const double x = (a_scan - middle) / half;
        return terms[0] + x * (terms[1] + x * terms[2]);
    }
};

// Joint course of ILM and RPE-bottom on blocks of A-scans.
struct RetinaCourse {
    std::vector<double> centres;  // A-scan of each block, in fractions
    Course ilm, rpe;              // edges per block
    Course gap_ilm, gap_rpe;      // evidence against places at least 40 um away
    Course score_ilm, score_rpe;  // evidence of the places
    EyeBow bow;                   // flat in a picture of few A-scans
};
RetinaCourse locate_retina(const BScanPicture& linear, double eps, double row_um, std::int64_t block);

// Relative places, 0 at ILM and 1 at RPE-bottom, of the 9 boundaries at some A-scans.
struct RetinaCut {
    std::vector<std::int64_t> a_scans;
    std::vector<std::array<float, retina_boundaries>> places;
    // Mean cost of the brightness in each bin: 0 fits the model, 3 fits nowhere. Of all layers, and from the outer
    // nuclear layer on.
    Course misfit, outer_misfit;
    // Distance in um to the place of a cut in which nerve fibres and ganglion cells have the levels of the model.
    std::vector<std::array<float, retina_boundaries>> doubt_um;
};
struct RetinaCutInput {
    const BScanPicture& picture;  // u
    const Course &ilm, &rpe, &seen;
    std::int64_t block;
    double row_um;
};
RetinaCut cut_retina(const RetinaCutInput& input, const RetinaModel& model);

inline constexpr std::array<int, retina_boundaries> retina_polarity{1, -1, -1, 1, -1, 1, -1, 1, -1};
inline constexpr std::array<const char*, retina_boundaries> retina_names{"ILM",  "NFL", "IPL",     "INL",       "OPL",
                                                                         "ISOS", "OS",  "RPE-top", "RPE-bottom"};

}  // namespace echolux
