/* Hooks at the entry and exit of procedures, as macros that are expanded in the program. Compilers for x86-64 insert
 * them after inlining, with these options, which `quartz cflags` prints:
 *
 *     gcc    -include quartz/hooks.h -pg -mfentry -minstrument-return=call -fno-optimize-sibling-calls
 *     clang  -include quartz/hooks.h -pg -mfentry -fno-integrated-as -fno-optimize-sibling-calls
 *
 * This file defines assembler macros. With gcc, a macro named `call` replaces `call __fentry__` and `call __return__`
 * by the code of the hook, and leaves all other calls as they are. Clang writes `callq __fentry__` but does not mark
 * returns: a second macro, `retq`, puts the exit hook before every return in the file; it does nothing if there was no
 * entry hook. Clang's integrated assembler does not expand macros in compiled code, so GNU's assembler is needed. Files
 * that gcc compiles without this header, or with options that the header cannot handle (see below), call the functions
 * __fentry__ and __return__ of Quartz's library. A program that is linked without Quartz runs as well; its hooks do
 * nothing.
 *
 * Owns:    the common cases of a hook. hooks_x86_64.S and fentry.c of the publisher have the other cases; they describe
 *          what hooks do, and define the offsets.
 * Writer:  the running thread. Reader: the sampler.
 * Must not: change registers other than these: %r11 and the flags; at an entry also %rax and %r10; at an exit that gcc
 * has marked also %rcx and %r10. At an entry %rax matters only to variadic functions, which expect an upper bound of
 * the number of vector registers used: the hook sets it to 8. %r10 is not an argument register of C or C++ (gcc uses it
 * for nested functions, and then saves it around the hook: fentry.c).
 *
 * The number at the end of a name is the version of what the hooks and the library must agree on.
 */
#ifndef QUARTZ_HOOKS_H
#define QUARTZ_HOOKS_H

/* The hooks are not expanded with -fcf-protection=branch, where a function's first byte is not at a fixed distance
 * from its hook, nor with the large or medium code model. -masm=intel cannot be detected here: the assembler rejects
 * the macros. */
#if defined(__x86_64__) && defined(__LP64__) && defined(__GNUC__) && !defined(__ASSEMBLER__)
#if !(defined(__CET__) && __CET__ & 1) && !defined(__code_model_large__) && !defined(__code_model_medium__)
#define QUARTZ_HOOKS_EXPANDED 1
#elif defined(__clang__)
#error "quartz: hooks with clang need -fcf-protection=none and the small code model; or use quartz cflags --hooks all"
#endif
#endif
#ifdef QUARTZ_HOOKS_EXPANDED
#ifndef QUARTZ_HOT_2
#define QUARTZ_HOT_2 "quartz_hot_2"
#endif
/* A slot of the table of guesses (below). Shared libraries do not use guesses, since they cannot access a
 * thread-local table with a single instruction. */
