/* Reconstruction from blocks of spectra to voxels, of whole scans, and of many scans. */
#ifndef ECHOLUX_RECONSTRUCT_H
#define ECHOLUX_RECONSTRUCT_H

#include "scan.h"
#include "volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Waits for submitted work, then frees the reconstructor. */
ECHOLUX_API echolux_status echolux_reconstructor_free(echolux_reconstructor* reconstructor);
ECHOLUX_API echolux_status echolux_batch_free(echolux_batch* batch);

/* ---- devices ---------------------------------------------------------------------------------------------------- */

enum { ECHOLUX_DEVICE_AUTO = 0, ECHOLUX_DEVICE_CPU = 1, ECHOLUX_DEVICE_CUDA = 2 };

/* A GPU that can reconstruct. */
typedef struct echolux_gpu {
    size_t size;
    uint8_t id[16]; /* UUID */
    char name[128];
    int64_t memory_bytes;
} echolux_gpu;

/* Sets `*count` to the number of usable GPUs. `refusal` (may be NULL, `size` bytes) receives the reason if there are
 * none or some were excluded. */
ECHOLUX_API echolux_status echolux_gpu_count(size_t* count, char* refusal, size_t size, echolux_error* error);

/* Describes GPU `index`, from 0 to count - 1. */
ECHOLUX_API echolux_status echolux_gpu_describe(size_t index, echolux_gpu* gpu, echolux_error* error);

/* Selects the device that reconstructs. All zeros selects automatically. */
typedef struct echolux_device {
    size_t size;
    int32_t kind;                  /* ECHOLUX_DEVICE_...; AUTO: a GPU if usable, otherwise the CPU */
    int32_t streams;               /* blocks in flight per GPU; 0: 3 */
    int32_t gpus;                  /* number of GPUs that share the blocks; 0: one; -1: all */
    int32_t reads_pinned_directly; /* kernels read pinned spectra over the link instead of copying them first */
    uint8_t gpu_id[16];            /* UUID of the first GPU; all 0: any */
} echolux_device;

/* ---- reconstructors --------------------------------------------------------------------------------------------- */

/* Computes the grids that the scan's settings produce, without allocating memory for them. `flow` may be NULL. Without
 * flow, its sizes are 0. */
ECHOLUX_API echolux_status echolux_plan(const echolux_scan* scan, echolux_grid* structure, echolux_grid* flow,
                                        echolux_error* error);

/* Creates a reconstructor from the current state of the scan. If the recipe leaves the noise floor open
 * (recipe.noise_floor_db = 0 with levels = noise_floor), it is measured from the scan's file. Without a file it must be
 * set first (echolux_measure_noise_floor). `block_b_scans`: maximum number of B-scan positions per block; 0: a whole
 * volume. `device` may be NULL. */
ECHOLUX_API echolux_status echolux_reconstructor_create(const echolux_scan* scan, const echolux_device* device,
                                                        int64_t block_b_scans, echolux_reconstructor** reconstructor,
                                                        echolux_error* error);

/* Returns the grids of the volumes that it produces. `flow` may be NULL. */
ECHOLUX_API echolux_status echolux_reconstructor_grid(const echolux_reconstructor* reconstructor,
                                                      echolux_grid* structure, echolux_grid* flow,
                                                      echolux_error* error);

/* Writes the name of the device, such as "cpu (2 threads, AVX2)" or "cuda (NVIDIA H200, fused)". */
ECHOLUX_API echolux_status echolux_reconstructor_device(const echolux_reconstructor* reconstructor, char* buffer,
                                                        size_t size, size_t* needed, echolux_error* error);

/* Writes the provenance of the volumes, one line per entry as in echolux_volume_provenance(). Use it for volumes that
 * the caller creates from the voxels. ECHOLUX_BAD_FILE: a calibration file of the scan no longer exists. */
ECHOLUX_API echolux_status echolux_reconstructor_provenance(const echolux_reconstructor* reconstructor, char* buffer,
                                                            size_t size, size_t* needed, echolux_error* error);

/* Memory kinds. Pinned memory is allocated with cudaHostAlloc or registered with cudaHostRegister. */
enum { ECHOLUX_HOST = 0, ECHOLUX_PINNED = 1, ECHOLUX_ON_DEVICE = 2 };

/* Ordering of the library's GPU work with the caller's, without waiting on the host.
 * ECHOLUX_SYNC_NONE: the memory is ready now, and may be reused after echolux_reconstructor_wait().
 * ECHOLUX_SYNC_STREAM: `cuda` is a cudaStream_t (NULL: CUDA's default stream). The library's work runs after work
 * already enqueued on the stream. Work enqueued later runs after the voxels are written.
 * ECHOLUX_SYNC_EVENT: `cuda` is a cudaEvent_t. A block waits for its event; a place records its event after the voxels.
 *
 * Streams and events must belong to the reconstructing GPU. They are for blocks in pinned or device memory and places
 * in device memory. The host then waits only in echolux_reconstructor_free().
 *
 * While the stream is being captured into a CUDA graph, the block becomes part of the graph. This is not possible with
 * a running background. Submit one such block before the capture, because the first one allocates. The completion
 * number returned by submit() is then meaningless, and launches of the graph must not overlap with other work of the
 * reconstructor. */
