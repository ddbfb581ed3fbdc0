/* Bounded channel of items of one size.
 *
 * Owns:    struct qz_channel: a ring of items, a queue of senders and one of receivers, under an internal lock.
 * Writer:  the holder of the internal lock; the item of a waiting thread is copied by the thread that wakes it.
 * Must not: let receivers wait while there are items, or senders while there is room.
 */
#include <stdlib.h>
#include <string.h>
#include "sync.h"

struct channel {
  struct qzi_object object;
  qzi_spinlock lock;
  uint16_t closed;
  uint16_t plain; /* items are words, and the channel is neither closed nor destroyed */
  size_t item_bytes, capacity;
  size_t first, count; /* index of the oldest item in the ring, and number of items */
  char *ring;
  struct qzi_queue senders, receivers;
  struct qzi_lanes *lanes; /* lanes of the items in the ring; NULL: work and span were never recorded */
} __attribute__((may_alias));
_Static_assert(sizeof(struct channel) <= sizeof(qz_channel), "qz_channel");

int qz_channel_init(qz_channel *channel, const char *name, size_t item_bytes, size_t capacity) {
  struct channel *c = (struct channel *)channel;
  size_t bytes;
  if (__builtin_mul_overflow(item_bytes, capacity, &bytes)) return EINVAL;
  char *ring = NULL;
  if (bytes && !(ring = malloc(bytes))) return ENOMEM;
  *c = (struct channel){
    .item_bytes = item_bytes, .capacity = capacity, .ring = ring, .plain = item_bytes == sizeof(uint64_t)};
  qzi_object_init(&c->object, QZ_KIND_CHANNEL, name, QZ_BLOCK, QZI_CALLER());
  return 0;
}

int qz_channel_destroy(qz_channel *channel) {
  struct channel *c = (struct channel *)channel;
  uint64_t place = QZI_CALLER();
  qzi_object_check(&c->object, place);
  qzi_lock(&c->lock);
  bool used = !qzi_queue_empty(&c->senders) || !qzi_queue_empty(&c->receivers);
  char *ring = c->ring;
  struct qzi_lanes *lanes = c->lanes;
  if (!used) {
    c->ring = NULL;
    c->lanes = NULL;
    c->plain = 0;
    qzi_object_destroy(&c->object, QZ_KIND_CHANNEL, place);
  }
  qzi_unlock(&c->lock);
  if (used) return EBUSY;
  free(ring);
  free(lanes);
  return 0;
}

int qz_channel_close(qz_channel *channel) {
  struct channel *c = (struct channel *)channel;
  (void)qzi_self(); /* aborts if the caller is a foreign kernel thread, before the lock is taken */
  qzi_object_check(&c->object, QZI_CALLER());
  qzi_lock(&c->lock);
  c->closed = 1;
  c->plain = 0;
  struct qzi_waiter *senders = qzi_queue_take_all(&c->senders, &c->object, false);
  struct qzi_waiter *receivers = qzi_queue_take_all(&c->receivers, &c->object, false);
  qzi_unlock(&c->lock);
  qzi_wake_list(senders);
  qzi_wake_list(receivers);
  return 0;
}

/* Most items are words, which are copied without a function call. */
static inline void copy_word(void *to, const void *from) { memcpy(to, from, sizeof(uint64_t)); }
static inline void copy(struct channel *c, void *to, const void *from) {
  if (c->item_bytes == sizeof(uint64_t))
    copy_word(to, from);
  else if (c->item_bytes)
    memcpy(to, from, c->item_bytes);
}

static void put(struct channel *c, const void *item) {
  size_t at = c->first + c->count;
  if (at >= c->capacity) at -= c->capacity;
  copy(c, c->ring + at * c->item_bytes, item);
  c->count++;
}

static void get(struct channel *c, void *item) {
  copy(c, item, c->ring + c->first * c->item_bytes);
  if (++c->first == c->capacity) c->first = 0;
  c->count--;
}

