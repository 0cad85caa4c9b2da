/* A plugin that does one thing wrong, selected by its options or at compile time. */
#define _POSIX_C_SOURCE 200809L
#include "plugins/echolux_source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct echolux_device {
    const echolux_host* host;
    char fault[64];
    echolux_stream stream;
    echolux_buffer posted[8];
    uint64_t posts, blocks, silences;
    char* block;
};

static int open_device(const echolux_host* host, const char* fault, echolux_stream* stream, echolux_device** opened) {
    echolux_device* device = calloc(1, sizeof *device);
    device->host = host;
    strncpy(device->fault, fault, sizeof device->fault - 1);
    stream->buffers = strncmp(fault, "posted", 6) == 0 ? ECHOLUX_POSTED : ECHOLUX_RING;
    stream->sample_format = ECHOLUX_U16;
    stream->samples = 16;
    stream->blocks = strcmp(fault, "lends too much") == 0 ? 2 : 8;
    if (strcmp(fault, "open fails") == 0) {
        host->log(host->context, ECHOLUX_LOG_ERROR, "no such\ndevice");
        free(device);
        return ECHOLUX_FAILED;
    }
    if (strcmp(fault, "open fails silently") == 0) {
        free(device);
        return ECHOLUX_FAILED;
    }
    if (strcmp(fault, "open returns nonsense") == 0) {
        free(device);
        return 77;
    }
    if (strcmp(fault, "no device") == 0) {
        free(device);
        return ECHOLUX_OK;
    }
    if (strcmp(fault, "negative samples") == 0) stream->samples = -5;
    if (strcmp(fault, "negative a_scans") == 0) stream->a_scans = -1;
    if (strcmp(fault, "huge scan") == 0) stream->a_scans = stream->a_repeats = INT64_MAX;
    if (strcmp(fault, "endless spectra") == 0) stream->samples = INT64_C(1) << 60;
    if (strcmp(fault, "posted endless b_scans") == 0)
        stream->a_scans = stream->b_scans = stream->block_b_scans = 1 << 20;
    if (strcmp(fault, "posted endless blocks") == 0) {
        stream->a_scans = stream->b_scans = stream->block_b_scans = 1 << 22;
        stream->samples = 1 << 16;
        stream->blocks = 4096;
    }
    if (strcmp(fault, "endless pattern") == 0) stream->a_scans = stream->b_scans = 1 << 20;
    if (strcmp(fault, "short lines") == 0) stream->line_bytes = 3;
    if (strcmp(fault, "sample format") == 0) stream->sample_format = 99;
    if (strcmp(fault, "no blocks") == 0) stream->blocks = 0;
    if (strcmp(fault, "negative offset") == 0) stream->frame_offset_bytes = -8;
    if (strcmp(fault, "channels") == 0) stream->channels = 0;
    if (strcmp(fault, "memory") == 0) stream->memory = 3;
    if (strcmp(fault, "block size") == 0) stream->block_b_scans = 1000;
    if (strcmp(fault, "line rate") == 0) stream->line_rate_hz = strtod("nan", NULL);
    device->stream = *stream;
    device->block = calloc(1, 1 << 16);
    *opened = device;
    return ECHOLUX_OK;
}

/* Hangs longer than any caller waits. */
static void hang(const echolux_device* device, const char* function) {
    const char* found = strstr(device->fault, function);
    if (found == NULL || strcmp(found + strlen(function), " hangs") != 0) return;
    struct timespec pause = {30, 0};
    nanosleep(&pause, NULL);
}

/* Takes longer than the caller waits, but not long enough to delay the rest. */
static void take_time(const echolux_device* device, echolux_block* block, uint64_t number) {
    if (strstr(device->fault, "next is slow") == NULL) return;
    struct timespec pause = {0, 60000000};
    nanosleep(&pause, NULL);
    block->volume = (int64_t)(number / 3);
    block->first_b_scan = (int64_t)(number % 3 * 3);
}

/* Twenty blocks per second for 3 s. Then the source fails for good, or is silent for 3 s before it continues. */
static int keep_pace(echolux_device* device) {
    const int dies = strcmp(device->fault, "dies") == 0;
    if (!dies && strcmp(device->fault, "falls silent") != 0) return ECHOLUX_OK;
    struct timespec pause = {0, 50000000};
    nanosleep(&pause, NULL);
    if (device->blocks < 60) return ECHOLUX_OK;
    if (dies) return ECHOLUX_FAILED;
    return ++device->silences <= 60 ? ECHOLUX_NOTHING_YET : ECHOLUX_OK;
}

