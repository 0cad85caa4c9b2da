// Scattering by tissue, or by a surface where the gradient is steep (T. Kroes et al., "Exposure Render", PLoS ONE 7(7),
// 2012).
#include "shaders/shared/phase.h"

const float pi = 3.14159265;

// Returns the direction at an angle to a unit vector, `turn` radians around it. The basis is that of T. Duff et al.,
// "Building an orthonormal basis, revisited", JCGT 6(1), 2017.
vec3 turned(vec3 axis, float cosine, float turn) {
    float side = axis.z < 0.0 ? -1.0 : 1.0;
    float a = -1.0 / (side + axis.z);
    float b = axis.x * axis.y * a;
    vec3 first = vec3(1.0 + side * axis.x * axis.x * a, side * b, -side * axis.x);
    vec3 second = vec3(b, side + axis.y * axis.y * a, -axis.y);
    float sine = sqrt(max(1.0 - cosine * cosine, 0.0));
    return normalize(cosine * axis + sine * (cos(turn) * first + sin(turn) * second));
}

struct Scattering {
    vec3 unit;    // new direction of travel, sampled so that `weight` of the light continues in it
    vec3 weight;
    vec3 albedo;
    bool is_surface;
    vec3 before;  // direction of travel before
    vec3 facing;  // normal of a possible surface, scaled by the trust in it
    mat3 local;   // of a surface: two tangents and the normal on the side of the incoming path
};

// Weight of surfaces near cut faces, 0 to 1: cut faces are not surfaces.
float off_cut_faces(vec3 at) {
    float nearest = 1e12;
    if (is_cut) {
        for (int i = 0; i < max_cuts; ++i) {
            nearest = min(nearest, frame.cut.plane[i].w - dot(frame.cut.plane[i].xyz, at));
        }
    }
    return clamp(nearest / max(frame.cut.plain_depth, 1e-12) - 1.0, 0.0, 1.0);
}

// Only if roughness varies with the value: roughness of the last surface and its row in the table.
float roughness_here = 1.0;
float roughness_row = 0.0;

void find_roughness(vec3 at) {
    roughness_here = table_word(table_index(sampled(at)));
    roughness_row = clamp((roughness_here - min_roughness) / (1.0 - min_roughness), 0.0, 1.0) * float(roughness_steps - 1);
}

// Interpolates a column of the table: the albedo for a cosine, or the mean in the last column.
float rough_albedo(int column) {
    int row = min(int(roughness_row), roughness_steps - 2);
    int place = tables_albedo + row * (albedo_steps + 1) + column;
    return mix(table_word(place), table_word(place + albedo_steps + 1), roughness_row - float(row));
}

float facet_alpha() {
    return roughness_varies ? roughness_here * roughness_here : frame.trace.facet_alpha;
}

float mean_facet_albedo() {
    return roughness_varies ? rough_albedo(albedo_steps) : frame.trace.facet_albedo;
}

// Returns the share of light from a direction that facets reflect.
float facet_albedo(float cosine) {
    float place = clamp(cosine, 0.0, 1.0) * float(albedo_steps - 1);
    int below = min(int(place), albedo_steps - 2);
    if (roughness_varies) return mix(rough_albedo(below), rough_albedo(below + 1), place - float(below));
    float from = frame.trace.albedo[below >> 2][below & 3];
    float to = frame.trace.albedo[(below + 1) >> 2][(below + 1) & 3];
    return mix(from, to, place - float(below));
}

// Samples a direction of light that facets transmit, in proportion to the transmitted share.
vec3 below_facets() {
    vec3 direction = vec3(0, 0, 1);
    float most = 1.0 - facet_albedo(1.0);
    for (int i = 0; i < 32; ++i) {
        vec4 u = draw();
        direction = turned(vec3(0, 0, 1), sqrt(u.x), 2.0 * pi * u.y);
        if (u.z * most < 1.0 - facet_albedo(direction.z)) break;
    }
    return direction;
}

