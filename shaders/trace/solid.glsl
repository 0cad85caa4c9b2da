// Isosurfaces as opaque solids: intersections of flights and their normals. The search uses steps of half a voxel in
// bricks that reach the isovalue (interpolation never exceeds the voxels) and then bisection, like the ray caster.

const int solid_halvings = 10;
const int max_solid_steps = 64;

bool is_solid(vec3 at) {
    return sampled(at) >= frame.lookup.isovalue && is_kept(at) && !is_too_near(at);
}

bool is_solid_at(Flight flight, float way) {
    return is_solid((flight.at + way * flight.speed) / volume_size());
}

// Tests a step of a flight from `before` to `after` against the solid. On a hit, moves `after` to the intersection.
bool meets_solid(Flight before, float way, inout Flight after) {
    if (texelFetch(majorant_ranges, before.brick, 0).g < frame.lookup.isovalue) {
        after.is_in_solid = false;
        return false;
    }
    vec3 speed = abs(before.speed);
    int steps = clamp(int(ceil(2.0 * way * max(speed.x, max(speed.y, speed.z)))), 1, max_solid_steps);
    float stride = way / float(steps);
    bool is_in = before.is_in_solid;
    for (int i = 0; i <= max_solid_steps; ++i) {
        if (i > steps) break;
        bool was_in = is_in;
        is_in = is_solid_at(before, float(i) * stride);
        if (!is_in || was_in) continue;
        float outside = float(max(i - 1, 0)) * stride, inside = float(i) * stride;
        for (int halving = 0; halving < solid_halvings; ++halving) {
            float middle = 0.5 * (outside + inside);
            bool beyond = is_solid_at(before, middle);
            inside = beyond ? middle : inside;
            outside = beyond ? outside : middle;
        }
        after.at = before.at + inside * before.speed;
        return true;
    }
    after.is_in_solid = is_in;
    return false;
}

// Returns the max number of voxels per length along a unit vector, over the axes.
float voxels_along(vec3 unit) {
    vec3 way = abs(unit * frame.per_extent * volume_size());
    return max(way.x, max(way.y, way.z));
}

// Returns the nearest face of the unclipped volume: its normal, and the distance of the point below it.
vec4 face_beside(vec3 at) {
    vec3 beside = min(at, 1.0 - at) / frame.per_extent;
    float nearest = min(beside.x, min(beside.y, beside.z));
    vec3 normal = normalize(vec3(lessThanEqual(beside, vec3(nearest))));
    if (is_cut) {
        for (int i = 0; i < max_cuts; ++i) {
            float below = frame.cut.plane[i].w - dot(frame.cut.plane[i].xyz, at);
            normal = below < nearest ? normalize(frame.cut.plane[i].xyz * frame.per_extent) : normal;
            nearest = min(nearest, below);
        }
    }
    return vec4(normal, nearest);
}

// Returns the normal of the solid on the side of incoming light. On cut faces and at the sides of the volume, it is the
// normal of the face.
vec3 normal_of_solid(vec3 at, vec3 before) {
    const float on_face = 0.02;  // in voxels
    vec4 face = face_beside(at);
    vec3 slope = face.w * voxels_along(face.xyz) < on_face ? face.xyz : gradient(at);
    float steepness = length(slope);
    if (!(steepness > 0.0 && steepness < 1e30)) return -before;
    return slope * ((dot(slope, before) > 0.0 ? -1.0 : 1.0) / steepness);
}

// Returns a point half a voxel outside the solid, where reflected paths start.
vec3 off_solid(vec3 at, vec3 normal) {
    return at + normal * frame.per_extent * (0.5 / voxels_along(normal));
}
