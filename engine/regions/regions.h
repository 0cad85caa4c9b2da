// Regions of interest in volumes: shapes described in a file, or labels painted elsewhere, and the statistics of their
// voxels. Coordinates are x along the A-scans, y across the B-scans, z the depth. In mm, x and y start at the first
// voxel and z at zero delay, as in figures, meshes and files of surfaces; in voxels, all start at the first voxel. A
// voxel belongs to a region if its centre does.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/io/volume_file.h"
#include "engine/layers/layers.h"

namespace echolux {

enum class RegionShape { box, ellipsoid, polygon, slab };
enum class RegionUnit { mm, voxels };
enum class RegionAxis { depth, b_scans, a_scans };

// A table [[region]] of a file.
struct RegionSpec {
    std::string name;
    RegionShape shape = RegionShape::box;
    RegionUnit unit = RegionUnit::mm;
    std::vector<double> from, to;          // box: corners; slab: lateral limits, or empty
    std::vector<double> centre, radii;     // ellipsoid
    std::vector<double> points;            // polygon: two coordinates per corner
    RegionAxis along = RegionAxis::depth;  // normal of the section of the polygon
    std::vector<double> range;             // of the polygon along its normal; empty: the whole volume
    std::string upper, lower;              // slab: names of surfaces
    double below_upper = 0, below_lower = 0;
    std::string where;  // file and number, for messages
};

template <>
const std::vector<Field<RegionSpec>>& describe<RegionSpec>();

// Reads all tables of a file. Throws Error{bad_file, bad_setting} for unknown keys, missing or duplicate names, lists
// of another length, and polygons that cross themselves.
std::vector<RegionSpec> read_regions(const std::filesystem::path& path);

// Voxels [begin, end) of a volume in memory order.
struct VoxelRun {
    std::int64_t begin = 0, end = 0;
};

struct Region {
    std::string name;
    std::vector<VoxelRun> runs;
    bool is_cut = false;  // the shape reaches beyond the volume

    std::int64_t voxels() const;
};

// Returns the voxels of a region. `surfaces` are those of slabs; nullptr: none. Throws Error{bad_setting} for mm
// without voxel sizes, unknown surfaces, and regions without a voxel.
Region region_of(const RegionSpec& spec, const VolumeGrid& grid, const Surfaces* surfaces);

// Returns a region "label N" per number above 0 of a label volume of the same size, in ascending order. Throws
// Error{bad_setting} naming `name` for another size, fractions, negative numbers, more than 65535 labels, and volumes
// without labels.
std::vector<Region> regions_of_labels(const Volume& labels, const VolumeGrid& grid, const std::string& name);

// Returns a volume of labels: voxels of region i hold i + 1. Later regions cover earlier ones. Throws
// Error{bad_setting} for more than 65535 regions.
Volume labels_of(const std::vector<Region>& regions, const VolumeGrid& grid);

// ---- Statistics

// linear: of intensity, which dB and amplitudes are converted to.
enum class RegionDomain { stored, linear };

// Finite values of a region in memory order. In velocities, 0 means unknown and is left out too.
struct RegionValues {
    std::vector<double> values;
    std::int64_t unknown = 0;  // number of voxels left out
};

// Throws Error{bad_setting} for complex voxels, and for velocities in the linear domain.
RegionValues region_values(const Region& region, const Volume& volume, RegionDomain domain);

// NaN without values. The standard deviation is that of the population, as NumPy computes it.
struct RegionStats {
    double mean, sd, min, max;
    std::vector<double> percentiles;  // as requested, interpolated linearly as NumPy does
};
// Reorders the values.
RegionStats region_stats(std::vector<double>& values, const std::vector<double>& percentiles);

// Axial velocities times the area of a voxel, summed over each plane of constant depth that the region meets, and
// averaged over these planes: ul/s through a vessel whose sections lie within the region (B. Baumann et al., Biomed.
// Opt. Express 2, 1539, 2011). Unknown velocities count as 0.
double region_flux_ul_s(const Region& region, const Volume& volume);

// Bins of equal width; the last one includes its end.
struct RegionHistogram {
    double low = 0, high = 1;
    std::vector<std::int64_t> counts;

    double edge(std::size_t bin) const;
};
// Range {0, 0}: from the smallest to the largest value.
RegionHistogram region_histogram(const std::vector<double>& values, std::int64_t bins, std::pair<double, double> range);

}  // namespace echolux
