/* Echolux as a library: reconstructs spectra of optical coherence tomography to volumes, on a CPU or a GPU.
 * docs/library.md is the tutorial; echolux.hpp is the C++ interface.
 *
 * Every call returns an echolux_status and fills in `error` unless it is NULL: the problem, its location, and a remedy.
 * No call throws, exits, prints or keeps global state. A handle may be used by one thread at a time; different handles
 * may be used by different threads. Memory returned by a call belongs to the handle that it came from, unless stated
 * otherwise.
 *
 * Structs passed by pointer begin with their size. Set it to sizeof: ECHOLUX_INIT does this and clears the rest. Fields
 * missing in a caller's older, shorter struct have their default, which is always 0. echolux_error.size must be set
 * too.
 *
 * Texts are UTF-8 and end with 0. Calls that return a text write it to `buffer` of `size` bytes and set `*needed` (may
 * be NULL) to its length including the 0. Size 0 only returns the length. A buffer that is too small is
 * ECHOLUX_BAD_ARGUMENT and receives the beginning. Memory order of volumes: depth fastest, then A-scans, then
 * B-scans. */
#ifndef ECHOLUX_H
#define ECHOLUX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ECHOLUX_INTERFACE_VERSION 1

#if defined(_WIN32)
#define ECHOLUX_API
#else
#define ECHOLUX_API __attribute__((visibility("default")))
#endif

/* echolux_block block; ECHOLUX_INIT(block); */
#define ECHOLUX_INIT(object)                                           \
    do {                                                               \
        unsigned char* echolux_bytes = (unsigned char*)&(object);      \
        size_t echolux_i;                                              \
        for (echolux_i = 0; echolux_i < sizeof(object); ++echolux_i) { \
            echolux_bytes[echolux_i] = 0;                              \
        }                                                              \
        (object).size = sizeof(object);                                \
    } while (0)

/* ---- errors ----------------------------------------------------------------------------------------------------- */

typedef int32_t echolux_status;
enum {
    ECHOLUX_OK = 0,
    ECHOLUX_BAD_ARGUMENT = 1, /* NULL, a wrong size, a freed handle, a buffer that is too small */
    ECHOLUX_BAD_SETTING = 2,  /* an invalid value, key or combination */
    ECHOLUX_BAD_FILE = 3,     /* missing, truncated, malformed or of the wrong size */
    ECHOLUX_OUTPUT = 4,       /* a result could not be written */
    ECHOLUX_OUT_OF_MEMORY = 5,
    ECHOLUX_DEVICE = 6,      /* a compute or graphics device failed or is missing */
    ECHOLUX_CANCELLED = 7,   /* by a progress callback */
    ECHOLUX_UNSUPPORTED = 8, /* not supported by this build */
    ECHOLUX_NOTHING_YET = 9, /* nothing arrived in time: not an error, try again */
    ECHOLUX_ENDED = 10,      /* no more data will arrive */
    ECHOLUX_INTERNAL = 11
};

typedef struct echolux_error {
    size_t size;
    echolux_status code; /* the return value of the call */
    char what[512];      /* in lower case, without a full stop */
    char where[256];     /* file, key, argument; may be empty */
    char remedy[256];    /* may be empty */
} echolux_error;

ECHOLUX_API uint32_t echolux_interface_version(void); /* of the library; must not be lower than the header's */
ECHOLUX_API const char* echolux_version(void);        /* version of the program, "0.1.0" */
ECHOLUX_API int echolux_has(const char* part);        /* 1 if this build has "cuda" or "render"; 0 for unknown parts */

/* ---- handles ---------------------------------------------------------------------------------------------------- */

typedef struct echolux_scan echolux_scan;                   /* spectra and the recipe for reconstructing them */
typedef struct echolux_settings echolux_settings;           /* settings of a scan or a view, by key */
typedef struct echolux_reconstructor echolux_reconstructor; /* turns blocks of spectra into voxels */
typedef struct echolux_volume echolux_volume;               /* voxels in host memory and their meaning; immutable */
typedef struct echolux_series echolux_series;               /* volumes in files, one per time point */
typedef struct echolux_view echolux_view;                   /* camera and display settings */
typedef struct echolux_renderer echolux_renderer;           /* renders pictures */
typedef struct echolux_live echolux_live;                   /* a source that is reconstructed continuously */

