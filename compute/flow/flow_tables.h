// Tables of flow for runners, in addition to those of plan/tables.h. Built once on the host so that all backends use
// the same numbers (docs/algorithms.md, Flow).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/choices.h"
#include "compute/plan/params.h"
#include "compute/steps/angiography.h"
#include "compute/steps/depth.h"

namespace echolux {

// Parameters of flow for one plan. Windows and reaches are in bins and A-scan positions.
struct FlowTables {
    FlowMethod method = FlowMethod::none;
    Repeats repeats;
    std::int64_t depth = 0;             // kept bins
    std::int64_t window_depth = 1;      // Doppler, CDV
    std::int64_t window_positions = 1;  // Doppler: A-scan positions
    std::int64_t reach = 1;             // correlation: bins and positions on either side
    bool removes_bulk = false;
    bool aligns = false;           // align repeats to each other
    std::int64_t align_depth = 0;  // max shift in bins
    std::int64_t align_lines = 0;  // max shift in A-scans
    float min_match = 0;
    double carrier_turns = 0;  // phase decrease of a reflector from bin to bin, in turns
    float deviations = 0;      // threshold in multiples of the decorrelation of static tissue; 0 disables it
    bool unwraps = false;
    bool negative = false;        // invert the sign of velocities
    bool depth_flip = false;      // rows are reversed
    float noise_power = 1;        // mean, for unscaled bins
    float min_power = 0;          // min mean power for valid results, for unscaled bins
    float unit = 1;               // divisor of an angiogram's values
    float mm_s_per_rad = 0;       // factor from phases to velocities
    std::int64_t bands = 1;       // sub-bands of the spectrum, each a filter in depth
    std::int64_t band_reach = 0;  // filter bins on either side
    std::vector<Phasor> filters;  // [bands][2 band_reach + 1]: band(z) = sum over d of filter[reach + d] bin(z - d)
};

// Returns the min number of repeats that a method needs.
constexpr std::int64_t min_compared(FlowMethod method) {
    return method == FlowMethod::phase_variance ? 3 : 2;
}

// Builds the tables of a validated spec with flow.
FlowTables flow_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept);

// Returns lambda_e, the wavelength at the centroid of source spectrum times window. 0 if unknown.
double effective_wavelength_um(const ReconstructionSpec& spec);

// Returns the interval between repeats in s. 0 if unknown.
double repeat_interval_s(const ReconstructionSpec& spec);

// Checks the flow settings. Throws Error{bad_setting} naming the invalid key.
void validate_flow(const ReconstructionSpec& spec);

}  // namespace echolux
