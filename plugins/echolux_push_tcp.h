/* Pushes raw spectra over the network to `echolux view --source tcp://ADDRESS:PORT`, which listens. For acquisition
   programs on another machine than the viewer, with Linux or Windows (docs/windows.md). Needs plugins/echolux_push.h,
   and on Linux POSIX threads (-pthread), on Windows the library ws2_32.

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

#include <stdlib.h>
#if defined(_WIN32)
#include <process.h>
#include <ws2tcpip.h>
#ifdef _MSC_VER
#pragma comment(lib, "ws2_32.lib")
#endif
#else
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#endif

#ifdef __cplusplus
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
extern "C" {
#endif

/* ---- the system -------------------------------------------------------------------------------------------------- */

/* Internal to this header: sockets that never block, and a thread. */
#define ECHOLUX_PUSH_MAX_SEND ((uint64_t)1 << 20) /* bytes per call; a stop is noticed between two calls */
#if defined(_WIN32)
typedef SOCKET echolux_push_socket;
typedef HANDLE echolux_push_thread;
#define ECHOLUX_PUSH_NO_SOCKET INVALID_SOCKET
#define ECHOLUX_PUSH_THREAD unsigned __stdcall
static inline int echolux_push_network_begin(void) {
    WSADATA unused;
    return WSAStartup(MAKEWORD(2, 2), &unused) == 0 ? 0 : -1;
}
static inline void echolux_push_network_end(void) {
    WSACleanup();
}
static inline void echolux_push_hang_up(echolux_push_socket connection) {
    closesocket(connection);
}
static inline echolux_push_socket echolux_push_new_socket(int family) {
    u_long on = 1;
    const SOCKET made =
        WSASocketW(family, SOCK_STREAM, IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (made != INVALID_SOCKET && ioctlsocket(made, (long)FIONBIO, &on) != 0) {
        closesocket(made);
        return INVALID_SOCKET;
    }
    return made;
}
/* Whether the last call would have waited. */
static inline int echolux_push_would_wait(void) {
    const int problem = WSAGetLastError();
    return problem == WSAEWOULDBLOCK || problem == WSAEINPROGRESS || problem == WSAEINTR;
}
/* Waits until the socket accepts bytes. Returns 0 if it does not in time. */
static inline int echolux_push_await(echolux_push_socket connection, int milliseconds) {
    WSAPOLLFD room;
    room.fd = connection;
    room.events = POLLOUT;
    room.revents = 0;
    return WSAPoll(&room, 1, milliseconds) != 0;
}
static inline int64_t echolux_push_send_some(echolux_push_socket connection, const char* from, uint64_t bytes) {
    return send(connection, from, (int)bytes, 0);
}
/* Sleep() alone rests for up to 16 ms. Windows before 10.1803 has no finer timer. */
static inline void echolux_push_rest(long microseconds) {
    const HANDLE timer = CreateWaitableTimerExW(NULL, NULL, 2 /* high resolution */, TIMER_ALL_ACCESS);
    LARGE_INTEGER due;
    due.QuadPart = -10 * (LONGLONG)microseconds;
    if (timer == NULL || !SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE))
        Sleep((DWORD)(microseconds + 999) / 1000);
    else
        WaitForSingleObject(timer, INFINITE);
    if (timer != NULL) CloseHandle(timer);
}
static inline int echolux_push_start_thread(echolux_push_thread* thread, unsigned(__stdcall* function)(void*),
                                            void* argument) {
    *thread = (HANDLE)_beginthreadex(NULL, 0, function, argument, 0, NULL);
    return *thread != NULL ? 0 : -1;
}
static inline void echolux_push_join_thread(echolux_push_thread thread) {
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}
#else
typedef int echolux_push_socket;
typedef pthread_t echolux_push_thread;
#define ECHOLUX_PUSH_NO_SOCKET (-1)
#define ECHOLUX_PUSH_THREAD void*
static inline int echolux_push_network_begin(void) {
    return 0;
}
static inline void echolux_push_network_end(void) {}
static inline void echolux_push_hang_up(echolux_push_socket connection) {
    close(connection);
}
static inline echolux_push_socket echolux_push_new_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}
/* Whether the last call would have waited. */
static inline int echolux_push_would_wait(void) {
    return errno == EINPROGRESS || errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}
