// What a runner needs for flow besides its other tables. Made once on the host, so that all backends work with
// the same numbers (docs/algorithms.md, Flow).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/choices.h"
#include "compute/plan/params.h"
#include "compute/steps/phasor.h"
#include "compute/steps/repeats.h"

namespace echolux {

struct FlowTables {
    FlowMethod method = FlowMethod::none;
    Repeats repeats;
    std::int64_t depth = 0;             // kept bins
    std::int64_t window_depth = 1;      // Doppler, CDV
    std::int64_t window_positions = 1;  // Doppler: A-scan positions
    std::int64_t reach = 1;             // correlation: bins and positions on either side
    bool removes_bulk = false;
    bool aligns = false;           // repeats onto one another
    std::int64_t align_depth = 0;  // bins, most of a shift
    std::int64_t align_lines = 0;  // A-scans
    float min_match = 0;
    double carrier_turns = 0;  // by which a reflector's bins fall back, from bin to bin
    float deviations = 0;      // of static tissue, in parts of its decorrelation; 0: all is shown
    bool unwraps = false;
    bool negative = false;        // velocities change sign
    bool depth_flip = false;      // rows are written in reverse
    float noise_power = 1;        // mean, of bins that are not scaled
    float min_power = 0;          // likewise: less mean power, and nothing is said
    float unit = 1;               // of an angiogram's values
    float mm_s_per_rad = 0;       // of velocities
    std::int64_t bands = 1;       // sub-bands of the spectrum, each a filter along depth
    std::int64_t band_reach = 0;  // its bins on either side
    std::vector<Phasor> filters;  // [bands][2 band_reach + 1]: band(z) = sum over d of filter[reach + d] bin(z - d)
};

// Repeats without which a method says nothing.
constexpr std::int64_t min_compared(FlowMethod method) {
    return method == FlowMethod::phase_variance ? 3 : 2;
}

// Of a spec that has been validated and has flow.
FlowTables flow_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept);

// lambda_e: of the centroid of source spectrum times window; 0: unknown.
double effective_wavelength_um(const ReconstructionSpec& spec);

// Between repeats; 0: unknown.
double repeat_interval_s(const ReconstructionSpec& spec);

// Throws Error{bad_setting} naming the key that cannot work.
void validate_flow(const ReconstructionSpec& spec);

}  // namespace echolux
