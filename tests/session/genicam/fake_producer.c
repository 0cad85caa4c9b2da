/* A GenTL producer with one simulated line camera, which loses, truncates, falls silent or is unplugged as the tests
   say. It follows the GenICam GenTL Standard 1.6 and shares no code with its consumer. Definitions at compile time:
   OTHER_VERSION: implements GenTL 2.0. LICENCE_MISSING: cannot be initialised. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_producer.h"

#define API __attribute__((visibility("default"))) int32_t

enum { MAX_BUFFERS = 4096, XML_AT = 0x10000, REGISTERS = 0x200 };
enum {
    OK = 0,
    ERROR = -1001,
    NOT_IMPLEMENTED = -1003,
    IN_USE = -1004,
    INVALID_HANDLE = -1006,
    INVALID_ID = -1007,
    IO = -1010,
    TIMEOUT = -1011,
    NOT_AVAILABLE = -1014
};
enum {
    WIDTH = 0x100,
    HEIGHT = 0x104,
    FORMAT = 0x108,
    LOCKED = 0x10c,
    RUN = 0x110,
    CHUNKS = 0x114,
    MODE = 0x118,
    PAYLOAD = 0x11c,
    LINE_RATE = 0x120,
    EXPOSURE = 0x128,
    GAIN = 0x130,
    BUFFER_HEIGHT = 0x134
};

#define REGISTER(name, type, at, bytes, more)                           \
    "<" type " Name='" name "'><Address>" at "</Address><Length>" bytes \
    "</Length><AccessMode>RW</AccessMode>"                              \
    "<pPort>Device</pPort>" more "<Endianess>LittleEndian</Endianess></" type ">"
#define INTEGER(name, at, low, high)                                                    \
    "<Integer Name='" name "'><pValue>" name "Reg</pValue><Min>" low "</Min><Max>" high \
    "</Max></Integer>" REGISTER(name "Reg", "IntReg", at, "4", "<Sign>Unsigned</Sign>")
#define REAL(name, at, low, high)                                                     \
    "<Float Name='" name "'><pValue>" name "Reg</pValue><Min>" low "</Min><Max>" high \
    "</Max></Float>" REGISTER(name "Reg", "FloatReg", at, "8", "")
#define COMMAND(name, value) \
    "<Command Name='" name "'><pValue>RunReg</pValue><CommandValue>" value "</CommandValue></Command>"

static const char description[] =
    "<?xml version='1.0' encoding='utf-8'?><RegisterDescription ModelName='Line' VendorName='Fake' "
    "StandardNameSpace='None' SchemaMajorVersion='1' SchemaMinorVersion='1' SchemaSubMinorVersion='0' MajorVersion='1' "
    "MinorVersion='0' SubMinorVersion='0' ProductGuid='a' VersionGuid='b' "
    "xmlns='http://www.genicam.org/GenApi/Version_1_1'>"
    "<Category Name='Root'><pFeature>Width</pFeature></Category><Port Name='Device'/>"
    INTEGER("Width", "0x100", "8", "4096") INTEGER("Height", "0x104", "1", "2048")
    INTEGER("TLParamsLocked", "0x10c", "0", "1") INTEGER("PayloadSize", "0x11c", "0", "0x7fffffff")
    INTEGER("GainRaw", "0x130", "0", "100") INTEGER("BufferHeight", "0x134", "0", "4096")
    INTEGER("ChunkModeActive", "0x114", "0", "1")
    REAL("AcquisitionLineRate", "0x120", "1", "1e6") REAL("ExposureTime", "0x128", "1", "1e6")
    REGISTER("RunReg", "IntReg", "0x110", "4", "<Sign>Unsigned</Sign>") COMMAND("AcquisitionStart", "1")
    COMMAND("AcquisitionStop", "0")
    "<Enumeration Name='AcquisitionMode'><EnumEntry Name='SingleFrame'><Value>0</Value></EnumEntry>"
    "<EnumEntry Name='Continuous'><Value>1</Value></EnumEntry><pValue>ModeReg</pValue></Enumeration>"
    REGISTER("ModeReg", "IntReg", "0x118", "4", "<Sign>Unsigned</Sign>")
    "<Enumeration Name='PixelFormat'><EnumEntry Name='Mono12'><Value>17825797</Value></EnumEntry>"
    "<EnumEntry Name='BayerRG8'><Value>17301513</Value></EnumEntry><pValue>FormatReg</pValue></Enumeration>"
    REGISTER("FormatReg", "IntReg", "0x108", "4", "<Sign>Unsigned</Sign>")
    "<Integer Name='ChunkEncoderValue'><pValue>EncoderReg</pValue></Integer><IntReg Name='EncoderReg'><Address>0</Address>"
    "<Length>8</Length><AccessMode>RO</AccessMode><pPort>EncoderPort</pPort><Sign>Signed</Sign>"
    "<Endianess>LittleEndian</Endianess></IntReg><Port Name='EncoderPort'><ChunkID>0E0C</ChunkID></Port>"
    "</RegisterDescription>";

typedef struct buffer {
    void *memory, *user;
    size_t size, filled;
    int is_incomplete, is_too_small, is_queued;
    uint64_t id, ns;
} buffer;

static fake_gentl_script script = {.devices = 1, .images_per_s = 200};
static unsigned char registers[REGISTERS];
static buffer buffers[MAX_BUFFERS];
static int input[MAX_BUFFERS], inputs, output[MAX_BUFFERS], outputs, announced;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled_one = PTHREAD_COND_INITIALIZER;
static pthread_t sender;
static int runs;
static char problem[100];
static int system_module, interface_module, device_module, camera_module, stream_module, event_module; /* addresses */