static int start_device(echolux_device* device) {
    if (strcmp(device->fault, "start fails") != 0) return ECHOLUX_OK;
    device->host->log(device->host->context, ECHOLUX_LOG_ERROR, "no clock at the input");
    return ECHOLUX_FAILED;
}

static int post_buffer(echolux_device* device, const echolux_buffer* buffer) {
    device->posted[device->posts++ % 8] = *buffer;
    return ECHOLUX_OK;
}

static int play_pattern(echolux_device* device, const echolux_pattern* pattern) {
    (void)device;
    return pattern->points > 0 ? ECHOLUX_OK : ECHOLUX_FAILED;
}

static int next_block(echolux_device* device, int64_t patience_us, echolux_block* block) {
    const echolux_stream* stream = &device->stream;
    const char* fault = device->fault;
    const int pace = keep_pace(device);
    if (pace != ECHOLUX_OK) return pace;
    const uint64_t number = device->blocks++;
    hang(device, "next");
    take_time(device, block, number);
    (void)patience_us;
    block->bytes = stream->buffers == ECHOLUX_POSTED ? device->posted[number % 8].bytes : device->block;
    block->token = stream->buffers == ECHOLUX_POSTED ? device->posted[number % 8].token : number;
    block->b_scans = number % 3 == 2 ? 1 : 3;
    block->size = block->b_scans * stream->b_repeats * stream->a_scans * stream->a_repeats * stream->samples * 2;
    if (strcmp(fault, "no address") == 0) block->bytes = NULL;
    if (strcmp(fault, "size") == 0) block->size = -1;
    if (strcmp(fault, "b_scans") == 0) block->b_scans = -2;
    if (strcmp(fault, "lost") == 0) block->lost_before = -1;
    if (strcmp(fault, "most lost") == 0) block->lost_before = INT64_MAX;
    if (strcmp(fault, "time") == 0) block->time_s = strtod("inf", NULL);
    if (strcmp(fault, "volume alone") == 0) block->volume = 3;
    if (strcmp(fault, "lost leap") == 0) block->lost_before = INT64_C(1) << 40;
    if (strcmp(fault, "outside") == 0) {
        block->volume = 0;
        block->first_b_scan = stream->b_scans;
    }
    if (strcmp(fault, "far outside") == 0) {
        block->volume = 1 << 20;
        block->first_b_scan = INT64_MAX;
    }
    if (strcmp(fault, "volume leap") == 0 || strcmp(fault, "last volume") == 0) {
        block->volume = strcmp(fault, "last volume") == 0 ? INT64_MAX : (1 << 20) + 1;
        block->first_b_scan = 0;
    }
    if (strcmp(fault, "volume back") == 0) {
        block->volume = number == 0 ? 1 << 20 : number == 1 ? 1 << 21 : 0;
        block->first_b_scan = 0;
    }
    if (strcmp(fault, "lent twice") == 0 && number == 3) block->token = 0;
    if (strcmp(fault, "posted token") == 0) block->token = 12345;
    if (strcmp(fault, "posted address") == 0) block->bytes = device->block;
    if (strcmp(fault, "next returns nonsense") == 0) return -9;
    if (strcmp(fault, "next fails") == 0) return ECHOLUX_FAILED;
    return ECHOLUX_OK;
}

static void release_block(echolux_device* device, uint64_t token) {
    (void)device;
    (void)token;
}

static void stop_device(echolux_device* device) {
    hang(device, "stop");
}

static void close_device(echolux_device* device) {
    hang(device, "close");
    free(device->block);
    free(device);
}

#ifndef NO_ENTRY
ECHOLUX_EXPORT const echolux_source* echolux_source_plugin(uint32_t host_version) {
    static echolux_source source;
    (void)host_version;
    source.struct_size = sizeof source;
    source.version = ECHOLUX_SOURCE_VERSION;
    source.open = open_device;
    source.start = start_device;
    source.post = post_buffer;
    source.next = next_block;
    source.release = release_block;
    source.stop = stop_device;
    source.close = close_device;
    source.play = play_pattern;
#if defined(NULL_ENTRY)
    return NULL;
#elif defined(OTHER_VERSION)
    source.version = ECHOLUX_SOURCE_VERSION + 1;
#elif defined(SMALL)
    source.struct_size = offsetof(echolux_source, close);
#elif defined(NO_NEXT)
    source.next = NULL;
#elif defined(NO_RELEASE)
    source.release = NULL;
#endif
    return &source;
}
#endif
