// A volume on the GPU for filters: [b_scan][a_scan][depth]. Coordinates beyond its ends are clamped.
#pragma once

#include <cstdint>

namespace echolux::cuda {

// Dimensions of a volume, with index arithmetic.
struct FilterBox {
    int depth, a_scans, b_scans;

    __host__ __device__ std::int64_t columns() const { return std::int64_t{depth} * a_scans; }
    __host__ __device__ std::int64_t voxels() const { return columns() * b_scans; }

    __device__ bool has(int z, int a, int b) const {
        return z >= 0 && z < depth && a >= 0 && a < a_scans && b >= 0 && b < b_scans;
    }
    __device__ int row(int z) const { return inside(z, depth); }

    // Returns the start of an A-scan, clamped to the nearest existing one.
    __device__ std::int64_t line(int b, int a) const {
        return (std::int64_t{inside(b, b_scans)} * a_scans + inside(a, a_scans)) * depth;
    }

    struct At {
        int z, a, b;
    };
    __device__ At at(std::int64_t voxel) const {
        const std::int64_t line = voxel / depth;
        return {static_cast<int>(voxel % depth), static_cast<int>(line % a_scans), static_cast<int>(line / a_scans)};
    }

  private:
    __device__ static int inside(int at, int count) { return at < 0 ? 0 : at < count ? at : count - 1; }
};

}  // namespace echolux::cuda
