// Second axis of two-dimensional transfer functions, and their tables. See shaders/shared/second.h.
#include "shaders/raycast/second_axis.glsl"

float second_at(vec3 at) {
    if (second_axis == second_distance)
        return at.x - textureLod(heights, at.yz, 0.0).r * frame.second.depth_per_um - frame.second.zero_depth;
    if (second_axis == second_curvature) return curvature_over(at, frame.gradient_step.xyz, frame.per_difference.xyz);
    return length(slope_over(at, frame.gradient_step.xyz, frame.per_difference.xyz));
}

// Returns a valid row for any value, including NaN, for which the result of clamp() is undefined.
int second_row(vec3 at) {
    float row = second_at(at) * frame.second.row_scale + frame.second.row_offset;
    return int(clamp(row, 0.0, float(second_rows - 1)) + 0.5) & (second_rows - 1);
}

float table_word(int place) {
    return uintBitsToFloat(curve_tables[place]);
}
