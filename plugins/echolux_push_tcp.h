/* Pushes raw spectra over the network to `echolux view --source tcp://ADDRESS:PORT`, which listens. For acquisition
   programs on another machine than the viewer. Needs plugins/echolux_push.h and POSIX threads (-pthread).

     echolux_push_sender sender;
     if (echolux_push_connect(&sender, "192.168.1.20", "5210", &stream) != 0) fail(sender.push.problem);
     memcpy(echolux_push_begin(&sender.push), spectra, bytes);
     echolux_push_publish(&sender.push, NULL);
     echolux_push_disconnect(&sender, 1000);

   Blocks are stored in a ring in this process. A thread sends them and reconnects when the viewer was away, so the
   acquisition thread never waits. Blocks that the network cannot transfer in time are dropped, and the viewer counts
   them. */
#ifndef ECHOLUX_PUSH_TCP_H
#define ECHOLUX_PUSH_TCP_H

#include "echolux_push.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#endif

/* State of a sender. */
typedef struct echolux_push_sender {
    echolux_push push; /* for echolux_push_begin(), _publish() and _end() */
    void* memory;
    void* block; /* copy of the block that is being sent */
    pthread_t thread;
    uint32_t stops;     /* 1: stop when everything is sent; 2: stop now */
    uint32_t connected; /* whether a viewer receives */
    uint64_t sent;      /* number of blocks */
    uint64_t left_out;  /* blocks overwritten before they were sent, while connected */
    char host[256], port[32];
} echolux_push_sender;

static inline uint32_t echolux_push_stops(const echolux_push_sender* sender) {
    return __atomic_load_n(&sender->stops, __ATOMIC_ACQUIRE);
}

static inline void echolux_push_rest(long microseconds) {
    struct timespec rest;
    rest.tv_sec = 0;
    rest.tv_nsec = microseconds * 1000;
    nanosleep(&rest, NULL);
}

/* Connects to the viewer. Returns the socket, or -1 if nothing listens. */
static inline int echolux_push_dial(const echolux_push_sender* sender) {
    struct addrinfo wanted, *found = NULL, *one;
    int connection = -1;
    const int on = 1;
    memset(&wanted, 0, sizeof wanted);
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(sender->host, sender->port, &wanted, &found) != 0) return -1;
    for (one = found; one != NULL && connection < 0; one = one->ai_next) {
        struct pollfd answer;
        int problem = 0;
        socklen_t bytes = sizeof problem;
        connection = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connection < 0) continue;
        if (connect(connection, one->ai_addr, one->ai_addrlen) == 0) break;
        answer.fd = connection;
        answer.events = POLLOUT;
        if (errno == EINPROGRESS && poll(&answer, 1, 1000) == 1 &&
            getsockopt(connection, SOL_SOCKET, SO_ERROR, &problem, &bytes) == 0 && problem == 0)
            break;
        close(connection);
        connection = -1;
    }
    freeaddrinfo(found);
    if (connection >= 0) setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connection;
}

