/* A library that is loaded and unloaded: a lock, a thread-local with a destructor, a thread of its own. */
#include <pthread.h>

static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static _Thread_local int mine;
static int result;

static void *helper(void *argument) {
  mine = *(int *)argument;
  pthread_mutex_lock(&plugin_lock);
  result = mine + 1;
  pthread_cond_signal(&ready);
  pthread_mutex_unlock(&plugin_lock);
  return NULL;
}

int plugin_work(int k);
int plugin_work(int k) {
  pthread_t thread;
  result = 0;
  pthread_create(&thread, NULL, helper, &k);
  pthread_mutex_lock(&plugin_lock);
  while (!result) pthread_cond_wait(&ready, &plugin_lock);
  mine = result;
  pthread_mutex_unlock(&plugin_lock);
  pthread_join(thread, NULL);
  return mine;
}
