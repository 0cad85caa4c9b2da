/* Reconstruction: blocks of spectra in, voxels out; whole scans, and many of them. */
#ifndef ECHOLUX_RECONSTRUCT_H
#define ECHOLUX_RECONSTRUCT_H

#include "scan.h"
#include "volume.h"

#ifdef __cplusplus
extern "C" {
#endif

ECHOLUX_API echolux_status echolux_reconstructor_free(echolux_reconstructor* reconstructor); /* waits for its work */
ECHOLUX_API echolux_status echolux_batch_free(echolux_batch* batch);

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

/* ---- reconstructors --------------------------------------------------------------------------------------------- */

/* What the scan's settings would produce, without allocating it. `flow` may be NULL; without flow its sizes are 0. */
ECHOLUX_API echolux_status echolux_plan(const echolux_scan* scan, echolux_grid* structure, echolux_grid* flow,
                                        echolux_error* error);

/* Takes the scan as it is now. A noise floor that the recipe leaves open (recipe.noise_floor_db = 0 with levels =
 * noise_floor) is measured from the scan's file; without one it has to be set (echolux_measure_noise_floor).
 * `block_b_scans`: maximum number of B-scan positions per block; 0: all of a volume. `device` may be NULL. */
ECHOLUX_API echolux_status echolux_reconstructor_create(const echolux_scan* scan, const echolux_device* device,
                                                        int64_t block_b_scans, echolux_reconstructor** reconstructor,
                                                        echolux_error* error);
ECHOLUX_API echolux_status echolux_reconstructor_grid(const echolux_reconstructor* reconstructor,
                                                      echolux_grid* structure, echolux_grid* flow,
                                                      echolux_error* error);

/* Name of the device that reconstructs: "cpu (2 threads, AVX2)", "cuda (NVIDIA H200, fused)". */
ECHOLUX_API echolux_status echolux_reconstructor_device(const echolux_reconstructor* reconstructor, char* buffer,
                                                        size_t size, size_t* needed, echolux_error* error);

/* How its volumes are made, a line each as of echolux_volume_provenance(), for those that the caller makes of its
 * voxels. ECHOLUX_BAD_FILE: a calibration file of the scan is no longer there. */
ECHOLUX_API echolux_status echolux_reconstructor_provenance(const echolux_reconstructor* reconstructor, char* buffer,
                                                            size_t size, size_t* needed, echolux_error* error);

enum { ECHOLUX_HOST = 0, ECHOLUX_PINNED = 1, ECHOLUX_ON_DEVICE = 2 }; /* pinned: cudaHostAlloc, cudaHostRegister */

/* How the library's work is ordered with the caller's on the GPU; neither waits on the host.
 * ECHOLUX_SYNC_NONE: the memory is ready now, and free again after echolux_reconstructor_wait().
 * ECHOLUX_SYNC_STREAM: a cudaStream_t (NULL is CUDA's default stream): work enqueued on it before comes first, work
 * enqueued on it later comes after the voxels.
 * ECHOLUX_SYNC_EVENT: a cudaEvent_t: a block waits for its event, a place records its event after the voxels.
 *
 * Both belong to the GPU that reconstructs, and are for blocks in pinned or device memory and places in device memory.
 * Then nothing has to wait on the host, except echolux_reconstructor_free().
 *
 * While the stream is captured into a CUDA graph, the graph takes the block (not with a running background; submit one
 * such block before, which allocates). The number that submit() returns means nothing then, and launches of the graph
 * may not overlap with other work of the reconstructor. */
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

/* Many scans of one protocol, or many parts of them, one after the other: plan, tables and the device's memory stay
 * from one call to the next. `device` may be NULL. */
ECHOLUX_API echolux_status echolux_batch_create(const echolux_device* device, echolux_batch** batch,
                                                echolux_error* error);

/* The same bits and errors as echolux_reconstruct(). It plans anew where the scan differs from the one before in
 * geometry, format, calibration, recipe or stages; a noise floor that is measured counts as part of the recipe. What
 * is measured of a scan stays as long as its settings and its file do. After an error the batch can be used again. */
ECHOLUX_API echolux_status echolux_batch_reconstruct(echolux_batch* batch, const echolux_scan* scan,
                                                     const echolux_part* part, echolux_volume** structure,
                                                     echolux_volume** flow, echolux_error* error);

/* How many plans it has made. */
ECHOLUX_API echolux_status echolux_batch_plans(const echolux_batch* batch, int64_t* plans, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
