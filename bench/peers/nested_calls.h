/* Procedures with hooks, for programs that are compiled without: see nested_calls.c. */
#ifndef BENCH_PEERS_NESTED_CALLS_H
#define BENCH_PEERS_NESTED_CALLS_H
void *descend(long depth, void *(*then)(void *), void *argument); /* `then`, called by `depth` hooked procedures */
void hooked(void);                                                /* nothing but its hooks */
#endif