/* Sends all bytes. Returns -1 if the viewer has disconnected or the sender must stop. */
static inline int echolux_push_send_all(const echolux_push_sender* sender, int connection, const void* from,
                                        uint64_t bytes) {
    const char* at = (const char*)from;
    while (bytes > 0) {
        struct pollfd room;
        ssize_t went;
        if (echolux_push_stops(sender) == 2) return -1;
        room.fd = connection;
        room.events = POLLOUT;
        if (poll(&room, 1, 100) == 0) continue;
        went = send(connection, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (went < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) continue;
        if (went <= 0) return -1;
        at += went;
        bytes -= (uint64_t)went;
    }
    return 0;
}

/* Sends the description of the stream. */
static inline int echolux_push_greet(const echolux_push_sender* sender, int connection) {
    struct {
        char magic[8];
        uint32_t version, stream_bytes;
        echolux_push_stream stream;
    } greeting;
    memcpy(greeting.magic, "ECHOPUSH", 8);
    greeting.version = ECHOLUX_PUSH_VERSION;
    greeting.stream_bytes = (uint32_t)sizeof greeting.stream;
    greeting.stream = sender->push.stream;
    return echolux_push_send_all(sender, connection, &greeting, sizeof greeting);
}

/* Sends blocks until the viewer disconnects or the sender stops. */
static inline void echolux_push_send_blocks(echolux_push_sender* sender, int connection) {
    const echolux_push_header* ring = sender->push.ring;
    const uint64_t slots = (uint64_t)sender->push.stream.slots;
    struct {
        char magic[4];
        uint32_t bytes;
        echolux_push_block block;
    } head;
    uint64_t next = __atomic_load_n(&ring->published, __ATOMIC_ACQUIRE);
    if (echolux_push_greet(sender, connection) != 0) return;
    memcpy(head.magic, "BLCK", 4);
    head.bytes = (uint32_t)sizeof head.block;
    while (echolux_push_stops(sender) != 2) {
        const uint32_t stops = echolux_push_stops(sender);
        const uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
        const uint64_t published = __atomic_load_n(&ring->published, __ATOMIC_ACQUIRE);
        int taken;
        if (next >= published) {
            if (state == ECHOLUX_PUSH_ENDED) {
                memset(&head, 0, sizeof head);
                memcpy(head.magic, "ENDS", 4);
                echolux_push_send_all(sender, connection, &head, sizeof head);
                return;
            }
            if (stops != 0) return;
            echolux_push_rest(300);
            continue;
        }
        if (published - next >= slots) {
            __atomic_fetch_add(&sender->left_out, published - slots + 1 - next, __ATOMIC_RELAXED);
            next = published - slots + 1;
        }
        taken = echolux_push_take(echolux_push_slot_of(&sender->push, next), echolux_push_data_of(&sender->push, next),
                                  next, &head.block, sender->block, sender->push.block_bytes);
        ++next;
        if (taken != ECHOLUX_PUSH_TAKEN) {
            __atomic_fetch_add(&sender->left_out, 1, __ATOMIC_RELAXED);
            continue;
        }
        if (echolux_push_send_all(sender, connection, &head, sizeof head) != 0 ||
            echolux_push_send_all(sender, connection, sender->block, head.block.bytes) != 0)
            return;
        __atomic_fetch_add(&sender->sent, 1, __ATOMIC_RELAXED);
    }
}

/* Thread function: connects, sends, reconnects. */
static inline void* echolux_push_send(void* argument) {
    echolux_push_sender* sender = (echolux_push_sender*)argument;
    while (echolux_push_stops(sender) == 0) {
        const int connection = echolux_push_dial(sender);
        int i;
        if (connection >= 0) {
            __atomic_store_n(&sender->connected, 1u, __ATOMIC_RELEASE);
            echolux_push_send_blocks(sender, connection);
            __atomic_store_n(&sender->connected, 0u, __ATOMIC_RELEASE);
            close(connection);
        }
        for (i = 0; i < 20 && echolux_push_stops(sender) == 0; ++i) echolux_push_rest(10000);
    }
    return NULL;
}

/* Returns whether a viewer is connected. */
static inline int echolux_push_is_connected(const echolux_push_sender* sender) {
    return __atomic_load_n(&sender->connected, __ATOMIC_ACQUIRE) != 0;
}

/* Starts a sender without waiting: its thread tries to connect until a viewer is available. Returns 0, or -1 with a
   message in sender->push.problem. */
static inline int echolux_push_connect(echolux_push_sender* sender, const char* host, const char* port,
                                       const echolux_push_stream* stream) {
    memset(sender, 0, sizeof *sender);
    sender->push.descriptor = -1;
    if (echolux_push_settle(&sender->push, stream) != 0) return -1;
    if (strlen(host) >= sizeof sender->host || strlen(port) >= sizeof sender->port)
        return echolux_push_fail(&sender->push, "the address is too long");
    strcpy(sender->host, host);
    strcpy(sender->port, port);
    sender->memory = calloc(1, echolux_push_total_bytes(&sender->push));
    sender->block = malloc(sender->push.block_bytes);
    if (sender->memory != NULL && sender->block != NULL) {
        echolux_push_lay_out(&sender->push, sender->memory);
        if (pthread_create(&sender->thread, NULL, echolux_push_send, sender) == 0) return 0;
    }
    free(sender->memory);
    free(sender->block);
    sender->push.ring = NULL;
    return echolux_push_fail(&sender->push, "no memory for the blocks, or no thread");
}

/* Stops the sender. Waits up to `milliseconds` for a connected viewer to receive the remaining blocks. */
static inline void echolux_push_disconnect(echolux_push_sender* sender, int milliseconds) {
    int i;
    if (sender->push.ring == NULL) return;
    __atomic_store_n(&sender->stops, 1u, __ATOMIC_RELEASE);
    for (i = 0; i < milliseconds && echolux_push_is_connected(sender); ++i) echolux_push_rest(1000);
    __atomic_store_n(&sender->stops, 2u, __ATOMIC_RELEASE);
    pthread_join(sender->thread, NULL);
    free(sender->memory);
    free(sender->block);
    sender->push.ring = NULL;
}

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