__attribute__((visibility("default"))) fake_gentl_script* fake_gentl(void) {
    return &script;
}

static int32_t fail(int32_t status, const char* text) {
    snprintf(problem, sizeof problem, "%s", text);
    return status;
}

static uint32_t at(int address) {
    uint32_t value;
    memcpy(&value, registers + address, sizeof value);
    return value;
}

static void set(int address, uint32_t value) {
    memcpy(registers + address, &value, sizeof value);
}

static size_t image_bytes(void) {
    return (size_t)at(WIDTH) * at(HEIGHT) * 2;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int is_every(int64_t number, int period) {
    return period > 0 && number % period == period - 1;
}

/* ---- the camera -------------------------------------------------------------------------------------------------- */

enum { SENT, LOST, TRUNCATED };

static int random_fault(uint64_t id) {
    const uint64_t random = (id * 0x9E3779B97F4A7C15u) >> 58; /* 6 bits */
    return !script.has_random_faults || id == 0 || random > 1 ? SENT : random == 0 ? LOST : TRUNCATED;
}

/* fake_pixel() of each pixel, in 16 bits, which wrap at a multiple of 4096. */
static void fill(uint16_t* to, uint64_t id, size_t pixels) {
    const uint16_t first = (uint16_t)fake_pixel(id, 0);
    size_t i;
    for (i = 0; i < pixels; ++i) to[i] = (uint16_t)((uint16_t)(first + (uint16_t)(5 * i)) & 4095);
}

/* Fills the next buffer. `id` counts triggered images, `turn` also those that the trigger missed. */
static void send_image(uint64_t id, uint64_t turn) {
    const size_t pixels = image_bytes() / 2;
    const int64_t position = (int64_t)(script.encoder_start + turn * at(HEIGHT) * FAKE_ENCODER_PER_LINE);
    buffer* to;
    if (inputs == 0) {
        ++script.lost;
        return;
    }
    to = &buffers[input[0]];
    output[outputs++] = input[0];
    memmove(input, input + 1, (size_t)--inputs * sizeof *input);
    to->is_queued = 0;
    to->id = id;
    to->ns = now_ns();
    to->is_too_small = is_every((int64_t)id, script.enlarge_every) || to->size < at(PAYLOAD);
    to->is_incomplete = is_every((int64_t)id, script.truncate_every) || random_fault(id) == TRUNCATED;
    to->filled = to->is_incomplete ? image_bytes() / 2 : at(PAYLOAD);
    if (to->is_too_small) to->filled = 0;
    fill(to->memory, id, pixels < to->filled / 2 ? pixels : to->filled / 2);
    if (at(CHUNKS) && to->filled == at(PAYLOAD)) memcpy((char*)to->memory + image_bytes(), &position, sizeof position);
    ++script.sent;
    pthread_cond_signal(&filled_one);
}

static void* send_images(void* unused) {
    uint64_t id = 0, turn = 0, next_ns = now_ns();
    (void)unused;
    pthread_mutex_lock(&lock);
    while (runs) {
        const uint64_t at_ns = next_ns, begun_ns = now_ns();
        const struct timespec pause = {0, (long)(at_ns > begun_ns ? at_ns - begun_ns : 0)};
        next_ns += 1000000000u / (unsigned)script.images_per_s;
        pthread_mutex_unlock(&lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
        if (!runs || !at(RUN) || script.is_silent || script.is_unplugged) continue;
        if (!is_every((int64_t)turn, script.miss_every)) {
            if (is_every((int64_t)id, script.lose_every) || random_fault(id) == LOST)
                ++script.lost;
            else
                send_image(id, turn);
            ++id;
        }
        ++turn;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* ---- information ------------------------------------------------------------------------------------------------- */

static int32_t give(const void* value, size_t bytes, int32_t kind, int32_t* type, void* to, size_t* size) {
    if (type != NULL) *type = kind;
    if (to != NULL && *size < bytes) return fail(-1016, "the memory is too small");
    if (to != NULL) memcpy(to, value, bytes);
    *size = bytes;
    return OK;
}
static int32_t give_text(const char* text, int32_t* type, void* to, size_t* size) {
    return give(text, strlen(text) + 1, 1, type, to, size);
}
static int32_t give_size(size_t value, int32_t* type, void* to, size_t* size) {
    return give(&value, sizeof value, 12, type, to, size);
}
static int32_t give_flag(int value, int32_t* type, void* to, size_t* size) {
    const uint8_t flag = value != 0;
    return give(&flag, 1, 11, type, to, size);
}
static int32_t give_u64(uint64_t value, int32_t* type, void* to, size_t* size) {
    return give(&value, sizeof value, 8, type, to, size);
}

API GCGetInfo(int32_t which, int32_t* type, void* to, size_t* size) {
#ifdef OTHER_VERSION
    const uint32_t version[] = {2, 0};
#else
    const uint32_t version[] = {1, 6};
#endif
    if (which == 9 || which == 10) return give(&version[which - 9], 4, 6, type, to, size);
    return give_text("Fake", type, to, size);
}
API GCGetLastError(int32_t* code, char* text, size_t* size) {
    *code = ERROR;
    return give_text(problem, NULL, text, size);
}
API GCInitLib(void) {
#ifdef LICENCE_MISSING
    return fail(ERROR, "no licence for this board");
#else
    return OK;
#endif
}
API GCCloseLib(void) {
    return OK;
}

/* ---- registers --------------------------------------------------------------------------------------------------- */

API GCReadPort(void* port, uint64_t address, void* to, size_t* size) {
    if (port == NULL) return INVALID_HANDLE;
    if (script.is_unplugged) return fail(IO, "the link is down");
    if (address >= XML_AT && address - XML_AT + *size <= sizeof description) {
        memcpy(to, description + (address - XML_AT), *size);
        return OK;
    }
    if (address + *size > REGISTERS) return fail(-1015, "no such register");
    pthread_mutex_lock(&lock);
    set(PAYLOAD, (uint32_t)image_bytes() + (at(CHUNKS) ? 8 : 0));
    memcpy(to, registers + address, *size);
    pthread_mutex_unlock(&lock);
    return OK;
}
API GCWritePort(void* port, uint64_t address, const void* from, size_t* size) {
    if (port == NULL) return INVALID_HANDLE;
    if (script.is_unplugged) return fail(IO, "the link is down");
    if (address + *size > REGISTERS) return fail(-1015, "no such register");
    if (port == &stream_module && address != BUFFER_HEIGHT) return fail(-1015, "no register of the stream");
    pthread_mutex_lock(&lock);
    memcpy(registers + address, from, *size);
    set(PAYLOAD, (uint32_t)image_bytes() + (at(CHUNKS) ? 8 : 0));
    script.is_locked = at(LOCKED) != 0;
    script.is_started = at(RUN) != 0;
    pthread_mutex_unlock(&lock);
    return OK;
}
API GCGetPortURL(void* port, char* to, size_t* size) {
    char url[100];
    if (port == NULL) return INVALID_HANDLE;
    snprintf(url, sizeof url, "Local:///fake.xml;%X;%zX?SchemaVersion=1.1.0", XML_AT, sizeof description - 1);
    return give_text(url, NULL, to, size);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

API TLOpen(void** handle) {
    *handle = &system_module;
    return OK;
}
API TLClose(void* handle) {
    return handle == &system_module ? OK : INVALID_HANDLE;
}
API TLUpdateInterfaceList(void* handle, uint8_t* changed, uint64_t timeout) {
    (void)handle, (void)changed, (void)timeout;
    return OK;
}
API TLGetNumInterfaces(void* handle, uint32_t* count) {
    (void)handle;
    *count = 1;
    return OK;
}
API TLGetInterfaceID(void* handle, uint32_t which, char* to, size_t* size) {
    (void)handle, (void)which;
    return give_text("board-0", NULL, to, size);
}
API TLOpenInterface(void* handle, const char* id, void** made) {
    (void)handle;
    if (strcmp(id, "board-0") != 0) return fail(INVALID_ID, "no such board");
    *made = &interface_module;
    return OK;
}
API IFClose(void* handle) {
    return handle == &interface_module ? OK : INVALID_HANDLE;
}
API IFUpdateDeviceList(void* handle, uint8_t* changed, uint64_t timeout) {
    (void)handle, (void)changed, (void)timeout;
    return OK;
}
API IFGetNumDevices(void* handle, uint32_t* count) {
    (void)handle;
    *count = script.is_unplugged ? 0 : (uint32_t)script.devices;
    return OK;
}
API IFGetDeviceID(void* handle, uint32_t which, char* to, size_t* size) {
    char id[32];
    (void)handle;
    snprintf(id, sizeof id, "line-camera-%u", which);
    return give_text(id, NULL, to, size);
}
API IFGetDeviceInfo(void* handle, const char* id, int32_t which, int32_t* type, void* to, size_t* size) {
    (void)handle, (void)id;
    return which == 2 ? give_text("Line", type, to, size) : fail(NOT_IMPLEMENTED, "not known");
}
API IFOpenDevice(void* handle, const char* id, int32_t flags, void** made) {
    (void)handle, (void)id, (void)flags;
    if (script.opens > 0) return fail(IN_USE, "already open elsewhere");
    script.opens = 1;
    memset(registers, 0, sizeof registers);
    set(WIDTH, 1024);
    set(HEIGHT, 100);
    set(FORMAT, 17825797);
    *made = &device_module;
    return OK;
}
API DevClose(void* handle) {
    script.opens = 0;
    return handle == &device_module ? OK : INVALID_HANDLE;
}
API DevGetInfo(void* handle, int32_t which, int32_t* type, void* to, size_t* size) {
    (void)handle;
    return which == 9 ? give_u64(1000000, type, to, size) : fail(NOT_IMPLEMENTED, "not known");
}
API DevGetPort(void* handle, void** port) {
    *port = &camera_module;
    return handle == &device_module ? OK : INVALID_HANDLE;
}
API DevGetNumDataStreams(void* handle, uint32_t* count) {
    (void)handle;
    *count = 1;
    return OK;
}
API DevGetDataStreamID(void* handle, uint32_t which, char* to, size_t* size) {
    (void)handle, (void)which;
    return give_text("stream-0", NULL, to, size);
}
API DevOpenDataStream(void* handle, const char* id, void** made) {
    (void)handle, (void)id;
    *made = &stream_module;
    return OK;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

API DSClose(void* handle) {
    (void)handle;
    return announced == 0 ? OK : fail(IN_USE, "buffers are announced");
}
API DSGetInfo(void* handle, int32_t which, int32_t* type, void* to, size_t* size) {
    (void)handle;
    if (which == 2) return give_u64((uint64_t)script.lost, type, to, size);
    if (which == 7) return give_size(at(PAYLOAD), type, to, size);
    if (which == 9) return give_flag(1, type, to, size);
    if (which == 12) return give_size(4, type, to, size);
    return fail(NOT_IMPLEMENTED, "not known");
}
API DSAnnounceBuffer(void* handle, void* memory, size_t size, void* user, void** made) {
    int i;
    (void)handle;
    pthread_mutex_lock(&lock);
    for (i = 0; i < MAX_BUFFERS && buffers[i].memory != NULL; ++i) {
    }
    if (i < MAX_BUFFERS) {
        memset(&buffers[i], 0, sizeof buffers[i]);
        buffers[i].memory = memory;
        buffers[i].size = size;
        buffers[i].user = user;
        *made = &buffers[i];
        ++announced;
    }
    pthread_mutex_unlock(&lock);
    return i < MAX_BUFFERS ? OK : fail(-1020, "too many buffers");
}
API DSRevokeBuffer(void* handle, void* which, void** memory, void** user) {
    buffer* one = which;
    int32_t status = OK;
    (void)handle, (void)memory, (void)user;
    pthread_mutex_lock(&lock);
    if (one < buffers || one >= buffers + MAX_BUFFERS || one->memory == NULL) status = -1013;
    if (status == OK && one->is_queued) status = fail(-1022, "the buffer is queued");
    if (status == OK) {
        one->memory = NULL;
        --announced;
    }
    pthread_mutex_unlock(&lock);
    return status;
}
API DSQueueBuffer(void* handle, void* which) {
    buffer* one = which;
    int32_t status = OK;
    (void)handle;
    pthread_mutex_lock(&lock);
    if (one < buffers || one >= buffers + MAX_BUFFERS || one->memory == NULL || one->is_queued) status = -1013;
    if (status == OK) {
        one->is_queued = 1;
        one->filled = 0;
        input[inputs++] = (int)(one - buffers);
    }
    pthread_mutex_unlock(&lock);
    return status == OK ? OK : fail(status, "the buffer cannot be queued");
}
API DSFlushQueue(void* handle, int32_t what) {
    int i;
    (void)handle;
    if (what != 4) return NOT_IMPLEMENTED;
    pthread_mutex_lock(&lock);
    for (i = 0; i < MAX_BUFFERS; ++i) buffers[i].is_queued = 0;
    inputs = outputs = 0;
    pthread_mutex_unlock(&lock);
    return OK;
}
API DSStartAcquisition(void* handle, int32_t flags, uint64_t count) {
    (void)handle, (void)flags, (void)count;
    if (script.is_unplugged) return fail(IO, "the link is down");
    if (runs) return fail(IN_USE, "already started");
    script.sent = script.lost = 0;
    runs = 1;
    return pthread_create(&sender, NULL, send_images, NULL) == 0 ? OK : ERROR;
}
API DSStopAcquisition(void* handle, int32_t flags) {
    (void)handle, (void)flags;
    if (!runs) return fail(-1002, "not started");
    pthread_mutex_lock(&lock);
    runs = 0;
    pthread_mutex_unlock(&lock);
    pthread_join(sender, NULL);
    return OK;
}
API DSGetBufferInfo(void* handle, void* which, int32_t what, int32_t* type, void* to, size_t* size) {
    const buffer* one = which;
    (void)handle;
    switch (what) {
        case 3: return give_u64(one->ns / 1000, type, to, size);
        case 7: return give_flag(one->is_incomplete, type, to, size);
        case 9: return give_size(one->filled, type, to, size);
        case 10: return give_size(at(WIDTH), type, to, size);
        case 11: return give_size(script.reports_height ? (size_t)script.reports_height : at(HEIGHT), type, to, size);
        case 16:
            if (!script.has_no_frame_ids) return give_u64(one->id, type, to, size);
            break;
        case 28:
            if (!script.has_no_frame_ids) return give_u64(one->ns, type, to, size);
            break;
        case 29: return give_flag(one->is_too_small, type, to, size);
        default: break;
    }
    return fail(NOT_AVAILABLE, "not known");
}
API DSGetBufferChunkData(void* handle, void* which, void* list, size_t* count) {
    struct __attribute__((packed)) {
        uint64_t id;
        int64_t offset;
        uint64_t bytes;
    } chunks[2] = {{1, 0, 8}, {0x0E0C, (int64_t)image_bytes(), script.has_32_bit_encoder ? 4 : 8}};
    (void)handle;
    if (!at(CHUNKS) || ((const buffer*)which)->id < (uint64_t)script.first_with_chunks) return fail(-1008, "no chunks");
    if (list != NULL) memcpy(list, chunks, sizeof chunks);
    *count = 2;
    return OK;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

API GCRegisterEvent(void* source, int32_t kind, void** made) {
    *made = &event_module;
    return source == &stream_module && kind == 1 ? OK : NOT_IMPLEMENTED;
}
API GCUnregisterEvent(void* source, int32_t kind) {
    (void)source, (void)kind;
    return OK;
}
API EventGetData(void* event, void* to, size_t* size, uint64_t milliseconds) {
    struct __attribute__((packed)) {
        void *buffer, *user;
    } data;
    struct timespec until;
    int waits = 0;
    if (event != &event_module || *size < sizeof data) return INVALID_HANDLE;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    until.tv_sec += (time_t)(milliseconds / 1000) + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    while (outputs == 0 && waits == 0) waits = pthread_cond_timedwait(&filled_one, &lock, &until);
    if (outputs > 0) {
        data.buffer = &buffers[output[0]];
        data.user = buffers[output[0]].user;
        memmove(output, output + 1, (size_t)--outputs * sizeof *output);
        memcpy(to, &data, sizeof data);
        waits = 0;
    }
    pthread_mutex_unlock(&lock);
    if (waits != 0) return script.is_unplugged ? fail(IO, "the link is down") : TIMEOUT;
    *size = sizeof data;
    return OK;
}
