// Flow overlay. Visible flow replaces the structure.

const float min_phasor = 0.25;  // phasors of a smaller magnitude are noise

struct Flow {
    float velocity;
    float weight;  // from 0 (invisible) to the opacity
};

// Returns the weight of a velocity, which increases linearly above the threshold.
float flow_weight(float velocity) {
    return frame.flow.opacity * clamp((abs(velocity) - frame.flow.threshold) * frame.flow.per_fade, 0.0, 1.0);
}

// Samples the flow of the same time point as the structure at that position.
vec2 flow_sampled(vec3 at) {
    if (rolling == rolling_over && at.z >= frame.filled.end) return textureLod(previous_flow, at, 0.0).rg;
    if (rolling != rolling_off) at.z = min(at.z, frame.filled.last_slice);
    return textureLod(flow, at, 0.0).rg;
}

// Returns the flow at a point. Phasors are converted to phases after filtering: a filtered angle would pass through
// zero where the phase wraps.
Flow flow_at(vec3 at) {
    vec2 here = flow_sampled(at);
    if (flow_kind == flow_scalar) {
        float velocity = here.r * frame.flow.velocity_scale + frame.flow.velocity_offset;
        return Flow(velocity, flow_weight(velocity));
    }
    float velocity = atan(here.g, here.r) * frame.flow.velocity_per_radian;
    float trust = clamp((length(here) - min_phasor) / (1.0 - 2.0 * min_phasor), 0.0, 1.0);
    return Flow(velocity, trust * flow_weight(velocity));
}

// Returns the velocity at a point, and 1 if it is known there: phasors of noise and missing values are not.
vec2 flow_measured(vec3 at) {
    if (flow_kind == flow_off || has_planes) return vec2(0);
    float velocity = flow_at(at).velocity;
    bool is_known = !isnan(velocity) && (flow_kind == flow_scalar || length(flow_sampled(at)) >= min_phasor);
    return is_known ? vec2(velocity, 1.0) : vec2(0);
}

vec3 flow_colour(float velocity) {
    float level = clamp(0.5 + 0.5 * velocity * frame.flow.per_range, 0.0, 1.0);
    return texelFetch(flow_colours, int(level * float(flow_colour_entries - 1) + 0.5), 0).rgb;
}

// Returns the fraction of flow that remains visible under a structure of that colour.
float left_by(vec3 structure) {
    return 1.0 - frame.flow.is_under * clamp(max(structure.r, max(structure.g, structure.b)), 0.0, 1.0);
}

float fastest_in(vec2 ends) {
    ends = abs(ends * frame.flow.velocity_scale + frame.flow.velocity_offset);
    return max(ends.x, ends.y);
}

// Returns true if a run of samples contains no visible flow, from the brick at its centre. Bricks have no information
// about phasors.
bool is_without_flow(Samples samples, float begin) {
    if (flow_kind == flow_off) return true;
    if (flow_kind == flow_phasor || !skips) return false;
    ivec3 brick = ivec3(middle_of_run(samples, begin) * frame.flow.bricks.xyz);
    brick = clamp(brick, ivec3(0), textureSize(flow_bricks, 0) - 1);
    float fastest = fastest_in(texelFetch(flow_bricks, brick, 0).rg);
    if (rolling == rolling_over) fastest = max(fastest, fastest_in(texelFetch(previous_flow_bricks, brick, 0).rg));
    return fastest <= frame.flow.threshold;
}

// Adds the flow to a step of length `over`: updates its optical depth in bits and its colour.
void add_flow(vec3 at, float over, inout float optical, inout vec3 colour) {
    Flow here = flow_at(at);
    here.weight *= left_by(colour * (1.0 - exp2(-optical)));
    float of_flow = here.weight * frame.flow.density * over;
    float both = mix(optical, 0.0, here.weight) + of_flow;
    colour = mix(colour, flow_colour(here.velocity), of_flow / max(both, 1e-20));
    optical = both;
}

// Adds the flow to an opaque colour.
vec3 with_flow(vec3 at, vec3 colour) {
    Flow here = flow_at(at);
    here.weight *= left_by(colour);
    return mix(colour, flow_colour(here.velocity), here.weight);
}

// Shows the fastest flow along the ray over the picture.
void add_fastest(inout RayResult seen, Ray ray) {
    Samples samples = samples_of(ray);
    Flow fastest = Flow(0.0, 0.0);
    for (float begin = 0.0; begin < samples.count; begin += frame.run_length) {
        if (is_without_flow(samples, begin)) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            vec3 at = place(samples, i);
            if (!is_kept(at)) continue;
            Flow here = flow_at(at);
            if (here.weight > 0.0 && abs(here.velocity) > abs(fastest.velocity)) fastest = here;
        }
    }
    fastest.weight *= left_by(seen.colour);
    seen.colour = mix(seen.colour, flow_colour(fastest.velocity), fastest.weight);
    seen.transmittance *= 1.0 - fastest.weight;
}

// Adds the flow at and in front of the ray's surface.
void add_flow_before(inout RayResult seen, Ray ray) {
    if (seen.distance >= 0.0) {
        seen.colour = with_flow(ray.start + seen.distance * ray.direction, seen.colour);
        ray.leave = min(ray.leave, seen.distance);
    }
    if (ray.leave <= ray.enter) return;
    Samples samples = samples_of(ray);
    vec3 colour = vec3(0);
    float passed = 1.0;
    for (float begin = 0.0; begin < samples.count && passed >= frame.min_transmittance; begin += frame.run_length) {
        if (is_without_flow(samples, begin)) continue;
        float end = min(begin + frame.run_length, samples.count);
        for (float i = begin; i < end; i += 1.0) {
            vec3 at = place(samples, i);
            if (!is_kept(at)) continue;
            Flow here = flow_at(at);
            float after = passed * exp2(-here.weight * frame.flow.density * samples.spacing);
            colour += (passed - after) * flow_colour(here.velocity);
            passed = after;
        }
    }
    seen.colour = colour + passed * seen.colour;
    seen.transmittance *= passed;
}

// Adds flow that was not composited with the structure's samples.
void add_flow_to_picture(inout RayResult seen, Ray ray) {
    if (mixes_samples) return;
    if (ends_at_surface) {
        add_flow_before(seen, ray);
    } else {
        add_fastest(seen, ray);
    }
}
