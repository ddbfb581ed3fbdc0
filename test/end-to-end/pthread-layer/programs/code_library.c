/* Loops of a stripped library that the system installed: zlib's checksum of that many bytes, each byte a step. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 5000, ROUNDS = 300000 };
static unsigned long (*adler32)(unsigned long, const unsigned char *, unsigned);

static void *checksums(void *sum) {
  static unsigned char bytes[BYTES];
  memset(bytes, 171, sizeof bytes);
  for (int k = 0; k < ROUNDS; k++) *(unsigned long *)sum = adler32(*(unsigned long *)sum, bytes, BYTES); // of checksums
  return NULL;
}

int main(void) {
  void *library = dlopen("libz.so.1", RTLD_NOW);
  if (!library || !(*(void **)&adler32 = dlsym(library, "adler32"))) return puts("there is no zlib"), 77;
  pthread_t thread;
  unsigned long sum = 1;
  pthread_create(&thread, NULL, checksums, &sum);
  pthread_join(thread, NULL);
  printf("%lu\n", sum);
}
