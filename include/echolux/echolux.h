/* Echolux as a library: spectra of optical coherence tomography to volumes, on a CPU or a GPU. docs/library.md is the
 * tutorial; echolux.hpp is the same for C++.
 *
 * Every call returns an echolux_status and, where `error` is not NULL, fills it in: what is wrong, where, and what to
 * do about it. Nothing throws, exits, prints or keeps global state. A handle is used by one thread at a time; different
 * handles by different threads. Memory that a call gives belongs to the handle it came from, unless it says otherwise.
 *
 * Structs passed by pointer begin with their size: set it to sizeof (ECHOLUX_INIT does, and clears the rest). What a
 * caller's older, shorter struct lacks has its default, which is 0 in every field; echolux_error.size must be set too.
 *
 * Texts are UTF-8 and end with 0. Calls that return a text write it to `buffer` of `size` bytes and set `*needed` (may
 * be NULL) to its length with the 0. Size 0 only asks for the length; a buffer that is too small is
 * ECHOLUX_BAD_ARGUMENT and receives the beginning. Memory order of volumes: depth fastest, then A-scans, then B-scans.
 */
#ifndef ECHOLUX_H
#define ECHOLUX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ECHOLUX_INTERFACE_VERSION 2

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
    ECHOLUX_BAD_ARGUMENT = 1, /* NULL, a wrong size, a handle that was freed, a buffer that is too small */
    ECHOLUX_BAD_SETTING = 2,  /* a value, a key or a combination that cannot work */
    ECHOLUX_BAD_FILE = 3,     /* missing, truncated, malformed or of the wrong size */
    ECHOLUX_OUTPUT = 4,       /* a result could not be written */
    ECHOLUX_OUT_OF_MEMORY = 5,
    ECHOLUX_DEVICE = 6,      /* a compute or graphics device failed or is missing */
    ECHOLUX_CANCELLED = 7,   /* by a progress callback */
    ECHOLUX_UNSUPPORTED = 8, /* this build lacks the part that is needed */
    ECHOLUX_NOTHING_YET = 9, /* nothing arrived in time: not an error, ask again */
    ECHOLUX_ENDED = 10,      /* nothing more will come */
    ECHOLUX_INTERNAL = 11
};

typedef struct echolux_error {
    size_t size;
    echolux_status code; /* the same as what the call returned */
    char what[512];      /* in lower case, without a full stop */
    char where[256];     /* file, key, argument; may be empty */
    char remedy[256];    /* may be empty */
} echolux_error;

ECHOLUX_API uint32_t echolux_interface_version(void); /* of the library; a caller needs one that is not lower */
ECHOLUX_API const char* echolux_version(void);        /* of the program, "0.1.0" */
ECHOLUX_API int echolux_has(const char* part);        /* whether this build has "cuda", "render"; unknown parts: 0 */

/* ---- handles ---------------------------------------------------------------------------------------------------- */

typedef struct echolux_scan echolux_scan;                   /* how spectra were recorded, and how to process them */
typedef struct echolux_settings echolux_settings;           /* of a scan or a view, by key */
typedef struct echolux_reconstructor echolux_reconstructor; /* blocks of spectra in, voxels out */
typedef struct echolux_volume echolux_volume;         /* voxels in host memory, and what they mean; never changes */
typedef struct echolux_series echolux_series;         /* volumes of files, one for each time point */
typedef struct echolux_view echolux_view;             /* camera, colours, light and cuts of a picture */
typedef struct echolux_renderer echolux_renderer;     /* makes pictures */
typedef struct echolux_live echolux_live;             /* a source, reconstructed while it acquires */
typedef struct echolux_simulation echolux_simulation; /* a scene in front of a simulated instrument */
typedef struct echolux_validation echolux_validation; /* what a validation of this build found */

/* Freeing NULL does nothing. Use of a freed handle is detected where possible (ECHOLUX_BAD_ARGUMENT). */
ECHOLUX_API echolux_status echolux_scan_free(echolux_scan* scan);
ECHOLUX_API echolux_status echolux_reconstructor_free(echolux_reconstructor* reconstructor); /* waits for its work */
ECHOLUX_API echolux_status echolux_volume_free(echolux_volume* volume);
ECHOLUX_API echolux_status echolux_series_free(echolux_series* series);
ECHOLUX_API echolux_status echolux_view_free(echolux_view* view);
ECHOLUX_API echolux_status echolux_renderer_free(echolux_renderer* renderer);
ECHOLUX_API echolux_status echolux_live_free(echolux_live* live); /* stops it; not in its callback */
ECHOLUX_API echolux_status echolux_simulation_free(echolux_simulation* simulation);
ECHOLUX_API echolux_status echolux_validation_free(echolux_validation* validation);

/* ---- scans ------------------------------------------------------------------------------------------------------ */

