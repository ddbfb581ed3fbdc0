/* What procedures and threads of known libraries are for: the bits of qz_purposes_of (purpose.h) and of struct
 * qz_entity; and which language or library names or makes them. */
#ifndef QZ_ABI_PURPOSE_BITS_H
#define QZ_ABI_PURPOSE_BITS_H

/* Bits: a name may have several. */
#define QZ_PURPOSE_DECIDED        1u        /* the name was looked up; what is not set does not hold */
#define QZ_PURPOSE_TEAM_CALL      2u        /* what programs call of OpenMP and TBB */
#define QZ_PURPOSE_EXCLUSION      4u        /* of these, critical sections, locks and atomic updates */
#define QZ_PURPOSE_TBB_LIBRARY    8u        /* of the module libtbb */
#define QZ_PURPOSE_TBB_CODE       16u       /* TBB's, in whichever module */
#define QZ_PURPOSE_COLLECTION     32u       /* garbage collection: a thread for it, or a procedure below which all is */
#define QZ_PURPOSE_WAIT_OR_WAKE   64u       /* run-time libraries' procedures that wait and wake */
#define QZ_PURPOSE_LIBRARY_LOCK   128u      /* locks that run-time libraries make themselves */
#define QZ_PURPOSE_HAND_OVER      256u      /* Go's channels and its scheduler */
#define QZ_PURPOSE_THREAD_START   512u      /* where threads of Go's library begin */
#define QZ_PURPOSE_PTHREAD_LOCK   1024u     /* the C library's locks */
#define QZ_PURPOSE_ALLOCATOR      2048u     /* malloc, free and what they consist of, of any allocator */
#define QZ_PURPOSE_SLEEP          4096u     /* waits for a time to pass */
#define QZ_PURPOSE_DEVICE         8192u     /* reads from, writes to what answers by itself */
#define QZ_PURPOSE_CHILDREN       16384u    /* waits for child processes */
#define QZ_PURPOSE_REQUESTS       32768u    /* waits for what others send */
#define QZ_PURPOSE_READ           65536u    /* waits until something can be read, or reads */
#define QZ_PURPOSE_SIGNAL         131072u   /* waits for a signal */
#define QZ_PURPOSE_THREAD_MAKING  524288u   /* creates threads, starts them, waits for their ends */
#define QZ_PURPOSE_LOCK_WRAPPER   262144u   /* takes a lock for its caller, as its name says */
#define QZ_PURPOSE_PROCESS_MAKING 1048576u  /* starts processes */
#define QZ_PURPOSE_SERIALIZATION  2097152u  /* turns data into bytes and back: all below it is for that */
#define QZ_PURPOSE_ORDER          4194304u  /* of what programs call of OpenMP, waits for a turn in an ordered region */
#define QZ_PURPOSE_FILE_LOCK      8388608u  /* can wait for nothing but a lock on a file */
#define QZ_PURPOSE_CLONING        16777216u /* of serialization, makes copies of objects for other threads */
#define QZ_PURPOSE_COMPILATION    33554432u /* compiles code while the program runs */
#define QZ_PURPOSE_HOUSEKEEPING   67108864u /* a thread of a run-time's own, or a procedure that only such run */
#define QZ_PURPOSE_ALLOCATION     134217728u  /* allocates memory that a collector takes back */
#define QZ_PURPOSE_MPI_START      268435456u  /* MPI's, which begins or ends it: its work is the library's own */
#define QZ_PURPOSE_RECEIVING      536870912u  /* of waits for what others send, receives it, of one sender */
#define QZ_PURPOSE_COPYING        1073741824u /* copies memory */
#define QZ_PURPOSE_CHAINS         2147483648u /* follows the elements of a hash table's bucket */

/* Whose way of naming or making it is (qz_naming_style_of, purpose.h). */
enum qz_naming_style {
  QZ_NAMING_STYLE_OTHER = 0,
  QZ_NAMING_STYLE_GO = 1,       /* a procedure with its package, as Go names them: "main.run" */
  QZ_NAMING_STYLE_GO_CALL = 2,  /* Go's, for any system call: which one it is, its caller's name says */
  QZ_NAMING_STYLE_LLVM_TEAM = 3 /* a thread that LLVM's OpenMP made */
};

#endif
