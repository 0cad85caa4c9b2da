// A recipe for each path through either backend, as text for set(). Their bits must not depend on the division of a
// scan into blocks.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace echolux {

struct Variant {
    std::string name, assignments;
};

inline std::ostream& operator<<(std::ostream& out, const Variant& one) {
    return out << one.name;
}

// Returns these variants and those in `more`.
inline std::vector<Variant> variants_and(const std::vector<Variant>& more) {
    std::vector<Variant> all{
        {"codes", "voxel=u8"},
        {"real_transform", "a2_rad=0"},
        {"running", "background=running"},
        {"running_repeats", "background=running b_repeats=2 average=power"},
        {"median", "background=median"},
        {"rolling", "background=rolling"},
        {"fixed_pattern", "fixed_pattern=median"},
        {"repeats_apart", "a_repeats=2 b_repeats=3"},
        {"frame_levels", "voxel=u16 levels=frame"},
        {"spline_upsampled", "resample=spline upsample=2"},
    };
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace echolux