/* A scan's TOML file (recordings too), or a raw file of a format that describes itself. `assignments`:
 * "recipe.window=hann"; they override the file. */
ECHOLUX_API echolux_status echolux_scan_open(const char* path, const char* const* assignments, size_t count,
                                             echolux_scan** scan, echolux_error* error);

typedef struct echolux_layout {
    size_t size;
    int64_t samples;           /* of a spectrum */
    int64_t a_scans;           /* of a B-scan */
    int64_t b_scans;           /* of a volume */
    const char* sample_format; /* u8, u16, u32, i16, f32, packed12; NULL: u16 */
} echolux_layout;

/* A scan without a file: its spectra are submitted in blocks. */
ECHOLUX_API echolux_status echolux_scan_create(const echolux_layout* layout, const char* const* assignments,
                                               size_t count, echolux_scan** scan, echolux_error* error);

typedef struct echolux_scan_shape {
    size_t size;
    int64_t samples, a_scans, b_scans, volumes, a_repeats, b_repeats;
    int64_t line_bytes;   /* from one line to the next */
    int64_t b_scan_bytes; /* of one B-scan position, all its repeats, flyback left out */
    int32_t has_spectra;  /* there is a file behind it */
    int32_t was_recorded; /* by Echolux: a recording */
} echolux_scan_shape;

ECHOLUX_API echolux_status echolux_scan_describe(const echolux_scan* scan, echolux_scan_shape* shape,
                                                 echolux_error* error);

/* Calibration that is usually in files, replacing what was set before; count 0: none. `name` and length: "background",
 * "dark", "k_positions", "wavelengths_nm", "dispersion_rad", "mask" [samples], "k_polynomial" [any], "noise_floor"
 * [depth bins], "fast_axis" [lines of a B-scan], "k_jitter" [rows][2]. NaN is refused here, lengths when a
 * reconstructor is made. */
ECHOLUX_API echolux_status echolux_scan_set_calibration(echolux_scan* scan, const char* name, const double* values,
                                                        size_t count, echolux_error* error);

/* `*count` is how many there are; as many as `capacity` allows are copied. `values` may be NULL with 0. */
ECHOLUX_API echolux_status echolux_scan_get_calibration(const echolux_scan* scan, const char* name, double* values,
                                                        size_t capacity, size_t* count, echolux_error* error);

/* Raw spectra of B-scan positions [first, first + b_scans) of a volume, b_scans * b_scan_bytes, of a scan with a file.
 */
ECHOLUX_API echolux_status echolux_scan_read(const echolux_scan* scan, int64_t volume, int64_t first, int64_t b_scans,
                                             void* spectra, size_t bytes, echolux_error* error);

/* ---- settings --------------------------------------------------------------------------------------------------- */

enum { ECHOLUX_FLAG = 0, ECHOLUX_INTEGER = 1, ECHOLUX_NUMBER = 2, ECHOLUX_TEXT = 3, ECHOLUX_NUMBERS = 4 };

/* What has to be recomputed when a setting changes: everything; buffers and tables; tables only; the picture. */
enum { ECHOLUX_EFFECT_FILE = 0, ECHOLUX_EFFECT_PLAN = 1, ECHOLUX_EFFECT_TABLE = 2, ECHOLUX_EFFECT_VIEW = 3 };

typedef struct echolux_setting {
    size_t size;
    const char* key; /* "recipe.window" */
    const char* unit;
    const char* help;
    const char* default_text;
    int32_t type;               /* ECHOLUX_FLAG ... */
    int32_t effect;             /* ECHOLUX_EFFECT_... */
    double low, high;           /* of numbers, inclusive */
    const char* const* choices; /* of a text that is one of these; NULL: any */
    size_t choice_count;
} echolux_setting;

/* Valid as long as the scan or the view. Those of a scan: sections scan, calibration, recipe, flow, nufft, defr,
 * compressive; [scan] of a scan with a file cannot be changed after opening. */
ECHOLUX_API echolux_status echolux_scan_settings(echolux_scan* scan, echolux_settings** settings, echolux_error* error);
ECHOLUX_API echolux_status echolux_view_settings(echolux_view* view, echolux_settings** settings, echolux_error* error);

