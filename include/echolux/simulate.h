/* The simulated instrument. */
#ifndef ECHOLUX_SIMULATE_H
#define ECHOLUX_SIMULATE_H

#include "reconstruct.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_simulation_free(echolux_simulation* simulation);

/* ---- simulation ------------------------------------------------------------------------------------------------- */

/* Creates a simulation of a named scene ("vessel", "layers" ...). `assignments` are of section simulation, such as
 * "simulation.a_scans=64". */
ECHOLUX_API echolux_status echolux_simulation_create(const char* scene, const char* const* assignments, size_t count,
                                                     echolux_simulation** simulation, echolux_error* error);

/* Returns a new scan without a file that describes the simulated spectra: sizes, background, dark spectrum,
 * wavelengths, recipe. */
ECHOLUX_API echolux_status echolux_simulation_scan(const echolux_simulation* simulation, echolux_scan** scan,
                                                   echolux_error* error);

/* Simulates the u16 spectra of B-scan positions [first, first + b_scans) of a volume: b_scans times the scan's
 * b_scan_bytes. The result does not depend on how a volume is divided into calls. `progress` may be NULL. */
ECHOLUX_API echolux_status echolux_simulation_record(echolux_simulation* simulation, int64_t volume, int64_t first,
                                                     int64_t b_scans, void* spectra, size_t bytes,
                                                     echolux_progress progress, void* user, echolux_error* error);

/* Writes the files of `echolux simulate`: NAME.toml, spectra, calibration files, truth/. Existing files of other origin
 * are replaced only with `overwrite`. */
ECHOLUX_API echolux_status echolux_simulation_write(const echolux_simulation* simulation, const char* scan_toml,
                                                    int32_t overwrite, echolux_progress progress, void* user,
                                                    echolux_error* error);

/* Writes ground-truth values as TOML: depth_bins, pitch_um, tube_radius_um ... (docs/simulator.md) */
ECHOLUX_API echolux_status echolux_simulation_facts(const echolux_simulation* simulation, char* buffer, size_t size,
                                                    size_t* needed, echolux_error* error);

/* Size and type of a ground-truth array. */
typedef struct echolux_truth {
    size_t size;
    int64_t bytes;    /* whole array, contiguous */
    int64_t shape[4]; /* unused dimensions are 0 */
    int32_t voxel;    /* ECHOLUX_U8 or ECHOLUX_F32 */
} echolux_truth;

/* Returns a ground-truth array by name:
 * "boundaries_um" f32 [boundaries][b_scans][a_scans]: depths from zero delay;
 * "tubes" f32 [tubes][b_scans][a_scans][3]: for each axis, x from the A-scan, depth (um) and slope;
 * "labels" u8 [b_scans][a_scans][bins]: 0 nothing, 1 ... layers, 100 + tube: lumen, 200 + tube: wall;
 * "en_face" u8 [b_scans][a_scans]: 1 above a lumen;
 * "velocity_mm_s" f32 [b_scans][a_scans][depth]: axial, away from zero delay, averaged over time, on the voxels of the
 * scan's volume.
 * `values` receives exactly `bytes` bytes. With NULL and 0 only `truth` is filled. `truth` may be NULL. */
ECHOLUX_API echolux_status echolux_simulation_truth(echolux_simulation* simulation, const char* name,
                                                    echolux_truth* truth, void* values, size_t bytes,
                                                    echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
