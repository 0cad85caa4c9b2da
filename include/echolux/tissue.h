/* Tissue: less speckle, surfaces between layers, motion taken out, attenuation, flow through vessels. What the commands
 * `echolux filter`, `segment`, `register`, `attenuation` and `flow` do with files is done here with volumes in memory;
 * methods, papers, limits and measured errors: docs/filters.md, layers.md, tissue.md, angiography.md, flow.md.
 *
 * Where nothing can be found (noise, an empty volume, a single B-scan where several are needed) calls fail with
 * ECHOLUX_BAD_SETTING and say why; no result is made up. Single places without a value have a reason.
 */
#ifndef ECHOLUX_TISSUE_H
#define ECHOLUX_TISSUE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings --------------------------------------------------------------------------------------------------- */

/* Sections filter, layers, registration, attenuation and cross_section, with "layers.count=5" and the like assigned on
 * top of `layers`: what to look for between layers, by name ("retina", "layers" ...) or as a file *.toml; NULL:
 * "retina". */
ECHOLUX_API echolux_status echolux_tissue_create(const char* layers, const char* const* assignments, size_t count,
                                                 echolux_tissue** tissue, echolux_error* error);
ECHOLUX_API echolux_status echolux_tissue_free(echolux_tissue* tissue);

/* Lives as long as `tissue`. */
ECHOLUX_API echolux_status echolux_tissue_settings(echolux_tissue* tissue, echolux_settings** settings,
                                                   echolux_error* error);

/* Below, `tissue`, `device` and `progress` may be NULL: all settings at their defaults, a GPU where there is one. */

/* ---- speckle ---------------------------------------------------------------------------------------------------- */

/* A volume with less speckle, in the quantity and codes of its own; section filter. */
ECHOLUX_API echolux_status echolux_filter(const echolux_volume* volume, const echolux_tissue* tissue,
                                          const echolux_device* device, echolux_progress progress, void* user,
                                          echolux_volume** filtered, echolux_error* error);

/* The mean power of several looks at the same tissue. `*independent` (may be NULL): as how many independent ones they
 * count. Of section filter `looks` and `stored_as` matter. */
ECHOLUX_API echolux_status echolux_average(const echolux_volume* const* volumes, size_t count,
                                           const echolux_tissue* tissue, echolux_volume** mean, double* independent,
                                           echolux_error* error);

/* ---- attenuation ------------------------------------------------------------------------------------------------ */

typedef struct echolux_attenuation_stats {
    size_t size;
    double known;   /* share of the voxels that have a value */
    double no_tail; /* share of the A-scans with tissue of which little is known: they get no darker at their end */
    double noise_floor_db; /* that was used */
} echolux_attenuation_stats;

/* Attenuation coefficients in 1/mm, f32, NaN where nothing is known; section attenuation. `stats` may be NULL. */
ECHOLUX_API echolux_status echolux_attenuation(const echolux_volume* volume, const echolux_tissue* tissue,
                                               echolux_progress progress, void* user, echolux_volume** coefficients,
                                               echolux_attenuation_stats* stats, echolux_error* error);

/* ---- layers ----------------------------------------------------------------------------------------------------- */

/* The surfaces of a volume of structure; section layers. */
ECHOLUX_API echolux_status echolux_segment(const echolux_volume* volume, const echolux_tissue* tissue,
                                           const echolux_device* device, echolux_progress progress, void* user,
                                           echolux_surfaces** surfaces, echolux_error* error);

/* Those of a file that echolux_surfaces_volume() made, for a volume of the same size. */
ECHOLUX_API echolux_status echolux_surfaces_open(const char* path, const echolux_volume* volume,
                                                 echolux_surfaces** surfaces, echolux_error* error);
ECHOLUX_API echolux_status echolux_surfaces_free(echolux_surfaces* surfaces);

typedef struct echolux_surfaces_facts {
    size_t size;
    int64_t count, b_scans, a_scans;
    int64_t moved;    /* places that were moved down to the surface above them */
    double ambiguous; /* shares of all places: two depths fit about as well, */
    double weak;      /* hardly anything speaks for any depth, */
    double missing;   /* there is no depth */
    int32_t is_in_um; /* 0: the volume's spacing is unknown, and depths are rows */
    int32_t was_on_gpu;
} echolux_surfaces_facts;

ECHOLUX_API echolux_status echolux_surfaces_describe(const echolux_surfaces* surfaces, echolux_surfaces_facts* facts,
                                                     echolux_error* error);
