/* Tissue analyses on volumes in memory: speckle reduction, segmentation, registration, attenuation and flow through
 * vessels. They correspond to the commands `echolux filter`, `segment`, `register`, `attenuation` and `flow`. Methods,
 * papers, limits and measured errors are in docs/filters.md, layers.md, tissue.md, angiography.md and flow.md.
 *
 * Calls fail with ECHOLUX_BAD_SETTING and a reason if no result can be found (noise, an empty volume, a single B-scan
 * where several are needed). Results are never made up. Individual positions without a value have a reason code. */
#ifndef ECHOLUX_TISSUE_H
#define ECHOLUX_TISSUE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings --------------------------------------------------------------------------------------------------- */

/* Creates settings of the sections filter, layers, registration, attenuation and cross_section. `layers` is the layer
 * model to search, by name ("retina", "layers" ...) or as a *.toml file; NULL: "retina". `assignments`, such as
 * "layers.count=5", override it. */
ECHOLUX_API echolux_status echolux_tissue_create(const char* layers, const char* const* assignments, size_t count,
                                                 echolux_tissue** tissue, echolux_error* error);
ECHOLUX_API echolux_status echolux_tissue_free(echolux_tissue* tissue);

/* Returns the settings; the handle is owned by `tissue`. */
ECHOLUX_API echolux_status echolux_tissue_settings(echolux_tissue* tissue, echolux_settings** settings,
                                                   echolux_error* error);

/* In the following calls `tissue`, `device` and `progress` may be NULL: default settings, and a GPU if available.
 * Created objects are owned by the caller. */

/* ---- speckle ---------------------------------------------------------------------------------------------------- */

/* Reduces speckle. The result has the quantity and codes of the input. Uses section filter. */
ECHOLUX_API echolux_status echolux_filter(const echolux_volume* volume, const echolux_tissue* tissue,
                                          const echolux_device* device, echolux_progress progress, void* user,
                                          echolux_volume** filtered, echolux_error* error);

/* Computes the mean power of several looks at the same tissue. `*independent` (may be NULL) is the equivalent number of
 * independent looks. Uses `looks` and `stored_as` of section filter. */
ECHOLUX_API echolux_status echolux_average(const echolux_volume* const* volumes, size_t count,
                                           const echolux_tissue* tissue, echolux_volume** mean, double* independent,
                                           echolux_error* error);

/* ---- attenuation ------------------------------------------------------------------------------------------------ */

/* Statistics of an attenuation volume. */
typedef struct echolux_attenuation_stats {
    size_t size;
    double known;          /* share of the voxels that have a value */
    double no_tail;        /* share of A-scans with tissue that do not get darker at their end (uncertain values) */
    double noise_floor_db; /* the noise floor that was used */
} echolux_attenuation_stats;

/* Computes attenuation coefficients in 1/mm, f32; unknown values are NaN. Uses section attenuation. `stats` may be
 * NULL. */
ECHOLUX_API echolux_status echolux_attenuation(const echolux_volume* volume, const echolux_tissue* tissue,
                                               echolux_progress progress, void* user, echolux_volume** coefficients,
                                               echolux_attenuation_stats* stats, echolux_error* error);

/* ---- layers ----------------------------------------------------------------------------------------------------- */

/* Finds the surfaces of a structure volume. Uses section layers. */
ECHOLUX_API echolux_status echolux_segment(const echolux_volume* volume, const echolux_tissue* tissue,
                                           const echolux_device* device, echolux_progress progress, void* user,
                                           echolux_surfaces** surfaces, echolux_error* error);

/* Opens surfaces from a file written from echolux_surfaces_volume(), for a volume of the same size. */
ECHOLUX_API echolux_status echolux_surfaces_open(const char* path, const echolux_volume* volume,
                                                 echolux_surfaces** surfaces, echolux_error* error);

/* Frees the surfaces. */
ECHOLUX_API echolux_status echolux_surfaces_free(echolux_surfaces* surfaces);

/* Size and quality of surfaces. Shares are of all positions. */
typedef struct echolux_surfaces_facts {
    size_t size;
    int64_t count, b_scans, a_scans;
    int64_t moved;    /* positions moved down to the surface above them */
    double ambiguous; /* share where two depths fit about equally well */
    double weak;      /* share with little evidence for any depth */
    double missing;   /* share without a depth */
    int32_t is_in_um; /* 0 if depths are in rows because the volume's spacing is unknown */
    int32_t was_on_gpu;
} echolux_surfaces_facts;

/* Returns size and quality. */
ECHOLUX_API echolux_status echolux_surfaces_describe(const echolux_surfaces* surfaces, echolux_surfaces_facts* facts,
                                                     echolux_error* error);

/* Writes the name of surface `index`, from 0 to count - 1. */
ECHOLUX_API echolux_status echolux_surfaces_name(const echolux_surfaces* surfaces, size_t index, char* buffer,
                                                 size_t size, size_t* needed, echolux_error* error);

