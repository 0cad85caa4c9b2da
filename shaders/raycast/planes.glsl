// Separate B-scans in space, each in its scan position and parallel to the depth axis. Nothing is interpolated between
// them. Rays cross the field, a box around all planes.

const float no_plane = 1e30;

struct BScanHit {
    float distance;  // along the ray; no_plane: missed
    vec3 at;         // texture coordinates in the B-scan
};

bool is_filled(float slice) {
    return rolling != rolling_first || slice < frame.filled.end;
}

BScanHit plane_met(Ray ray, int index) {
    vec4 plane = frame.planes.plane[index];
    vec2 count = frame.planes.grid;
    vec2 normal = vec2(-plane.w, plane.z);
    float slope = dot(normal, ray.direction.yz);
    if (slope == 0.0) slope = 1e-12;
    float distance = dot(normal, plane.xy - ray.start.yz) / slope;
    vec3 there = ray.start + distance * ray.direction;
    float part = dot(there.yz - plane.xy, plane.zw) / dot(plane.zw, plane.zw);
    vec3 at = vec3(there.x, (part * (count.x - 1.0) + 0.5) / count.x, (float(index) + 0.5) / count.y);
    bool is_met = distance >= ray.enter && distance <= ray.leave && at.y >= 0.0 && at.y <= 1.0;
    return BScanHit(is_met && is_filled(at.z) && is_kept(at) ? distance : no_plane, at);
}

// Returns the position within its B-scan of a hit at this distance.
vec3 place_on_plane(Ray ray, float distance) {
    vec3 at = vec3(0);
    for (int i = 0; i < int(frame.planes.plane_count); ++i) {
        BScanHit met = plane_met(ray, i);
        if (met.distance == distance) at = met.at;
    }
    return at;
}

// Sorts from front to back.
void sort(inout BScanHit met[max_planes]) {
    for (int last = max_planes - 1; last > 0; --last) {
        for (int i = 0; i < last; ++i) {
            if (met[i].distance <= met[i + 1].distance) continue;
            BScanHit nearer = met[i + 1];
            met[i + 1] = met[i];
            met[i] = nearer;
        }
    }
}

RayResult seen_on_planes(Ray ray) {
    BScanHit met[max_planes];
    for (int i = 0; i < max_planes; ++i) {
        met[i] = BScanHit(no_plane, vec3(0));
        if (i < int(frame.planes.plane_count)) met[i] = plane_met(ray, i);
    }
    sort(met);
    RayResult seen = nothing;
    for (int i = 0; i < max_planes && met[i].distance != no_plane && seen.transmittance > 0.0; ++i) {
        float value = sampled(met[i].at);
        vec3 colour = window_colour(value);
        if (flow_kind != flow_off) colour = with_flow(met[i].at, colour);
        if (channel_count > 0) colour = with_channels(met[i].at, colour);
        float share = seen.transmittance * frame.planes.opacity;
        seen.colour += share * colour;
        seen.transmittance -= share;
        if (seen.distance >= 0.0) continue;
        seen.distance = met[i].distance;
        seen.value = value;
    }
    return seen;
}
