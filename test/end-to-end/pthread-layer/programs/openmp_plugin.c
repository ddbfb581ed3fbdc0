/* A library that brings OpenMP with it, where nobody else sees it: a critical section is the last thing that its
 * region does, so that leaving it is a jump, whose return address is that of the region's caller. */
int plugin_work(int k);
int plugin_work(int k) {
  int total = 0;
#pragma omp parallel num_threads(2)
  {
    int mine = 0;
#pragma omp for nowait
    for (int i = 0; i < 100; i++) mine += i & k;
#pragma omp critical
    total += mine;
  }
  return total;
}