/* Arrays [surface][b_scan][a_scan], allocated by the caller. NULL arrays are skipped. */
typedef struct echolux_surface_places {
    size_t size;
    int64_t count;    /* elements per array: surfaces * b_scans * a_scans */
    float* depths;    /* um from zero delay, or rows; NaN: no value */
    float* rows;      /* volume rows, integers at voxel centres; NaN: no value */
    float* quality;   /* log-likelihood ratio to the next best depth, in nats */
    uint8_t* reasons; /* see echolux_surface_reason() */
} echolux_surface_places;

/* Copies the surfaces into the arrays of `places`. */
ECHOLUX_API echolux_status echolux_surfaces_read(const echolux_surfaces* surfaces, const echolux_surface_places* places,
                                                 echolux_error* error);

/* Returns the name of a reason: "ok", "no_signal", "ambiguous", "weak_match", "out_of_range" or "too_few". NULL:
 * unknown code. */
ECHOLUX_API const char* echolux_surface_reason(int32_t reason);

/* Writes warnings, one per line. */
ECHOLUX_API echolux_status echolux_surfaces_warnings(const echolux_surfaces* surfaces, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);

/* Writes the surfaces as CSV, like `echolux segment -o`. */
ECHOLUX_API echolux_status echolux_surfaces_table(const echolux_surfaces* surfaces, char* buffer, size_t size,
                                                  size_t* needed, echolux_error* error);

/* Returns the surfaces as a new volume with one slice per surface, like `echolux segment -o`. */
ECHOLUX_API echolux_status echolux_surfaces_volume(const echolux_surfaces* surfaces, echolux_volume** volume,
                                                   echolux_error* error);

/* Computes thickness maps in um (in rows if the spacing is unknown), one slice per layer, or one slice from surface
 * `upper` down to `lower`. NULL, NULL: each layer. */
ECHOLUX_API echolux_status echolux_surfaces_thickness(const echolux_surfaces* surfaces, const char* upper,
                                                      const char* lower, echolux_volume** maps, echolux_error* error);

enum { ECHOLUX_SLAB_MEAN = 0, ECHOLUX_SLAB_MAX = 1, ECHOLUX_SLAB_TOP3 = 2 };

/* Slab between two surfaces and how to project it. */
typedef struct echolux_slab {
    size_t size;
    const char* upper; /* NULL: the first surface */
    const char* lower; /* NULL: the last surface */
    double below_upper_um;
    double below_lower_um; /* negative: above the surface */
    int32_t value;         /* ECHOLUX_SLAB_MEAN ... */
    int32_t reserved;
} echolux_slab;

/* Projects the slab between two surfaces of a volume (structure or flow) of the same size to an en face map. `slab` may
 * be NULL. */
ECHOLUX_API echolux_status echolux_surfaces_en_face(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                                    const echolux_slab* slab, echolux_volume** map,
                                                    echolux_error* error);

/* Shifts another volume of the same size in depth so that surface `level` (NULL: the first) is flat. With `back` the
 * shift is undone. */
ECHOLUX_API echolux_status echolux_surfaces_flatten(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                                    const char* level, int32_t back, echolux_volume** flat,
                                                    echolux_error* error);

/* ---- registration ----------------------------------------------------------------------------------------------- */

/* Registers volumes of one size to `reference`. Without it (NULL), volume `reference_volume` is the reference. The
 * B-scans of a single volume are registered to their neighbours, or to its first registration.crosses B-scans, which
 * run across the others. Those have zero shift and are left out of volumes and table. Uses section registration. The
 * volumes are shared, not copied. */
ECHOLUX_API echolux_status echolux_register(const echolux_volume* const* volumes, size_t count,
                                            const echolux_volume* reference, int64_t reference_volume,
                                            const echolux_tissue* tissue, const echolux_device* device,
                                            echolux_progress progress, void* user, echolux_registration** registration,
                                            echolux_error* error);

/* Frees the registration. */
ECHOLUX_API echolux_status echolux_registration_free(echolux_registration* registration);

/* Arrays [volume][b_scan], allocated by the caller. NULL arrays are skipped. Sample (depth, A-scan) of a B-scan maps to
 * (depth + z, A-scan + x) of B-scan b_scan + y of the reference. NaN: no position was found. */
typedef struct echolux_shifts {
    size_t size;
    int64_t count;     /* elements per array: volumes * b_scans */
    double* z;         /* depth rows */
    double* x;         /* A-scans */
    double* y;         /* B-scans */
    double* quality;   /* normalised cross-correlation */
    uint8_t* reasons;  /* see echolux_shift_reason() */
    uint8_t* saccades; /* 1: fast eye movement in this B-scan */
} echolux_shifts;

/* Copies the shifts into the arrays. */
ECHOLUX_API echolux_status echolux_registration_shifts(const echolux_registration* registration,
                                                       const echolux_shifts* shifts, echolux_error* error);

