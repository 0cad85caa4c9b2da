// The path of light that reaches a pixel, followed from the eye. Flights by delta tracking (E. Woodcock et al., ANL-7050,
// 1965), of the lamp's light by residual ratio tracking (J. Novak et al., "Residual ratio tracking", ACM TOG 33(6), 2014). All
// of it is one loop, a step or a look at the volume each time: neighbours wait for each other once, not at each scattering.
// Software Vulkan works on everything that stands behind a branch, but leaves a loop when all rays have: there flights are a
// loop of their own, so that what a scattering costs is paid once a flight, not once a step (2.4 times as fast).

const int max_steps = 1 << 22;
const float dim = 0.05;          // part of the lamp's light that is followed to the end
const float dim_path = 0.1;      // weight of a path ...
const int steady_scatterings = 4;  // ... that is followed to the end, after so many

struct Traced {
    vec3 light;
    float opacity;
    vec4 albedo;   // where it was scattered first; and how deep that is, in halves of the volume's diagonal
    vec3 facing;   // there
    vec4 counts;  // looks above the majorant, scatterings, looks, paths that were given up
};

const Traced nothing_traced = Traced(vec3(0), 0.0, vec4(0), vec3(0), vec4(0));

// Russian roulette: what is left is worth as much more.
bool survives(inout vec3 weight, int scatterings, float u) {
    if (scatterings < steady_scatterings) return true;
    float chance = min(max(weight.r, max(weight.g, weight.b)) / dim_path, 1.0);
    if (u >= chance) return false;
    weight /= chance;
    return true;
}

// The same for light of which little has got through.
bool is_lost(inout float passed, float u) {
    if (passed >= dim) return false;
    passed *= u < 0.5 ? 2.0 : 0.0;
    return passed == 0.0;
}

// What a step of a flight comes to.
const int nothing_yet = 0;
const int an_end = 1;  // of the volume, or of the lamp's light
const int a_scattering = 2;

// A look at the volume, and the random numbers that were drawn for it.
struct Sample {
    vec3 at;
    Medium here;
    vec4 u;
};

// A step to the next cell, or a look at the volume on the way.
int advance(inout Flight flight, bool to_lamp, inout float depth, inout float passed, inout vec4 counts,
            inout Sample met) {
    int event = an_end;
    if (is_inside(flight)) {
        event = nothing_yet;
        Bounds bounds = bounds_here(flight);
        float certain = to_lamp ? bounds.certain : 0.0;
        float rate = bounds.largest - certain;
        bool looks;
        float way = fly(flight, rate, bounds.level, depth, looks);
        if (certain > 0.0) passed *= exp(-certain * way);
        if (looks || certain > 0.0) met.u = draw();
        if (looks) {
            depth = -log(met.u.x);
            met.at = flight.at / volume_size();
            met.here = medium_at(met.at);
            counts += vec4(met.here.extinction > bounds.largest * 1.00001, 0, 1, 0);
            if (to_lamp) passed *= max(1.0 - (met.here.extinction - certain) / rate, 0.0);
            if (!to_lamp && met.u.z * bounds.largest < met.here.extinction) event = a_scattering;
        }
        if (to_lamp && (looks || certain > 0.0) && is_lost(passed, looks ? met.u.y : met.u.x)) event = an_end;
    }
    return event;
}

Traced traced(Ray ray) {
    Traced found = nothing_traced;
    int longest = int(frame.trace.medium.w);
    Flight flight = flight_over(ray.start + ray.enter * ray.direction, ray.unit, ray.leave - ray.enter);
    Flight onwards = flight;  // after the lamp was looked for
    vec3 weight = vec3(1);
    vec3 from_lamp = vec3(0);
    vec3 from = vec3(0);  // where the path was scattered last, from the volume's middle
    float likely = 0.0;   // the density with which its direction was drawn there
    float passed = 1.0;  // of that
    bool to_lamp = false;
    bool is_given_up = true;
    int scatterings = 0;
    float depth = -log(draw_for(decision_flight).x);  // optical, to where something is met
    Sample met = Sample(vec3(0), Medium(0.0, vec3(0)), vec4(0));
    for (int i = 0; i < max_steps;) {
        int event;
        do {
            event = advance(flight, to_lamp, depth, passed, found.counts, met);
        } while (++i < max_steps && is_software && event == nothing_yet);
        if (event == nothing_yet) continue;
        if (event == a_scattering) {
            found.opacity = 1.0;
            found.counts.y += 1.0;
            if (++scatterings > longest) {
                is_given_up = longest == max_scatterings;
                break;
            }
            vec3 at = met.at;
            Scattering scattering = scattered(at, flight.unit, met.here.albedo);
            if (scatterings == 1) {
                float depth_here = dot((at - 0.5) / frame.per_extent.xyz, ray.unit) * frame.trace.lens.z;
                found.albedo = vec4(met.here.albedo, depth_here);
                found.facing = scattering.facing;
            }
            vec3 arriving = weight;
            weight *= scattering.weight;
            bool goes_on = weight != vec3(0) && survives(weight, scatterings, met.u.w);
            if (!goes_on) weight = vec3(0);
            flight = flight_from(at, scattering.unit);
            const bool is_lit = lights_kind != lights_none || has_sky;
            is_given_up = goes_on || is_lit;
            if (!is_given_up) break;
            is_first_decision = is_first_decision && is_lit;  // where a light is looked for, that is decided too
            if (!is_lit) continue;
            onwards = flight;
            vec3 towards;
            float reach;
            if (has_sky) likely = lit_from(scattering, scattering.unit).a;
            if (has_sky && draw().x < frame.studio.sky.w) {
                from = (at - 0.5) / frame.per_extent.xyz;
                Look look = look_for_sky();
                vec4 lit = lit_from(scattering, look.unit);
                from_lamp = arriving * lit.rgb * look.radiance / max(look.density + lit.a, 1e-30);
                towards = look.unit;
                reach = look.reach;
            } else if (lights_kind == lights_area) {
                from = (at - 0.5) / frame.per_extent.xyz;
                likely = lit_from(scattering, scattering.unit).a;
                Look look = look_for_light(from, draw_for(decision_light).xyz);
                vec4 lit = lit_from(scattering, look.unit);
                from_lamp = arriving * lit.rgb * look.radiance * step(1e-30, look.density) /
                            max(look.density + lit.a, 1e-30);
                towards = look.unit;
                reach = look.reach;
            } else {
                vec4 to_eye = towards_eye(ray, at);
                towards = towards_lamp(to_eye.xyz, draw_for(decision_light).xy);
                from_lamp = arriving * frame.trace.light.y * lit_from(scattering, towards).rgb;
                if (has_sky) from_lamp /= 1.0 - frame.studio.sky.w;
                reach = to_eye.w;
            }
            is_first_decision = false;
            to_lamp = true;
            passed = 1.0;
            flight = flight_from(at, towards);
            flight.left = min(flight.left, reach);
            if (from_lamp != vec3(0)) continue;
        }
        if (!to_lamp) {
            if (scatterings > 0) {
                found.light += weight * (has_sky ? sky_met(flight.unit, likely) : vec3(frame.trace.light.x));
                if (lights_kind == lights_area) found.light += weight * lights_met(from, flight.unit, likely);
            }
            is_given_up = false;
            break;
        }
        found.light += passed * from_lamp;
        to_lamp = false;
        is_given_up = weight != vec3(0);
        if (weight == vec3(0)) break;
        flight = onwards;
    }
    found.counts.w = float(is_given_up);
    return found;
}
