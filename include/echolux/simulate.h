/* The simulated instrument, and the validation of this build. */
#ifndef ECHOLUX_SIMULATE_H
#define ECHOLUX_SIMULATE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_simulation_free(echolux_simulation* simulation);
ECHOLUX_API echolux_status echolux_validation_free(echolux_validation* validation);

/* ---- simulation ------------------------------------------------------------------------------------------------- */

/* A scene by its name ("vessel", "layers" ...); `assignments` of section simulation: "simulation.a_scans=64". */
ECHOLUX_API echolux_status echolux_simulation_create(const char* scene, const char* const* assignments, size_t count,
                                                     echolux_simulation** simulation, echolux_error* error);

/* What its spectra are: sizes, background, dark spectrum, wavelengths, recipe; without a file. */
ECHOLUX_API echolux_status echolux_simulation_scan(const echolux_simulation* simulation, echolux_scan** scan,
                                                   echolux_error* error);

/* Spectra of B-scan positions [first, first + b_scans) of a volume, u16: b_scans times the scan's b_scan_bytes. The
 * same for any division into calls. `progress` may be NULL. */
ECHOLUX_API echolux_status echolux_simulation_record(echolux_simulation* simulation, int64_t volume, int64_t first,
                                                     int64_t b_scans, void* spectra, size_t bytes,
                                                     echolux_progress progress, void* user, echolux_error* error);

/* What `echolux simulate` writes: NAME.toml, spectra, calibration files, truth/. Files of another kind are replaced
 * only with `overwrite`. */
ECHOLUX_API echolux_status echolux_simulation_write(const echolux_simulation* simulation, const char* scan_toml,
                                                    int32_t overwrite, echolux_progress progress, void* user,
                                                    echolux_error* error);

/* Facts of the truth as TOML: depth_bins, pitch_um, tube_radius_um ... (docs/simulator.md) */
ECHOLUX_API echolux_status echolux_simulation_facts(const echolux_simulation* simulation, char* buffer, size_t size,
                                                    size_t* needed, echolux_error* error);

typedef struct echolux_truth {
    size_t size;
    int64_t bytes;    /* of all, without gaps */
    int64_t shape[4]; /* unused: 0 */
    int32_t voxel;    /* ECHOLUX_U8 or ECHOLUX_F32 */
    int32_t reserved;
} echolux_truth;

/* An array of the truth, by its name:
 * "boundaries_um" f32 [boundaries][b_scans][a_scans]: heights, from zero delay;
 * "tubes" f32 [tubes][b_scans][a_scans][3]: x from the A-scan, depth (um) and slope of each axis;
 * "labels" u8 [b_scans][a_scans][bins]: 0 nothing, 1 ... layers, 100 + tube lumen, 200 + tube wall;
 * "en_face" u8 [b_scans][a_scans]: 1 where a lumen lies below;
 * "velocity_mm_s" f32 [b_scans][a_scans][depth]: axial, away from zero delay, mean over time, on the voxels of the
 * scan's volume.
 * `values` of exactly `bytes` gets it; NULL with 0 only describes it. `truth` may be NULL. */
ECHOLUX_API echolux_status echolux_simulation_truth(echolux_simulation* simulation, const char* name,
                                                    echolux_truth* truth, void* values, size_t bytes,
                                                    echolux_error* error);

/* ---- validation ------------------------------------------------------------------------------------------------- */

/* What `echolux validate` measures: reconstructions against formulas and publications. `device` (may be NULL): its kind
 * counts. `quick`: fewer depths, kernels and scenes. A check that fails is no error. */
ECHOLUX_API echolux_status echolux_validate(const echolux_device* device, int32_t quick, echolux_progress progress,
                                            void* user, echolux_validation** validation, echolux_error* error);

enum { ECHOLUX_NEAR = 0, ECHOLUX_AT_LEAST = 1, ECHOLUX_AT_MOST = 2, ECHOLUX_REPORTED = 3 };

/* Texts live as long as the validation. */
typedef struct echolux_check {
    size_t size;
    const char* topic;
    const char* what;
    const char* unit; /* "": a ratio */
    double found;
    double expected; /* NaN: nothing */
    double limit;    /* NEAR: maximum distance from `expected` */
    int32_t bound;   /* ECHOLUX_NEAR ...; REPORTED: nothing is demanded */
    int32_t passed;
} echolux_check;

ECHOLUX_API echolux_status echolux_validation_count(const echolux_validation* validation, size_t* count,
                                                    echolux_error* error);
ECHOLUX_API echolux_status echolux_validation_describe(const echolux_validation* validation, size_t index,
                                                       echolux_check* check, echolux_error* error);

/* All of it, in Markdown. */
ECHOLUX_API echolux_status echolux_validation_report(const echolux_validation* validation, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