/* Waits until the socket accepts bytes. Returns 0 if it does not in time. */
static inline int echolux_push_await(echolux_push_socket connection, int milliseconds) {
    struct pollfd room;
    room.fd = connection;
    room.events = POLLOUT;
    return poll(&room, 1, milliseconds) != 0;
}
static inline int64_t echolux_push_send_some(echolux_push_socket connection, const char* from, uint64_t bytes) {
    return send(connection, from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}
static inline void echolux_push_rest(long microseconds) {
    struct timespec rest;
    rest.tv_sec = 0;
    rest.tv_nsec = microseconds * 1000;
    nanosleep(&rest, NULL);
}
static inline int echolux_push_start_thread(echolux_push_thread* thread, void* (*function)(void*), void* argument) {
    return pthread_create(thread, NULL, function, argument);
}
static inline void echolux_push_join_thread(echolux_push_thread thread) {
    pthread_join(thread, NULL);
}
#endif

/* ---- the sender -------------------------------------------------------------------------------------------------- */

/* State of a sender. */
typedef struct echolux_push_sender {
    echolux_push push; /* for echolux_push_begin(), _publish() and _end() */
    void* memory;
    void* block; /* copy of the block that is being sent */
    echolux_push_thread thread;
    uint32_t stops;     /* 1: stop when everything is sent; 2: stop now */
    uint32_t connected; /* whether a viewer receives */
    uint64_t sent;      /* number of blocks */
    uint64_t left_out;  /* blocks overwritten before they were sent, while connected */
    char host[256], port[32];
} echolux_push_sender;

static inline uint32_t echolux_push_stops(const echolux_push_sender* sender) {
    return echolux_push_load32(&sender->stops);
}

/* Adds to a counter that only this thread changes. */
static inline void echolux_push_add(uint64_t* counter, uint64_t value) {
    echolux_push_store64(counter, *counter + value);
}

/* Whether a connection that was begun is established within a second. */
static inline int echolux_push_is_established(echolux_push_socket connection) {
    int problem = 0;
    socklen_t bytes = sizeof problem;
    return echolux_push_await(connection, 1000) &&
           getsockopt(connection, SOL_SOCKET, SO_ERROR, (char*)&problem, &bytes) == 0 && problem == 0;
}

/* Connects to the viewer. Returns no socket if nothing listens. */
static inline echolux_push_socket echolux_push_dial(const echolux_push_sender* sender) {
    struct addrinfo wanted, *found = NULL, *one;
    echolux_push_socket connection = ECHOLUX_PUSH_NO_SOCKET;
    const int on = 1;
    memset(&wanted, 0, sizeof wanted);
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(sender->host, sender->port, &wanted, &found) != 0) return ECHOLUX_PUSH_NO_SOCKET;
    for (one = found; one != NULL && connection == ECHOLUX_PUSH_NO_SOCKET; one = one->ai_next) {
        connection = echolux_push_new_socket(one->ai_family);
        if (connection == ECHOLUX_PUSH_NO_SOCKET) continue;
        if (connect(connection, one->ai_addr, (socklen_t)one->ai_addrlen) == 0) break;
        if (echolux_push_would_wait() && echolux_push_is_established(connection)) break;
        echolux_push_hang_up(connection);
        connection = ECHOLUX_PUSH_NO_SOCKET;
    }
    freeaddrinfo(found);
    if (connection != ECHOLUX_PUSH_NO_SOCKET)
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, (const char*)&on, sizeof on);
    return connection;
}

/* Sends all bytes. Returns -1 if the viewer has disconnected or the sender must stop. */
static inline int echolux_push_send_all(const echolux_push_sender* sender, echolux_push_socket connection,
                                        const void* from, uint64_t bytes) {
    const char* at = (const char*)from;
    while (bytes > 0) {
        int64_t went;
        if (echolux_push_stops(sender) == 2) return -1;
        went = echolux_push_send_some(connection, at, bytes < ECHOLUX_PUSH_MAX_SEND ? bytes : ECHOLUX_PUSH_MAX_SEND);
        if (went < 0 && echolux_push_would_wait()) {
            echolux_push_await(connection, 100);
            continue;
        }
        if (went <= 0) return -1;
        at += went;
        bytes -= (uint64_t)went;
    }
    return 0;
}