ECHOLUX_API echolux_status echolux_surfaces_name(const echolux_surfaces* surfaces, size_t index, char* buffer,
                                                 size_t size, size_t* needed, echolux_error* error);

/* Arrays [surface][b_scan][a_scan] of the caller; NULL: not wanted. */
typedef struct echolux_surface_places {
    size_t size;
    int64_t count;    /* of each array: surfaces * b_scans * a_scans */
    float* depths;    /* um from zero delay, or rows; NaN: none */
    float* rows;      /* rows of the volume, voxel centres whole; NaN: none */
    float* quality;   /* by how much, in nats, the next best depth is less likely */
    uint8_t* reasons; /* see echolux_surface_reason() */
} echolux_surface_places;

ECHOLUX_API echolux_status echolux_surfaces_read(const echolux_surfaces* surfaces, const echolux_surface_places* places,
                                                 echolux_error* error);

/* "ok", "no_signal", "ambiguous", "weak_match", "out_of_range", "too_few"; NULL: there is no such reason. */
ECHOLUX_API const char* echolux_surface_reason(int32_t reason);

ECHOLUX_API echolux_status echolux_surfaces_warnings(const echolux_surfaces* surfaces, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);

/* As CSV, and as a volume with a slice for each surface: what `echolux segment -o` writes. */
ECHOLUX_API echolux_status echolux_surfaces_table(const echolux_surfaces* surfaces, char* buffer, size_t size,
                                                  size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_surfaces_volume(const echolux_surfaces* surfaces, echolux_volume** volume,
                                                   echolux_error* error);

/* A slice for each layer, or from surface `upper` down to `lower`, in um (rows where the spacing is unknown). NULL,
 * NULL: each layer. */
ECHOLUX_API echolux_status echolux_surfaces_thickness(const echolux_surfaces* surfaces, const char* upper,
                                                      const char* lower, echolux_volume** maps, echolux_error* error);

enum { ECHOLUX_SLAB_MEAN = 0, ECHOLUX_SLAB_MAX = 1, ECHOLUX_SLAB_TOP3 = 2 };

typedef struct echolux_slab {
    size_t size;
    const char* upper; /* NULL: the first */
    const char* lower; /* NULL: the last */
    double below_upper_um;
    double below_lower_um; /* less than 0: above the surface */
    int32_t value;         /* ECHOLUX_SLAB_MEAN ... */
    int32_t reserved;
} echolux_slab;

/* What lies between two surfaces in a volume of the same size (structure or flow), seen from above. `slab` may be NULL.
 */
ECHOLUX_API echolux_status echolux_surfaces_en_face(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                                    const echolux_slab* slab, echolux_volume** map,
                                                    echolux_error* error);

/* A volume of the same size, moved in depth until surface `level` (NULL: the first) lies flat; with `back` away from
 * there again. */
ECHOLUX_API echolux_status echolux_surfaces_flatten(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                                    const char* level, int32_t back, echolux_volume** flat,
                                                    echolux_error* error);

/* ---- registration ----------------------------------------------------------------------------------------------- */

/* Volumes of one size, registered to `reference`; NULL: to volume `reference_volume` of them, a single one's B-scans to
 * their neighbours, or to the first registration.crosses of them, which run across the others. These are at rest in
 * the shifts, and no part of volumes and table. Section registration. The volumes are shared, not copied. */
ECHOLUX_API echolux_status echolux_register(const echolux_volume* const* volumes, size_t count,
                                            const echolux_volume* reference, int64_t reference_volume,
                                            const echolux_tissue* tissue, const echolux_device* device,
                                            echolux_progress progress, void* user, echolux_registration** registration,
                                            echolux_error* error);
ECHOLUX_API echolux_status echolux_registration_free(echolux_registration* registration);

/* Arrays [volume][b_scan] of the caller; NULL: not wanted. Sample (depth, A-scan) of the B-scan lies at (depth + z,
 * A-scan + x) of B-scan b_scan + y of the reference; NaN where it has no place. */
typedef struct echolux_shifts {
    size_t size;
    int64_t count;     /* of each array: volumes * b_scans */
    double* z;         /* depth rows */
    double* x;         /* A-scans */
    double* y;         /* B-scans */
    double* quality;   /* normalised cross-correlation */
    uint8_t* reasons;  /* see echolux_shift_reason() */
    uint8_t* saccades; /* 1: the eye moved fast across here */
} echolux_shifts;

ECHOLUX_API echolux_status echolux_registration_shifts(const echolux_registration* registration,
                                                       const echolux_shifts* shifts, echolux_error* error);

/* "ok", "no_signal", "no_overlap", "weak_match", "ambiguous", "saccade", "out_of_range"; NULL: no such reason. */
ECHOLUX_API const char* echolux_shift_reason(int32_t reason);

/* What `echolux register --table` and `-o` write: the shifts as CSV, the mean of all volumes. */
ECHOLUX_API echolux_status echolux_registration_table(const echolux_registration* registration, char* buffer,
                                                      size_t size, size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_registration_mean(const echolux_registration* registration, echolux_volume** mean,
                                                     echolux_error* error);

/* One of the volumes where its B-scans belong, f32; NaN where none came. */
ECHOLUX_API echolux_status echolux_registration_volume(const echolux_registration* registration, int64_t number,
                                                       echolux_volume** volume, echolux_error* error);
ECHOLUX_API echolux_status echolux_registration_warnings(const echolux_registration* registration, char* buffer,
                                                         size_t size, size_t* needed, echolux_error* error);

/* ---- flow through vessels --------------------------------------------------------------------------------------- */

typedef struct echolux_flow_spec {
    size_t size;
    const double* through; /* [3] A-scan, B-scan and row of a point of the vessel; NULL: where it flows fastest */
    const double* towards; /* [3] another point of its axis; NULL: its course is fitted */
    double step_s;         /* between volumes; 0: unknown */
    int32_t each_b_scan; /* a value for each B-scan along the vessel at its own time, instead of one for each volume */
    int32_t reserved;
} echolux_flow_spec;

/* Through a section of a vessel: `velocities` are volumes of one size in order of time, `structures` those of the same
 * reconstructions, or NULL. Section cross_section. `spec` may be NULL. */
ECHOLUX_API echolux_status echolux_flow(const echolux_volume* const* velocities,
                                        const echolux_volume* const* structures, size_t count,
                                        const echolux_flow_spec* spec, const echolux_tissue* tissue,
                                        echolux_progress progress, void* user, echolux_vessel_flow** flow,
                                        echolux_error* error);
ECHOLUX_API echolux_status echolux_vessel_flow_free(echolux_vessel_flow* flow);

typedef struct echolux_flow_facts {
    size_t size;
    int64_t values;               /* over time */
    double flow_ul_s, error_ul_s; /* mean over time; its uncertainty, of noise and angle; NaN: unknown */
    double en_face_ul_s;          /* through planes of constant depth; NaN: none holds the whole lumen */
    double place[3];              /* of the section: A-scan, B-scan, row */
    double direction[3];          /* of the vessel along A-scans, B-scans and depth; of length 1 */
    double angle_deg;             /* to the beam */
    double angle_error;           /* relative, of every value alike */
    double snr_db;                /* of the lumen; NaN: no structures were given */
    double heart_hz, heart_error_hz, pulsatility; /* NaN: no heart rate was found */
} echolux_flow_facts;

ECHOLUX_API echolux_status echolux_vessel_flow_describe(const echolux_vessel_flow* flow, echolux_flow_facts* facts,
                                                        echolux_error* error);

/* Arrays of the caller, one element for each value over time; NULL: not wanted. */
typedef struct echolux_flow_values {
    size_t size;
    int64_t count; /* of each array: echolux_flow_facts.values */
    int64_t* volume;
    int64_t* b_scan; /* -1: of a whole section */
    double* time_s;  /* since the first volume began; NaN: unknown */
    double* flow_ul_s;
    double* error_ul_s; /* of noise alone */
    double* mean_mm_s;  /* along the vessel */
    double* area_mm2;   /* at right angles to it */
    double* wrapped;    /* share of the lumen beyond the greatest velocity */
    uint8_t* reasons;   /* see echolux_flow_reason() */
} echolux_flow_values;

ECHOLUX_API echolux_status echolux_vessel_flow_read(const echolux_vessel_flow* flow, const echolux_flow_values* values,
                                                    echolux_error* error);

/* "ok", "no_signal", "angle", "wrapped", "out_of_range", "too_few"; NULL: there is no such reason. */
ECHOLUX_API const char* echolux_flow_reason(int32_t reason);

/* As CSV: what `echolux flow -o` writes. */
ECHOLUX_API echolux_status echolux_vessel_flow_table(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);

/* Why there is no heart rate; empty where there is one. */
ECHOLUX_API echolux_status echolux_vessel_flow_heart_problem(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                             size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_vessel_flow_warnings(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                        size_t* needed, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