// Reflects at a sampled facet with the probability of reflection, else scatters below the facets. White surfaces
// conserve energy regardless of the table's precision.
void reflect_at(inout Scattering scattering) {
    vec4 u = draw_for(decision_facet);
    vec3 out_to = -scattering.before * scattering.local;
    out_to.z = max(out_to.z, 1e-4);
    vec3 facet = ggx_facet(out_to, facet_alpha(), u.xy);
    vec3 in_from = reflect(-out_to, facet);
    float share = in_from.z > 0.0 ? ggx_share(out_to, in_from, facet, facet_alpha()) : 0.0;
    scattering.weight = vec3(1);
    if (u.z >= share) {
        in_from = below_facets();
        scattering.weight = scattering.albedo;
    }
    scattering.unit = normalize(scattering.local * in_from);
}

void reflect_by_surface(inout Scattering scattering, vec3 at, vec3 normal) {
    scattering.is_surface = true;
    if (roughness_varies) find_roughness(at);
    vec3 along = turned(normal, 0.0, 0.0);
    scattering.local = mat3(along, cross(normal, along), normal);
    reflect_at(scattering);
}

// Reflects at the solid in the isosurface's colour.
Scattering reflected_by_solid(vec3 normal, vec3 at, vec3 before) {
    vec3 albedo = from_srgb(frame.surface_colour.rgb) * frame.trace.scattering_albedo;
    Scattering result = Scattering(before, albedo, albedo, true, before, normal, mat3(1));
    reflect_by_surface(result, at, normal);
    return result;
}

// Scatters at a surface with the probability `trust` times the strength of surfaces, else by the phase function.
Scattering scattered(vec3 at, vec3 before, vec3 albedo) {
    vec4 u = draw_for(decision_scattering);
    vec3 unit = turned(before, phase_cosine(u.x, frame.trace.anisotropy), 2.0 * pi * u.y);
    Scattering result = Scattering(unit, albedo, albedo, false, before, vec3(0), mat3(1));
    if (lighting == lighting_off) return result;
    vec3 slope = gradient(at);
    if (channel_count > 0) draw_slope(at, u.w, slope);
    float steepness = length(slope);
    if (!(steepness > 0.0 && steepness < 1e30)) return result;  // also excludes NaN
    float trust = off_cut_faces(at) * steepness / (steepness + frame.light.half_gradient);
    vec3 normal = slope * ((dot(slope, before) > 0.0 ? -1.0 : 1.0) / steepness);
    result.facing = trust * normal;
    if (u.z >= frame.trace.surface_strength * trust) return result;
    reflect_by_surface(result, at, normal);
    return result;
}

// Returns the reflected or scattered radiance per irradiance from a direction, and in w the density per solid angle
// with which scattered() samples that direction for a white medium.
vec4 lit_from(Scattering scattering, vec3 towards) {
    if (!scattering.is_surface) {
        return vec4(scattering.albedo, 1.0) * phase(dot(scattering.before, towards), frame.trace.anisotropy);
    }
    vec3 out_to = -scattering.before * scattering.local;
    vec3 in_from = towards * scattering.local;
    if (in_from.z <= 0.0) return vec4(0);
    out_to.z = max(out_to.z, 1e-4);
    float below = (1.0 - facet_albedo(out_to.z)) * (1.0 - facet_albedo(in_from.z)) / (pi * (1.0 - mean_facet_albedo()));
    return in_from.z * (vec4(scattering.albedo, 1.0) * below + ggx_reflected(out_to, in_from, facet_alpha()));
}

// Returns direction and distance of a headlight. In orthographic views, the distance is infinite.
vec4 towards_eye(Ray ray, vec3 at) {
    vec3 way = (ray.start - at) / frame.per_extent;
    bool is_near = is_perspective();
    float reach = mix(1e30, length(way), bool(int(is_near) & int(frame.light.is_lamp_free == 0.0)));
    return vec4(normalize(mix(-ray.unit, way, bvec3(is_near))), reach);
}

// Samples a direction towards the lamp.
vec3 towards_lamp(vec3 to_eye, vec2 u) {
    vec3 middle = mix(to_eye, frame.light.lamp, frame.light.is_lamp_free);
    return turned(normalize(middle), mix(frame.trace.lamp_cosine, 1.0, u.x), 2.0 * pi * u.y);
}
