/* A library with hooks that is loaded and unloaded. */
static volatile int sink;
__attribute__((noinline)) static int plugin_leaf(int n) { return n + ++sink; }
int plugin_work(int n);
int plugin_work(int n) {
  int sum = 0;
  for (int k = 0; k < 10; k++) sum += plugin_leaf(n);
  return sum;
}