/* Sends the description of the stream. */
static inline int echolux_push_greet(const echolux_push_sender* sender, echolux_push_socket connection) {
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
static inline void echolux_push_send_blocks(echolux_push_sender* sender, echolux_push_socket connection) {
    const echolux_push_header* ring = sender->push.ring;
    const uint64_t slots = (uint64_t)sender->push.stream.slots;
    struct {
        char magic[4];
        uint32_t bytes;
        echolux_push_block block;
    } head;
    uint64_t next = echolux_push_load64(&ring->published);
    if (echolux_push_greet(sender, connection) != 0) return;
    memcpy(head.magic, "BLCK", 4);
    head.bytes = (uint32_t)sizeof head.block;
    while (echolux_push_stops(sender) != 2) {
        const uint32_t stops = echolux_push_stops(sender);
        const uint32_t state = echolux_push_load32(&ring->state);
        const uint64_t published = echolux_push_load64(&ring->published);
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
            echolux_push_add(&sender->left_out, published - slots + 1 - next);
            next = published - slots + 1;
        }
        taken = echolux_push_take(echolux_push_slot_of(&sender->push, next), echolux_push_data_of(&sender->push, next),
                                  next, &head.block, sender->block, sender->push.block_bytes);
        ++next;
        if (taken != ECHOLUX_PUSH_TAKEN) {
            echolux_push_add(&sender->left_out, 1);
            continue;
        }
        if (echolux_push_send_all(sender, connection, &head, sizeof head) != 0 ||
            echolux_push_send_all(sender, connection, sender->block, head.block.bytes) != 0)
            return;
        echolux_push_add(&sender->sent, 1);
    }
}

/* Thread function: connects, sends, reconnects. */
static inline ECHOLUX_PUSH_THREAD echolux_push_send(void* argument) {
    echolux_push_sender* sender = (echolux_push_sender*)argument;
    while (echolux_push_stops(sender) == 0) {
        const echolux_push_socket connection = echolux_push_dial(sender);
        int i;
        if (connection != ECHOLUX_PUSH_NO_SOCKET) {
            echolux_push_store32(&sender->connected, 1);
            echolux_push_send_blocks(sender, connection);
            echolux_push_store32(&sender->connected, 0);
            echolux_push_hang_up(connection);
        }
        for (i = 0; i < 20 && echolux_push_stops(sender) == 0; ++i) echolux_push_rest(10000);
    }
    return 0;
}

/* Returns whether a viewer is connected. */
static inline int echolux_push_is_connected(const echolux_push_sender* sender) {
    return echolux_push_load32(&sender->connected) != 0;
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
    memcpy(sender->host, host, strlen(host) + 1);
    memcpy(sender->port, port, strlen(port) + 1);
    if (echolux_push_network_begin() != 0) return echolux_push_fail(&sender->push, "there is no network");
    if (echolux_push_total_bytes(&sender->push) <= SIZE_MAX) { /* 4 GiB in programs of 32 bits */
        sender->memory = calloc(1, (size_t)echolux_push_total_bytes(&sender->push));
        sender->block = malloc((size_t)sender->push.block_bytes);
    }
    if (sender->memory != NULL && sender->block != NULL) {
        echolux_push_lay_out(&sender->push, sender->memory);
        if (echolux_push_start_thread(&sender->thread, echolux_push_send, sender) == 0) return 0;
    }
    free(sender->memory);
    free(sender->block);
    echolux_push_network_end();
    sender->push.ring = NULL;
    return echolux_push_fail(&sender->push, "no memory for the blocks, or no thread");
}

/* Stops the sender. Waits up to `milliseconds` for a connected viewer to receive the remaining blocks. */
static inline void echolux_push_disconnect(echolux_push_sender* sender, int milliseconds) {
    const int64_t until_ns = echolux_push_now_ns() + (int64_t)milliseconds * 1000000;
    if (sender->push.ring == NULL) return;
    echolux_push_store32(&sender->stops, 1);
    while (echolux_push_now_ns() < until_ns && echolux_push_is_connected(sender)) echolux_push_rest(1000);
    echolux_push_store32(&sender->stops, 2);
    echolux_push_join_thread(sender->thread);
    free(sender->memory);
    free(sender->block);
    echolux_push_network_end();
    sender->push.ring = NULL;
}

#ifdef __cplusplus
}
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif

#endif
