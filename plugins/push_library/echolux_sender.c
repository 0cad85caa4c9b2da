/* The functions of echolux_sender.h over plugins/echolux_push_tcp.h. Senders are numbers in a table, so that a number
   which is wrong or was closed is an error and not a crash of the calling program. One lock protects all of them: a
   call takes as long as the copy of a block. */
#define ECHOLUX_SENDER_BUILD 1
#include "../echolux_push_tcp.h"

#include "echolux_sender.h"

#include <stddef.h>

enum { MAX_SENDERS = 64, MAX_WORD = 127 };

typedef struct sender {
    echolux_push_sender network; /* `network.push` alone for shared memory */
    int is_shared;
} sender;

static sender* senders[MAX_SENDERS];

#if defined(_WIN32)
static SRWLOCK lock = SRWLOCK_INIT;
static void take_lock(void) {
    AcquireSRWLockExclusive(&lock);
}
static void release_lock(void) {
    ReleaseSRWLockExclusive(&lock);
}
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void take_lock(void) {
    pthread_mutex_lock(&lock);
}
static void release_lock(void) {
    pthread_mutex_unlock(&lock);
}
#endif

static void copy_text(const char* text, char* to, int32_t bytes) {
    if (to != NULL && bytes > 0) snprintf(to, (size_t)bytes, "%s", text);
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

enum kind { whole_32, whole_64, real };
typedef struct setting {
    const char* key;
    enum kind kind;
    size_t at; /* offset in echolux_push_stream */
} setting;

static const setting known_settings[] = {
    {"samples", whole_64, offsetof(echolux_push_stream, samples)},
    {"a_scans", whole_64, offsetof(echolux_push_stream, a_scans)},
    {"b_scans", whole_64, offsetof(echolux_push_stream, b_scans)},
    {"a_repeats", whole_64, offsetof(echolux_push_stream, a_repeats)},
    {"b_repeats", whole_64, offsetof(echolux_push_stream, b_repeats)},
    {"line_bytes", whole_64, offsetof(echolux_push_stream, line_bytes)},
    {"frame_offset_bytes", whole_64, offsetof(echolux_push_stream, frame_offset_bytes)},
    {"flyback_lines", whole_64, offsetof(echolux_push_stream, flyback_lines)},
    {"flyback_frames", whole_64, offsetof(echolux_push_stream, flyback_frames)},
    {"block_b_scans", whole_64, offsetof(echolux_push_stream, block_b_scans)},
    {"slots", whole_64, offsetof(echolux_push_stream, slots)},
    {"channels", whole_32, offsetof(echolux_push_stream, channels)},
    {"big_endian", whole_32, offsetof(echolux_push_stream, big_endian)},
    {"shift", whole_32, offsetof(echolux_push_stream, shift)},
    {"bits", whole_32, offsetof(echolux_push_stream, bits)},
    {"line_rate_hz", real, offsetof(echolux_push_stream, line_rate_hz)},
};

static const char* const sample_formats[] = {"u8", "u16", "u32", "i16", "f32", "packed12", NULL};
static const char* const channel_layouts[] = {"interleaved", "planar", NULL};

/* Reads "210000", "2.1e5" or "0.5" with a point in every locale. Returns 0, or -1 for other texts. */
static int read_number(const char* text, double* value) {
    double unit = 1;
    int digits = 0, exponent = 0;
    *value = 0;
    for (; *text >= '0' && *text <= '9'; ++text, ++digits) *value = 10 * *value + (*text - '0');
    if (*text == '.') {
        for (++text; *text >= '0' && *text <= '9'; ++text, ++digits) {
            *value = 10 * *value + (*text - '0');
            unit *= 10;
        }
    }
    *value /= unit;
    if (digits > 0 && (*text == 'e' || *text == 'E')) {
        for (++text, digits = 0; *text >= '0' && *text <= '9' && exponent < 20; ++text, ++digits)
            exponent = 10 * exponent + (*text - '0');
        for (; exponent > 0; --exponent) *value *= 10;
    }
    return digits > 0 && *text == 0 ? 0 : -1;
}

/* Returns the index of `text`, or -1. */
static int index_of(const char* text, const char* const* names) {
    int i;
    for (i = 0; names[i] != NULL; ++i) {
        if (strcmp(names[i], text) == 0) return i;
    }
    return -1;
}

static int set_number(echolux_push_stream* stream, const setting* one, const char* text) {
    char* to = (char*)stream + one->at;
    double number;
    const double limit = one->kind == whole_32 ? 2147483647.0 : 9007199254740992.0; /* 2^53 */
    if (read_number(text, &number) != 0) return -1;
    if (one->kind == real) {
        memcpy(to, &number, sizeof number);
        return 0;
    }
    if (number > limit || (double)(int64_t)number != number) return -1;
    if (one->kind == whole_32) {
        const int32_t value = (int32_t)number;
        memcpy(to, &value, sizeof value);
    } else {
        const int64_t value = (int64_t)number;
        memcpy(to, &value, sizeof value);
    }
    return 0;
}

/* Sets one value. Returns 0, -1 for an invalid value, or -2 for an unknown key. */
static int set_value(echolux_push_stream* stream, const char* key, const char* value) {
    size_t i;
    if (strcmp(key, "sample_format") == 0) {
        stream->sample_format = index_of(value, sample_formats);
        return stream->sample_format < 0 ? -1 : 0;
    }
    if (strcmp(key, "channel_layout") == 0) {
        stream->channel_layout = index_of(value, channel_layouts);
        return stream->channel_layout < 0 ? -1 : 0;
    }
    if (strcmp(key, "name") == 0) {
        snprintf(stream->name, sizeof stream->name, "%.63s", value);
        return 0;
    }
    for (i = 0; i < sizeof known_settings / sizeof *known_settings; ++i) {
        if (strcmp(key, known_settings[i].key) == 0) return set_number(stream, &known_settings[i], value);
    }
    return -2;
}

/* Reads "key=value key=value". Returns 0, or -1 with a message in push->problem. */
static int read_settings(echolux_push* push, echolux_push_stream* stream, const char* text) {
    static const char gaps[] = " ,;\t\r\n";
    char word[MAX_WORD + 1];
    memset(stream, 0, sizeof *stream);
    stream->sample_format = ECHOLUX_PUSH_U16;
    for (text += strspn(text, gaps); *text != 0; text += strspn(text, gaps)) {
        const size_t length = strcspn(text, gaps);
        char* value;
        int result;
        if (length > MAX_WORD) return echolux_push_fail(push, "settings: a word is too long");
        memcpy(word, text, length);
        word[length] = 0;
        text += length;
        value = strchr(word, '=');
        if (value == NULL) {
            snprintf(push->problem, sizeof push->problem, "settings: expected key=value, got \"%.99s\"", word);
            return -1;
        }
        *value++ = 0;
        result = set_value(stream, word, value);
        if (result == 0) continue;
        snprintf(push->problem, sizeof push->problem,
                 result == -2 ? "settings: there is no key \"%.60s\"" : "settings: %.60s cannot be \"%.60s\"", word,
                 value);
        return -1;
    }
    return 0;
}

/* ---- senders ----------------------------------------------------------------------------------------------------- */

static sender* find(int32_t number) {
    return number >= 1 && number <= MAX_SENDERS ? senders[number - 1] : NULL;
}

/* Whether the text is a number from 1 to 65535. */
static int is_port(const char* text) {
    const size_t digits = strspn(text, "0123456789");
    const long number = digits >= 1 && digits <= 5 ? strtol(text, NULL, 10) : 0;
    return text[digits] == 0 && number >= 1 && number <= 65535;
}

/* Splits "tcp://HOST:PORT", "[HOST]:PORT" or "HOST:PORT" and connects. */
static int connect_to(echolux_push_sender* network, const char* address, const echolux_push_stream* stream) {
    char host[sizeof network->host];
    const char *colon, *end;
    if (strncmp(address, "tcp://", 6) == 0) address += 6;
    colon = end = strrchr(address, ':');
    if (colon == NULL || colon == address || !is_port(colon + 1))
        return echolux_push_fail(&network->push, "address: expected HOST:PORT, for example 192.168.1.20:5210");
    if (*address == '[' && end[-1] == ']') {
        ++address;
        --end;
    }
    if ((size_t)(end - address) >= sizeof host) return echolux_push_fail(&network->push, "the address is too long");
    memcpy(host, address, (size_t)(end - address));
    host[end - address] = 0;
    return echolux_push_connect(network, host, colon + 1, stream);
}

static int open_sender(sender* made, const char* address, const char* settings) {
    echolux_push_stream stream;
    if (address == NULL || settings == NULL) return echolux_push_fail(&made->network.push, "a text is missing");
    if (read_settings(&made->network.push, &stream, settings) != 0) return -1;
#if !defined(_WIN32)
    if (strncmp(address, "shm:", 4) == 0) {
        made->is_shared = 1;
        return echolux_push_create(&made->network.push, address + 4, &stream);
    }
#endif
    return connect_to(&made->network, address, &stream);
}

static void close_sender(sender* closed, int32_t milliseconds) {
#if !defined(_WIN32)
    if (closed->is_shared)
        echolux_push_close(&closed->network.push);
    else
#endif
        echolux_push_disconnect(&closed->network, milliseconds < 0 ? 0 : milliseconds);
    free(closed);
}

int32_t echolux_sender_version(void) {
    return 1;
}

int32_t echolux_sender_open(const char* address, const char* settings, char* problem, int32_t problem_bytes) {
    sender* made = (sender*)calloc(1, sizeof *made);
    int32_t i;
    copy_text("", problem, problem_bytes);
    if (made == NULL) {
        copy_text("out of memory", problem, problem_bytes);
        return -1;
    }
    if (open_sender(made, address, settings) != 0) {
        copy_text(made->network.push.problem, problem, problem_bytes);
        free(made);
        return -1;
    }
    take_lock();
    for (i = 0; i < MAX_SENDERS && senders[i] != NULL; ++i) {
    }
    if (i < MAX_SENDERS) senders[i] = made;
    release_lock();
    if (i < MAX_SENDERS) return i + 1;
    close_sender(made, 0);
    copy_text("64 senders are open: close some", problem, problem_bytes);
    return -1;
}

int64_t echolux_sender_block_bytes(int32_t number) {
    const sender* one;
    int64_t bytes = -1;
    take_lock();
    one = find(number);
    if (one != NULL) bytes = (int64_t)one->network.push.block_bytes;
    release_lock();
    return bytes;
}

/* Copies and publishes a block. The lock is held. */
static int32_t push_block(echolux_push* push, const void* spectra, int64_t bytes, echolux_push_block* place) {
    const int64_t position_bytes = echolux_push_position_bytes(&push->stream);
    if (spectra == NULL) return echolux_push_fail(push, "there are no spectra");
    if (bytes < position_bytes || bytes % position_bytes != 0 || bytes > (int64_t)push->block_bytes) {
        snprintf(push->problem, sizeof push->problem, "a block has 1 to %lld x %lld bytes, got %lld",
                 (long long)push->stream.block_b_scans, (long long)position_bytes, (long long)bytes);
        return -1;
    }
    place->b_scans = bytes / position_bytes;
    memcpy(echolux_push_begin(push), spectra, (size_t)bytes);
    return echolux_push_publish(push, place);
}

int32_t echolux_sender_push_at(int32_t number, const void* spectra, int64_t bytes, int64_t volume, int64_t first_b_scan,
                               int64_t lost, double time_s, int32_t volume_starts) {
    sender* one;
    int32_t result = -1;
    take_lock();
    one = find(number);
    if (one != NULL) {
        echolux_push_block place;
        memset(&place, 0, sizeof place);
        place.volume = volume;
        place.first_b_scan = first_b_scan;
        place.lost = one->network.push.lost + (lost > 0 ? (uint64_t)lost : 0);
        place.time_s = time_s;
        place.markers = volume_starts != 0 ? (uint32_t)ECHOLUX_PUSH_VOLUME_STARTS : 0;
        result = push_block(&one->network.push, spectra, bytes, &place);
    }
    release_lock();
    return result;
}

int32_t echolux_sender_push(int32_t number, const void* spectra, int64_t bytes) {
    return echolux_sender_push_at(number, spectra, bytes, -1, -1, 0, -1, 0);
}

int32_t echolux_sender_wait(int32_t number, int32_t milliseconds) {
    const int64_t until_ns = echolux_push_now_ns() + (int64_t)milliseconds * 1000000;
    for (;;) {
        const sender* one;
        int32_t result = -1;
        take_lock();
        one = find(number);
        if (one != NULL) result = one->is_shared || echolux_push_is_connected(&one->network) ? 1 : 0;
        release_lock();
        if (result != 0 || echolux_push_now_ns() >= until_ns) return result;
        echolux_push_rest(1000);
    }
}

int32_t echolux_sender_counts(int32_t number, int64_t* pushed, int64_t* sent, int64_t* dropped) {
    const sender* one;
    take_lock();
    one = find(number);
    if (one != NULL) {
        if (pushed != NULL) *pushed = (int64_t)one->network.push.sequence;
        if (sent != NULL) *sent = (int64_t)echolux_push_load64(&one->network.sent);
        if (dropped != NULL) *dropped = (int64_t)echolux_push_load64(&one->network.left_out);
    }
    release_lock();
    return one != NULL ? 0 : -1;
}

int32_t echolux_sender_problem(int32_t number, char* problem, int32_t problem_bytes) {
    const sender* one;
    take_lock();
    one = find(number);
    copy_text(one != NULL ? one->network.push.problem : "there is no sender of this number: open one", problem,
              problem_bytes);
    release_lock();
    return one != NULL ? 0 : -1;
}

int32_t echolux_sender_end(int32_t number) {
    sender* one;
    take_lock();
    one = find(number);
    if (one != NULL) echolux_push_end(&one->network.push);
    release_lock();
    return one != NULL ? 0 : -1;
}

int32_t echolux_sender_close(int32_t number, int32_t milliseconds) {
    sender* one;
    take_lock();
    one = find(number);
    if (one != NULL) senders[number - 1] = NULL;
    release_lock();
    if (one == NULL) return -1;
    close_sender(one, milliseconds);
    return 0;
}