enum { ECHOLUX_SYNC_NONE = 0, ECHOLUX_SYNC_STREAM = 1, ECHOLUX_SYNC_EVENT = 2 };

/* A number of whole B-scans of raw spectra: [b_scans][b_repeats][a_scans][a_repeats] lines of line_bytes each. */
typedef struct echolux_block {
    size_t size;
    const void* data;
    int64_t bytes;
    int32_t memory; /* ECHOLUX_HOST ... */
    int32_t sync;   /* ECHOLUX_SYNC_...; calls that read the block on the host accept only NONE */
    void* cuda;     /* the stream or event */
    int64_t volume; /* volume number; blocks of a volume must arrive in order */
    int64_t first_b_scan;
    int64_t b_scans;
    int64_t frame_offset_bytes; /* before the first line of each acquired B-scan */
    int64_t frame_stride_bytes; /* distance between acquired B-scans; 0: contiguous */
} echolux_block;

/* Destination of voxels. Voxel (z, a, b) is written to data + (b - first_b_scan) * b_scan_bytes + a * a_scan_bytes +
 * z * voxel_bytes. */
typedef struct echolux_place {
    size_t size;
    void* data;
    int64_t bytes;  /* size of the memory at `data` */
    int32_t memory; /* ECHOLUX_HOST, ECHOLUX_PINNED or ECHOLUX_ON_DEVICE */
    int32_t sync;   /* the structure's value also applies to flow */
    void* cuda;
    int64_t first_b_scan; /* B-scan of the volume that is stored at `data` */
    int64_t a_scan_bytes; /* 0 if contiguous */
    int64_t b_scan_bytes; /* 0 if contiguous */
} echolux_place;

/* Enqueues the block and returns. Allocates nothing, except staging buffers for the first pageable block. `flow` may be
 * NULL. `*completion` (may be NULL) can be passed to echolux_reconstructor_wait(); until then, leave the memory of the
 * block and its places unchanged. */
ECHOLUX_API echolux_status echolux_reconstructor_submit(echolux_reconstructor* reconstructor,
                                                        const echolux_block* block, const echolux_place* structure,
                                                        const echolux_place* flow, uint64_t* completion,
                                                        echolux_error* error);

/* Updates the running background from a block that is not reconstructed. */
ECHOLUX_API echolux_status echolux_reconstructor_prime(echolux_reconstructor* reconstructor, const echolux_block* block,
                                                       echolux_error* error);

/* Waits until the work of `completion` is done. Returns its error, if any. */
ECHOLUX_API echolux_status echolux_reconstructor_wait(echolux_reconstructor* reconstructor, uint64_t completion,
                                                      echolux_error* error);

/* Releases completed blocks without blocking. */
ECHOLUX_API echolux_status echolux_reconstructor_collect(echolux_reconstructor* reconstructor, echolux_error* error);

/* ---- whole scans ------------------------------------------------------------------------------------------------ */

/* Part of a scan to reconstruct. All zeros: the whole first volume. */
typedef struct echolux_part {
    size_t size;
    int64_t volume;
    int64_t b_scan_begin; /* positions [begin, end) */
    int64_t b_scan_end;   /* 0 for the end of the volume */
    echolux_progress progress;
    void* user;
} echolux_part;

/* Reads and reconstructs one volume of a scan that has a file. `device` and `part` may be NULL. `flow` may be NULL;
 * `*flow` is set to NULL if flow.method is none. The caller owns both volumes. */
ECHOLUX_API echolux_status echolux_reconstruct(const echolux_scan* scan, const echolux_device* device,
                                               const echolux_part* part, echolux_volume** structure,
                                               echolux_volume** flow, echolux_error* error);

/* Creates a batch for many scans of one protocol, or many parts of them, one after another. Plan, tables and device
 * memory are kept between calls. `device` may be NULL. */
ECHOLUX_API echolux_status echolux_batch_create(const echolux_device* device, echolux_batch** batch,
                                                echolux_error* error);

/* Reconstructs like echolux_reconstruct(), with identical bits and errors. A new plan is made if the scan differs from
 * the previous one in geometry, format, calibration, recipe, stages or measured noise floor. Measurements are kept
 * while the scan's settings and file stay unchanged. The batch remains usable after an error. */
ECHOLUX_API echolux_status echolux_batch_reconstruct(echolux_batch* batch, const echolux_scan* scan,
                                                     const echolux_part* part, echolux_volume** structure,
                                                     echolux_volume** flow, echolux_error* error);

/* Sets `*plans` to the number of plans made. */
ECHOLUX_API echolux_status echolux_batch_plans(const echolux_batch* batch, int64_t* plans, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
