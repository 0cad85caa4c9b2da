// A recipe for each path through either backend. Their bits must not depend on the division of a scan into blocks.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

struct Variant {
    std::string name;
    void (*choose)(ReconstructionSpec&);
};

inline std::ostream& operator<<(std::ostream& out, const Variant& one) {
    return out << one.name;
}

// Returns these variants and those in `more`.
inline std::vector<Variant> variants_and(const std::vector<Variant>& more) {
    std::vector<Variant> all{
        {"codes", [](ReconstructionSpec& p) { p.recipe.voxel = VoxelType::u8; }},
        {"real_transform", [](ReconstructionSpec& p) { p.recipe.a2_rad = 0; }},
        {"running", [](ReconstructionSpec& p) { p.recipe.background = Background::running; }},
        {"running_repeats",
         [](ReconstructionSpec& p) {
             p.recipe.background = Background::running;
             p.geometry.b_repeats = 2;
             p.recipe.average = Average::power;
         }},
        {"median", [](ReconstructionSpec& p) { p.recipe.background = Background::median; }},
        {"rolling", [](ReconstructionSpec& p) { p.recipe.background = Background::rolling; }},
        {"fixed_pattern", [](ReconstructionSpec& p) { p.recipe.fixed_pattern = FixedPattern::median; }},
        {"repeats_apart",
         [](ReconstructionSpec& p) {
             p.geometry.a_repeats = 2;
             p.geometry.b_repeats = 3;
         }},
        {"frame_levels",
         [](ReconstructionSpec& p) {
             p.recipe.voxel = VoxelType::u16;
             p.recipe.levels = Levels::frame;
         }},
        {"spline_upsampled",
         [](ReconstructionSpec& p) {
             p.recipe.resample = Resample::spline;
             p.recipe.upsample = 2;
         }},
    };
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace echolux