/* Freeing NULL has no effect. Freed handles are detected where possible (ECHOLUX_BAD_ARGUMENT). */
ECHOLUX_API echolux_status echolux_scan_free(echolux_scan* scan);
ECHOLUX_API echolux_status echolux_reconstructor_free(echolux_reconstructor* reconstructor); /* waits for its work */
ECHOLUX_API echolux_status echolux_volume_free(echolux_volume* volume);
ECHOLUX_API echolux_status echolux_series_free(echolux_series* series);
ECHOLUX_API echolux_status echolux_view_free(echolux_view* view);
ECHOLUX_API echolux_status echolux_renderer_free(echolux_renderer* renderer);
ECHOLUX_API echolux_status echolux_live_free(echolux_live* live); /* stops the session */

/* ---- scans ------------------------------------------------------------------------------------------------------ */

/* Opens the scan in a TOML file (also a recording) or in a raw file of a self-describing format. `assignments`, such as
 * "recipe.window=hann", override the file. */
ECHOLUX_API echolux_status echolux_scan_open(const char* path, const char* const* assignments, size_t count,
                                             echolux_scan** scan, echolux_error* error);

typedef struct echolux_layout {
    size_t size;
    int64_t samples;           /* per spectrum */
    int64_t a_scans;           /* per B-scan */
    int64_t b_scans;           /* per volume */
    const char* sample_format; /* u8, u16, u32, i16, f32, packed12; NULL: u16 */
} echolux_layout;

/* Creates an in-memory scan, whose spectra are passed in blocks. */
ECHOLUX_API echolux_status echolux_scan_create(const echolux_layout* layout, const char* const* assignments,
                                               size_t count, echolux_scan** scan, echolux_error* error);

typedef struct echolux_scan_shape {
    size_t size;
    int64_t samples, a_scans, b_scans, volumes, a_repeats, b_repeats;
    int64_t line_bytes;   /* distance between lines */
    int64_t b_scan_bytes; /* one B-scan position with all repeats, without flyback */
    int32_t has_spectra;  /* whether its spectra are in a file */
    int32_t was_recorded; /* recorded by Echolux */
} echolux_scan_shape;

ECHOLUX_API echolux_status echolux_scan_describe(const echolux_scan* scan, echolux_scan_shape* shape,
                                                 echolux_error* error);

/* Replaces calibration data that usually come from a file; count 0 removes them. `name` and length: "background",
 * "dark", "k_positions", "wavelengths_nm", "dispersion_rad", "mask" [samples], "k_polynomial" [any], "noise_floor"
 * [depth bins], "fast_axis" [lines of a B-scan], "k_jitter" [rows][2]. NaN is refused here; lengths are checked when a
 * reconstructor is created. */
ECHOLUX_API echolux_status echolux_scan_set_calibration(echolux_scan* scan, const char* name, const double* values,
                                                        size_t count, echolux_error* error);

/* Copies at most `capacity` values and sets `*count` to their total number. `values` may be NULL if `capacity` is 0. */
ECHOLUX_API echolux_status echolux_scan_get_calibration(const echolux_scan* scan, const char* name, double* values,
                                                        size_t capacity, size_t* count, echolux_error* error);

/* Reads raw spectra of B-scan positions [first, first + b_scans) of a volume: b_scans * b_scan_bytes. The scan must
 * have a file. */
ECHOLUX_API echolux_status echolux_scan_read(const echolux_scan* scan, int64_t volume, int64_t first, int64_t b_scans,
                                             void* spectra, size_t bytes, echolux_error* error);

/* ---- settings --------------------------------------------------------------------------------------------------- */

enum { ECHOLUX_FLAG = 0, ECHOLUX_INTEGER = 1, ECHOLUX_NUMBER = 2, ECHOLUX_TEXT = 3, ECHOLUX_NUMBERS = 4 };

/* Parts that are rebuilt when the setting changes: everything; buffers and tables; tables only; the picture. */
enum { ECHOLUX_EFFECT_FILE = 0, ECHOLUX_EFFECT_PLAN = 1, ECHOLUX_EFFECT_TABLE = 2, ECHOLUX_EFFECT_VIEW = 3 };

typedef struct echolux_setting {
    size_t size;
    const char* key; /* "recipe.window" */
    const char* unit;
    const char* help;
    const char* default_text;
    int32_t type;               /* ECHOLUX_FLAG ... */
    int32_t effect;             /* ECHOLUX_EFFECT_... */
    double low, high;           /* for numbers, inclusive */
    const char* const* choices; /* allowed texts; NULL: any */
    size_t choice_count;
} echolux_setting;

