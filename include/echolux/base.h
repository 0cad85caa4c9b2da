/* What every header of the interface needs: its version, errors, and the handles that calls pass on. */
#ifndef ECHOLUX_BASE_H
#define ECHOLUX_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ECHOLUX_INTERFACE_VERSION 5

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
typedef struct echolux_volume echolux_volume;             /* voxels in host memory, and what they mean; never changes */
typedef struct echolux_series echolux_series;             /* volumes of files, one for each time point */
typedef struct echolux_view echolux_view;                 /* camera, colours, light and cuts of a picture */
typedef struct echolux_renderer echolux_renderer;         /* makes pictures */
typedef struct echolux_live echolux_live;                 /* a source, reconstructed while it acquires */
typedef struct echolux_simulation echolux_simulation;     /* a scene in front of a simulated instrument */
typedef struct echolux_validation echolux_validation;     /* what a validation of this build found */
typedef struct echolux_batch echolux_batch;               /* many scans, or parts of them, by one plan */
typedef struct echolux_tissue echolux_tissue;             /* settings of what is done with tissue */
typedef struct echolux_surfaces echolux_surfaces;         /* between layers of a volume */
typedef struct echolux_registration echolux_registration; /* where the B-scans of volumes belong */
typedef struct echolux_vessel_flow echolux_vessel_flow;   /* flow through a vessel over time */

/* Each has an echolux_..._free: freeing NULL does nothing, and use of a freed handle is detected where possible
 * (ECHOLUX_BAD_ARGUMENT). */

/* ---- progress --------------------------------------------------------------------------------------------------- */

/* Called from time to time on the calling thread; a result other than 0 stops the work with ECHOLUX_CANCELLED. `total`
 * 0: unknown. */
typedef int (*echolux_progress)(void* user, const char* task, int64_t done, int64_t total, const char* unit);

#ifdef __cplusplus
}
#endif
#endif