ECHOLUX_API echolux_status echolux_settings_count(const echolux_settings* settings, size_t* count,
                                                  echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_describe(const echolux_settings* settings, size_t index,
                                                     echolux_setting* setting, echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_find(const echolux_settings* settings, const char* key, size_t* index,
                                                 echolux_error* error);

/* An invalid value is rejected and the old one kept. Flags are true and false as texts, 1 and 0 as numbers. */
ECHOLUX_API echolux_status echolux_settings_set_text(echolux_settings* settings, const char* key, const char* value,
                                                     echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_get_text(const echolux_settings* settings, const char* key, char* buffer,
                                                     size_t size, size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_set_number(echolux_settings* settings, const char* key, double value,
                                                       echolux_error* error);
ECHOLUX_API echolux_status echolux_settings_get_number(const echolux_settings* settings, const char* key, double* value,
                                                       echolux_error* error);

/* Settings that differ from their defaults (`all`: all of them) as TOML. */
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

/* `refusal` (a text as above) tells why there is none, or why some are left out. */
ECHOLUX_API echolux_status echolux_gpu_count(size_t* count, char* refusal, size_t size, echolux_error* error);
ECHOLUX_API echolux_status echolux_gpu_describe(size_t index, echolux_gpu* gpu, echolux_error* error);

typedef struct echolux_device {
    size_t size;
    int32_t kind;                  /* ECHOLUX_DEVICE_AUTO: the CPU where no GPU can be used */
    int32_t streams;               /* blocks under way at a time on each GPU; 0: 3 */
    int32_t gpus;                  /* that share the blocks; 0: one; -1: all */
    int32_t reads_pinned_directly; /* kernels read pinned spectra over the link instead of a copy */
    uint8_t gpu_id[16];            /* all 0: the first */
} echolux_device;

/* ---- stages ----------------------------------------------------------------------------------------------------- */

/* A stage is a function of the caller that sees what is on its way through the pipeline, and may change it in place, in
 * host memory. Stages work on the CPU: with them ECHOLUX_DEVICE_AUTO takes it, and ECHOLUX_DEVICE_CUDA is refused
 * (ECHOLUX_DEVICE). Measurements of calibration and of the noise floor are made without them.
 * SPECTRA: f32, counts of the channel that is reconstructed, before anything is subtracted.
 * BINS: complex64, depth bins behind recipe.fixed_pattern, before repeats are joined and flow is found; value * scale
 * are counts. Spectra and bins are as they were recorded: B-scans that ran backwards are backwards.
 * VOXELS: of the structure, as they were asked for, where they were asked for. */
enum { ECHOLUX_STAGE_SPECTRA = 0, ECHOLUX_STAGE_BINS = 1, ECHOLUX_STAGE_VOXELS = 2 };

typedef struct echolux_staged {
    size_t size;
    void* values;     /* value (i, j, k, l, m) lies i * stride_bytes[0] + ... bytes behind */
    int32_t stage;    /* ECHOLUX_STAGE_... */
    int32_t voxel;    /* type of a value: ECHOLUX_F32, ECHOLUX_COMPLEX64, or that of the volume */
    int64_t shape[5]; /* B-scans, their repeats, A-scans, their repeats, samples or depths; of voxels repeats are 1 */
    int64_t stride_bytes[5];
    int64_t volume;       /* of the block */
    int64_t first_b_scan; /* of the volume */
    double scale, offset; /* value = code * scale + offset */
} echolux_staged;

/* A result other than 0 ends the block with ECHOLUX_CANCELLED. On the thread that submits the block, or reconstructs
 * it live; never on two at a time for one reconstructor or session. */
typedef int (*echolux_stage)(void* user, const echolux_staged* staged);

/* NULL: none. `release` (may be NULL) gets `user` when nothing can call the stages any more, on any thread; where the
 * call that takes them fails, `user` stays the caller's. */
typedef struct echolux_stages {
    size_t size;
    echolux_stage spectra, bins, voxels;
    void* user;
    void (*release)(void* user);
} echolux_stages;

/* For reconstructors, whole scans and sessions that are made of this scan afterwards. NULL: none any more. */
ECHOLUX_API echolux_status echolux_scan_set_stages(echolux_scan* scan, const echolux_stages* stages,
                                                   echolux_error* error);

/* ---- reconstructors --------------------------------------------------------------------------------------------- */

enum { ECHOLUX_U8, ECHOLUX_U16, ECHOLUX_I16, ECHOLUX_F16, ECHOLUX_F32, ECHOLUX_COMPLEX64, ECHOLUX_PHASOR8 };

/* What a volume is. value = code * scale + offset. */
typedef struct echolux_grid {
    size_t size;
    int64_t depth, a_scans, b_scans;
    int32_t voxel;         /* ECHOLUX_U8 ... */
    int32_t voxel_bytes;   /* of one */
    int64_t bytes;         /* of all, without gaps */
    double spacing_um[3];  /* along depth, A-scans, B-scans; 0: unknown */
    double first_depth_um; /* of the first row, from zero delay */
    double scale, offset;
    double v_max_mm_s; /* of phasors: the axial velocity at phase pi; 0: unknown */
    char quantity[32]; /* as recipe.quantity or flow.method spells it; may be empty */
    char unit[64];     /* of the value */
} echolux_grid;

/* What the scan's settings would produce, without allocating it. `flow` may be NULL; without flow its sizes are 0. */
ECHOLUX_API echolux_status echolux_plan(const echolux_scan* scan, echolux_grid* structure, echolux_grid* flow,
                                        echolux_error* error);

/* Takes the scan as it is now. A noise floor that the recipe leaves open (recipe.noise_floor_db = 0 with levels =
 * noise_floor) is measured from the scan's file; without one it has to be set (echolux_measure_noise_floor).
 * `block_b_scans`: most B-scan positions of a block; 0: all of a volume. `device` may be NULL. */
ECHOLUX_API echolux_status echolux_reconstructor_create(const echolux_scan* scan, const echolux_device* device,
                                                        int64_t block_b_scans, echolux_reconstructor** reconstructor,
                                                        echolux_error* error);
ECHOLUX_API echolux_status echolux_reconstructor_grid(const echolux_reconstructor* reconstructor,
                                                      echolux_grid* structure, echolux_grid* flow,
                                                      echolux_error* error);

/* The device that reconstructs, and why it is not a GPU: "cpu (2 threads, AVX2)", "cuda (NVIDIA H200, fused)". */
ECHOLUX_API echolux_status echolux_reconstructor_device(const echolux_reconstructor* reconstructor, char* buffer,
                                                        size_t size, size_t* needed, echolux_error* error);

enum { ECHOLUX_HOST = 0, ECHOLUX_PINNED = 1, ECHOLUX_ON_DEVICE = 2 }; /* pinned: cudaHostAlloc, cudaHostRegister */

/* How the library's work is ordered with the caller's on the GPU; neither waits on the host.
 * ECHOLUX_SYNC_NONE: the memory is ready now, and free again after echolux_reconstructor_wait().
 * ECHOLUX_SYNC_STREAM: a cudaStream_t (NULL is CUDA's default stream): work enqueued on it before comes first, work
 * enqueued on it later comes after the voxels.
 * ECHOLUX_SYNC_EVENT: a cudaEvent_t: a block waits for its event, a place records its event after the voxels.
 * Both belong to the GPU that reconstructs, and are for blocks in pinned or device memory and places in device memory.
 * Then nothing has to wait on the host, except echolux_reconstructor_free(). */
enum { ECHOLUX_SYNC_NONE = 0, ECHOLUX_SYNC_STREAM = 1, ECHOLUX_SYNC_EVENT = 2 };

/* Some whole B-scans of raw spectra: [b_scans][b_repeats][a_scans][a_repeats] lines of line_bytes each. */
typedef struct echolux_block {
    size_t size;
    const void* data;
    int64_t bytes;
    int32_t memory; /* ECHOLUX_HOST ... */
    int32_t sync;   /* ECHOLUX_SYNC_...; calls that read the block on the host refuse all but NONE */
    void* cuda;     /* the stream or event */
    int64_t volume; /* blocks of a volume come in their order */
    int64_t first_b_scan;
    int64_t b_scans;
    int64_t frame_offset_bytes; /* before the first line of each acquired B-scan */
    int64_t frame_stride_bytes; /* from one acquired B-scan to the next; 0: without gaps */
} echolux_block;

/* Where voxels go: voxel (z, a, b) to data + (b - first_b_scan) * b_scan_bytes + a * a_scan_bytes + z * voxel_bytes. */
typedef struct echolux_place {
    size_t size;
    void* data;
    int64_t bytes;  /* of that memory */
    int32_t memory; /* ECHOLUX_HOST, ECHOLUX_PINNED or ECHOLUX_ON_DEVICE */
    int32_t sync;   /* that of the structure's place holds for flow too */
    void* cuda;
    int64_t first_b_scan; /* of the volume, that lies at `data` */
    int64_t a_scan_bytes; /* 0: without gaps */
    int64_t b_scan_bytes; /* 0: without gaps */
} echolux_place;

/* Enqueues the block and returns; allocates nothing, except staging for pageable memory the first time. `flow` may be
 * NULL. `*completion` (may be NULL) is for waiting; memory must not be changed until then. */
ECHOLUX_API echolux_status echolux_reconstructor_submit(echolux_reconstructor* reconstructor,
                                                        const echolux_block* block, const echolux_place* structure,
                                                        const echolux_place* flow, uint64_t* completion,
                                                        echolux_error* error);

/* A block that only updates the running background and is not reconstructed. */
ECHOLUX_API echolux_status echolux_reconstructor_prime(echolux_reconstructor* reconstructor, const echolux_block* block,
                                                       echolux_error* error);

/* Returns when the work is done, or the error that occurred in it. */
ECHOLUX_API echolux_status echolux_reconstructor_wait(echolux_reconstructor* reconstructor, uint64_t completion,
                                                      echolux_error* error);

/* Collects finished work without waiting for the rest. */
ECHOLUX_API echolux_status echolux_reconstructor_collect(echolux_reconstructor* reconstructor, echolux_error* error);

/* ---- whole scans ------------------------------------------------------------------------------------------------ */

/* Called from time to time on the calling thread; a result other than 0 stops the work with ECHOLUX_CANCELLED. `total`
 * 0: unknown. */
typedef int (*echolux_progress)(void* user, const char* task, int64_t done, int64_t total, const char* unit);

typedef struct echolux_part {
    size_t size;
    int64_t volume;
    int64_t b_scan_begin; /* positions [begin, end) */
    int64_t b_scan_end;   /* 0: the last */
    echolux_progress progress;
    void* user;
} echolux_part;

/* A volume of a scan with a file, read and reconstructed. `device`, `part` may be NULL. `flow` may be NULL; it is set
 * to NULL where flow.method is none. */
ECHOLUX_API echolux_status echolux_reconstruct(const echolux_scan* scan, const echolux_device* device,
                                               const echolux_part* part, echolux_volume** structure,
                                               echolux_volume** flow, echolux_error* error);

/* ---- volumes ---------------------------------------------------------------------------------------------------- */

/* In any format that `echolux convert` reads; of several time points the first. */
ECHOLUX_API echolux_status echolux_volume_open(const char* path, echolux_volume** volume, echolux_error* error);

/* A copy of the caller's voxels; strides as in echolux_place, 0: without gaps. Of `grid`, size, voxel, spacing, scale
 * (0 counts as 1), offset, quantity and unit are read. */
ECHOLUX_API echolux_status echolux_volume_create(const echolux_grid* grid, const void* voxels, size_t bytes,
                                                 int64_t a_scan_bytes, int64_t b_scan_bytes, echolux_volume** volume,
                                                 echolux_error* error);
ECHOLUX_API echolux_status echolux_volume_grid(const echolux_volume* volume, echolux_grid* grid, echolux_error* error);

/* Without gaps; valid as long as the volume. */
ECHOLUX_API echolux_status echolux_volume_data(const echolux_volume* volume, const void** voxels, size_t* bytes,
                                               echolux_error* error);

/* Seconds since the start of its source or series, and which volume of it this is; both may be NULL. */
ECHOLUX_API echolux_status echolux_volume_time(const echolux_volume* volume, double* time_s, int64_t* number,
                                               echolux_error* error);

/* How it was made, and warnings about its quality: one line each, "recipe.window = \"hann\"". */
ECHOLUX_API echolux_status echolux_volume_provenance(const echolux_volume* volume, char* buffer, size_t size,
                                                     size_t* needed, echolux_error* error);
ECHOLUX_API echolux_status echolux_volume_warnings(const echolux_volume* volume, char* buffer, size_t size,
                                                   size_t* needed, echolux_error* error);

/* The same values in voxels of another type; integers span [low, high], floats ignore it. */
ECHOLUX_API echolux_status echolux_volume_convert(const echolux_volume* volume, int32_t voxel, double low, double high,
                                                  echolux_volume** converted, echolux_error* error);

/* Of a flow volume: axial velocities in mm/s, phases in rad where none are known, f32. */
ECHOLUX_API echolux_status echolux_volume_velocities(const echolux_volume* flow, echolux_volume** velocities,
                                                     echolux_error* error);

/* The ending decides the format (.nrrd, .tiff, .h5, .ome.zarr ...). The file appears when it is complete. */
ECHOLUX_API echolux_status echolux_volume_write(const echolux_volume* volume, const char* path, echolux_error* error);

/* A file or folder of several time points, a folder of volumes, or a pattern (scan_*.nrrd). */
ECHOLUX_API echolux_status echolux_series_open(const char* path, echolux_series** series, echolux_error* error);
ECHOLUX_API echolux_status echolux_series_describe(const echolux_series* series, int64_t* count, double* step_s,
                                                   echolux_error* error); /* step_s 0: unknown */
ECHOLUX_API echolux_status echolux_series_read(const echolux_series* series, int64_t time_point,
                                               echolux_volume** volume, echolux_error* error);

/* What a time point is without reading its voxels. `level`: 0 is the whole, others ever coarser, where the file has
 * them; `*levels` (may be NULL) is how many there are. */
ECHOLUX_API echolux_status echolux_series_grid(const echolux_series* series, int64_t time_point, int64_t level,
                                               echolux_grid* grid, int64_t* levels, echolux_error* error);

/* Seconds since the start of the series; 0 where the file knows no times. */
ECHOLUX_API echolux_status echolux_series_time(const echolux_series* series, int64_t time_point, double* time_s,
                                               echolux_error* error);

/* As echolux_volume_provenance(), of one time point. */
ECHOLUX_API echolux_status echolux_series_provenance(const echolux_series* series, int64_t time_point, char* buffer,
                                                     size_t size, size_t* needed, echolux_error* error);

/* Voxels [begin, end) along each direction; end 0: to the last. */
typedef struct echolux_region {
    size_t size;
    int64_t level; /* whose voxels are counted */
    int64_t depth_begin, depth_end;
    int64_t a_scan_begin, a_scan_end;
    int64_t b_scan_begin, b_scan_end;
} echolux_region;

/* Reads little more than the region: chunks of formats that have them, whole B-scans of others. `voxels` gets it
 * without gaps, depth fastest; `bytes` is its exact size. `region` may be NULL: everything. */
ECHOLUX_API echolux_status echolux_series_read_region(const echolux_series* series, int64_t time_point,
                                                      const echolux_region* region, void* voxels, size_t bytes,
                                                      echolux_error* error);

/* ---- pictures --------------------------------------------------------------------------------------------------- */

/* ECHOLUX_UNSUPPORTED in a build without the renderer. Settings: section view; view.width and view.height are the size.
 */
ECHOLUX_API echolux_status echolux_view_create(echolux_view** view, echolux_error* error);

/* `device`: a part of the Vulkan device's name; NULL: the best. */
ECHOLUX_API echolux_status echolux_renderer_create(const char* device, echolux_renderer** renderer,
                                                   echolux_error* error);

/* RGBA, 8 bits each, straight alpha, rows from the top: width * height * 4 bytes. `flow` may be NULL. */
ECHOLUX_API echolux_status echolux_render(echolux_renderer* renderer, const echolux_volume* volume,
                                          const echolux_volume* flow, const echolux_view* view, void* pixels,
                                          size_t bytes, echolux_error* error);

typedef struct echolux_movie {
    size_t size;
    const char* path;   /* turntable, time, sweep, a file of key frames, several joined by +; NULL: turntable */
    int64_t frames;     /* 0: follows from seconds, or from the path */
    double seconds;     /* 0: follows from frames */
    const char* fps;    /* "25", "30000/1001"; NULL: 30, or what frames and seconds say */
    const char* device; /* as echolux_renderer_create() */
    int32_t overwrite;  /* whatever is there, whoever made it */
    int32_t reserved;
    echolux_progress progress;
    void* user;
    int64_t first_frame; /* only the pictures [first_frame, end_frame) of the movie; 0, 0: all */
    int64_t end_frame;
    const char*
        drawn; /* a series "frame_%06d.png" of all pictures of this movie, drawn elsewhere; NULL: they are drawn */
} echolux_movie;

/* The ending decides the format (.mp4, .webm, .gif, frame_%04d.png ...); where FFmpeg's libraries are missing, GIF and
 * PNG are left. Either a `volume`, or `input`: a volume's file, a series, a scan. `movie` may be NULL. */
ECHOLUX_API echolux_status echolux_write_movie(const echolux_volume* volume, const char* input,
                                               const echolux_view* view, const echolux_movie* movie, const char* output,
                                               echolux_error* error);

/* ---- calibration ------------------------------------------------------------------------------------------------ */

/* Blocks here lie in host memory and are of the scan, whose settings count. */

/* Mean of all lines, counts [samples]: a background, a dark spectrum, a mirror. */
ECHOLUX_API echolux_status echolux_mean_spectrum(const echolux_scan* scan, const echolux_block* block, double* mean,
                                                 size_t samples, echolux_error* error);

/* What recipe.noise_floor_db = 0 asks for, in dB. */
ECHOLUX_API echolux_status echolux_measure_noise_floor(const echolux_scan* scan, const echolux_block* block, double* db,
                                                       echolux_error* error);

/* Mean amplitude of each depth bin without a sample, for calibration "noise_floor"; `*count` as in get_calibration. */
ECHOLUX_API echolux_status echolux_noise_profile(const echolux_scan* scan, const echolux_block* block,
                                                 double* amplitude, size_t capacity, size_t* count,
                                                 echolux_error* error);

/* Mean spectra of two mirrors in counts [samples]; zero delay lies on the same side of both unless said otherwise. */
typedef struct echolux_mirrors {
    size_t size;
    int64_t samples;
    const double* mirror_1; /* on the side of zero delay where samples will be */
    const double* mirror_2;
    const double* background; /* without the mirror */
    const double* dark;       /* NULL: unknown */
    int32_t opposite_sides;
    int32_t k_falls;             /* along the samples */
    double displacement_um;      /* between the two, in air; 0: unknown */
    double centre_wavelength_nm; /* 0: unknown */
} echolux_mirrors;

typedef struct echolux_mirrors_found {
    size_t size;
    double* k_positions;    /* [samples], from the caller; NULL: not wanted */
    double* dispersion_rad; /* the same */
    double a2_rad, a3_rad;
    double depth_pitch_um; /* 0: no displacement was given */
    double bin[2];         /* depth of each mirror */
    double fwhm_before[2]; /* bins */
    double fwhm[2];        /* with map and dispersion */
} echolux_mirrors_found;

ECHOLUX_API echolux_status echolux_calibrate_mirrors(const echolux_mirrors* mirrors, echolux_mirrors_found* found,
                                                     echolux_error* error);

typedef struct echolux_dispersion_search {
    size_t size;
    double range_rad;               /* of a2 and a3, on either side of zero; 0: 80 */
    int64_t lines;                  /* most that are looked at; 0: 64 */
    int64_t depth_begin, depth_end; /* bins; 0: past zero delay, to the end */
    int64_t line_begin, line_end;   /* A-scans of the block; 0: all */
    echolux_progress progress;
    void* user;
} echolux_dispersion_search;

typedef struct echolux_dispersion_found {
    size_t size;
    double a2_rad, a3_rad; /* for recipe.a2_rad, recipe.a3_rad */
    double entropy_before, entropy;
    int32_t is_sharp; /* 0: no reflector that one phase alone makes sharper; do not use the numbers then */
    int32_t reserved;
} echolux_dispersion_found;

/* `search`, `device` may be NULL. */
ECHOLUX_API echolux_status echolux_search_dispersion(const echolux_scan* scan, const echolux_block* block,
                                                     const echolux_dispersion_search* search,
                                                     const echolux_device* device, echolux_dispersion_found* found,
                                                     echolux_error* error);

/* Bins are those without zero padding. */
typedef struct echolux_mirror_reading {
    size_t size;
    double bin;          /* depth of the mirror */
    double bin_um;       /* one bin, in air; 0: unknown */
    double level_db;     /* 20 log10 of |A| in counts */
    double snr_db;       /* the peak's power over the mean power of the noise of one A-scan */
    double fwhm_bins;    /* of |A| */
    int64_t lines;       /* whose power was averaged */
    int64_t bins;        /* of the one-sided range */
    int32_t is_opposite; /* the mirror stands beyond zero delay: dispersion with its sign turned sharpens it */
    int32_t reserved;
} echolux_mirror_reading;

/* The mirror in a block of its lines, by the scan's calibration and recipe. It is looked for in bins [depth_begin,
 * depth_end); 0, 0: past the first twentieth. `background`: spectrum without the mirror [samples]; NULL: that of the
 * scan's calibration, or none. ECHOLUX_BAD_FILE: no peak stands 13 dB above the noise. */
ECHOLUX_API echolux_status echolux_read_mirror(const echolux_scan* scan, const echolux_block* block,
                                               const double* background, int64_t depth_begin, int64_t depth_end,
                                               echolux_mirror_reading* reading, echolux_error* error);

typedef struct echolux_roll_off {
    size_t size;
    double at_zero_db; /* level of |A|, extrapolated to zero delay */
    double six_db_bin; /* where 6 dB are lost; 0: not within the range */
    double resolution; /* spectral resolution over the distance of samples */
    double rms_db;     /* how far the levels lie from the fit */
} echolux_roll_off;

/* The fall-off of a spectrometer through the levels of a mirror at `count` depths, at least two. `bins`: of the
 * one-sided range. */
ECHOLUX_API echolux_status echolux_fit_roll_off(const double* depth_bins, const double* levels_db, size_t count,
                                                int64_t bins, echolux_roll_off* found, echolux_error* error);

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
    double limit;    /* NEAR: greatest distance from `expected` */
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

/* ---- live ------------------------------------------------------------------------------------------------------- */

/* NEWEST: a volume that has not been taken is replaced by the next one, and blocks that arrive faster than they can be
 * reconstructed are left out. EVERY: all volumes are kept, and the faster side waits; a source that cannot wait (a
 * camera, a paced replay) loses blocks, and counts them, once its pool is full. */
enum { ECHOLUX_NEWEST = 0, ECHOLUX_EVERY = 1 };

/* On a thread of the session. Both volumes are the callee's, to be freed at any time; `flow` may be NULL. The session
 * waits for its callback, so it cannot be freed there: ECHOLUX_BAD_ARGUMENT. */
typedef void (*echolux_volume_callback)(void* user, echolux_volume* structure, echolux_volume* flow);

typedef struct echolux_live_options {
    size_t size;
    const echolux_device* device;     /* NULL: ECHOLUX_DEVICE_AUTO */
    int32_t delivery;                 /* ECHOLUX_NEWEST or ECHOLUX_EVERY */
    int32_t queue;                    /* EVERY: volumes that may wait to be taken; 0: 2 */
    echolux_volume_callback finished; /* NULL: echolux_live_next() takes them */
    void* user;
    const echolux_stages* stages; /* NULL: those of the scan, where there is one */
} echolux_live_options;

/* `source`: sim[:SCENE], replay:scan.toml, genicam[:ID], plugin:FILE.so. `scan_toml` (may be NULL) describes what a
 * camera or plugin sends. `assignments` of sections source, simulation, scan, recipe ... `options` may be NULL. */
ECHOLUX_API echolux_status echolux_live_open(const char* source, const char* scan_toml, const char* const* assignments,
                                             size_t count, const echolux_live_options* options, echolux_live** live,
                                             echolux_error* error);

/* The caller's own blocks, given by echolux_live_push(), as `scan` describes them; at most `block_b_scans` positions
 * each, 0: any number. A noise floor that is open is measured from the first block. */
ECHOLUX_API echolux_status echolux_live_create(const echolux_scan* scan, int64_t block_b_scans,
                                               const echolux_live_options* options, echolux_live** live,
                                               echolux_error* error);

/* Ends by itself after `volumes`; 0: when the source does. */
ECHOLUX_API echolux_status echolux_live_start(echolux_live* live, int64_t volumes, echolux_error* error);

/* Acquires no more; what was acquired is still reconstructed, and can be taken. Blocks that were pushed and not
 * acquired yet are left out. After another start volumes and time count from 0 again, and blocks can be pushed also
 * where they had ended. */
ECHOLUX_API echolux_status echolux_live_stop(echolux_live* live, echolux_error* error);

/* From any thread: a copy of the block's spectra (host memory, no `sync`) joins the queue. Blocks of a volume come in
 * their order. What was pushed while the session was stopped comes first when it starts.
 * ECHOLUX_NOTHING_YET: there was no room within `timeout_ms`; the block is not taken. */
ECHOLUX_API echolux_status echolux_live_push(echolux_live* live, const echolux_block* block, int32_t timeout_ms,
                                             echolux_error* error);
ECHOLUX_API echolux_status echolux_live_end(echolux_live* live, echolux_error* error); /* no more will be pushed */

/* From any thread. The next finished volume, the caller's to free; `flow` may be NULL. ECHOLUX_NOTHING_YET within
 * `timeout_ms`; ECHOLUX_ENDED when all were taken. */
ECHOLUX_API echolux_status echolux_live_next(echolux_live* live, int32_t timeout_ms, echolux_volume** structure,
                                             echolux_volume** flow, echolux_error* error);

/* What the source sends and how it is processed now, without a file: sizes, calibration, settings. */
ECHOLUX_API echolux_status echolux_live_scan(echolux_live* live, echolux_scan** scan, echolux_error* error);

/* Takes effect with a later volume; sections recipe, flow, nufft, defr, compressive. Where nothing newer comes, the
 * last volume is made again and delivered once more, with the same number and time. */
ECHOLUX_API echolux_status echolux_live_set(echolux_live* live, const char* key, const char* value,
                                            echolux_error* error);

typedef struct echolux_live_stats {
    size_t size;
    int32_t running;
    int32_t ended; /* the source has no more blocks */
    double seconds;
    int64_t acquired_blocks, acquired_volumes, acquired_a_scans;
    int64_t lost_blocks;                                    /* by the source */
    int64_t finished_volumes;                               /* reconstructed whole */
    int64_t left_out_volumes;                               /* for newer ones, incomplete, or failed */
    int64_t overwritten_volumes;                            /* finished, but not taken in time */
    double acquired_a_scans_per_s, processed_a_scans_per_s; /* lately */
    double load;                                            /* share of the time that reconstruction takes */
    int64_t recorded_blocks;                                /* of the recording that is under way */
    int64_t not_recorded_blocks; /* lost by the source, or by a disk that is full or too slow */
    int32_t recording;
    int32_t reserved;
} echolux_live_stats;

ECHOLUX_API echolux_status echolux_live_get_stats(echolux_live* live, echolux_live_stats* stats, echolux_error* error);

/* Every block from the next volume on goes to NAME.toml, NAME.raw, NAME.index.csv and calibration files beside them,
 * which open as a scan, whatever ends it. A recording that is there is replaced only with `overwrite`. One at a time.
 */
ECHOLUX_API echolux_status echolux_live_record(echolux_live* live, const char* scan_toml, int32_t overwrite,
                                               echolux_error* error);

typedef struct echolux_recorded {
    size_t size;
    int64_t blocks, bytes;
    int64_t missing_blocks; /* that came and are not in it: the disk was too slow, or full */
    int64_t lost_blocks;    /* by the source */
    int64_t refused_blocks; /* out of order or of another size */
} echolux_recorded;

/* Waits for the disk. Where no block was recorded, no file is left. A recording that is under way when the session is
 * freed is ended as well. */
ECHOLUX_API echolux_status echolux_live_stop_recording(echolux_live* live, echolux_recorded* recorded,
                                                       echolux_error* error);

/* Events since the last call that had room for them, one line each. */
ECHOLUX_API echolux_status echolux_live_events(echolux_live* live, char* buffer, size_t size, size_t* needed,
                                               echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
