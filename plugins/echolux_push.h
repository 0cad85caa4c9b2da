/* Pushes raw spectra from an acquisition program into Echolux, through a ring of blocks in shared memory that
   `echolux view --source shm:NAME` reads. Only this header is needed: C11 or C++11 with GCC or Clang on Linux,
   without a library to link. docs/push.md is the guide, plugins/sample/push.c a working example. For the network,
   see plugins/echolux_push_tcp.h, which also works on Windows: there this header has all but the shared memory.

     echolux_push_stream stream = {.samples = 2048, .a_scans = 512, .b_scans = 512, .sample_format = ECHOLUX_PUSH_U16};
     echolux_push push;
     if (echolux_push_create(&push, "oct", &stream) != 0) fail(push.problem);
     for (;;) {
         memcpy(echolux_push_begin(&push), spectra, bytes);   // or let the digitizer write there
         echolux_push_publish(&push, NULL);
     }
     echolux_push_close(&push);

   The producer never waits: each block replaces the oldest one, whether it was read or not. Viewers can start, stop
   and crash without affecting the producer, because they only copy blocks and never write to the shared memory. The
   `turn` of a slot shows whether a block was overwritten during a copy: it is odd while the block is written (a
   seqlock). The producer holds a kernel lock on the memory, which the kernel releases when the process ends for any
   reason.

   Compatibility: incompatible changes increase ECHOLUX_PUSH_VERSION. Reserved fields are 0. All numbers are
   little-endian. Call the functions from one thread at a time. */
#ifndef ECHOLUX_PUSH_H
#define ECHOLUX_PUSH_H

#if defined(_WIN32)
#if defined(_WINSOCKAPI_) && !defined(_WINSOCK2API_)
#error "include the headers of Echolux before windows.h, or define WIN32_LEAN_AND_MEAN"
#endif
#ifndef NOMINMAX
#define NOMINMAX 1
#endif
#include <winsock2.h>

