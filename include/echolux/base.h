/* Shared by all headers of the C interface: version, errors, handle types and the progress callback. */
#ifndef ECHOLUX_BASE_H
#define ECHOLUX_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. It is raised with every addition; see echolux_interface_version(). */
#define ECHOLUX_INTERFACE_VERSION 1

#if defined(_WIN32)
#define ECHOLUX_API
#else
#define ECHOLUX_API __attribute__((visibility("default")))
#endif

/* Clears a struct of the interface and sets its size: `echolux_block block; ECHOLUX_INIT(block);` */
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
    ECHOLUX_BAD_ARGUMENT = 1, /* NULL, a wrong struct size, a freed handle or a buffer that is too small */
    ECHOLUX_BAD_SETTING = 2,  /* an invalid value, an unknown key or an impossible combination */
    ECHOLUX_BAD_FILE = 3,     /* missing, truncated, malformed or of the wrong size */
    ECHOLUX_OUTPUT = 4,       /* a result could not be written */
    ECHOLUX_OUT_OF_MEMORY = 5,
    ECHOLUX_DEVICE = 6,      /* a compute or graphics device failed or is missing */
    ECHOLUX_CANCELLED = 7,   /* stopped by a progress callback or a stage */
    ECHOLUX_UNSUPPORTED = 8, /* not available in this build */
    ECHOLUX_NOTHING_YET = 9, /* nothing arrived within the timeout; not an error, try again */
    ECHOLUX_ENDED = 10,      /* no more data will arrive */
    ECHOLUX_INTERNAL = 11
};

/* Describes a failed call. All texts are UTF-8, end with 0 and are truncated to fit. */
typedef struct echolux_error {
    size_t size;
    echolux_status code; /* the status that the call returned */
    char what[512];      /* lower case, no final full stop */
    char where[256];     /* file, key or argument; may be empty */
    char remedy[256];    /* how to fix it; may be empty */
} echolux_error;

/* Returns the interface version of the library. Require a value of at least ECHOLUX_INTERFACE_VERSION. */
ECHOLUX_API uint32_t echolux_interface_version(void);

/* Returns the program version, such as "0.1.0". The string is static. */
ECHOLUX_API const char* echolux_version(void);

/* Returns 1 if this build contains the part "cuda" or "render", otherwise 0. Unknown names return 0. */
ECHOLUX_API int echolux_has(const char* part);

/* ---- handles ---------------------------------------------------------------------------------------------------- */

typedef struct echolux_scan echolux_scan;                   /* layout of recorded spectra, and how to process them */
typedef struct echolux_settings echolux_settings;           /* settings of a scan or a view, accessed by key */
typedef struct echolux_reconstructor echolux_reconstructor; /* blocks of spectra in, voxels out */
typedef struct echolux_volume echolux_volume;               /* voxels in host memory with their metadata; immutable */
typedef struct echolux_series echolux_series;               /* volumes in files, one per time point */
typedef struct echolux_view echolux_view;                   /* camera, colours, light and clipping of a picture */
typedef struct echolux_renderer echolux_renderer;           /* renders pictures on a Vulkan device */
typedef struct echolux_live echolux_live;                   /* a source that is reconstructed while it acquires */
typedef struct echolux_simulation echolux_simulation;       /* a scene in front of a simulated instrument */
typedef struct echolux_batch echolux_batch;         /* reconstructs many scans, or parts of them, with one plan */
typedef struct echolux_operation echolux_operation; /* one run of an operation such as "filter" */

/* Each handle type has an echolux_..._free function. Freeing NULL does nothing. Use of a freed handle is detected where
 * possible (ECHOLUX_BAD_ARGUMENT). */

/* ---- progress --------------------------------------------------------------------------------------------------- */

/* Reports progress, periodically and on the calling thread. A return value other than 0 stops the work with
 * ECHOLUX_CANCELLED. `total` is 0 if it is unknown. */
typedef int (*echolux_progress)(void* user, const char* task, int64_t done, int64_t total, const char* unit);

#ifdef __cplusplus
}
#endif
#endif