/* Work and span: stores the sender's chain with the item that was put into the ring last. `sender` NULL: the caller. */
static __attribute__((noinline)) void span_put(struct channel *c, struct qzi_thread *sender) {
  if (!c->lanes) c->lanes = calloc(c->capacity, sizeof *c->lanes);
  if (!c->lanes) return;
  struct qzi_lanes *at = &c->lanes[(c->first + c->count - 1) % c->capacity];
  if (sender)
    *at = qzi_span_of(&sender->pub)->now;
  else
    qzi_span_put(qzi_publisher_self(), at);
}
/* Work and span: the caller has taken the first item out of the ring or, without a ring, the item of `sender`. */
static __attribute__((noinline)) void span_get(struct channel *c, struct qzi_thread *sender) {
  if (c->capacity && c->lanes)
    qzi_span_get(qzi_publisher_self(), &c->lanes[(c->first + c->capacity - 1) % c->capacity], 0);
  else if (!c->capacity && sender)
    qzi_span_get(qzi_publisher_self(), &qzi_span_of(&sender->pub)->now, 0);
  if (c->capacity && sender) span_put(c, sender);
}

/* Does what is possible without waiting, under the internal lock. Returns 0, EPIPE, or EAGAIN if the caller would
 * have to wait. *woken: a thread that the caller must wake after it has released the lock. */
static inline __attribute__((always_inline)) int send_now(struct channel *c, const void *item, uint32_t index,
                                                          struct qzi_waiter **woken) {
  if (QZI_UNLIKELY(c->closed)) return EPIPE;
  struct qzi_waiter *receiver = *woken = qzi_queue_take(&c->receivers, &c->object);
  if (receiver) {
    uint64_t now = 0;
    copy(c, receiver->item, item);
    qzi_pub_acquired_by(index, 2); /* counts the send and the receive */
    qzi_wait_ends(&c->object, receiver, true, &now);
    return 0;
  } else if (c->count < c->capacity) {
    put(c, item);
    qzi_pub_readers(index, (uint32_t)c->count);
    if (index && qzi_spanning()) span_put(c, NULL);
  } else {
    return EAGAIN;
  }
  qzi_pub_acquired(index, NULL);
  return 0;
}

static inline __attribute__((always_inline)) int receive_now(struct channel *c, void *item, uint32_t index,
                                                             struct qzi_waiter **woken) {
  bool full = c->count == c->capacity;
  struct qzi_waiter *sender = *woken = full ? qzi_queue_take(&c->senders, &c->object) : NULL;
  if (c->count) {
    get(c, item);
    if (sender) put(c, sender->item);
  } else if (sender) {
    copy(c, item, sender->item);
  } else {
    return c->closed ? EPIPE : EAGAIN;
  }
  if (index && qzi_spanning()) span_get(c, sender ? qzi_waiting_thread(sender) : NULL);
  if (sender) {
    uint64_t now = 0;
    qzi_wait_ends(&c->object, sender, true, &now);
  }
  qzi_pub_readers(index, (uint32_t)c->count);
  qzi_pub_acquired_by(index, sender ? 2 : 1); /* counts the send, too, if a sender waited */
  return 0;
}

/* deadline_ns 0: does not wait. */
QZI_HIDDEN struct qzi_back qzi_transfer_body(struct channel *c, bool send, void *item, uint64_t deadline_ns,
                                             uint64_t place, const void *from);
QZI_RETURNS_ELSEWHERE(qzi_transfer, qzi_transfer_body,
                      (struct channel * c, bool send, void *item, uint64_t deadline_ns, uint64_t place),
                      (c, send, item, deadline_ns, place, QZI_RETURN_ADDRESS))
