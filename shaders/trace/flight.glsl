// Straight flights through the volume from brick to brick, with an upper bound of the extinction in each
// (majorants.comp). In empty regions, a step crosses the largest empty cell. J. Amanatides, A. Woo, "A fast voxel
// traversal algorithm for ray tracing", Eurographics 1987.

struct Flight {
    vec3 at;      // in voxels
    vec3 speed;   // in voxels per length
    vec3 unit;    // unit vector of the direction
    float left;   // length to the end of the unclipped volume
    ivec3 brick;  // brick that contains `at` or has it on a face
    bool is_in_solid;  // see solid.glsl
};

// Returns the length of a straight line from a point, in texture coordinates, within the volume and the clip planes.
float kept_length(vec3 at, vec3 direction) {
    vec3 slope = mix(direction, vec3(1e-12), lessThan(abs(direction), vec3(1e-12)));
    vec3 ends = (step(vec3(0), slope) - at) / slope;
    float length_kept = min(ends.x, min(ends.y, ends.z));
    if (is_cut) {
        for (int i = 0; i < max_cuts; ++i) {
            float leaving = dot(frame.cut.plane[i].xyz, direction);
            float to = (frame.cut.plane[i].w - dot(frame.cut.plane[i].xyz, at)) / max(leaving, 1e-12);
            if (leaving > 0.0) length_kept = min(length_kept, to);
        }
    }
    return max(length_kept, 0.0);
}

Flight flight_over(vec3 at, vec3 unit, float length_kept) {
    vec3 size = volume_size();
    vec3 speed = unit * frame.per_extent * size;
    speed = mix(speed, vec3(1e-12), lessThan(abs(speed), vec3(1e-12)));
    vec3 voxel = clamp(at, vec3(0), vec3(1)) * size;
    ivec3 brick = min(ivec3(voxel / frame.trace.brick_edge), textureSize(majorants, 0) - 1);
    return Flight(voxel, speed, unit, length_kept, brick, false);
}

// Starts a flight at a point inside the volume. A flight that starts inside the solid must leave the solid before it
// can hit it.
Flight flight_from(vec3 at, vec3 unit) {
    Flight flight = flight_over(at, unit, kept_length(at, unit * frame.per_extent));
    flight.is_in_solid = true;
    return flight;
}

// Returns the cell of a level; level 0 is bricks.
ivec3 cell_of(ivec3 brick, int level) {
    return brick >> (2 * level);
}

struct Face {
    float distance;
    vec3 place;  // position of the three faces ahead, in voxels
    vec3 axis;   // 1 for the axis that is hit, else 0
};

Face next_face(Flight flight, int level) {
    float edge = frame.trace.brick_edge * float(1 << (2 * level));
    Face face;
    face.place = (vec3(cell_of(flight.brick, level)) + step(vec3(0), flight.speed)) * edge;
    vec3 to = max((face.place - flight.at) / flight.speed, vec3(0));
    face.distance = min(to.x, min(to.y, to.z));
    face.axis = vec3(to.x == face.distance, to.x != face.distance && to.y == face.distance,
                     to.x != face.distance && to.y != face.distance);
    return face;
}

// Moves the flight through a face. The cell's number is incremented instead of computed from the position, which is
// rounded.
void cross_face(inout Flight flight, Face face, int level) {
    ivec3 cell = cell_of(flight.brick, level);
    int bricks = 1 << (2 * level);
    flight.left -= face.distance;
    flight.at = mix(flight.at + face.distance * flight.speed, face.place, face.axis);
    ivec3 beside = clamp(ivec3(floor(flight.at / frame.trace.brick_edge)), cell * bricks, cell * bricks + bricks - 1);
    ivec3 ahead = mix(cell * bricks - 1, (cell + 1) * bricks, greaterThan(flight.speed, vec3(0)));
    flight.brick = mix(beside, ahead, greaterThan(face.axis, vec3(0.5)));
}

// Bounds of the extinction in the flight's brick. Both are 0 if the whole cell of `level` is empty.
struct Bounds {
    float largest, certain;
    int level;
};

Bounds bounds_here(Flight flight) {
    vec2 here = texelFetch(majorants, flight.brick, 0).rg;
    return Bounds(max(here.r, 0.0), here.g, here.r > 0.0 ? 0 : int(-here.r));
}

// Advances to the next tentative collision, at optical depth `depth` with a rate per length, or into the next cell.
// Returns the length of the step.
float fly(inout Flight flight, float rate, int level, inout float depth, out bool looks) {
    Face face = next_face(flight, level);
    float to_end = min(face.distance, flight.left);
    float way = rate > 0.0 ? depth / rate : 1e30;
    looks = way < to_end;
    if (looks) {
        flight.at += way * flight.speed;
        flight.left -= way;
        return way;
    }
    // The remaining optical depth is again exponentially distributed, so the next cell can use it.
    if (rate > 0.0) depth = max(depth - rate * to_end, 0.0);
    cross_face(flight, face, level);
    return to_end;
}

bool is_inside(Flight flight) {
    return flight.left > 0.0 && all(greaterThanEqual(flight.brick, ivec3(0))) &&
           all(lessThan(flight.brick, textureSize(majorants, 0)));
}
