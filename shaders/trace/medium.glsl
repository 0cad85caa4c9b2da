// Interaction of light with the volume at a point. Uses the ray caster's table with colours as scattering albedos.
#include "shaders/trace/tone.glsl"

struct Medium {
    float extinction;  // per length
    vec3 albedo;
};

// A single comparison, because && would branch on the frame alone, see shaders/raycast/pixel.glsl.
bool is_perspective() {
    return max(abs(frame.eye_x.xyz), abs(frame.eye_y.xyz)) == vec3(0);
}

// Returns true for points closer than the near distance, which are invisible to the eye and to light.
bool is_too_near(vec3 at) {
    vec3 way = (at - 0.5) / frame.per_extent - frame.eye.xyz;
    return mix(dot(way, axis_of_sight()), length(way), is_perspective()) < frame.near_distance;
}

// Like add_flow() for a step of the ray caster, with albedos instead of colours.
void mix_flow(vec3 at, vec3 colour, inout float bits, inout vec3 albedo) {
    Flow here = flow_at(at);
    here.weight *= left_by(colour * (1.0 - exp2(-bits * frame.step_length)));
    float of_flow = here.weight * frame.flow.density;
    bits = mix(bits, 0.0, here.weight) + of_flow;
    albedo = mix(albedo, from_srgb(flow_colour(here.velocity)), of_flow / max(bits, 1e-20));
}

// Like add_channels().
void mix_channels(vec3 at, inout float bits, inout vec3 albedo) {
    for (int c = 0; c < max_channels; ++c) {
        if (c >= channel_count) continue;
        ChannelHere here = channel_at(c, at);
        bits = bits * left_beside(c, here) + here.bits;
        albedo = mixed(albedo, from_srgb(here.colour), here.bits / max(bits, 1e-20));
    }
}

Medium medium_at(vec3 at) {
    if (!is_kept(at) || is_too_near(at)) return Medium(0.0, vec3(0));
    int index = entry_of(at);
    float bits = entry_extinction(index) * frame.lookup.bits;
    vec3 colour = entry_colour(index);
    vec3 albedo = from_srgb(colour);
    if (flow_kind != flow_off) mix_flow(at, colour, bits, albedo);
    if (channel_count > 0) mix_channels(at, bits, albedo);
    float extinction = min(bits * frame.trace.optical_per_bit, frame.trace.max_extinction);
    return Medium(extinction, albedo * frame.trace.scattering_albedo);
}
