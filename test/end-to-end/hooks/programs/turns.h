/* Work with a known number of calls: each turn() calls leaf() ten times. */
static volatile int sink;

__attribute__((noinline)) static int leaf(int n) { return n + ++sink; }
__attribute__((noinline)) static int turn(int n) {
  int sum = 0;
  for (int k = 0; k < 10; k++) sum += leaf(n);
  return sum;
}