#include <windows.h>
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if !defined(__linux__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "echolux_push.h needs Linux or Windows on a little-endian machine; other systems send the bytes of docs/push.md"
#endif
#if !defined(F_OFD_SETLK) || !defined(MAP_POPULATE)
#error "include echolux_push.h before the system's headers, or compile with -D_GNU_SOURCE"
#endif
#endif
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
extern "C" {
#endif

#define ECHOLUX_PUSH_VERSION 1
#define ECHOLUX_PUSH_MAGIC "ECHORING"
#define ECHOLUX_PUSH_PREFIX "/dev/shm/echolux-push-" /* followed by the name of the ring */

/* ---- the system -------------------------------------------------------------------------------------------------- */

/* Internal to this header: atomic access, a monotonic clock and the numbers that identify a producer. On Windows the
   functions of the system are used, which every compiler has. Its reading functions write the value that they find. */
#if defined(_WIN32)
static inline uint32_t echolux_push_load32(const uint32_t* from) {
    return (uint32_t)InterlockedCompareExchange((volatile LONG*)(uintptr_t)from, 0, 0);
}
static inline uint64_t echolux_push_load64(const uint64_t* from) {
    return (uint64_t)InterlockedCompareExchange64((volatile LONG64*)(uintptr_t)from, 0, 0);
}
static inline void echolux_push_store32(uint32_t* to, uint32_t value) {
    (void)InterlockedExchange((volatile LONG*)to, (LONG)value);
}
static inline void echolux_push_store64(uint64_t* to, uint64_t value) {
    (void)InterlockedExchange64((volatile LONG64*)to, (LONG64)value);
}
static inline void echolux_push_fence(void) {
    MemoryBarrier();
}
static inline int64_t echolux_push_now_ns(void) {
    LARGE_INTEGER ticks, per_s;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_s);
    return ticks.QuadPart / per_s.QuadPart * 1000000000 + ticks.QuadPart % per_s.QuadPart * 1000000000 / per_s.QuadPart;
}
static inline uint64_t echolux_push_date_ns(void) {
    FILETIME now; /* 100 ns since 1601 */
    GetSystemTimeAsFileTime(&now);
    return (((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) - UINT64_C(116444736000000000)) * 100;
}
static inline int64_t echolux_push_process(void) {
    return (int64_t)GetCurrentProcessId();
}
#else
static inline uint32_t echolux_push_load32(const uint32_t* from) {
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
static inline uint64_t echolux_push_load64(const uint64_t* from) {
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
static inline void echolux_push_store32(uint32_t* to, uint32_t value) {
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
static inline void echolux_push_store64(uint64_t* to, uint64_t value) {
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
static inline void echolux_push_fence(void) {
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
    __sync_synchronize(); /* the only fence that GCC's thread sanitizer supports */
#else
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}
static inline int64_t echolux_push_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_nsec;
}
static inline uint64_t echolux_push_date_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline int64_t echolux_push_process(void) {
    return (int64_t)getpid();
}
#endif

/* ---- the stream -------------------------------------------------------------------------------------------------- */

/* Sample formats. PACKED12 stores two samples in three little-endian bytes:
   b0 | (b1 & 15) << 8 and b1 >> 4 | b2 << 4. */
enum {
    ECHOLUX_PUSH_U8 = 0,
    ECHOLUX_PUSH_U16 = 1,
    ECHOLUX_PUSH_U32 = 2,
    ECHOLUX_PUSH_I16 = 3,
    ECHOLUX_PUSH_F32 = 4,
    ECHOLUX_PUSH_PACKED12 = 5
};
enum { ECHOLUX_PUSH_INTERLEAVED = 0, ECHOLUX_PUSH_PLANAR = 1 }; /* channels alternate by sample, or by spectrum */
enum { ECHOLUX_PUSH_VOLUME_STARTS = 1 };                        /* marker of the first block of a volume */
enum { ECHOLUX_PUSH_MAKING = 0, ECHOLUX_PUSH_RUNNING = 1, ECHOLUX_PUSH_ENDED = 2 };
enum { ECHOLUX_PUSH_MAX_SLOTS = 4096 };

/* Description of the stream. Zero selects a default where possible: 1 channel, 1 repeat, no gap, no flyback, one
   B-scan per block, and as many slots as fit into 64 MiB (4 to 64). */
typedef struct echolux_push_stream {
    uint32_t struct_size; /* sizeof(echolux_push_stream), set by echolux_push_create() */
    int32_t sample_format;
    int32_t big_endian; /* for samples of more than one byte */
    int32_t shift;      /* right shift of each sample: 4 for 12 bits in the high end of 16 */
    int32_t bits;       /* significant bits after the shift; 0: all */
    int32_t channels;
    int32_t channel_layout;
    int32_t reserved;
    int64_t samples;            /* per spectrum and channel */
    int64_t line_bytes;         /* distance between lines; 0: no gap */
    int64_t frame_offset_bytes; /* header before the first line of each acquired B-scan */
    int64_t a_scans;
    int64_t b_scans;
    int64_t a_repeats;
    int64_t b_repeats;
    int64_t flyback_lines;  /* at the end of each acquired B-scan */
    int64_t flyback_frames; /* after each volume; not sent */
    double line_rate_hz;    /* 0 if unknown */
    int64_t block_b_scans;  /* B-scan positions per block; the last block of a volume may have fewer */
    int64_t slots;          /* number of blocks in the ring */
    char name[64];          /* display name of the instrument: UTF-8, zero-terminated */
} echolux_push_stream;

/* Position and time of a block. */
typedef struct echolux_push_block {
    uint64_t sequence;    /* set by echolux_push_publish(): number of the block */
    int64_t volume;       /* -1, also in first_b_scan: follows the previous block */
    int64_t first_b_scan; /* -1 */
    int64_t b_scans;      /* 0 for block_b_scans, or the rest of the volume */
    uint64_t lost;        /* total number of blocks lost by the device since the start */
    double time_s;        /* time of the first line by the device's clock; negative: time since creation */
    uint32_t markers;     /* ECHOLUX_PUSH_VOLUME_STARTS */
    uint32_t reserved;
    uint64_t bytes; /* set by echolux_push_publish() */
} echolux_push_block;

/* ---- memory layout ---------------------------------------------------------------------------------------------- */

typedef struct echolux_push_slot { /* 128 bytes */
    uint64_t turn;                 /* 2 * sequence + 1 while being written, 2 * sequence + 2 when complete */
    echolux_push_block block;
    uint8_t reserved[128 - 8 - 64];
} echolux_push_slot;

typedef struct echolux_push_header { /* the first 4096 bytes */
    char magic[8];                   /* ECHOLUX_PUSH_MAGIC */
    uint32_t version;
    uint32_t header_bytes; /* 4096 */
    uint64_t total_bytes;
    uint64_t slots_at;   /* offset of echolux_push_slot[stream.slots] */
    uint64_t data_at;    /* offset of the blocks; sequence s is at data_at + s % slots * slot_bytes */
    uint64_t slot_bytes; /* size reserved for a block, a multiple of 4096 */
    uint64_t generation; /* unique for each producer: nanoseconds since 1970 at creation */
    int64_t pid;         /* process of the producer, for messages */
    echolux_push_stream stream;
    uint8_t reserved0[512 - 64 - 192];
    uint64_t published; /* number of complete blocks, which is the sequence number of the next one */
    uint8_t reserved1[56];
    uint32_t state; /* ECHOLUX_PUSH_RUNNING ...; written last */
    uint8_t reserved2[4096 - 580];
} echolux_push_header;

typedef char echolux_push_check_stream[sizeof(echolux_push_stream) == 192 ? 1 : -1];
typedef char echolux_push_check_block[sizeof(echolux_push_block) == 64 ? 1 : -1];
typedef char echolux_push_check_slot[sizeof(echolux_push_slot) == 128 ? 1 : -1];
typedef char echolux_push_check_header[sizeof(echolux_push_header) == 4096 ? 1 : -1];

/* State of a producer. Users only read `problem` and `stream`. */
typedef struct echolux_push {
    echolux_push_stream stream; /* with defaults filled in */
    uint64_t block_bytes;       /* size of a block of block_b_scans */
    echolux_push_header* ring;  /* NULL if not created */
    int descriptor;             /* -1: private memory of a TCP sender */
    uint64_t sequence;          /* of the next block */
    int64_t next_b_scan;        /* counted over volumes */
    uint64_t lost;
    int64_t since_ns; /* when it was created */
    char path[96];
    char problem[160]; /* error message, one line in English */
} echolux_push;

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* Returns the bits per sample, or 0 for an unknown format. */
static inline int64_t echolux_push_bits(int32_t sample_format) {
    static const int64_t bits[] = {8, 16, 32, 16, 32, 12};
    return sample_format >= 0 && sample_format <= ECHOLUX_PUSH_PACKED12 ? bits[sample_format] : 0;
}

/* Returns the distance between lines in bytes. */
static inline int64_t echolux_push_line_bytes(const echolux_push_stream* stream) {
    if (stream->line_bytes > 0) return stream->line_bytes;
    return (stream->samples * stream->channels * echolux_push_bits(stream->sample_format) + 7) / 8;
}

/* Returns the size of a B-scan position: b_repeats acquired B-scans. */
static inline int64_t echolux_push_position_bytes(const echolux_push_stream* stream) {
    const int64_t lines = stream->a_scans * stream->a_repeats + stream->flyback_lines;
    return stream->b_repeats * (stream->frame_offset_bytes + lines * echolux_push_line_bytes(stream));
}

/* Rounds up to whole pages. */
static inline uint64_t echolux_push_pages(uint64_t bytes) {
    return (bytes + 4095) / 4096 * 4096;
}

/* Stores an error message and returns -1. */
static inline int echolux_push_fail(echolux_push* push, const char* problem) {
    snprintf(push->problem, sizeof push->problem, "%s", problem);
    return -1;
}

/* Fills in the defaults and checks the stream. Returns -1 if it is invalid. */
static inline int echolux_push_settle(echolux_push* push, const echolux_push_stream* wanted) {
    echolux_push_stream* s = &push->stream;
    *s = *wanted;
    s->struct_size = (uint32_t)sizeof *s;
    s->name[sizeof s->name - 1] = 0;
    if (s->channels == 0) s->channels = 1;
    if (s->a_repeats == 0) s->a_repeats = 1;
    if (s->b_repeats == 0) s->b_repeats = 1;
    if (s->block_b_scans == 0) s->block_b_scans = 1;
    if (s->samples < 1 || s->samples > 1 << 20) return echolux_push_fail(push, "stream.samples: expected 1 to 2^20");
    if (s->a_scans < 1 || s->a_scans > 1 << 24) return echolux_push_fail(push, "stream.a_scans: expected 1 to 2^24");
    if (s->b_scans < 1 || s->b_scans > 1 << 24) return echolux_push_fail(push, "stream.b_scans: expected 1 to 2^24");
    if (s->channels < 1 || s->channels > 64) return echolux_push_fail(push, "stream.channels: expected 1 to 64");
    if (echolux_push_bits(s->sample_format) == 0) return echolux_push_fail(push, "stream.sample_format: there is none");
    if (s->a_repeats < 1 || s->a_repeats > 1 << 16 || s->b_repeats < 1 || s->b_repeats > 1 << 16)
        return echolux_push_fail(push, "stream.a_repeats and b_repeats: expected 1 to 65536");
    if (s->line_bytes < 0 || s->line_bytes > (int64_t)1 << 32 || s->frame_offset_bytes < 0 ||
        s->frame_offset_bytes > (int64_t)1 << 32 || s->flyback_lines < 0 || s->flyback_lines > 1 << 24)
        return echolux_push_fail(push, "stream.line_bytes, frame_offset_bytes and flyback_lines: out of range");
    if (s->block_b_scans < 1 || s->block_b_scans > s->b_scans)
        return echolux_push_fail(push, "stream.block_b_scans: expected 1 to b_scans");
    /* Check in floating point first, where no product of valid numbers overflows. */
    {
        const double lines = (double)s->a_scans * (double)s->a_repeats + (double)s->flyback_lines;
        const double frame = (double)s->frame_offset_bytes + lines * (double)echolux_push_line_bytes(s);
        if ((double)s->block_b_scans * (double)s->b_repeats * frame > (double)((int64_t)1 << 34))
            return echolux_push_fail(push, "a block is larger than 16 GiB: choose a smaller stream.block_b_scans");
    }
    push->block_bytes = (uint64_t)(s->block_b_scans * echolux_push_position_bytes(s));
    if (s->slots == 0) {
        s->slots = (int64_t)((64u << 20) / push->block_bytes);
        s->slots = s->slots < 4 ? 4 : s->slots > 64 ? 64 : s->slots;
    }
    if (s->slots < 2 || s->slots > ECHOLUX_PUSH_MAX_SLOTS)
        return echolux_push_fail(push, "stream.slots: expected 2 to 4096");
    return 0;
}

static inline uint64_t echolux_push_total_bytes(const echolux_push* push) {
    const uint64_t slots = (uint64_t)push->stream.slots;
    return 4096 + echolux_push_pages(slots * sizeof(echolux_push_slot)) + slots * echolux_push_pages(push->block_bytes);
}

/* Initialises a ring in zeroed memory. */
static inline void echolux_push_lay_out(echolux_push* push, void* memory) {
    echolux_push_header* ring = (echolux_push_header*)memory;
    push->since_ns = echolux_push_now_ns();
    memcpy(ring->magic, ECHOLUX_PUSH_MAGIC, sizeof ring->magic);
    ring->version = ECHOLUX_PUSH_VERSION;
    ring->header_bytes = 4096;
    ring->total_bytes = echolux_push_total_bytes(push);
    ring->slots_at = 4096;
    ring->data_at = 4096 + echolux_push_pages((uint64_t)push->stream.slots * sizeof(echolux_push_slot));
    ring->slot_bytes = echolux_push_pages(push->block_bytes);
    ring->generation = echolux_push_date_ns();
    ring->pid = echolux_push_process();
    ring->stream = push->stream;
    push->ring = ring;
    push->sequence = push->lost = 0;
    push->next_b_scan = 0;
    echolux_push_store32(&ring->state, ECHOLUX_PUSH_RUNNING);
}

#if !defined(_WIN32)
/* ---- the shared memory ------------------------------------------------------------------------------------------- */

/* Returns whether a process holds the ring's producer lock, or -1 if unknown. */
static inline int echolux_push_is_produced(int descriptor) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

/* Takes the producer lock. The kernel releases it when the process ends. */
static inline int echolux_push_lock(int descriptor) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

/* Returns whether the name still refers to this memory. */
static inline int echolux_push_is_current(const char* path, int descriptor) {
    struct stat named, held;
    return stat(path, &named) == 0 && fstat(descriptor, &held) == 0 && named.st_dev == held.st_dev &&
           named.st_ino == held.st_ino;
}

/* Removes the ring of a producer that has ended. Returns -1 if its producer still runs. */
static inline int echolux_push_remove_leftover(const char* path) {
    const int old = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    int result = 0;
    if (old < 0) return errno == ENOENT ? 0 : -1;
    if (echolux_push_lock(old) == 0) {
        if (echolux_push_is_current(path, old)) unlink(path);
    } else {
        result = -1;
    }
    close(old);
    return result;
}

/* Creates the shared memory and takes the producer lock. Returns its descriptor, or -1. */
static inline int echolux_push_claim(echolux_push* push) {
    int tries;
    for (tries = 0; tries < 16; ++tries) {
        const int fresh = open(push->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fresh >= 0) {
            if (echolux_push_lock(fresh) == 0 && echolux_push_is_current(push->path, fresh)) return fresh;
            close(fresh); /* another producer was faster */
            continue;
        }
        if (errno != EEXIST) {
            snprintf(push->problem, sizeof push->problem, "cannot create %s: %s", push->path, strerror(errno));
            return -1;
        }
        if (echolux_push_remove_leftover(push->path) != 0) {
            snprintf(push->problem, sizeof push->problem, "%s belongs to another producer that is running", push->path);
            return -1;
        }
    }
    return echolux_push_fail(push, "other producers keep taking the name");
}

static inline int echolux_push_is_name(const char* name) {
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = strlen(name);
    return length >= 1 && length <= 64 && strspn(name, known) == length && name[0] != '.';
}

/* Creates a ring. The name consists of letters, digits, '.', '_' and '-'. Replaces the ring of a producer that has
   ended. Returns 0, or -1 with a message in push->problem. */
static inline int echolux_push_create(echolux_push* push, const char* name, const echolux_push_stream* stream) {
    void* memory;
    uint64_t bytes;
    memset(push, 0, sizeof *push);
    push->descriptor = -1;
    if (!echolux_push_is_name(name))
        return echolux_push_fail(push, "the name: expected 1 to 64 letters, digits, '.', '_' or '-'");
    if (echolux_push_settle(push, stream) != 0) return -1;
    snprintf(push->path, sizeof push->path, "%s%s", ECHOLUX_PUSH_PREFIX, name);
    push->descriptor = echolux_push_claim(push);
    if (push->descriptor < 0) return -1;
    bytes = echolux_push_total_bytes(push);
    /* Allocate all pages now, so that a lack of memory is reported here and not by a crash during acquisition. */
    errno = posix_fallocate(push->descriptor, 0, (off_t)bytes);
    memory = errno != 0 ? MAP_FAILED
                        : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, push->descriptor, 0);
    if (memory == MAP_FAILED) {
        snprintf(push->problem, sizeof push->problem, "no %llu MiB of shared memory for %lld blocks: %s",
                 (unsigned long long)(bytes >> 20), (long long)push->stream.slots, strerror(errno));
        unlink(push->path);
        close(push->descriptor);
        push->descriptor = -1;
        return -1;
    }
    echolux_push_lay_out(push, memory);
    return 0;
}
#endif

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static inline echolux_push_slot* echolux_push_slot_of(const echolux_push* push, uint64_t sequence) {
    void* slots = (char*)push->ring + 4096;
    return (echolux_push_slot*)slots + (size_t)(sequence % (uint64_t)push->stream.slots);
}

static inline void* echolux_push_data_of(const echolux_push* push, uint64_t sequence) {
    const uint64_t slots = (uint64_t)push->stream.slots;
    const uint64_t data_at = 4096 + echolux_push_pages(slots * sizeof(echolux_push_slot));
    return (char*)push->ring + (size_t)(data_at + sequence % slots * echolux_push_pages(push->block_bytes));
}

/* Returns memory for the next block, push->block_bytes bytes, to be filled at any speed. */
static inline void* echolux_push_begin(echolux_push* push) {
    echolux_push_slot* slot = echolux_push_slot_of(push, push->sequence);
    echolux_push_store64(&slot->turn, 2 * push->sequence + 1);
    echolux_push_fence(); /* before any write to the block */
    return echolux_push_data_of(push, push->sequence);
}

/* Publishes the block that was begun. `place` may be NULL: the block follows the previous one. Returns 0, or -1 if
   the position is invalid and the block was not published. */
static inline int echolux_push_publish(echolux_push* push, const echolux_push_block* place) {
    const echolux_push_stream* s = &push->stream;
    echolux_push_slot* slot = echolux_push_slot_of(push, push->sequence);
    echolux_push_block block;
    memset(&block, 0, sizeof block);
    block.volume = block.first_b_scan = -1;
    block.time_s = -1;
    block.lost = push->lost;
    if (place != NULL) block = *place;
    if (block.lost < push->lost) block.lost = push->lost;
    if (block.volume < 0 || block.first_b_scan < 0) {
        /* The gap corresponds to the number of lost blocks. */
        const int64_t in_volume = (s->b_scans + s->block_b_scans - 1) / s->block_b_scans;
        int64_t at = push->next_b_scan / s->b_scans * in_volume +
                     (push->next_b_scan % s->b_scans + s->block_b_scans - 1) / s->block_b_scans;
        at += (int64_t)(block.lost - push->lost);
        if ((block.markers & ECHOLUX_PUSH_VOLUME_STARTS) != 0) at = (at + in_volume - 1) / in_volume * in_volume;
        block.volume = at / in_volume;
        block.first_b_scan = at % in_volume * s->block_b_scans;
    }
    if (block.b_scans == 0) {
        const int64_t left = s->b_scans - block.first_b_scan;
        block.b_scans = left < s->block_b_scans ? left : s->block_b_scans;
    }
    if (block.b_scans < 1 || block.b_scans > s->block_b_scans || block.first_b_scan > s->b_scans - block.b_scans)
        return echolux_push_fail(push, "block.first_b_scan and b_scans lie outside of the volume");
    if (!(block.time_s >= 0)) block.time_s = 1e-9 * (double)(echolux_push_now_ns() - push->since_ns);
    block.sequence = push->sequence;
    block.bytes = (uint64_t)(block.b_scans * echolux_push_position_bytes(s));
    slot->block = block;
    push->lost = block.lost;
    push->next_b_scan = block.volume * s->b_scans + block.first_b_scan + block.b_scans;
    echolux_push_store64(&slot->turn, 2 * push->sequence + 2);
    echolux_push_store64(&push->ring->published, ++push->sequence);
    return 0;
}

/* Ends the stream: viewers finish as at the end of a file. Without this call they wait for the next producer. */
static inline void echolux_push_end(echolux_push* push) {
    if (push->ring != NULL) echolux_push_store32(&push->ring->state, ECHOLUX_PUSH_ENDED);
}

#if !defined(_WIN32)
/* Releases the name. Viewers keep their mapping until they close it. */
static inline void echolux_push_close(echolux_push* push) {
    if (push->ring == NULL) return;
    if (push->descriptor >= 0) {
        const uint64_t bytes = echolux_push_total_bytes(push);
        if (echolux_push_is_current(push->path, push->descriptor)) unlink(push->path);
        munmap(push->ring, bytes);
        close(push->descriptor);
    }
    push->ring = NULL;
    push->descriptor = -1;
}
#endif

/* ---- viewer side ------------------------------------------------------------------------------------------------ */

enum { ECHOLUX_PUSH_NOT_YET = 0, ECHOLUX_PUSH_TAKEN = 1, ECHOLUX_PUSH_OVERTAKEN = -1, ECHOLUX_PUSH_WRONG = -2 };

/* Copies block `sequence` from its slot and `data` to `to`, which has `room` bytes. Returns TAKEN if the copy is
   complete, OVERTAKEN if another block has replaced it, possibly during the copy, and WRONG if the block is empty or
   larger than `room`. */
static inline int echolux_push_take(const echolux_push_slot* slot, const void* data, uint64_t sequence,
                                    echolux_push_block* block, void* to, uint64_t room) {
    const uint64_t before = echolux_push_load64(&slot->turn);
    if (before < 2 * sequence + 2) return ECHOLUX_PUSH_NOT_YET;
    if (before > 2 * sequence + 2) return ECHOLUX_PUSH_OVERTAKEN;
    memcpy(block, &slot->block, sizeof *block);
    if (block->bytes >= 1 && block->bytes <= room) memcpy(to, data, (size_t)block->bytes);
    echolux_push_fence(); /* after the last byte */
    if (echolux_push_load64(&slot->turn) != before) return ECHOLUX_PUSH_OVERTAKEN;
    return block->bytes >= 1 && block->bytes <= room && block->sequence == sequence ? ECHOLUX_PUSH_TAKEN
                                                                                    : ECHOLUX_PUSH_WRONG;
}

#ifdef __cplusplus
}
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif

#endif
