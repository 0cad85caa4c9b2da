// What a place of the volume does to light: the ray caster's table, its colours taken as shares of light that are
// scattered.
#include "shaders/trace/tone.glsl"

struct Medium {
    float extinction;  // per length
    vec3 albedo;
};

Medium medium_at(vec3 at) {
    if (!is_kept(at)) return Medium(0.0, vec3(0));
    int index = table_index(sampled(at));
    float bits = extinction_at(index) * frame.lookup.z;
    vec3 colour = colour_at(index);
    if (flow_kind != flow_off) add_flow(at, 1.0, bits, colour);
    return Medium(min(bits * frame.trace.medium.x, frame.trace.bricks.w), from_srgb(colour) * frame.trace.medium.y);
}
