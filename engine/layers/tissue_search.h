// Tissue surface in a single B-scan (docs/layers.md, method = surface), and the lumen in a polar frame (method =
// lumen).
//
// u = ln(1 + I / floor) - ln 2. A grey opening along depth (J. Serra, Image Analysis and Mathematical Morphology, 1982)
// removes bright lines thinner than a reflector: coverslips, gel, hyaloid. The tissue's level is the largest mean over
// 24 rows in each A-scan; 0.45 of it separates dark from bright. A surface has dark above and bright below over
// 24 and over 6 rows. The last step finds the foot of the edge, where people outline skin.
#pragma once

#include "engine/layers/layers.h"
#include "engine/layers/retina_search.h"

namespace echolux {

struct TissueModel {
    double foot = 1;              // nats above the floor at which the edge begins; at most half of the tissue's level
    std::int64_t deep = 24;       // min rows of tissue
    std::int64_t reflector = 15;  // max rows of a reflector
};

ConfidentCourse find_tissue_surface(const BScanBrightness& b_scan, const TissueModel& model);

// The next boundary below `above`, within the distances of `wanted`; 0 as max distance: to the end of the picture.
ConfidentCourse find_below(const BScanBrightness& b_scan, const ConfidentCourse& above, const BoundaryOptions& wanted);

// Lumen of a frame of a catheter: A-scans are angles over a full turn, row 0 is the centre. Angles without a wall in
// view have the reason no_signal.
ConfidentCourse find_lumen(const BScanBrightness& frame);

}  // namespace echolux