struct qzi_back qzi_transfer_body(struct channel *c, bool send, void *item, uint64_t deadline_ns, uint64_t place,
                                  const void *from) {
  qzi_object_check(&c->object, place);
  struct qzi_thread *self = qzi_self();
  uint32_t index = qzi_use(&c->object, QZ_KIND_CHANNEL, c, place, (uint32_t)c->capacity);
  uint64_t same_place = 1;
  qzi_lock(&c->lock);
  struct qzi_waiter *woken = NULL;
  int error = send ? send_now(c, item, index, &woken) : receive_now(c, item, index, &woken);
  if (error != EAGAIN || !deadline_ns) {
    qzi_unlock(&c->lock);
    qzi_wake(woken);
  } else {
    struct qzi_waiter *me = qzi_waiter_of(self, qzi_wait_begins(), item);
    qzi_ask_now(index, QZ_KIND_CHANNEL, self);
    qzi_leaves(from);
    bool served = qzi_wait(send ? &c->senders : &c->receivers, &c->object, QZ_KIND_CHANNEL, &c->lock, me, deadline_ns);
    error = !served ? ETIMEDOUT : me->given ? 0 : EPIPE;
    same_place = qzi_same_place(from);
    qzi_take_off(index, QZ_KIND_CHANNEL, self);
  }
  return (struct qzi_back){(uint64_t)error, same_place};
}

static int transfer_until(qz_channel *channel, bool send, void *item, int clock, const struct timespec *time,
                          uint64_t place) {
  uint64_t deadline_ns;
  int error = qzi_until(clock, time, &deadline_ns);
  return error ? error : qzi_transfer((struct channel *)channel, send, item, deadline_ns ? deadline_ns : 1, place);
}

int qz_channel_send(qz_channel *channel, const void *item) {
  struct channel *c = (struct channel *)channel;
  if (qzi_plain() && QZI_LIKELY(c->plain)) {
    struct qzi_waiter *receiver = qzi_queue_head(&c->receivers);
    if (QZI_LIKELY(receiver && receiver->plain)) {
      copy_word(receiver->item, item);
      return qzi_give_alone(&c->receivers, &c->object, receiver);
    }
    if (!receiver && c->count == c->capacity)
      return qzi_wait_alone(&c->senders, &c->object, QZ_KIND_CHANNEL, (void *)item);
  }
  return qzi_transfer(c, true, (void *)item, QZI_NEVER, QZI_CALLER());
}
int qz_channel_receive(qz_channel *channel, void *item) {
  struct channel *c = (struct channel *)channel;
  if (qzi_plain() && QZI_LIKELY(c->plain) && QZI_LIKELY(!c->count) && QZI_LIKELY(qzi_queue_empty(&c->senders)))
    return qzi_wait_alone(&c->receivers, &c->object, QZ_KIND_CHANNEL, item);
  return qzi_transfer(c, false, item, QZI_NEVER, QZI_CALLER());
}
int qz_channel_trysend(qz_channel *channel, const void *item) {
  return qzi_transfer((struct channel *)channel, true, (void *)item, 0, QZI_CALLER());
}
int qz_channel_tryreceive(qz_channel *channel, void *item) {
  return qzi_transfer((struct channel *)channel, false, item, 0, QZI_CALLER());
}
int qz_channel_timedsend(qz_channel *channel, const void *item, const struct timespec *realtime) {
  return transfer_until(channel, true, (void *)item, CLOCK_REALTIME, realtime, QZI_CALLER());
}
int qz_channel_timedreceive(qz_channel *channel, void *item, const struct timespec *realtime) {
  return transfer_until(channel, false, item, CLOCK_REALTIME, realtime, QZI_CALLER());
}
int qz_channel_clocksend(qz_channel *channel, const void *item, int clock, const struct timespec *time) {
  return transfer_until(channel, true, (void *)item, clock, time, QZI_CALLER());
}
int qz_channel_clockreceive(qz_channel *channel, void *item, int clock, const struct timespec *time) {
  return transfer_until(channel, false, item, clock, time, QZI_CALLER());
}
