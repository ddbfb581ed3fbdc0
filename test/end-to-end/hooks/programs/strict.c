/* A program in C89: compilers must accept the flags of Quartz for it without a warning. */
int main(void) { return 0; }
