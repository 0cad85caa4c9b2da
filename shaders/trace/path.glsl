// Paths of light, traced from the eye. Flights use delta tracking (E. Woodcock et al., ANL-7050, 1965), shadow rays
// residual ratio tracking (J. Novak et al., "Residual ratio tracking", ACM TOG 33(6), 2014).
//
// Everything is in one loop with a step or a volume lookup per iteration, so that neighbouring invocations synchronise
// once per iteration and not at each scattering. Software Vulkan executes both sides of a branch but leaves a loop once
// all rays have. It therefore has a separate loop for flights and pays for a scattering once per flight instead of once
// per step (2.4 times as fast).

const int max_steps = 1 << 22;
const float dim = 0.05;          // Russian roulette for shadow rays below this transmittance
// Russian roulette for paths below this weight, after a min number of scatterings.
const float dim_path = 0.1;
const int steady_scatterings = 4;

struct Traced {
    vec3 light;
    float opacity;
    vec4 albedo;   // of the first scattering; w: its depth in halves of the volume's diagonal
    vec3 facing;   // normal there
    vec4 counts;  // violations of majorants, scatterings, lookups, abandoned paths
};

const Traced nothing_traced = Traced(vec3(0), 0.0, vec4(0), vec3(0), vec4(0));

// Russian roulette: survivors have their weight increased.
bool survives(inout vec3 weight, int scatterings, float u) {
    if (scatterings < steady_scatterings) return true;
    float chance = min(max(weight.r, max(weight.g, weight.b)) / dim_path, 1.0);
    if (u >= chance) return false;
    weight /= chance;
    return true;
}

// Russian roulette for shadow rays with little transmittance.
bool is_lost(inout float passed, float u) {
    if (passed >= dim) return false;
    passed *= u < 0.5 ? 2.0 : 0.0;
    return passed == 0.0;
}

// Results of a step of a flight.
const int nothing_yet = 0;
const int an_end = 1;  // of the volume, or of a shadow ray
const int a_scattering = 2;

// A volume lookup and its random numbers.
struct Sample {
    vec3 at;
    Medium here;
    bool is_of_solid;
    vec4 u;
};

// State of a path and its intermediate result.
struct Path {
    Traced found;
    Flight flight;
    Flight onwards;  // continuation after a shadow ray
    vec3 weight;
    vec3 from;    // last scattering, from the volume's centre
    float likely;  // density of the sampled direction there
    vec3 light;    // shadow ray: unoccluded contribution
    float passed;  // shadow ray: transmittance
    bool to_light;
    int scatterings;
};

Path path_along(Ray ray) {
    Flight flight = flight_over(ray.start + ray.enter * ray.direction, ray.unit, ray.leave - ray.enter);
    return Path(nothing_traced, flight, flight, vec3(1), vec3(0), 0.0, vec3(0), 1.0, false, 0);
}

// Advances to the next cell or tentative collision. Returns one of the results above.
int advance(inout Path path, inout float depth, inout Sample met) {
    int event = an_end;
    if (is_inside(path.flight)) {
        event = nothing_yet;
        Flight before = path.flight;
        Bounds bounds = bounds_here(path.flight);
        float certain = path.to_light ? bounds.certain : 0.0;
        float rate = bounds.largest - certain;
        bool looks;
        float way = fly(path.flight, rate, bounds.level, depth, looks);
        met.is_of_solid = has_isosurface && meets_solid(before, way, path.flight);
        looks = looks && !met.is_of_solid;
        if (certain > 0.0) path.passed *= exp(-certain * way);
        if (looks || certain > 0.0 || met.is_of_solid) met.u = draw();
        if (looks || met.is_of_solid) {
            depth = -log(met.u.x);
            met.at = path.flight.at / volume_size();
        }
        // Counts violations of the majorant with a tolerance for rounding.
        if (looks) {
            met.here = medium_at(met.at);
            path.found.counts += vec4(met.here.extinction > bounds.largest * 1.00001, 0, 1, 0);
            if (path.to_light) path.passed *= max(1.0 - (met.here.extinction - certain) / rate, 0.0);
            if (!path.to_light && met.u.z * bounds.largest < met.here.extinction) event = a_scattering;
        }
        if (path.to_light && (looks || certain > 0.0) && is_lost(path.passed, looks ? met.u.y : met.u.x)) event = an_end;
        if (met.is_of_solid) {
            event = path.to_light ? an_end : a_scattering;
            if (path.to_light) path.passed = 0.0;
        }
    }
    return event;
}