/* Valid as long as the scan or view. A scan has the sections scan, calibration, recipe, flow, nufft, defr, compressive.
 * With a file, [scan] cannot be changed after opening. */
ECHOLUX_API echolux_status echolux_scan_settings(echolux_scan* scan, echolux_settings** settings, echolux_error* error);
ECHOLUX_API echolux_status echolux_view_settings(echolux_view* view, echolux_settings** settings, echolux_error* error);

ECHOLUX_API echolux_status echolux_settings_count(const echolux_settings* settings, size_t* count,
                                                  echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_describe(const echolux_settings* settings, size_t index,
                                                     echolux_setting* setting, echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_find(const echolux_settings* settings, const char* key, size_t* index,
                                                 echolux_error* error);

/* An invalid value leaves the old one. Flags are true and false as texts, 1 and 0 as numbers. */
ECHOLUX_API echolux_status echolux_settings_set_text(echolux_settings* settings, const char* key, const char* value,
                                                     echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_get_text(const echolux_settings* settings, const char* key, char* buffer,
                                                     size_t size, size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_set_number(echolux_settings* settings, const char* key, double value,
                                                       echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_get_number(const echolux_settings* settings, const char* key, double* value,
                                                       echolux_error* error);

/* Returns the settings that differ from their defaults as TOML, or all of them if `all` is not 0. */
ECHOLUX_API echolux_status echolux_settings_toml(const echolux_settings* settings, int all, char* buffer, size_t size,
                                                 size_t* needed, echolux_error* error);

/* ---- devices ---------------------------------------------------------------------------------------------------- */

enum { ECHOLUX_DEVICE_AUTO = 0, ECHOLUX_DEVICE_CPU = 1, ECHOLUX_DEVICE_CUDA = 2 };

typedef struct echolux_gpu {
    size_t size;
    uint8_t id[16]; /* UUID */
    char name[128];
    int64_t memory_bytes;
} echolux_gpu;

/* `refusal` (a text as above) explains why there are no GPUs, or why some are left out. */
ECHOLUX_API echolux_status echolux_gpu_count(size_t* count, char* refusal, size_t size, echolux_error* error);
ECHOLUX_API echolux_status echolux_gpu_describe(size_t index, echolux_gpu* gpu, echolux_error* error);

typedef struct echolux_device {
    size_t size;
    int32_t kind;                  /* ECHOLUX_DEVICE_AUTO: the CPU if no GPU is usable */
    int32_t streams;               /* concurrent blocks on each GPU; 0: 3 */
    int32_t gpus;                  /* GPUs that share the blocks; 0: one; -1: all */
    int32_t reads_pinned_directly; /* kernels read pinned spectra over the bus instead of copying them */
    uint8_t gpu_id[16];            /* all 0: the first GPU */
} echolux_device;

/* ---- reconstructors --------------------------------------------------------------------------------------------- */

enum { ECHOLUX_U8, ECHOLUX_U16, ECHOLUX_I16, ECHOLUX_F16, ECHOLUX_F32, ECHOLUX_COMPLEX64, ECHOLUX_PHASOR8 };

/* Description of a volume. value = code * scale + offset. */
typedef struct echolux_grid {
    size_t size;
    int64_t depth, a_scans, b_scans;
    int32_t voxel;         /* ECHOLUX_U8 ... */
    int32_t voxel_bytes;   /* bytes per voxel */
    int64_t bytes;         /* bytes of the volume, without gaps */
    double spacing_um[3];  /* along depth, A-scans, B-scans; 0: unknown */
    double first_depth_um; /* of the first row, relative to zero delay */
    double scale, offset;
    double v_max_mm_s; /* for phasors: axial velocity at phase pi; 0: unknown */
    char quantity[32]; /* spelled as in recipe.quantity or flow.method; may be empty */
    char unit[64];     /* unit of the values */
} echolux_grid;

/* Returns the volumes that the scan's settings would produce, without allocating. `flow` may be NULL; without flow its
 * sizes are 0. */
ECHOLUX_API echolux_status echolux_plan(const echolux_scan* scan, echolux_grid* structure, echolux_grid* flow,
                                        echolux_error* error);

/* Creates a reconstructor for the current state of the scan. An open noise floor (recipe.noise_floor_db = 0 with levels
 * = noise_floor) is measured in the scan's file; without a file it must be set (echolux_measure_noise_floor).
 * `block_b_scans`: max number of B-scan positions per block; 0: a whole volume. `device` may be NULL. */
ECHOLUX_API echolux_status echolux_reconstructor_create(const echolux_scan* scan, const echolux_device* device,
                                                        int64_t block_b_scans, echolux_reconstructor** reconstructor,
                                                        echolux_error* error);
ECHOLUX_API echolux_status echolux_reconstructor_grid(const echolux_reconstructor* reconstructor,
                                                      echolux_grid* structure, echolux_grid* flow,
                                                      echolux_error* error);

/* Returns the backend, and why it is not a GPU: "cpu (2 threads, AVX2)", "cuda (NVIDIA H200, fused)". */
ECHOLUX_API echolux_status echolux_reconstructor_device(const echolux_reconstructor* reconstructor, char* buffer,
                                                        size_t size, size_t* needed, echolux_error* error);

enum { ECHOLUX_HOST = 0, ECHOLUX_PINNED = 1, ECHOLUX_ON_DEVICE = 2 }; /* pinned: cudaHostAlloc, cudaHostRegister */

/* Order of the work relative to the caller's work on the GPU. Neither waits on the host.
 * ECHOLUX_SYNC_NONE: the memory is ready now, and free again after echolux_reconstructor_wait().
 * ECHOLUX_SYNC_STREAM: a cudaStream_t (NULL is CUDA's default stream). Work enqueued on it before the call precedes the
 * reconstruction, and work enqueued later follows it.
 * ECHOLUX_SYNC_EVENT: a cudaEvent_t. A block waits for it; for a place it is recorded after the voxels.
 * Streams and events must belong to the reconstructing GPU, and need blocks in pinned or device memory and places in
 * device memory. The host then needs to wait only in echolux_reconstructor_free(). */
enum { ECHOLUX_SYNC_NONE = 0, ECHOLUX_SYNC_STREAM = 1, ECHOLUX_SYNC_EVENT = 2 };

/* Whole B-scans of raw spectra: [b_scans][b_repeats][a_scans][a_repeats] lines of line_bytes each. */
typedef struct echolux_block {
    size_t size;
    const void* data;
    int64_t bytes;
    int32_t memory; /* ECHOLUX_HOST ... */
    int32_t sync;   /* ECHOLUX_SYNC_... */
    void* cuda;     /* the stream or event */
    int64_t volume; /* blocks of a volume are passed in order */
    int64_t first_b_scan;
    int64_t b_scans;
    int64_t frame_offset_bytes; /* bytes before the first line of each acquired B-scan */
    int64_t frame_stride_bytes; /* distance between acquired B-scans; 0: without gaps */
} echolux_block;

/* Destination of voxels: voxel (z, a, b) is written to data + (b - first_b_scan) * b_scan_bytes + a * a_scan_bytes + z
 * * voxel_bytes. */
typedef struct echolux_place {
    size_t size;
    void* data;
    int64_t bytes;  /* size of that memory */
    int32_t memory; /* ECHOLUX_HOST, ECHOLUX_PINNED or ECHOLUX_ON_DEVICE */
    int32_t sync;   /* only used for the structure's place, and applies to the flow too */
    void* cuda;
    int64_t first_b_scan; /* B-scan of the volume stored at `data` */
    int64_t a_scan_bytes; /* distance between A-scans; 0: without gaps */
    int64_t b_scan_bytes; /* distance between B-scans; 0: without gaps */
} echolux_place;

/* Enqueues the block and returns. Allocates nothing, except on the first use of pageable memory. `flow`: NULL if not
 * wanted. Pass `*completion` (may be NULL) to echolux_reconstructor_wait(); until then the memory must stay
 * unchanged. */
ECHOLUX_API echolux_status echolux_reconstructor_submit(echolux_reconstructor* reconstructor,
                                                        const echolux_block* block, const echolux_place* structure,
                                                        const echolux_place* flow, uint64_t* completion,
                                                        echolux_error* error);

/* Updates the running background from a block that is not reconstructed. */
ECHOLUX_API echolux_status echolux_reconstructor_prime(echolux_reconstructor* reconstructor, const echolux_block* block,
                                                       echolux_error* error);

/* Waits until the work is done, and returns its error if it failed. */
ECHOLUX_API echolux_status echolux_reconstructor_wait(echolux_reconstructor* reconstructor, uint64_t completion,
                                                      echolux_error* error);

/* Releases completed work without waiting for the rest. */
ECHOLUX_API echolux_status echolux_reconstructor_collect(echolux_reconstructor* reconstructor, echolux_error* error);

/* ---- whole scans ------------------------------------------------------------------------------------------------ */

/* Called from time to time on the calling thread. A return value other than 0 stops the work with ECHOLUX_CANCELLED.
 * `total` 0: unknown. */
typedef int (*echolux_progress)(void* user, const char* task, int64_t done, int64_t total, const char* unit);

typedef struct echolux_part {
    size_t size;
    int64_t volume;
    int64_t b_scan_begin; /* positions [b_scan_begin, b_scan_end) */
    int64_t b_scan_end;   /* end of the range; 0: the last B-scan */
    echolux_progress progress;
    void* user;
} echolux_part;

/* Reads and reconstructs one volume of a scan with a file. `device` and `part` may be NULL. `flow` may be NULL; it is
 * set to NULL if flow.method is none. */
ECHOLUX_API echolux_status echolux_reconstruct(const echolux_scan* scan, const echolux_device* device,
                                               const echolux_part* part, echolux_volume** structure,
                                               echolux_volume** flow, echolux_error* error);

/* ---- volumes ---------------------------------------------------------------------------------------------------- */

/* Reads any format that `echolux convert` reads. Of several time points, the first is read. */
ECHOLUX_API echolux_status echolux_volume_open(const char* path, echolux_volume** volume, echolux_error* error);

/* Copies the caller's voxels. Strides as in echolux_place; 0: without gaps. Uses these fields of `grid`: size, voxel,
 * spacing, scale (0 counts as 1), offset, quantity and unit. */
ECHOLUX_API echolux_status echolux_volume_create(const echolux_grid* grid, const void* voxels, size_t bytes,
                                                 int64_t a_scan_bytes, int64_t b_scan_bytes, echolux_volume** volume,
                                                 echolux_error* error);
ECHOLUX_API echolux_status echolux_volume_grid(const echolux_volume* volume, echolux_grid* grid, echolux_error* error);

/* The voxels are stored without gaps and are valid as long as the volume. */
ECHOLUX_API echolux_status echolux_volume_data(const echolux_volume* volume, const void** voxels, size_t* bytes,
                                               echolux_error* error);

/* Returns the time in seconds since the start of the source or series, and the volume's number. Both may be NULL. */
ECHOLUX_API echolux_status echolux_volume_time(const echolux_volume* volume, double* time_s, int64_t* number,
                                               echolux_error* error);

/* Returns the settings that reproduce the volume, and facts that limit its validity, one per line: "recipe.window =
 * \"hann\"". */
ECHOLUX_API echolux_status echolux_volume_provenance(const echolux_volume* volume, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_volume_warnings(const echolux_volume* volume, char* buffer, size_t size,
                                                   size_t* needed, echolux_error* error);

/* Converts the values to another voxel type. Integers span [low, high]; floats ignore it. */
ECHOLUX_API echolux_status echolux_volume_convert(const echolux_volume* volume, int32_t voxel, double low, double high,
                                                  echolux_volume** converted, echolux_error* error);

/* Converts a flow volume to axial velocities in mm/s, or to phases in rad if the velocity scale is unknown; f32. */
ECHOLUX_API echolux_status echolux_volume_velocities(const echolux_volume* flow, echolux_volume** velocities,
                                                     echolux_error* error);

/* The format depends on the file extension (.nrrd, .tiff, .h5, .ome.zarr ...). The file gets its name when it is
 * complete. */
ECHOLUX_API echolux_status echolux_volume_write(const echolux_volume* volume, const char* path, echolux_error* error);

/* Opens a series: a file or folder with several time points, a folder of volumes, or a pattern (scan_*.nrrd). */
ECHOLUX_API echolux_status echolux_series_open(const char* path, echolux_series** series, echolux_error* error);
ECHOLUX_API echolux_status echolux_series_describe(const echolux_series* series, int64_t* count, double* step_s,
                                                   echolux_error* error); /* step_s 0: unknown */
ECHOLUX_API echolux_status echolux_series_read(const echolux_series* series, int64_t time_point,
                                               echolux_volume** volume, echolux_error* error);

/* ---- pictures --------------------------------------------------------------------------------------------------- */

/* Returns ECHOLUX_UNSUPPORTED in a build without the renderer. The settings are in section view; view.width and
 * view.height are the size of the picture. */
ECHOLUX_API echolux_status echolux_view_create(echolux_view** view, echolux_error* error);

/* `device`: a part of the Vulkan device's name; NULL: the best device. */
ECHOLUX_API echolux_status echolux_renderer_create(const char* device, echolux_renderer** renderer,
                                                   echolux_error* error);

/* Renders RGBA, 8 bits each, straight alpha, rows from the top: width * height * 4 bytes. `flow` may be NULL. */
ECHOLUX_API echolux_status echolux_render(echolux_renderer* renderer, const echolux_volume* volume,
                                          const echolux_volume* flow, const echolux_view* view, void* pixels,
                                          size_t bytes, echolux_error* error);

/* ---- calibration ------------------------------------------------------------------------------------------------ */

/* Blocks must be in host memory and match the scan, whose settings apply. */

/* Computes the mean of all lines in counts [samples]: a background, a dark spectrum, a mirror. */
ECHOLUX_API echolux_status echolux_mean_spectrum(const echolux_scan* scan, const echolux_block* block, double* mean,
                                                 size_t samples, echolux_error* error);

/* Measures the noise floor in dB that recipe.noise_floor_db = 0 asks for. */
ECHOLUX_API echolux_status echolux_measure_noise_floor(const echolux_scan* scan, const echolux_block* block, double* db,
                                                       echolux_error* error);

/* Computes the mean amplitude of each depth bin without a sample, for calibration "noise_floor". `*count` as in
 * get_calibration. */
ECHOLUX_API echolux_status echolux_noise_profile(const echolux_scan* scan, const echolux_block* block,
                                                 double* amplitude, size_t capacity, size_t* count,
                                                 echolux_error* error);

/* Mean spectra of two mirrors in counts [samples], with zero delay on the same side unless opposite_sides is set. */
typedef struct echolux_mirrors {
    size_t size;
    int64_t samples;
    const double* mirror_1; /* on the side where samples will be */
    const double* mirror_2;
    const double* background; /* spectrum without the mirror */
    const double* dark;       /* NULL: unknown */
    int32_t opposite_sides;
    int32_t k_falls;             /* k decreases along the samples */
    double displacement_um;      /* distance between the two, in air; 0: unknown */
    double centre_wavelength_nm; /* centre of the spectrum; 0: unknown */
} echolux_mirrors;

typedef struct echolux_mirrors_found {
    size_t size;
    double* k_positions;    /* [samples], allocated by the caller; NULL: not wanted */
    double* dispersion_rad; /* same as k_positions */
    double a2_rad, a3_rad;
    double depth_pitch_um; /* distance between depth bins; 0: without a displacement */
    double bin[2];         /* depth of each mirror */
    double fwhm_before[2]; /* bins */
    double fwhm[2];        /* bins, with map and dispersion */
} echolux_mirrors_found;

ECHOLUX_API echolux_status echolux_calibrate_mirrors(const echolux_mirrors* mirrors, echolux_mirrors_found* found,
                                                     echolux_error* error);

typedef struct echolux_dispersion_search {
    size_t size;
    double range_rad;               /* range of a2 and a3, on either side of zero; 0: 80 */
    int64_t lines;                  /* max number of A-scans used; 0: 64 */
    int64_t depth_begin, depth_end; /* bins; 0: from beyond zero delay to the end */
    int64_t line_begin, line_end;   /* A-scans of the block; 0: all */
    echolux_progress progress;
    void* user;
} echolux_dispersion_search;

typedef struct echolux_dispersion_found {
    size_t size;
    double a2_rad, a3_rad; /* for recipe.a2_rad, recipe.a3_rad */
    double entropy_before, entropy;
    int32_t is_sharp; /* whether a reflector becomes sharper; otherwise the values are meaningless */
    int32_t reserved;
} echolux_dispersion_found;

/* `search` and `device` may be NULL. */
ECHOLUX_API echolux_status echolux_search_dispersion(const echolux_scan* scan, const echolux_block* block,
                                                     const echolux_dispersion_search* search,
                                                     const echolux_device* device, echolux_dispersion_found* found,
                                                     echolux_error* error);

/* ---- live ------------------------------------------------------------------------------------------------------- */

/* NEWEST: the next volume replaces one that was not taken, and data that arrive faster than they are reconstructed are
 * skipped. EVERY: all volumes are kept and the faster side waits. A source that cannot wait (a camera, a paced replay)
 * loses and counts blocks when its pool is full. */
enum { ECHOLUX_NEWEST = 0, ECHOLUX_EVERY = 1 };

/* Called on a thread of the session. The callee owns both volumes and may free them at any time; `flow` may be NULL. */
typedef void (*echolux_volume_callback)(void* user, echolux_volume* structure, echolux_volume* flow);

typedef struct echolux_live_options {
    size_t size;
    const echolux_device* device;     /* NULL: ECHOLUX_DEVICE_AUTO */
    int32_t delivery;                 /* ECHOLUX_NEWEST or ECHOLUX_EVERY */
    int32_t queue;                    /* for EVERY: max number of volumes that wait to be taken; 0: 2 */
    echolux_volume_callback finished; /* NULL: use echolux_live_next() */
    void* user;
} echolux_live_options;

/* Opens a session. `source`: sim[:SCENE], replay:scan.toml, genicam[:ID], plugin:FILE.so. `scan_toml` (may be NULL)
 * describes the data of a camera or plugin. `assignments` may use the sections source, simulation, scan, recipe ...
 * `options` may be NULL. */
ECHOLUX_API echolux_status echolux_live_open(const char* source, const char* scan_toml, const char* const* assignments,
                                             size_t count, const echolux_live_options* options, echolux_live** live,
                                             echolux_error* error);

/* Creates a session for blocks passed to echolux_live_push(), as described by `scan`. `block_b_scans`: max number of
 * positions per block; 0: any. An open noise floor is measured from the first block. */
ECHOLUX_API echolux_status echolux_live_create(const echolux_scan* scan, int64_t block_b_scans,
                                               const echolux_live_options* options, echolux_live** live,
                                               echolux_error* error);

/* Ends after `volumes`; 0: when the source ends. */
ECHOLUX_API echolux_status echolux_live_start(echolux_live* live, int64_t volumes, echolux_error* error);

/* Stops acquisition. Acquired data are still reconstructed and can be taken. */
ECHOLUX_API echolux_status echolux_live_stop(echolux_live* live, echolux_error* error);

/* Copies the spectra of a block (host memory) to the queue, from any thread. Blocks of a volume must be pushed in
 * order. ECHOLUX_NOTHING_YET: there was no room within `timeout_ms`, and the block is not queued. */
ECHOLUX_API echolux_status echolux_live_push(echolux_live* live, const echolux_block* block, int32_t timeout_ms,
                                             echolux_error* error);
ECHOLUX_API echolux_status echolux_live_end(echolux_live* live, echolux_error* error); /* marks the end of the pushed
                                                                                        * data */

/* Returns the next finished volume, from any thread. The caller frees it; `flow` may be NULL. ECHOLUX_NOTHING_YET: none
 * within `timeout_ms`. ECHOLUX_ENDED: all were taken. */
ECHOLUX_API echolux_status echolux_live_next(echolux_live* live, int32_t timeout_ms, echolux_volume** structure,
                                             echolux_volume** flow, echolux_error* error);

/* Takes effect at one of the next volumes. Sections recipe, flow, nufft, defr, compressive. */
ECHOLUX_API echolux_status echolux_live_set(echolux_live* live, const char* key, const char* value,
                                            echolux_error* error);

typedef struct echolux_live_stats {
    size_t size;
    int32_t running;
    int32_t ended; /* the source has no more blocks */
    double seconds;
    int64_t acquired_blocks, acquired_volumes, acquired_a_scans;
    int64_t lost_blocks;         /* lost by the source */
    int64_t finished_volumes;    /* completely reconstructed */
    int64_t left_out_volumes;    /* skipped for newer ones, incomplete, or failed */
    int64_t overwritten_volumes; /* finished, but not taken in time */
} echolux_live_stats;

ECHOLUX_API echolux_status echolux_live_get_stats(echolux_live* live, echolux_live_stats* stats, echolux_error* error);

/* Returns the events since the last call whose buffer was large enough, one per line. */
ECHOLUX_API echolux_status echolux_live_events(echolux_live* live, char* buffer, size_t size, size_t* needed,
                                               echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
