/* A program in the C of 1989: the flags of Quartz are not to make a compiler complain. */
int main(void) { return 0; }