// A light sampled from a scattering, with its unoccluded contribution.
struct LightSample {
    vec3 unit;
    float reach;
    vec3 light;
};

LightSample sought(Scattering scattering, Look look) {
    vec4 lit = lit_from(scattering, look.unit);
    float likely = max(look.density + lit.a, 1e-30);
    return LightSample(look.unit, look.reach, lit.rgb * look.radiance * (step(1e-30, look.density) / likely));
}

LightSample seek_light(Ray ray, Scattering scattering, vec3 at) {
    if (has_sky && draw().x < frame.studio.sky_chance) return sought(scattering, look_for_sky());
    if (lights_kind == lights_area) {
        vec3 from = (at - 0.5) / frame.per_extent;
        return sought(scattering, look_for_light(from, draw_for(decision_light).xyz));
    }
    vec4 to_eye = towards_eye(ray, at);
    vec3 towards = towards_lamp(to_eye.xyz, draw_for(decision_light).xy);
    vec3 light = frame.trace.lamp_irradiance * lit_from(scattering, towards).rgb;
    return LightSample(towards, to_eye.w, has_sky ? light / (1.0 - frame.studio.sky_chance) : light);
}

// Ends a shadow ray and adds its light. Returns true if the path continues.
bool end_search(inout Path path) {
    path.found.light += path.passed * path.light;
    path.to_light = false;
    path.flight = path.onwards;
    return path.weight != vec3(0);
}

// Scatters the path and starts a shadow ray if there are lights. Returns true if the path continues.
bool scatter(inout Path path, Ray ray, Sample met) {
    path.found.opacity = 1.0;
    path.found.counts.y += 1.0;
    int longest = int(frame.trace.scattering_limit);
    if (++path.scatterings > longest) {
        path.found.counts.w = float(longest == max_scatterings);
        return false;
    }
    vec3 at = met.at;
    Scattering scattering;
    if (met.is_of_solid) {
        vec3 normal = normal_of_solid(at, path.flight.unit);
        scattering = reflected_by_solid(normal, at, path.flight.unit);
        at = off_solid(at, normal);
    } else {
        scattering = scattered(at, path.flight.unit, met.here.albedo);
    }
    if (path.scatterings == 1) {
        float depth_here = dot((at - 0.5) / frame.per_extent, ray.unit) * frame.trace.per_half_diagonal;
        path.found.albedo = vec4(scattering.albedo, depth_here);
        path.found.facing = scattering.facing;
    }
    vec3 arriving = path.weight;
    path.weight *= scattering.weight;
    if (path.weight != vec3(0) && !survives(path.weight, path.scatterings, met.u.w)) path.weight = vec3(0);
    path.flight = flight_from(at, scattering.unit);
    const bool is_lit = lights_kind != lights_none || has_sky;
    is_first_decision = is_first_decision && is_lit;  // the choice of a light is also one of the first decisions
    if (!is_lit) return path.weight != vec3(0);
    path.onwards = path.flight;
    path.from = (at - 0.5) / frame.per_extent;
    if (has_sky || lights_kind == lights_area) path.likely = lit_from(scattering, scattering.unit).a;
    LightSample light = seek_light(ray, scattering, at);
    is_first_decision = false;
    path.light = arriving * light.light;
    path.passed = 1.0;
    if (path.light == vec3(0)) return end_search(path);
    path.to_light = true;
    path.flight = flight_from(at, light.unit);
    path.flight.left = min(path.flight.left, light.reach);
    return true;
}

// The path leaves the volume: adds the light of the surroundings.
void leave(inout Path path) {
    if (path.scatterings == 0) return;
    vec3 unit = path.flight.unit;
    path.found.light += path.weight * (has_sky ? sky_met(unit, path.likely) : vec3(frame.trace.sky_radiance));
    if (lights_kind == lights_area) path.found.light += path.weight * lights_met(path.from, unit, path.likely);
}

Traced traced(Ray ray) {
    Path path = path_along(ray);
    float depth = -log(draw_for(decision_flight).x);  // optical depth to the next collision
    Sample met = Sample(vec3(0), Medium(0.0, vec3(0)), false, vec4(0));
    bool continues = true;
    for (int i = 0; i < max_steps && continues;) {
        int event;
        do {
            event = advance(path, depth, met);
        } while (++i < max_steps && is_software && event == nothing_yet);
        if (event == nothing_yet) continue;
        if (event == a_scattering) {
            continues = scatter(path, ray, met);
        } else if (path.to_light) {
            continues = end_search(path);
        } else {
            leave(path);
            continues = false;
        }
    }
    if (continues) path.found.counts.w = 1.0;
    return path.found;
}