#if !defined(QUARTZ_GUESS_3) && (defined(__PIE__) || !defined(__PIC__))
#define QUARTZ_GUESS_3(column, index) "%fs:quartz_guess_3@tpoff + " column "(" index ")"
#define QUARTZ_GUESSES_3
#endif
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Woverlength-strings" /* for programs that are compiled with -std=c89 -pedantic */
#endif
__asm__(
  "  .ifndef .Lquartz_hooks_2\n" /* with -flto this text can occur several times */
  "  .set .Lquartz_hooks_2, 1\n"
#ifdef __clang__
  "  .ifndef .gasversion.\n"
  "  .error \"quartz: hooks with clang need -fno-integrated-as, and no -flto; or take the flags of quartz cflags "
  "--hooks all\"\n"
  "  .endif\n"
#endif

#ifndef QUARTZ_HOOKS_MACROS_ONLY
  /* Address of the current thread's hot line, which holds its profile stack (in %r11); 0: publishing is off. */
  "  .weak quartz_hot_2\n"
  "  .section .tbss.quartz_hot_2, \"awTG\", @nobits, quartz_hot_2, comdat\n"
  "  .type quartz_hot_2, @tls_object\n"
  "  .size quartz_hot_2, 8\n"
  "  .p2align 3\n"
  "quartz_hot_2: .zero 8\n"
#ifdef QUARTZ_GUESSES_3
  "  .weak quartz_guess_3\n"
  "  .hidden quartz_guess_3\n"
  "  .section .tbss.quartz_guess_3, \"awTG\", @nobits, quartz_guess_3, comdat\n"
  "  .type quartz_guess_3, @tls_object\n"
  "  .size quartz_guess_3, 2048\n"
  "  .p2align 6\n"
  "quartz_guess_3: .zero 2048\n"
#endif
  "  .text\n"
#endif

  "  .macro quartz_get_hot_2\n"
#if defined(__PIE__) || !defined(__PIC__)
  "  movq %fs:" QUARTZ_HOT_2 "@tpoff, %r11\n"
#else
  "  movq " QUARTZ_HOT_2 "@gottpoff(%rip), %r11\n"
  "  movq %fs:(%r11), %r11\n"
#endif
  "  .endm\n"

/* The packed word of the stack (abi/session.h) is accessed in two halves, always with the same width, since a load
 * that is wider than a preceding store would stall. The lower half is the offset of the top; the upper half counts
 * pushes, so that no value of the word occurs twice.
 *
 * An entry does not load the offset of the top: it guesses it, and compares. The guess is where the top was the last
 * time that the stack pointer had the same value in one of the functions of the same column, a quarter of all. Thus
 * the addresses of the hook's stores do not depend on values that preceding hooks have just stored; that dependency
 * would cost seven cycles per hook. A wrong guess only costs time.
 *
 * A guess is never the limit of a record, so a correct guess needs no comparison with the limit. There are two
 * limits: that of records that continue in longer ones and, above it, that of all other records of the process
 * (private.h). */
#define QUARTZ_SHORT_LIMIT_3    176
#define QUARTZ_TEXT_3(value)    QUARTZ_TEXT_OF_3(value)
#define QUARTZ_TEXT_OF_3(value) #value

/* Counts the call by its return address and callee, drops stale entries (go_on), and pushes the function unless it
 * is on top already. */
/* The search for a slot of the call table begins at an index that depends on a number of each function. */
#define QUARTZ_COLUMN_3         "(.Lquartz_first_2 >> 22 & 3) * 4"
  "  .set .Lquartz_first_2, 1\n"
  "  .macro quartz_entry_2\n"
  "  .set .Lquartz_first_2, (.Lquartz_first_2 * 1103515245 + 12345) & 0xffffffff\n"
  "661: quartz_get_hot_2\n"
  "  testq %r11, %r11\n"
  "  jz 669f\n"
  "  movq (%rsp), %r10\n"
  "  leal (.Lquartz_first_2 & 0x1fffe0)(,%r10,8), %eax\n"
  "  andl $0x1fffe0, %eax\n"
  "  addq 24(%r11), %rax\n"
  "  cmpq %r10, (%rax)\n"
  "  jne 663f\n"
  "  leaq 661b(%rip), %r10\n"
  "  cmpq %r10, 8(%rax)\n"
  "  jne 663f\n"
  "  incq 16(%rax)\n"
#ifdef QUARTZ_GUESS_3
  "  movl %esp, %eax\n"
  "  andl $0x7f0, %eax\n"
  "  movl " QUARTZ_GUESS_3(
    QUARTZ_COLUMN_3,
    "%rax") ", %eax\n"
            "  cmpl %eax, (%r11)\n"
            "  jne 665f\n"
            "666:\n"
#else
  "  movl (%r11), %eax\n"
#endif
            "  cmpq %rsp, 8(%r11,%rax)\n"
            "  jle 662f\n"
            "  cmpq %r10, (%r11,%rax)\n"
            "  je 668f\n"
#ifndef QUARTZ_GUESS_3
            "  cmpl 32(%r11), %eax\n"
            "  jae 662f\n"
#endif
            "  movq %rsp, 24(%r11,%rax)\n" /* stored first: see push() of profile_stack.h */
            "  movq %r10, 16(%r11,%rax)\n"
            "  addl $2, 4(%r11)\n" /* before the new top is stored, so that no earlier value of the word occurs again */
            "  addl $16, %eax\n"
            "  movl %eax, (%r11)\n"
            "668: movl $8, %eax\n"
            "669:\n"
            "  .subsection 1\n"
            "662: leaq 661b(%rip), %rax\n"
            "  btsq $63, %rax\n"
            "  jmp 664f\n"
            "663: subq 24(%r11), %rax\n"
            "  movl %eax, -16(%rsp)\n"
            "  leaq 661b(%rip), %rax\n"
            "664: movq %rax, -24(%rsp)\n"
            "  movq %rcx, -8(%rsp)\n"
            "  leaq 669b(%rip), %rcx\n"
            "  movq -8(%r11), %rax\n"
            "  jmp *(%rax)\n"
#ifdef QUARTZ_GUESS_3
            "665: movl (%r11), %eax\n"
            "  cmpl 32(%r11), %eax\n"
            "  jae 667f\n"
            "  cmpl $" QUARTZ_TEXT_3(
              QUARTZ_SHORT_LIMIT_3) ", %eax\n"
                                    "  je 666b\n"
                                    "  movl %esp, %r10d\n"
                                    "  andl $0x7f0, %r10d\n"
                                    "  movl %eax, " QUARTZ_GUESS_3(
                                      QUARTZ_COLUMN_3,
                                      "%r10") "\n"
                                              "  leaq 661b(%rip), %r10\n"
                                              "  jmp 666b\n"
                                              "667: cmpq %r10, (%r11,%rax)\n" /* no room for another, but perhaps none
                                                                                 is needed */
                                              "  jne 662b\n"
                                              "  cmpq %rsp, 8(%r11,%rax)\n"
                                              "  jg 668b\n"
                                              "  jmp 662b\n"
#endif
                                              "  .previous\n"
                                              "  .endm\n"

                                              /* Pops the function if it was pushed. What does so is out of line, so
                                                 that a program that nobody samples does not jump, with
                                                 unwind information of its own (the assembler keeps it
                                                 for each subsection): the return address is on top. It
                                                 returns itself, since a return follows the hook
                                                 (-mfunction-return and -mharden-sls do not change what
                                                 that does), but for __builtin_eh_return with
                                                 -fcf-protection=return. */
                                              "  .macro quartz_exit_2\n"
                                              "  quartz_get_hot_2\n"
                                              "  testq %r11, %r11\n"
                                              "  jnz 670f\n"
                                              "679:\n"
                                              "  .subsection 1\n"
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
                                              "  .cfi_startproc\n"
#endif
                                              "670: movl (%r11), %r10d\n"
                                              "  cmpq %rsp, 8(%r11,%r10)\n"
                                              "  jne 672f\n"
                                              "  subl $16, %r10d\n"
                                              "  movl %r10d, (%r11)\n"
#if defined(__CET__) && __CET__ & 2
                                              "  jmp 679b\n"
#else
  "  ret\n"
#endif
                                              "672: jl 673f\n"
                                              "  movq 40(%r11), %rcx\n"
                                              "  cmpq %rcx, 8(%r11,%r10)\n"
                                              "  ja 673f\n" /* else an immediate recursion ends, or the function was
                                                                entered before publishing began */
#if defined(__CET__) && __CET__ & 2
                                              "  jmp 679b\n"
#else
  "  ret\n"
#endif
                                              "673: leaq 679b(%rip), %rcx\n"
                                              "  movq -8(%r11), %r10\n"
                                              "  jmp *8(%r10)\n"
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
                                              "  .cfi_endproc\n"
#endif
                                              "  .previous\n"
                                              "  .endm\n"

#ifndef QUARTZ_HOOKS_MACROS_ONLY
#ifdef __clang__
                                              "  .macro callq to:vararg\n"
                                              "  .ifc \\to,__fentry__\n"
                                              "  quartz_entry_2\n"
                                              "  .else\n"
                                              "  {load} callq \\to\n"
                                              "  .endif\n"
                                              "  .endm\n"
                                              /* Clang writes the prefixes of calls of __tls_get_addr on separate
                                                 lines; without this macro GNU's assembler warns of them. */
                                              "  .macro data16 rest:vararg\n"
                                              "  .byte 0x66\n"
                                              "  \\rest\n"
                                              "  .endm\n"
                                              /* Like quartz_exit_2, but preserves all registers, since code that is
                                                 not a compiled procedure may also return by `retq`. */
                                              "  .macro retq bytes:vararg\n"
                                              "  quartz_get_hot_2\n"
                                              "  testq %r11, %r11\n"
                                              "  jnz 670f\n"
                                              "679: {load} retq \\bytes\n"
                                              "  .subsection 1\n"
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
                                              "  .cfi_startproc\n"
#endif
                                              "670: movq %rcx, -8(%rsp)\n"
                                              "  movl (%r11), %ecx\n"
                                              "  cmpq %rsp, 8(%r11,%rcx)\n"
                                              "  jne 672f\n"
                                              "  subl $16, %ecx\n"
                                              "  movl %ecx, (%r11)\n"
                                              "  movq -8(%rsp), %rcx\n"
                                              "  {load} retq \\bytes\n"
                                              "672: jl 673f\n"
                                              "  movq 8(%r11,%rcx), %rcx\n"
                                              "  cmpq %rcx, 40(%r11)\n"
                                              "  movq -8(%rsp), %rcx\n"
                                              "  jb 673f\n"
                                              "  {load} retq \\bytes\n"
                                              "673: leaq 679b(%rip), %rcx\n"
                                              "  movq %rcx, -16(%rsp)\n"
                                              "  movq -8(%r11), %rcx\n"
                                              "  jmp *16(%rcx)\n"
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
                                              "  .cfi_endproc\n"
#endif
                                              "  .previous\n"
                                              "  .endm\n"
#else
                                              "  .macro call to:vararg\n"
                                              "  .ifc \\to,__fentry__\n"
                                              "  quartz_entry_2\n"
                                              "  .else\n"
                                              "  .ifc \\to,*__fentry__@GOTPCREL(%rip)\n"
                                              "  quartz_entry_2\n"
                                              "  .else\n"
                                              "  .ifc \\to,__return__\n"
                                              "  quartz_exit_2\n"
                                              "  .else\n"
                                              "  {load} call \\to\n"
                                              "  .endif\n"
                                              "  .endif\n"
                                              "  .endif\n"
                                              "  .endm\n"
#endif

                                              /* Passes the offset of this module's quartz_hot_2 from the thread
                                                 pointer to the library, if there is one: when the module is
                                                 initialized, and when it is finalized. */
                                              "  .weak quartz_hooks_module_2\n"
                                              "  .section .text.quartz_begins_2, \"axG\", @progbits, quartz_begins_2, "
                                              "comdat\n"
                                              "  .weak quartz_begins_2\n"
                                              "  .hidden quartz_begins_2\n"
                                              "  .type quartz_begins_2, @function\n"
                                              "quartz_begins_2:\n"
                                              "  movl $1, %esi\n"
                                              "680: movq quartz_hooks_module_2@GOTPCREL(%rip), %rax\n"
                                              "  movq quartz_hot_2@gottpoff(%rip), %rdi\n"
                                              "  testq %rax, %rax\n"
                                              "  jz 681f\n"
                                              "  jmp *%rax\n"
                                              "681: ret\n"
                                              "682: xorl %esi, %esi\n"
                                              "  jmp 680b\n"
                                              "  .size quartz_begins_2, .-quartz_begins_2\n"

                                              /* gprof's start and end functions, which a program linked with -pg
                                                 calls, do nothing, also in a program without Quartz. */
                                              "  .weak __monstartup, _mcleanup\n"
                                              "  .hidden __monstartup, _mcleanup\n"
                                              "  .type __monstartup, @function\n"
                                              "  .type _mcleanup, @function\n"
                                              "__monstartup:\n"
                                              "_mcleanup:\n"
                                              "  ret\n"
                                              "  .section .init_array, \"awG\", @init_array, quartz_begins_2, comdat\n"
                                              "  .p2align 3\n"
                                              "  .quad quartz_begins_2\n"
                                              "  .section .fini_array, \"awG\", @fini_array, quartz_begins_2, comdat\n"
                                              "  .p2align 3\n"
                                              "  .quad 682b\n"
                                              "  .text\n"
#endif
                                              "  .endif\n");
#ifdef __clang__
#pragma clang diagnostic pop
#endif

#endif
#endif