/* Returns the name of a reason: "ok", "no_signal", "no_overlap", "weak_match", "ambiguous", "saccade" or
 * "out_of_range". NULL: unknown code. */
ECHOLUX_API const char* echolux_shift_reason(int32_t reason);

/* Writes the shifts as CSV, like `echolux register --table`. */
ECHOLUX_API echolux_status echolux_registration_table(const echolux_registration* registration, char* buffer,
                                                      size_t size, size_t* needed, echolux_error* error);

/* Returns the mean of the registered volumes, like `echolux register -o`. */
ECHOLUX_API echolux_status echolux_registration_mean(const echolux_registration* registration, echolux_volume** mean,
                                                     echolux_error* error);

/* Returns one of the volumes with its B-scans at their registered positions, f32. Voxels without data are NaN. */
ECHOLUX_API echolux_status echolux_registration_volume(const echolux_registration* registration, int64_t number,
                                                       echolux_volume** volume, echolux_error* error);

/* Writes warnings, one per line. */
ECHOLUX_API echolux_status echolux_registration_warnings(const echolux_registration* registration, char* buffer,
                                                         size_t size, size_t* needed, echolux_error* error);

/* ---- flow through vessels --------------------------------------------------------------------------------------- */

/* Vessel and timing of a flow measurement. All zeros selects the defaults. */
typedef struct echolux_flow_spec {
    size_t size;
    const double* through; /* [3] A-scan, B-scan and row of a point in the vessel; NULL: the fastest flow */
    const double* towards; /* [3] another point on the axis; NULL: the course is fitted */
    double step_s;         /* interval between volumes; 0: unknown */
    int32_t each_b_scan;   /* one value per B-scan along the vessel, at its own time, instead of one per volume */
    int32_t reserved;
} echolux_flow_spec;

/* Measures flow through a vessel section. `velocities` are volumes of one size in order of time; `structures` are those
 * of the same reconstructions, or NULL. Uses section cross_section. `spec` may be NULL. */
ECHOLUX_API echolux_status echolux_flow(const echolux_volume* const* velocities,
                                        const echolux_volume* const* structures, size_t count,
                                        const echolux_flow_spec* spec, const echolux_tissue* tissue,
                                        echolux_progress progress, void* user, echolux_vessel_flow** flow,
                                        echolux_error* error);

/* Frees the result. */
ECHOLUX_API echolux_status echolux_vessel_flow_free(echolux_vessel_flow* flow);

/* Summary of a flow measurement. */
typedef struct echolux_flow_facts {
    size_t size;
    int64_t values;               /* number of values over time */
    double flow_ul_s, error_ul_s; /* mean over time, and its uncertainty from noise and angle; NaN: unknown */
    double en_face_ul_s;          /* through planes of constant depth; NaN: no plane contains the whole lumen */
    double place[3];              /* position of the section: A-scan, B-scan, row */
    double direction[3];          /* unit vector of the vessel along A-scans, B-scans and depth */
    double angle_deg;             /* between vessel and beam */
    double angle_error;           /* relative error common to all values */
    double snr_db;                /* of the lumen; NaN: without structures */
    double heart_hz, heart_error_hz, pulsatility; /* NaN: no heart rate found */
} echolux_flow_facts;

/* Returns the summary. */
ECHOLUX_API echolux_status echolux_vessel_flow_describe(const echolux_vessel_flow* flow, echolux_flow_facts* facts,
                                                        echolux_error* error);

/* Arrays with one element per value over time, allocated by the caller. NULL arrays are skipped. */
typedef struct echolux_flow_values {
    size_t size;
    int64_t count; /* elements per array: echolux_flow_facts.values */
    int64_t* volume;
    int64_t* b_scan; /* -1: the whole section */
    double* time_s;  /* since the start of the first volume; NaN: unknown */
    double* flow_ul_s;
    double* error_ul_s; /* from noise alone */
    double* mean_mm_s;  /* along the vessel */
    double* area_mm2;   /* perpendicular to the vessel */
    double* wrapped;    /* share of the lumen above the maximum measurable velocity */
    uint8_t* reasons;   /* see echolux_flow_reason() */
} echolux_flow_values;

/* Copies the values into the arrays. */
ECHOLUX_API echolux_status echolux_vessel_flow_read(const echolux_vessel_flow* flow, const echolux_flow_values* values,
                                                    echolux_error* error);

/* Returns the name of a reason: "ok", "no_signal", "angle", "wrapped", "out_of_range" or "too_few". NULL: unknown
 * code. */
ECHOLUX_API const char* echolux_flow_reason(int32_t reason);

/* Writes the values as CSV, like `echolux flow -o`. */
ECHOLUX_API echolux_status echolux_vessel_flow_table(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);

/* Writes why no heart rate was found; empty if one was found. */
ECHOLUX_API echolux_status echolux_vessel_flow_heart_problem(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                             size_t* needed, echolux_error* error);

/* Writes warnings, one per line. */
ECHOLUX_API echolux_status echolux_vessel_flow_warnings(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                        size_t* needed, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
