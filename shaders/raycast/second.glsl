// The second axis of a transfer function over two, and the tables that come with it: see shaders/shared/second.h.
#include "shaders/raycast/second_axis.glsl"

float second_at(vec3 at) {
    if (second_axis == second_distance) return at.x - textureLod(heights, at.yz, 0.0).r * frame.second.axis.w - frame.second.depth.x;
    if (second_axis == second_curvature) return curvature_over(at, frame.gradient_step.xyz, frame.per_difference.xyz);
    return length(slope_over(at, frame.gradient_step.xyz, frame.per_difference.xyz));
}

// Whatever the number: of what is none, clamp() says nothing.
int second_row(vec3 at) {
    float row = second_at(at) * frame.second.axis.x + frame.second.axis.y;
    return int(clamp(row, 0.0, float(second_rows - 1)) + 0.5) & (second_rows - 1);
}

float table_word(int place) {
    return uintBitsToFloat(curve_tables[place]);
}
